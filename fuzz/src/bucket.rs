//! A sound store in memory, as plain as can be: one caller, nothing fails.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use idempotency_ledger::bucket::{Bucket, StoreError, SwapError};

/// What a key holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Bytes that were written.
    Value(Vec<u8>),
    /// A number that was incremented.
    Counter(i64),
}

/// The store's keys. Clones of a bucket share them.
#[derive(Clone, Debug, Default)]
pub struct PlainBucket(Rc<RefCell<BTreeMap<String, Content>>>);

impl PlainBucket {
    /// A store of its own with the same content.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self(Rc::new(RefCell::new(self.0.borrow().clone())))
    }

    /// Every key that holds a value, and the value.
    #[must_use]
    pub fn values(&self) -> Vec<(String, Vec<u8>)> {
        let of = |(key, content): (&String, &Content)| match content {
            Content::Value(bytes) => Some((key.clone(), bytes.clone())),
            Content::Counter(_) => None,
        };
        self.0.borrow().iter().filter_map(of).collect()
    }

    /// Writes a value, whatever was there.
    pub fn put(&self, key: &str, value: &[u8]) {
        self.0.borrow_mut().insert(key.into(), Content::Value(value.into()));
    }
}

/// A key, and its value when it was opened.
pub struct Handle {
    key: String,
    seen: Option<Vec<u8>>,
}

impl Bucket for PlainBucket {
    type Cas = Handle;

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        match self.0.borrow().get(key) {
            None => Ok(None),
            Some(Content::Value(bytes)) => Ok(Some(bytes.clone())),
            Some(Content::Counter(_)) => Err(misuse(key, "read a counter")),
        }
    }

    fn set(&self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        if let Some(Content::Counter(_)) = self.0.borrow().get(key) {
            return Err(misuse(key, "wrote a counter"));
        }
        self.put(key, value);
        Ok(())
    }

    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.0.borrow_mut().remove(key);
        Ok(())
    }

    fn exists(&self, key: &str) -> Result<bool, StoreError> {
        Ok(self.0.borrow().contains_key(key))
    }

    fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        let mut data = self.0.borrow_mut();
        match data.entry(key.into()).or_insert(Content::Counter(0)) {
            Content::Counter(count) => {
                *count = count.checked_add(delta).ok_or_else(|| misuse(key, "overflowed"))?;
                Ok(*count)
            }
            Content::Value(_) => Err(misuse(key, "incremented a value")),
        }
    }

    fn cas(&self, key: &str) -> Result<Handle, StoreError> {
        Ok(Handle { key: key.into(), seen: self.get(key)? })
    }

    fn current(&self, cas: &Handle) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(cas.seen.clone())
    }

    fn swap(&self, cas: Handle, value: &[u8]) -> Result<(), SwapError<Handle>> {
        if self.get(&cas.key).map_err(SwapError::Store)? != cas.seen {
            return self
                .cas(&cas.key)
                .map_err(SwapError::Store)
                .and_then(|now| Err(SwapError::Failed(now)));
        }
        self.set(&cas.key, value).map_err(SwapError::Store)
    }
}

/// Hosts disagree about a counter's bytes: the ledger never mixes counters and values.
fn misuse(key: &str, what: &str) -> StoreError {
    StoreError::Other(format!("{what}: {key}"))
}
