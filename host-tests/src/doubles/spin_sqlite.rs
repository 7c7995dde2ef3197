//! A double of Spin's default store.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use idempotency_ledger_host::store::{Page, Store, StoreError, Swap, Version, Versioned};

use super::listing::list;
use super::pace::Pace;

/// Spin's key-value store on SQLite, in memory. Seeded pauses around every call mix the calls
/// of several tasks.
pub struct SpinSqlite {
    state: Mutex<State>,
    pace: Pace,
    locked_per_mille: AtomicU32,
}

#[derive(Default)]
struct State {
    /// Whatever was written last. A counter is a value like any other.
    values: BTreeMap<String, Vec<u8>>,
    is_dead: bool,
}

impl SpinSqlite {
    /// An empty store.
    pub fn new(seed: u64) -> Self {
        let (state, locked_per_mille) = (Mutex::default(), AtomicU32::new(0));
        SpinSqlite { state, pace: Pace::new(seed), locked_per_mille }
    }

    /// From now on so many of a thousand calls fail as `database is locked`, without effect
    /// (measured on Spin 4.1 with two processes on one file: up to 130, none of them applied).
    pub fn set_locked_per_mille(&self, locked_per_mille: u32) {
        self.locked_per_mille.store(locked_per_mille, Ordering::Relaxed);
    }

    /// Starts Spin anew: a dead store works again, with the values that it had.
    pub fn restart(&self) {
        self.lock().is_dead = false;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn run<R>(
        &self,
        call: impl FnOnce(&mut State) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        self.pace.pause().await;
        let answer = if self.pace.happens(self.locked_per_mille.load(Ordering::Relaxed)) {
            Err(StoreError::Other("database is locked".to_owned()))
        } else {
            self.lock().call(call)
        };
        self.pace.pause().await;
        answer
    }
}

impl State {
    fn call<R>(
        &mut self,
        call: impl FnOnce(&mut State) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        if self.is_dead { Err(dead()) } else { call(self) }
    }

    /// Where nothing was read it writes whatever stands there by now (measured on Spin 4.1: of
    /// 200 racing first swaps 85 to 190 succeeded), else over a value that equals the one that
    /// was read: values are compared, not versions (measured on Spin 4.1).
    fn swap(&mut self, key: String, expected: Option<Version>, value: Vec<u8>) -> Swap {
        let found = self.values.get(&key).map(|value| version(value));
        if expected.is_some() && expected != found {
            return Swap::Conflict;
        }
        self.values.insert(key, value);
        Swap::Swapped
    }

    /// A counter is exactly 8 bytes, little-endian. Of anything else the increment panics with
    /// the connection's lock held, and every later call fails (measured on Spin 4.1). By 0 it
    /// makes the key (measured on Spin 4.1).
    fn increment(&mut self, key: &str, delta: i64) -> Result<i64, StoreError> {
        let before = match self.values.get(key).map(|value| <[u8; 8]>::try_from(&value[..])) {
            None => 0,
            Some(Ok(bytes)) => i64::from_le_bytes(bytes),
            Some(Err(_)) => {
                self.is_dead = true;
                return Err(dead());
            }
        };
        let sum = before.wrapping_add(delta);
        self.values.insert(key.to_owned(), sum.to_le_bytes().to_vec());
        Ok(sum)
    }
}

/// The only version that such a store has is the value itself: a value that returns has the
/// version that it had before.
fn version(value: &[u8]) -> Version {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    Version(hasher.finish())
}

fn versioned(value: &[u8]) -> Versioned {
    Versioned { value: value.to_vec(), version: version(value) }
}

fn dead() -> StoreError {
    StoreError::Other("the store's lock is poisoned".to_owned())
}

#[async_trait]
impl Store for SpinSqlite {
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        self.run(|state| Ok(state.values.get(key).map(|value| versioned(value)))).await
    }

    async fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        let key = key.to_owned();
        self.run(|state| {
            state.values.insert(key, value);
            Ok(())
        })
        .await
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.run(|state| {
            state.values.remove(key);
            Ok(())
        })
        .await
    }

    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        self.run(|state| state.increment(key, delta)).await
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError> {
        let key = key.to_owned();
        self.run(|state| Ok(state.swap(key, expected, value))).await
    }

    async fn list(&self, cursor: Option<String>) -> Result<Page, StoreError> {
        self.run(|state| list(state.values.keys(), cursor)).await
    }
}
