//! Increments. A stream has no counters, so one increment looks and swaps. All that wait for one
//! counter in this process share one swap: many callers on one counter would else lose against
//! each other most of the time.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::sleep;

use super::bucket::Bucket;
use super::entry::{Content, Entry};
use super::{ATTEMPTS, StoreError, Swap, crowded, wrong_kind};
use crate::store::counter_overflow;

/// Longest pause after a swap that lost against another process.
const MAX_PAUSE_US: u64 = 2_000;

/// One caller: what to add, and where the sum goes.
struct Waiter {
    delta: i64,
    reply: oneshot::Sender<Result<i64, StoreError>>,
}

/// The callers that wait, by counter. A counter is there while somebody serves it.
type Queues = HashMap<String, Vec<Waiter>>;

/// The counters of a bucket.
#[derive(Debug)]
pub(super) struct Counters {
    bucket: Arc<Bucket>,
    queues: Mutex<Queues>,
}

impl Counters {
    pub(super) fn new(bucket: Arc<Bucket>) -> Self {
        Self { bucket, queues: Mutex::default() }
    }

    pub(super) async fn increment(
        self: &Arc<Self>,
        key: &str,
        delta: i64,
    ) -> Result<i64, StoreError> {
        let (reply, sum) = oneshot::channel();
        if self.enqueue(key, Waiter { delta, reply }) {
            // A task of its own: whoever began to serve may go away, the others wait on.
            tokio::spawn(Arc::clone(self).serve(key.to_owned()));
        }
        let gone = |_| StoreError::Other("NATS: an increment was cut short".to_owned());
        sum.await.map_err(gone)?
    }

    /// Whether nobody serves this counter yet.
    fn enqueue(&self, key: &str, waiter: Waiter) -> bool {
        match self.lock().entry(key.to_owned()) {
            Slot::Occupied(mut queue) => {
                queue.get_mut().push(waiter);
                false
            }
            Slot::Vacant(queue) => {
                queue.insert(vec![waiter]);
                true
            }
        }
    }

    /// Add what all ask for who wait, until nobody does.
    async fn serve(self: Arc<Self>, key: String) {
        while let Some(mut waiters) = self.next(&key) {
            waiters.retain(|waiter| !waiter.reply.is_closed());
            let sums = self.add(&key, &waiters).await;
            for (at, waiter) in waiters.into_iter().enumerate() {
                let sum = match &sums {
                    Ok(sums) => sums.get(at).cloned().unwrap_or_else(|| Err(crowded())),
                    Err(error) => Err(error.clone()),
                };
                // Nobody waits for the answer if this fails.
                let _ = waiter.reply.send(sum);
            }
        }
    }

    /// Who waits now; `None`, and the counter is no longer served, if nobody does.
    fn next(&self, key: &str) -> Option<Vec<Waiter>> {
        let mut queues = self.lock();
        let waiters = std::mem::take(queues.get_mut(key)?);
        if waiters.is_empty() {
            queues.remove(key);
            return None;
        }
        Some(waiters)
    }

    /// The sum of each, in order, or one error for all.
    async fn add(
        &self,
        key: &str,
        waiters: &[Waiter],
    ) -> Result<Vec<Result<i64, StoreError>>, StoreError> {
        for _ in 0..ATTEMPTS {
            let Entry { sequence, content } = self.bucket.last(key).await?;
            let before = match content {
                Content::Absent => 0,
                Content::Counter(count) => count,
                Content::Value(_) => return Err(wrong_kind("value")),
            };
            let (sum, sums) = add_up(before, waiters.iter().map(|waiter| waiter.delta));
            if sums.iter().all(Result::is_err) {
                return Ok(sums);
            }
            match self.bucket.write(key, &Content::Counter(sum), sequence).await? {
                Swap::Swapped => return Ok(sums),
                Swap::Conflict => sleep(pause()).await,
            }
        }
        Err(crowded())
    }

    /// No code panics while it holds the lock, so a poisoned one is as good as any.
    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The last sum, and the sum or the overflow of each.
fn add_up(before: i64, deltas: impl Iterator<Item = i64>) -> (i64, Vec<Result<i64, StoreError>>) {
    let mut sum = before;
    let mut sums = Vec::new();
    for delta in deltas {
        sums.push(match sum.checked_add(delta) {
            Some(next) => {
                sum = next;
                Ok(next)
            }
            None => Err(counter_overflow()),
        });
    }
    (sum, sums)
}

/// Of any length, so that two processes do not go on meeting.
fn pause() -> Duration {
    Duration::from_micros(RandomState::new().hash_one(0) % MAX_PAUSE_US)
}

impl std::fmt::Debug for Waiter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Waiter").field("delta", &self.delta).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_own_sum_and_an_overflow_adds_nothing() {
        let (sum, sums) = add_up(i64::MAX - 1, [1, 1, -2].into_iter());
        assert_eq!(sum, i64::MAX - 2);
        assert_eq!(sums, [Ok(i64::MAX), Err(counter_overflow()), Ok(i64::MAX - 2)]);
    }
}
