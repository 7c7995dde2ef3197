//! The promises, as a naive ledger of one key, and whether a history keeps them: whether
//! there is an order of the calls, each within its own time, in which the naive ledger gives
//! the very answers that were seen.

use idempotency_ledger::Error;
use idempotency_ledger::answer::{
    Begin, Claim, Complete, Entry, EntryState, Forget, Lease, LostReason, Outcome, Recorded,
    Release, Renew,
};
use idempotency_ledger::clock::Millis;

use super::history::{Answer, Call, Operation};

/// A key, naively.
#[derive(Clone, Debug, Default, PartialEq)]
struct Key {
    held: Option<Held>,
    last_token: u64,
    /// Tries of the work that failed since the last outcome or purge.
    failed: u32,
    /// Nothing is dated before this.
    changed_at_ms: Millis,
    /// A purge of an hour ago may be deleting it.
    removed: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Held {
    token: u64,
    attempt: u32,
    expires_at_ms: Millis,
    payload: Option<u8>,
}

/// Whether some order explains all answers. Calls without an answer, or with an answer that
/// their effect is unknown, may have happened at any time since, or not.
pub(super) fn explains(operations: &[Operation]) -> bool {
    search(operations, &mut vec![false; operations.len()], &Key::default())
}

fn search(operations: &[Operation], done: &mut Vec<bool>, key: &Key) -> bool {
    let open = |done: &[bool], i: usize| !done[i] && is_certain(&operations[i]);
    if (0..operations.len()).all(|i| !open(done, i)) {
        return true;
    }
    // The next in order was called before any open call was answered.
    let first_answer = (0..operations.len())
        .filter(|i| open(done, *i))
        .filter_map(|i| answered_at(&operations[i]))
        .min();
    for i in 0..operations.len() {
        let operation = &operations[i];
        if done[i] || first_answer.is_some_and(|answered| operation.called > answered) {
            continue;
        }
        done[i] = true;
        for now_ms in &operation.clock_ms {
            for next in steps(key, operation, *now_ms) {
                if search(operations, done, &next) {
                    return true;
                }
            }
        }
        done[i] = false;
    }
    false
}

fn answered_at(operation: &Operation) -> Option<usize> {
    operation.answered.as_ref().map(|(at, _)| *at)
}

fn is_certain(operation: &Operation) -> bool {
    !matches!(operation.answered, None | Some((_, Answer::Error(Error::OutcomeUnknown(_)))))
}

/// The states after the operation, if it was carried out with what was answered.
fn steps(key: &Key, operation: &Operation, now_ms: Millis) -> Vec<Key> {
    let now_ms = now_ms.max(key.changed_at_ms);
    let mut next = key.clone();
    let expected = carry_out(&mut next, operation, now_ms);
    match &operation.answered {
        None | Some((_, Answer::Error(Error::OutcomeUnknown(_)))) => vec![next],
        Some((
            _,
            Answer::Error(Error::Unavailable(_) | Error::Contended(_) | Error::DeadlineExceeded),
        )) => {
            vec![key.clone()]
        }
        Some((_, Answer::Begin(Begin::Inflight(lease)))) if key.held.is_none() && key.removed => {
            if lease.retry_after_ms <= 1_000 {
                vec![key.clone()]
            } else {
                Vec::new()
            }
        }
        // The same release, made twice in one millisecond: one record serves both.
        Some((_, Answer::Release(Release::Released)))
            if key.removed
                && operation.token == Some(key.last_token)
                && key.changed_at_ms == now_ms =>
        {
            vec![key.clone()]
        }
        Some((_, Answer::Purge(report))) => {
            let removes = key.held.is_some() && next.held.is_none();
            match (report.removed, removes) {
                (1, true) | (0, false) => vec![next],
                (0, true) if report.more => vec![key.clone()],
                _ => Vec::new(),
            }
        }
        Some((_, answer)) if expected.as_ref().is_some_and(|expected| same(expected, answer)) => {
            vec![next]
        }
        Some(_) => Vec::new(),
    }
}

/// Equal, but for hints, which only have to lie within the lease.
fn same(expected: &Answer, answer: &Answer) -> bool {
    match (expected, answer) {
        (Answer::Begin(Begin::Inflight(a)), Answer::Begin(Begin::Inflight(b)))
        | (Answer::Forget(Forget::Inflight(a)), Answer::Forget(Forget::Inflight(b))) => {
            a.expires_at_ms == b.expires_at_ms
                && (1..=a.retry_after_ms.max(1)).contains(&b.retry_after_ms)
        }
        (Answer::Get(Some(a)), Answer::Get(Some(b))) => {
            (&a.state, a.token, a.attempt, a.expires_at_ms, a.expired)
                == (&b.state, b.token, b.attempt, b.expires_at_ms, b.expired)
        }
        _ => expected == answer,
    }
}

fn carry_out(key: &mut Key, operation: &Operation, now_ms: Millis) -> Option<Answer> {
    let live = key.held.as_ref().is_some_and(|held| held.expires_at_ms > now_ms);
    match operation.call {
        Call::Begin { lease_ms } => Some(Answer::Begin(begin(key, now_ms, lease_ms, live))),
        Call::Complete { ttl_ms, upsert, payload, .. } => {
            let lost = match (&key.held, operation.token) {
                (Some(held), _) if held.payload.is_some() => Some(LostReason::AlreadyDone),
                (Some(held), Some(token))
                    if token != held.token && (live || !upsert || token < held.token) =>
                {
                    Some(LostReason::Superseded)
                }
                (Some(_), _) if !live && !upsert => Some(LostReason::Expired),
                (None, _) if !upsert => Some(LostReason::Missing),
                (None, Some(token)) if token < key.last_token => Some(LostReason::Superseded),
                _ => None,
            };
            if let Some(reason) = lost {
                return Some(Answer::Complete(Complete::Lost(reason)));
            }
            let held = key.held.clone();
            let standing =
                held.as_ref().map_or_else(|| (key.last_token + 1).max(now_ms), |held| held.token);
            let token = operation.token.unwrap_or(standing);
            let attempt = held.map_or(1, |held| held.attempt);
            let expires_at_ms = now_ms + ttl_ms;
            *key = Key {
                held: Some(Held { token, attempt, expires_at_ms, payload: Some(payload) }),
                last_token: token.max(key.last_token),
                failed: 0,
                changed_at_ms: now_ms,
                removed: false,
            };
            let recorded = Recorded { token, completed_at_ms: now_ms, expires_at_ms };
            Some(Answer::Complete(Complete::Recorded(recorded)))
        }
        Call::Renew { lease_ms, .. } => {
            Some(Answer::Renew(match hold(key, operation.token?, live) {
                Err(reason) => Renew::Lost(reason),
                Ok(held) => {
                    let later = now_ms + lease_ms;
                    if later > held.expires_at_ms {
                        held.expires_at_ms = later;
                        key.changed_at_ms = now_ms;
                    }
                    let held = key.held.as_ref()?;
                    Renew::Renewed(Claim {
                        token: held.token,
                        expires_at_ms: held.expires_at_ms,
                        attempt: held.attempt,
                    })
                }
            }))
        }
        Call::Release { .. } => Some(Answer::Release(match hold(key, operation.token?, live) {
            Err(reason) => Release::Lost(reason),
            Ok(held) => {
                let attempt = held.attempt;
                remove(key, attempt, now_ms);
                key.removed = true;
                Release::Released
            }
        })),
        Call::Get => Some(Answer::Get(get(key, now_ms))),
        Call::Forget { .. } => Some(Answer::Forget(match &key.held {
            None => Forget::Missing,
            Some(held) if Some(held.token) != operation.token => Forget::Superseded,
            Some(held) if live && held.payload.is_none() => {
                let (expires_at_ms, retry_after_ms) =
                    (held.expires_at_ms, held.expires_at_ms - now_ms);
                Forget::Inflight(Lease { expires_at_ms, retry_after_ms })
            }
            Some(_) => {
                remove(key, 0, now_ms);
                Forget::Forgotten
            }
        })),
        Call::Purge { .. } => {
            if key.held.as_ref().is_some_and(|held| held.expires_at_ms < now_ms) {
                remove(key, 0, now_ms);
            }
            None
        }
    }
}

fn begin(key: &mut Key, now_ms: Millis, lease_ms: Millis, live: bool) -> Begin {
    if let Some(held) = key.held.as_ref().filter(|_| live) {
        return match held.payload {
            Some(payload) => Begin::Done(Outcome {
                payload: Some(vec![payload]),
                token: held.token,
                completed_at_ms: key.changed_at_ms,
                expires_at_ms: held.expires_at_ms,
            }),
            None => Begin::Inflight(Lease {
                expires_at_ms: held.expires_at_ms,
                retry_after_ms: held.expires_at_ms - now_ms,
            }),
        };
    }
    let failed = match &key.held {
        Some(held) if held.payload.is_none() => held.attempt,
        Some(_) => 0,
        None => key.failed,
    };
    let token = (key.last_token + 1).max(now_ms);
    let claim = Claim { token, expires_at_ms: now_ms + lease_ms, attempt: failed + 1 };
    let held =
        Held { token, attempt: claim.attempt, expires_at_ms: claim.expires_at_ms, payload: None };
    *key =
        Key { held: Some(held), last_token: token, failed, changed_at_ms: now_ms, removed: false };
    Begin::Fresh(claim)
}

fn hold(key: &mut Key, token: u64, live: bool) -> Result<&mut Held, LostReason> {
    match &mut key.held {
        None => Err(LostReason::Missing),
        Some(held) if held.payload.is_some() => Err(LostReason::AlreadyDone),
        Some(held) if held.token != token => Err(LostReason::Superseded),
        Some(_) if !live => Err(LostReason::Expired),
        Some(held) => Ok(held),
    }
}

fn get(key: &Key, now_ms: Millis) -> Option<Entry> {
    let held = key.held.as_ref()?;
    Some(Entry {
        state: match held.payload {
            Some(payload) => EntryState::Done(Some(vec![payload])),
            None => EntryState::Inflight,
        },
        token: held.token,
        attempt: held.attempt,
        fingerprint: None,
        claimed_at_ms: 0,
        completed_at_ms: None,
        expires_at_ms: held.expires_at_ms,
        expired: held.expires_at_ms <= now_ms,
    })
}

fn remove(key: &mut Key, failed: u32, now_ms: Millis) {
    key.held = None;
    key.failed = failed;
    key.changed_at_ms = now_ms;
    key.removed = true;
}
