//! The states as a table: a row a call, in the order in which the checks come.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::*;
use crate::answer::{Complete, Lease};
use crate::expiry::{ClaimId, TimeBucket};

const LEASE_MS: Millis = 100;
const TTL_MS: Millis = 1_000;

fn address() -> Address {
    Address::new(None, "k").unwrap()
}

fn claim_id() -> ClaimId {
    ClaimId { bucket: TimeBucket::of(100, 0), number: 1 }
}

/// Claimed at 0 with token 5 until 100, second try, fingerprint `f`.
fn inflight() -> Record {
    Record {
        state: State::Inflight, token: 5, attempt: 2, claimed_at_ms: 0, completed_at_ms: None, expires_at_ms: 100,
        changed_at_ms: 0, fingerprint: Some(b"f".to_vec()), scope: "global".into(), key: "k".into(),
        claim: claim_id(), payload: None,
    }
}

/// Completed at 50 until 100.
fn done() -> Record {
    Record {
        state: State::Done, completed_at_ms: Some(50), changed_at_ms: 50, payload: Some(b"p".to_vec()), ..inflight()
    }
}

/// Of the same claim, made at 50.
fn gone(state: State) -> Record {
    Record { state, expires_at_ms: 50, changed_at_ms: 50, fingerprint: None, ..inflight() }
}

fn show<A: core::fmt::Debug>(decision: &Decision<A>) -> (&'static str, String) {
    let (what, answer) = match decision {
        Decision::Answer(answer) => ("-", answer),
        Decision::Append(_, answer) => ("append", answer),
        Decision::Claim(_, answer) => ("claim", answer),
        Decision::FinishDeletion => return ("finish", "-".into()),
    };
    let answer = format!("{answer:?}");
    let words = answer.replace("expires_at_ms", "expires").replace("completed_at_ms", "completed");
    (what, words.replace("retry_after_ms", "retry").replace("Lost(", "").replace(')', "").to_string())
}

#[test]
fn begin_in_order() {
    let (t, d) = (Some(gone(State::Tombstone)), Some(gone(State::Deleting)));
    let (i, o) = (Some(inflight()), Some(done()));
    let released = Some(Record { attempt: 0, ..gone(State::Tombstone) });
    let fresh_1 = |token, expires| format!("Fresh(Claim {{ token: {token}, expires: {expires}, attempt: 1 }}");
    let rows: Vec<(&str, &Option<Record>, Millis, Option<&[u8]>, &str, String)> = vec![
        ("absent",                   &None,        7, None,        "claim",  fresh_1(7, 107)),
        ("absent at 0",              &None,        0, None,        "claim",  fresh_1(1, 100)),
        ("deleting",                 &d,          60, None,        "-",      "Inflight(Lease { expires: 3600050, retry: 100 }".into()),
        ("deleting, almost",         &d,     3600049, None,        "-",      "Inflight(Lease { expires: 3600050, retry: 100 }".into()),
        ("deleting, purger dead",    &d,     3600050, None,        "finish", "-".into()),
        ("released",                 &t,          60, None,        "claim",  "Fresh(Claim { token: 60, expires: 160, attempt: 3 }".into()),
        ("released, clock back",     &t,           3, None,        "claim",  "Fresh(Claim { token: 50, expires: 150, attempt: 3 }".into()),
        ("purged or forgotten",      &released,   60, None,        "claim",  fresh_1(60, 160)),
        ("expired claim",            &i,         100, None,        "claim",  "Fresh(Claim { token: 100, expires: 200, attempt: 3 }".into()),
        ("expired before mismatch",  &i,         100, Some(b"g"),  "claim",  "Fresh(Claim { token: 100, expires: 200, attempt: 3 }".into()),
        ("expired outcome",          &o,         100, None,        "claim",  fresh_1(100, 200)),
        ("live, other fingerprint",  &i,          99, Some(b"g"),  "-",      "Mismatch".into()),
        ("done, other fingerprint",  &o,          99, Some(b"g"),  "-",      "Mismatch".into()),
        ("live, same fingerprint",   &i,          99, Some(b"f"),  "-",      "Inflight(Lease { expires: 100, retry: 1 }".into()),
        ("live, none given",         &i,          60, None,        "-",      "Inflight(Lease { expires: 100, retry: 40 }".into()),
        ("live, clock back",         &i,           0, None,        "-",      "Inflight(Lease { expires: 100, retry: 100 }".into()),
        ("done",                     &o,          99, Some(b"f"),  "-",      "Done(Outcome { payload: Some([112], token: 5, completed: 50, expires: 100 }".into()),
    ];
    let address = address();
    for (name, found, now_ms, fingerprint, what, answer) in rows {
        let ask = BeginAsk { address: &address, lease_ms: LEASE_MS, fingerprint };
        let decision = begin(found.as_ref(), now_ms, &ask).unwrap();
        assert_eq!(show(&decision), (what, answer), "{name}");
    }
}

#[test]
fn complete_in_order() {
    let (t, d) = (Some(gone(State::Tombstone)), Some(gone(State::Deleting)));
    let (i, o) = (Some(inflight()), Some(done()));
    let recorded = |token, at| format!("Recorded(Recorded {{ token: {token}, completed: {at}, expires: {} }}", at + TTL_MS);
    let lost = |reason: &str| reason.to_string();
    let rows: Vec<(&str, &Option<Record>, Millis, Option<u64>, bool, &str, String)> = vec![
        ("done",                        &o,     99, Some(5), false, "-",      lost("AlreadyDone")),
        ("done, other token",           &o,     99, Some(4), false, "-",      lost("AlreadyDone")),
        ("done and expired, upsert",    &o,    100, Some(5), true,  "-",      lost("AlreadyDone")),
        ("live, other token",           &i,     99, Some(6), true,  "-",      lost("Superseded")),
        ("expired, other token",        &i,    100, Some(6), false, "-",      lost("Superseded")),
        ("absent",                      &None,   7, Some(5), false, "-",      lost("Missing")),
        ("absent, upsert",              &None,   7, None,    true,  "claim",  recorded(7, 7)),
        ("absent, upsert, token",       &None,   7, Some(5), true,  "claim",  recorded(5, 7)),
        ("absent, upsert, no token is", &None,   7, Some(u64::MAX), true, "-", lost("Missing")),
        ("tombstone",                   &t,     60, Some(5), false, "-",      lost("Missing")),
        ("tombstone, upsert",           &t,     60, None,    true,  "claim",  recorded(60, 60)),
        ("tombstone, upsert, its token", &t,    60, Some(5), true,  "claim",  recorded(5, 60)),
        ("tombstone, upsert, lower",    &t,     60, Some(4), true,  "-",      lost("Superseded")),
        ("deleting",                    &d,     60, Some(5), false, "-",      lost("Missing")),
        ("expired",                     &i,    100, Some(5), false, "-",      lost("Expired")),
        ("expired, no token",           &i,    100, None,    false, "-",      lost("Expired")),
        ("expired, upsert",             &i,    100, Some(5), true,  "append", recorded(5, 100)),
        ("expired, upsert, no token",   &i,    100, None,    true,  "append", recorded(5, 100)),
        ("expired, upsert, greater",    &i,    100, Some(6), true,  "append", recorded(6, 100)),
        ("expired, upsert, lower",      &i,    100, Some(4), true,  "-",      lost("Superseded")),
        ("expired, upsert, no token is", &i,   100, Some(u64::MAX), true, "-", lost("Expired")),
        ("live",                        &i,     99, Some(5), false, "append", recorded(5, 99)),
        ("live, no token",              &i,     99, None,    true,  "append", recorded(5, 99)),
    ];
    let address = address();
    for (name, found, now_ms, token, upsert, what, answer) in rows {
        let ask = CompleteAsk { address: &address, token, ttl_ms: TTL_MS, upsert, payload: Some(b"p") };
        let decision = complete(found.as_ref(), now_ms, &ask).unwrap();
        assert_eq!(show(&decision), (what, answer), "{name}");
    }
    let ask = CompleteAsk { address: &address, token: None, ttl_ms: TTL_MS, upsert: true, payload: None };
    assert_eq!(complete(d.as_ref(), 60, &ask), Err(Error::Contended(100)), "deleting, upsert");
}

#[test]
fn renew_and_release_in_order() {
    let (t, d) = (Some(gone(State::Tombstone)), Some(gone(State::Deleting)));
    let (i, o) = (Some(inflight()), Some(done()));
    let renewed = |expires| format!("Renewed(Claim {{ token: 5, expires: {expires}, attempt: 2 }}");
    let rows: Vec<(&str, &Option<Record>, Millis, u64, &str, String, &str)> = vec![
        ("absent",               &None,  7, 5, "-",      "Missing".into(),     "Missing"),
        ("tombstone",            &t,    60, 5, "-",      "Missing".into(),     "Missing"),
        ("deleting",             &d,    60, 5, "-",      "Missing".into(),     "Missing"),
        ("done",                 &o,    99, 5, "-",      "AlreadyDone".into(), "AlreadyDone"),
        ("done, other token",    &o,    99, 4, "-",      "AlreadyDone".into(), "AlreadyDone"),
        ("live, other token",    &i,    99, 4, "-",      "Superseded".into(),  "Superseded"),
        ("expired, other token", &i,   100, 6, "-",      "Superseded".into(),  "Superseded"),
        ("expired",              &i,   100, 5, "-",      "Expired".into(),     "Expired"),
        ("live",                 &i,    99, 5, "append", renewed(199),         "Released"),
    ];
    for (name, found, now_ms, token, what, renewal, release_answer) in rows {
        assert_eq!(show(&renew(found.as_ref(), now_ms, token, LEASE_MS)), (what, renewal), "renew {name}");
        let decision = release(found.as_ref(), now_ms, token);
        assert_eq!(show(&decision), (what, release_answer.into()), "release {name}");
    }
    let shorter = renew(i.as_ref(), 10, 5, 1);
    assert_eq!(show(&shorter), ("-", renewed(100)), "never earlier than the present end, and then nothing to write");
}

#[test]
fn forget_in_order() {
    let (t, d) = (Some(gone(State::Tombstone)), Some(gone(State::Deleting)));
    let (i, o) = (Some(inflight()), Some(done()));
    let rows: Vec<(&str, &Option<Record>, Millis, u64, &str, &str)> = vec![
        ("absent",               &None,  7, 5, "-",      "Missing"),
        ("tombstone",            &t,    60, 5, "-",      "Missing"),
        ("deleting",             &d,    60, 5, "-",      "Missing"),
        ("other token",          &o,    60, 4, "-",      "Superseded"),
        ("live claim",           &i,    60, 5, "-",      "Inflight(Lease { expires: 100, retry: 40 }"),
        ("expired claim",        &i,   100, 5, "append", "Forgotten"),
        ("outcome",              &o,    60, 5, "append", "Forgotten"),
        ("expired outcome",      &o,   100, 5, "append", "Forgotten"),
    ];
    for (name, found, now_ms, token, what, answer) in rows {
        assert_eq!(show(&forget(found.as_ref(), now_ms, token)), (what, answer.into()), "{name}");
    }
}

#[test]
fn sweep_in_order() {
    let (t, d) = (Some(gone(State::Tombstone)), Some(gone(State::Deleting)));
    let (i, o) = (Some(inflight()), Some(done()));
    let other = Some(Record { claim: ClaimId { number: 2, ..claim_id() }, ..inflight() });
    let settles = 60_000 + QUARANTINE_MS;
    let rows: Vec<(&str, &Option<Record>, Millis, Millis, &str)> = vec![
        ("absent, may come",        &None,        200,         200,     "keep"),
        ("absent",                  &None,        settles,     settles, "drop"),
        ("other claim, may come",   &other,       200,         200,     "keep"),
        ("other claim, live",       &other,       99,          99,      "wait 3660000"),
        ("other claim",             &other,       settles,     settles, "drop"),
        ("live",                    &i,           99,          99,      "wait 100"),
        ("ends now",                &i,           100,         100,     "keep"),
        ("expired",                 &i,           101,         101,     "remove"),
        ("expired, not before",     &i,           500,         100,     "keep"),
        ("outcome, live",           &o,           99,          99,      "wait 100"),
        ("outcome, expired",        &o,           101,         101,     "remove"),
        ("tombstone",               &t,           200,         200,     "wait 3600050"),
        ("tombstone, old",          &t,           3_600_050,   200,     "delete"),
        ("deleting",                &d,           3_600_049,   200,     "wait 3600050"),
        ("deleting, old",           &d,           3_600_050,   200,     "delete"),
    ];
    for (name, found, now_ms, cutoff_ms, expected) in rows {
        let decision = match sweep(found.as_ref(), claim_id(), now_ms, cutoff_ms) {
            Sweep::Drop => "drop".into(),
            Sweep::Keep => "keep".into(),
            Sweep::Wait(at_ms) => format!("wait {at_ms}"),
            Sweep::Remove(record) => {
                assert_eq!((record.state, record.attempt, record.payload), (State::Tombstone, 0, None), "{name}");
                "remove".into()
            }
            Sweep::Delete(record) => {
                assert_eq!((record.state, record.changed_at_ms), (State::Deleting, now_ms), "{name}");
                "delete".into()
            }
        };
        assert_eq!(decision, expected, "{name}");
    }
}

#[test]
fn what_is_appended() {
    let i = inflight();
    let Decision::Append(record, _) = release(Some(&i), 60, 5) else { panic!() };
    let tombstone = Record { state: State::Tombstone, expires_at_ms: 60, changed_at_ms: 60, fingerprint: None, ..i.clone() };
    assert_eq!(record, tombstone, "a release keeps token, attempt and claim");
    let address = address();
    let ask = CompleteAsk { address: &address, token: Some(5), ttl_ms: TTL_MS, upsert: false, payload: Some(b"") };
    let Decision::Append(record, Complete::Recorded(_)) = complete(Some(&i), 60, &ask).unwrap() else { panic!() };
    let outcome = Record {
        state: State::Done, completed_at_ms: Some(60), changed_at_ms: 60, expires_at_ms: 1_060,
        payload: Some(Vec::new()), ..i.clone()
    };
    assert_eq!(record, outcome, "an outcome keeps fingerprint, attempt, claim and the time of the claim");
    let Decision::Append(record, _) = renew(Some(&i), 60, 5, LEASE_MS) else { panic!() };
    assert_eq!(record, Record { expires_at_ms: 160, changed_at_ms: 60, ..i.clone() });
    let ask = BeginAsk { address: &address, lease_ms: LEASE_MS, fingerprint: Some(b"g") };
    let Decision::Claim(draft, _) = begin(Some(&done()), 100, &ask).unwrap() else { panic!() };
    assert_eq!(draft.expires_at_ms(), 200);
    let next = ClaimId { number: 9, ..claim_id() };
    let claimed = Record {
        token: 100, attempt: 1, claimed_at_ms: 100, expires_at_ms: 200, changed_at_ms: 100,
        fingerprint: Some(b"g".to_vec()), claim: next, ..i
    };
    assert_eq!(draft.under(next), claimed, "a new claim takes nothing over but a greater token");
}

#[test]
fn a_token_grows_for_ever_and_never_overflows() {
    let address = address();
    let ask = BeginAsk { address: &address, lease_ms: LEASE_MS, fingerprint: None };
    let begin_over = |token, now_ms| match begin(Some(&Record { token, ..gone(State::Tombstone) }), now_ms, &ask) {
        Ok(Decision::Claim(_, Begin::Fresh(claim))) => Ok(claim.token),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error),
    };
    use crate::record::MAX_TOKEN;
    assert_eq!(begin_over(5, 100), Ok(100));
    assert_eq!(begin_over(100, 100), Ok(101));
    assert_eq!(begin_over(1, u64::MAX), Ok(MAX_TOKEN / 2), "a host clock beyond all reason");
    assert_eq!(begin_over(MAX_TOKEN - 1, 0), Ok(MAX_TOKEN));
    assert!(matches!(begin_over(MAX_TOKEN, 0), Err(Error::Corrupt(_))));
}

#[test]
fn get_shows_what_stands() {
    for found in [None, Some(gone(State::Tombstone)), Some(gone(State::Deleting))] {
        assert_eq!(get(found.as_ref(), 60), None);
    }
    for (now_ms, expired) in [(99, false), (100, true), (101, true)] {
        let entry = get(Some(&done()), now_ms).unwrap();
        assert_eq!((entry.expired, entry.token, entry.attempt), (expired, 5, 2));
        assert_eq!(entry.state, EntryState::Done(Some(b"p".to_vec())));
    }
    assert!(!get(Some(&done()), 0).unwrap().expired, "a clock that stepped back expires nothing");
}

#[test]
fn a_hint_lies_within_the_lease_wherever_the_clock_stands() {
    for changed_at_ms in [0, 50, 99] {
        let record = Record { changed_at_ms, ..inflight() };
        for now_ms in 0..100 {
            let Lease { retry_after_ms, .. } = lease(&record, time_on(Some(&record), now_ms));
            assert!((1..=100 - changed_at_ms).contains(&retry_after_ms));
        }
    }
}
