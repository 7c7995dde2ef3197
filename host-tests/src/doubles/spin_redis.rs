//! A double of Spin's store on Redis.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use idempotency_ledger_host::store::{Page, Store, StoreError, Swap, Version, Versioned};
use tokio::sync::watch;

use super::listing::list;
use super::pace::Pace;

/// Spin's key-value store on Redis, in memory. Seeded pauses around every call mix the calls
/// of several tasks. Clones are the same store.
#[derive(Clone)]
pub struct SpinRedis {
    values: Arc<Mutex<Values>>,
    pace: Arc<Pace>,
    is_away: Arc<watch::Sender<bool>>,
}

/// Whatever was written last, with a version that `WATCH` knows: every write gives another.
/// A counter is a value like any other.
#[derive(Default)]
struct Values {
    values: BTreeMap<String, Versioned>,
    last_version: u64,
}

impl SpinRedis {
    /// An empty store.
    pub fn new(seed: u64) -> Self {
        let (values, pace) = (Arc::default(), Arc::new(Pace::new(seed)));
        SpinRedis { values, pace, is_away: Arc::new(watch::Sender::new(false)) }
    }

    /// Redis goes away, or comes back. While it is away calls hang, for minutes; when it is
    /// back they take effect, also those whose callers gave up (measured on Spin 4.1).
    pub fn set_away(&self, is_away: bool) {
        self.is_away.send_replace(is_away);
    }

    fn lock(&self) -> MutexGuard<'_, Values> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In a task of its own, which a caller that gives up does not end.
    async fn run<R: Send + 'static>(
        &self,
        call: impl FnOnce(&mut Values) -> Result<R, StoreError> + Send + 'static,
    ) -> Result<R, StoreError> {
        let store = self.clone();
        let task = tokio::spawn(async move {
            store.pace.pause().await;
            let mut is_away = store.is_away.subscribe();
            // The sender lives as long as the store.
            let _ = is_away.wait_for(|is_away| !*is_away).await;
            let answer = call(&mut store.lock());
            store.pace.pause().await;
            answer
        });
        task.await.unwrap_or_else(|error| Err(StoreError::Other(error.to_string())))
    }
}

impl Values {
    fn set(&mut self, key: String, value: Vec<u8>) {
        self.last_version += 1;
        self.values.insert(key, Versioned { value, version: Version(self.last_version) });
    }

    /// A counter is decimal text, and text that is a number is a counter; anything else is an
    /// error and stays (measured on Spin 4.1). By 0 it makes the key (measured on Spin 4.1).
    fn increment(&mut self, key: String, delta: i64) -> Result<i64, StoreError> {
        let text = self.values.get(&key).map_or(&b"0"[..], |found| &found.value);
        let before = std::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok());
        let sum = before.and_then(|before| before.checked_add(delta));
        let not_a_number =
            || StoreError::Other("value is not an integer or out of range".to_owned());
        let sum = sum.ok_or_else(not_a_number)?;
        self.set(key, sum.to_string().into_bytes());
        Ok(sum)
    }

    /// Writes only where nobody wrote since `current` (by its source: `WATCH`, and a
    /// transaction), and always answers that it lost the race, also where it wrote (measured
    /// on Spin 4.1).
    fn swap(&mut self, key: String, expected: Option<Version>, value: Vec<u8>) -> Swap {
        if self.values.get(&key).map(|found| found.version) == expected {
            self.set(key, value);
        }
        Swap::Conflict
    }
}

#[async_trait]
impl Store for SpinRedis {
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let key = key.to_owned();
        self.run(move |values| Ok(values.values.get(&key).cloned())).await
    }

    async fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        let key = key.to_owned();
        self.run(move |values| {
            values.set(key, value);
            Ok(())
        })
        .await
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        let key = key.to_owned();
        self.run(move |values| {
            values.values.remove(&key);
            Ok(())
        })
        .await
    }

    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        let key = key.to_owned();
        self.run(move |values| values.increment(key, delta)).await
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError> {
        let key = key.to_owned();
        self.run(move |values| Ok(values.swap(key, expected, value))).await
    }

    async fn list(&self, cursor: Option<String>) -> Result<Page, StoreError> {
        self.run(move |values| list(values.values.keys(), cursor)).await
    }
}
