//! A naive ledger of one key: what each call answers and leaves behind.

use idempotency_ledger::answer::{
    Begin, Claim, Complete, Entry, EntryState, Forget, Lease, LostReason, Outcome, Recorded,
    Release, Renew,
};
use idempotency_ledger::clock::Millis;

use super::{Answer, Call, Operation};

/// A key, naively.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) held: Option<Held>,
    pub(super) last_token: u64,
    /// Tries of the work that failed since the last outcome or purge.
    pub(super) failed: u32,
    /// Nothing is dated before this.
    pub(super) changed_at_ms: Millis,
    /// A purge of an hour ago may be deleting it.
    pub(super) removed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Held {
    pub(super) token: u64,
    attempt: u32,
    expires_at_ms: Millis,
    payload: Option<u8>,
}

/// Carries out the operation, and answers what it is to be answered; not for a purge, whose
/// answer depends on other keys.
pub(super) fn carry_out(key: &mut Key, operation: &Operation, now_ms: Millis) -> Option<Answer> {
    let live = key.held.as_ref().is_some_and(|held| held.expires_at_ms > now_ms);
    match operation.call {
        Call::Begin { lease_ms } => Some(Answer::Begin(begin(key, now_ms, lease_ms, live))),
        Call::Complete { .. } => Some(Answer::Complete(complete(key, operation, now_ms, live)?)),
        Call::Renew { lease_ms, .. } => {
            Some(Answer::Renew(renew(key, operation.token?, now_ms, (lease_ms, live))))
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
        Call::Forget { .. } => Some(Answer::Forget(forget(key, operation.token?, now_ms, live))),
        Call::Purge { .. } => {
            if key.held.as_ref().is_some_and(|held| held.expires_at_ms < now_ms) {
                remove(key, 0, now_ms);
            }
            None
        }
    }
}

/// None for another call.
fn complete(key: &mut Key, operation: &Operation, now_ms: Millis, live: bool) -> Option<Complete> {
    let Call::Complete { ttl_ms, upsert, payload, .. } = operation.call else { return None };
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
        return Some(Complete::Lost(reason));
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
    Some(Complete::Recorded(recorded))
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

fn renew(key: &mut Key, token: u64, now_ms: Millis, (lease_ms, live): (Millis, bool)) -> Renew {
    let held = match hold(key, token, live) {
        Ok(held) => held,
        Err(reason) => return Renew::Lost(reason),
    };
    let later_ms = now_ms + lease_ms;
    let is_longer = later_ms > held.expires_at_ms;
    held.expires_at_ms = held.expires_at_ms.max(later_ms);
    let (expires_at_ms, attempt) = (held.expires_at_ms, held.attempt);
    if is_longer {
        key.changed_at_ms = now_ms;
    }
    Renew::Renewed(Claim { token, expires_at_ms, attempt })
}

fn forget(key: &mut Key, token: u64, now_ms: Millis, live: bool) -> Forget {
    match &key.held {
        None => Forget::Missing,
        Some(held) if held.token != token => Forget::Superseded,
        Some(held) if live && held.payload.is_none() => {
            let expires_at_ms = held.expires_at_ms;
            Forget::Inflight(Lease { expires_at_ms, retry_after_ms: expires_at_ms - now_ms })
        }
        Some(_) => {
            remove(key, 0, now_ms);
            Forget::Forgotten
        }
    }
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
