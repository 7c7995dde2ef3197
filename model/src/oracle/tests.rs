//! The oracle bites: histories that break a promise have no explanation.

use idempotency_ledger::Error;
use idempotency_ledger::answer::{
    Begin, Claim, Complete, Lease, LostReason, PurgeReport, Recorded, Release,
};
use idempotency_ledger::clock::Millis;

use idempotency_ledger::record::Strategy;

use super::{Answer, Call, Operation, Token, explains};

const BEGIN: Call = Call::Begin { lease_ms: 10 };
const COMPLETE: Call = Call::Complete { token: Token::Own, ttl_ms: 20, upsert: false, payload: 1 };

/// A call that was made at `called` and answered at once.
fn step(
    called: usize,
    call: Call,
    token: Option<u64>,
    now_ms: Millis,
    answer: Answer,
) -> Operation {
    Operation {
        worker: called,
        call,
        token,
        called,
        answered: Some((called + 1, answer)),
        clock_ms: vec![now_ms],
    }
}

fn fresh(token: u64, now_ms: Millis, attempt: u32) -> Answer {
    Answer::Begin(Begin::Fresh(Claim { token, expires_at_ms: now_ms + 10, attempt }))
}

fn recorded(token: u64, now_ms: Millis) -> Answer {
    Answer::Complete(Complete::Recorded(Recorded {
        token,
        completed_at_ms: now_ms,
        expires_at_ms: now_ms + 20,
    }))
}

fn lost(reason: LostReason) -> Answer {
    Answer::Complete(Complete::Lost(reason))
}

#[test]
fn an_honest_history_is_explained() {
    let history = [
        step(1, BEGIN, None, 100, fresh(100, 100, 1)),
        step(
            3,
            BEGIN,
            None,
            109,
            Answer::Begin(Begin::Inflight(Lease { expires_at_ms: 110, retry_after_ms: 1 })),
        ),
        step(5, BEGIN, None, 110, fresh(110, 110, 2)),
        step(7, COMPLETE, Some(100), 111, lost(LostReason::Superseded)),
        step(9, COMPLETE, Some(110), 112, recorded(110, 112)),
        step(11, COMPLETE, Some(110), 113, lost(LostReason::AlreadyDone)),
    ];
    assert!(explains(&history, Strategy::Cas));
}

#[test]
fn broken_promises_are_not() {
    let claim = || step(1, BEGIN, None, 100, fresh(100, 100, 1));
    let rows: [(&str, Vec<Operation>); 7] = [
        ("two live claims", vec![claim(), step(3, BEGIN, None, 109, fresh(109, 109, 2))]),
        ("the same token again", vec![claim(), step(3, BEGIN, None, 110, fresh(100, 110, 2))]),
        ("a forgotten attempt", vec![claim(), step(3, BEGIN, None, 110, fresh(110, 110, 1))]),
        (
            "two outcomes",
            vec![
                claim(),
                step(3, COMPLETE, Some(100), 105, recorded(100, 105)),
                step(5, COMPLETE, Some(100), 106, recorded(100, 106)),
            ],
        ),
        (
            "an outcome past the lease",
            vec![claim(), step(3, COMPLETE, Some(100), 110, recorded(100, 110))],
        ),
        (
            "a stale worker's outcome",
            vec![
                claim(),
                step(3, BEGIN, None, 110, fresh(110, 110, 2)),
                step(5, COMPLETE, Some(100), 111, recorded(100, 111)),
            ],
        ),
        (
            "a hint beyond the lease",
            vec![
                claim(),
                step(
                    3,
                    BEGIN,
                    None,
                    105,
                    Answer::Begin(Begin::Inflight(Lease { expires_at_ms: 110, retry_after_ms: 6 })),
                ),
            ],
        ),
    ];
    for (name, history) in rows {
        assert!(!explains(&history, Strategy::Cas), "{name}");
    }
}

/// A history on a key that a claim holds from 100 to 110.
fn after_a_claim(rest: Vec<Operation>) -> Vec<Operation> {
    let mut history = vec![step(1, BEGIN, None, 100, fresh(100, 100, 1))];
    history.extend(rest);
    history
}

fn purged(removed: u32, more: bool) -> PurgeReport {
    PurgeReport { removed, reclaimed: 0, more }
}

const PURGE: Call = Call::Purge { limit: 10 };
const RELEASE: Call = Call::Release { token: Token::Own };
const HOUR_MS: Millis = 3_600_000;

#[test]
fn a_purge_removes_what_is_due() {
    let rows: [(&str, bool, Answer); 7] = [
        ("it says so", true, Answer::Purge(purged(1, false))),
        ("it says that there is more", true, Answer::Purge(purged(0, true))),
        ("it overlooks the key", false, Answer::Purge(purged(0, false))),
        ("it removes more than there is", false, Answer::Purge(purged(2, false))),
        ("it counts other keys too", true, Answer::Swept(purged(2, false))),
        ("it counts other keys only", true, Answer::Swept(purged(1, true))),
        ("it overlooks all keys", false, Answer::Swept(purged(0, false))),
    ];
    for (name, is_right, answer) in rows {
        let history = after_a_claim(vec![step(3, PURGE, None, 111, answer)]);
        assert_eq!(explains(&history, Strategy::Cas), is_right, "{name}");
    }
}

/// A purge of other keys that counts this one's removal cannot leave it claimed.
#[test]
fn a_purge_does_not_remove_what_lives() {
    let inflight = Answer::Begin(Begin::Inflight(Lease { expires_at_ms: 110, retry_after_ms: 1 }));
    for answer in [Answer::Purge(purged(0, false)), Answer::Swept(purged(3, false))] {
        let rest =
            vec![step(3, PURGE, None, 109, answer), step(5, BEGIN, None, 109, inflight.clone())];
        assert!(explains(&after_a_claim(rest), Strategy::Cas));
    }
}

/// How often a released key was tried is known until its log is deleted, an hour later.
#[test]
fn a_deleted_log_knows_nothing() {
    let released = Answer::Release(Release::Released);
    let later_ms = 105 + HOUR_MS;
    let with = |purge_ms, attempt| {
        after_a_claim(vec![
            step(3, RELEASE, Some(100), 105, released.clone()),
            step(5, PURGE, None, purge_ms, Answer::Purge(purged(0, false))),
            step(7, BEGIN, None, later_ms, fresh(later_ms, later_ms, attempt)),
        ])
    };
    assert!(explains(&with(later_ms, 2), Strategy::Cas), "not deleted yet");
    assert!(explains(&with(later_ms, 1), Strategy::Cas), "deleted");
    assert!(!explains(&with(later_ms - 1, 1), Strategy::Cas), "deleted too early");
}

/// By tickets alone, while somebody's change may stand half-way, and not for long.
#[test]
fn a_begin_is_put_off() {
    let put_off = |retry_after_ms| {
        let expires_at_ms = 30_000;
        let lease = Lease { expires_at_ms, retry_after_ms };
        step(3, BEGIN, None, 120, Answer::Begin(Begin::Inflight(lease)))
    };
    let failed = |answer| Operation {
        answered: answer,
        ..step(1, BEGIN, None, 100, lost(LostReason::Missing))
    };
    let crashed = failed(None);
    let unknown = failed(Some((2, Answer::Error(Error::OutcomeUnknown("injected".into())))));
    for other in [crashed, unknown] {
        let history = |retry_after_ms| [other.clone(), put_off(retry_after_ms)];
        assert!(explains(&history(1_000), Strategy::Ticket));
        assert!(!explains(&history(1_001), Strategy::Ticket));
        assert!(!explains(&history(1_000), Strategy::Cas));
    }
    assert!(!explains(&[put_off(1_000)], Strategy::Ticket), "nobody else was there");
}
