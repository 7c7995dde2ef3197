//! The reference store: a map in memory. It lives as long as the process, or shorter.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::{
    PAGE_KEYS, Page, Store, StoreError, Swap, Version, Versioned, check_key, counter_overflow,
    wrong_kind,
};

/// A store in memory, for tests, demonstrations, and ledgers that need not outlive the
/// process. Nothing is lost but by dropping it; its size is bounded by memory alone.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: BTreeMap<String, Entry>,
    /// The last version given to any key.
    last_version: u64,
}

#[derive(Debug)]
struct Entry {
    content: Content,
    version: Version,
}

#[derive(Debug)]
enum Content {
    Value(Vec<u8>),
    Counter(i64),
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// No code panics while it holds the lock, so a poisoned one is as good as any.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn put(&mut self, key: &str, content: Content) {
        self.last_version += 1;
        let entry = Entry { content, version: Version(self.last_version) };
        self.entries.insert(key.to_owned(), entry);
    }

    /// The version of the value at `key`, which must not be a counter.
    fn value_version(&self, key: &str) -> Result<Option<Version>, StoreError> {
        match self.entries.get(key) {
            None => Ok(None),
            Some(Entry { content: Content::Value(_), version }) => Ok(Some(*version)),
            Some(Entry { content: Content::Counter(_), .. }) => Err(wrong_kind("counter")),
        }
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let key = check_key(key)?;
        Ok(self.lock().entries.get(key).map(|entry| Versioned {
            value: match &entry.content {
                Content::Value(value) => value.clone(),
                Content::Counter(count) => count.to_le_bytes().to_vec(),
            },
            version: entry.version,
        }))
    }

    async fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        let key = check_key(key)?;
        let mut state = self.lock();
        state.value_version(key)?;
        state.put(key, Content::Value(value));
        Ok(())
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.lock().entries.remove(check_key(key)?);
        Ok(())
    }

    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        let key = check_key(key)?;
        let mut state = self.lock();
        let before = match state.entries.get(key) {
            None => 0,
            Some(Entry { content: Content::Counter(count), .. }) => *count,
            Some(Entry { content: Content::Value(_), .. }) => return Err(wrong_kind("value")),
        };
        let sum = before.checked_add(delta).ok_or_else(counter_overflow)?;
        state.put(key, Content::Counter(sum));
        Ok(sum)
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError> {
        let key = check_key(key)?;
        let mut state = self.lock();
        if state.value_version(key)? != expected {
            return Ok(Swap::Conflict);
        }
        state.put(key, Content::Value(value));
        Ok(Swap::Swapped)
    }

    async fn list(&self, cursor: Option<String>) -> Result<Page, StoreError> {
        let state = self.lock();
        let start = cursor.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest =
            state.entries.range::<str, _>((start, Bound::Unbounded)).map(|(key, _)| key.clone());
        let keys: Vec<String> = rest.by_ref().take(PAGE_KEYS).collect();
        let cursor = if rest.next().is_some() { keys.last().cloned() } else { None };
        Ok(Page { keys, cursor })
    }
}
