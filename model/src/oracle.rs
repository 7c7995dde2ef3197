//! The promises, as a naive ledger of one key, and whether a history keeps them: whether
//! there is an order of the calls, each within its own time, in which the naive ledger gives
//! the very answers that were seen.

mod naive;
mod operation;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use foldhash::fast::FixedState;
use idempotency_ledger::Error;
use idempotency_ledger::answer::{Begin, Forget, Release};
use idempotency_ledger::clock::Millis;
use idempotency_ledger::record::Strategy;

use naive::{Key, carry_out};

pub use operation::{Answer, Call, Operation, Token};

/// Most calls of one history.
pub const MAX_OPERATIONS: usize = 128;
/// How long a removed key is left alone before its log may be deleted.
const QUARANTINE_MS: Millis = 3_600_000;
/// The longest hint while somebody's change of the key is under way.
const MAX_BUSY_HINT_MS: Millis = 1_000;

/// Whether some order explains all answers. Calls without an answer, or with an answer that
/// their effect is unknown, may have happened at any time since, or not.
///
/// By tickets a `begin` may also be put off shortly because of another's unfinished change, and a
/// purge may leave the key, or remove it and not count it.
///
/// # Panics
/// With more than [`MAX_OPERATIONS`].
pub fn explains(operations: &[Operation], strategy: Strategy) -> bool {
    assert!(operations.len() <= MAX_OPERATIONS, "{} operations", operations.len());
    let certain = (0..operations.len()).filter(|i| is_certain(&operations[*i]));
    let certain = certain.fold(0, |all, i| all | 1 << i);
    Search { operations, strategy, certain, dead_ends: HashSet::default() }.run(0, &Key::default())
}

struct Search<'a> {
    operations: &'a [Operation],
    strategy: Strategy,
    /// Those that must be explained, a bit each.
    certain: u128,
    /// What was carried out and the state then, from where no order leads on.
    dead_ends: HashSet<(u128, Key), FixedState>,
}

impl Search<'_> {
    fn run(&mut self, done: u128, key: &Key) -> bool {
        let open = self.certain & !done;
        if open == 0 {
            return true;
        }
        if self.dead_ends.contains(&(done, key.clone())) {
            return false;
        }
        // The next in order was called before any open call was answered.
        let operations = self.operations;
        let first_answer = (0..operations.len())
            .filter(|i| open >> i & 1 == 1)
            .filter_map(|i| answered_at(&operations[i]))
            .min();
        for (i, operation) in operations.iter().enumerate() {
            let too_early = first_answer.is_some_and(|answered| operation.called > answered);
            if done >> i & 1 == 1 || too_early {
                continue;
            }
            for now_ms in &operation.clock_ms {
                for next in self.steps(key, operation, *now_ms) {
                    // What changes nothing and need not have happened is left out.
                    let idle = self.certain >> i & 1 == 0 && next == *key;
                    if !idle && self.run(done | 1 << i, &next) {
                        return true;
                    }
                }
            }
        }
        self.dead_ends.insert((done, key.clone()));
        false
    }

    /// The states after the operation, if it was carried out with what was answered.
    fn steps(&self, key: &Key, operation: &Operation, now_ms: Millis) -> Vec<Key> {
        let now_ms = now_ms.max(key.changed_at_ms);
        let mut next = key.clone();
        let expected = carry_out(&mut next, operation, now_ms);
        let Some((_, answer)) = operation.answered.as_ref().filter(|_| is_certain(operation))
        else {
            return with_deletion(operation, now_ms, vec![next]);
        };
        match answer {
            Answer::Error(
                Error::Unavailable(_) | Error::Contended(_) | Error::DeadlineExceeded,
            ) => vec![key.clone()],
            Answer::Begin(Begin::Inflight(lease))
                if lease.retry_after_ms <= MAX_BUSY_HINT_MS
                    && (key.held.is_none() && key.removed || self.is_busy(operation)) =>
            {
                vec![key.clone()]
            }
            // The same change, made twice in one millisecond: one record serves both.
            Answer::Release(Release::Released) | Answer::Forget(Forget::Forgotten)
                if key.removed
                    && operation.token == Some(key.last_token)
                    && key.changed_at_ms == now_ms =>
            {
                vec![key.clone()]
            }
            Answer::Purge(report) | Answer::Swept(report) => {
                let mut states = after_purge(key, next.clone(), answer);
                // Of a purge of several keys nobody knows which were counted.
                let uncounted = report.removed == 0 || matches!(answer, Answer::Swept(_));
                if uncounted && self.is_busy(operation) {
                    states.extend([key.clone(), next]);
                }
                with_deletion(operation, now_ms, states)
            }
            answer if expected.as_ref().is_some_and(|expected| same(expected, answer)) => {
                vec![next]
            }
            _ => Vec::new(),
        }
    }

    /// Whether somebody else's change of the key may stand half-way: under way, died or failed.
    fn is_busy(&self, operation: &Operation) -> bool {
        let answered = answered_at(operation).unwrap_or(usize::MAX);
        let half_way = |other: &Operation| match &other.answered {
            Some((_, Answer::Error(_))) | None => true,
            Some((at, _)) => *at > operation.called,
        };
        let others = self.operations.iter().filter(|other| other.called != operation.called);
        self.strategy == Strategy::Ticket
            && others
                .filter(|other| other.call != Call::Get && other.called < answered)
                .any(half_way)
    }
}

/// A purge may have deleted the log of a key that was removed an hour ago, and all that it
/// knew; or may be about to.
fn with_deletion(operation: &Operation, now_ms: Millis, mut states: Vec<Key>) -> Vec<Key> {
    let deletes = |key: &&Key| {
        let rests = key.removed && key.held.is_none();
        rests && key.changed_at_ms.saturating_add(QUARANTINE_MS) <= now_ms
    };
    if matches!(operation.call, Call::Purge { .. }) && states.iter().any(|key| deletes(&key)) {
        states.push(Key { removed: true, ..Key::default() });
    }
    states
}

fn after_purge(key: &Key, next: Key, answer: &Answer) -> Vec<Key> {
    let removes = key.held.is_some() && next.held.is_none();
    let (report, exact) = match answer {
        Answer::Purge(report) => (report, true),
        Answer::Swept(report) => (report, false),
        _ => return Vec::new(),
    };
    match (report.removed, removes) {
        (0, false) => vec![next],
        (0, true) if report.more => vec![key.clone()],
        (0, true) => Vec::new(),
        (_, true) if report.more && !exact => vec![next, key.clone()],
        (1, true) => vec![next],
        (_, _) if !exact => vec![next],
        _ => Vec::new(),
    }
}

fn answered_at(operation: &Operation) -> Option<usize> {
    operation.answered.as_ref().map(|(at, _)| *at)
}

/// A purge that stops half-way keeps what it did.
fn is_certain(operation: &Operation) -> bool {
    match &operation.answered {
        None | Some((_, Answer::Error(Error::OutcomeUnknown(_)))) => false,
        Some((_, Answer::Error(Error::DeadlineExceeded))) => {
            !matches!(operation.call, Call::Purge { .. })
        }
        Some(_) => true,
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
