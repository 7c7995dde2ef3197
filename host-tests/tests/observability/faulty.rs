//! A store in memory that fails in every way that has a name.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use idempotency_ledger_host::store::{
    MemoryStore, Page, Store, StoreError, Swap, Version, Versioned,
};
use idempotency_ledger_host::{Clock, ManualClock};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Every call fails, with this.
    NoSuchStore,
    AccessDenied,
    Other,
    /// Every call from the first swap on fails.
    FromSwapOn,
    /// Every swap is lost.
    LostSwaps,
    /// A minute and a half pass in every call.
    Slow,
    /// Every value is garbage.
    Garbage,
    /// No call ends.
    Hangs,
    Panics,
}

/// Clones share the store, the fault and the clock.
#[derive(Clone)]
pub(crate) struct Faulty {
    pub(crate) inner: Arc<MemoryStore>,
    pub(crate) clock: ManualClock,
    fault: Arc<Mutex<Option<Fault>>>,
}

impl Faulty {
    pub(crate) fn new() -> Self {
        let clock = ManualClock::new(1_000_000_000);
        Self { inner: Arc::new(MemoryStore::new()), clock, fault: Arc::default() }
    }

    pub(crate) fn set(&self, fault: Option<Fault>) {
        *self.fault.lock().unwrap() = fault;
    }

    pub(crate) fn pass_ms(&self, ms: u64) {
        self.clock.set_ms(self.clock.now_ms() + ms);
    }

    /// What becomes of a call before it reaches the store.
    async fn befall(&self, swaps: bool) -> Result<Option<Fault>, StoreError> {
        let fault = *self.fault.lock().unwrap();
        let secret = || StoreError::Other("a message that tells a secret".to_owned());
        match fault {
            Some(Fault::NoSuchStore) => return Err(StoreError::NoSuchStore),
            Some(Fault::AccessDenied) => return Err(StoreError::AccessDenied),
            Some(Fault::Other) => return Err(secret()),
            Some(Fault::FromSwapOn) if swaps => {
                self.set(Some(Fault::Other));
                return Err(secret());
            }
            Some(Fault::Slow) => self.pass_ms(90_000),
            Some(Fault::Hangs) => tokio::time::sleep(Duration::from_secs(3_600)).await,
            Some(Fault::Panics) => panic!("a store that panics"),
            _ => {}
        }
        Ok(fault)
    }
}

#[async_trait]
impl Store for Faulty {
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let fault = self.befall(false).await?;
        let found = self.inner.get(key).await?;
        let garbage = |found: Versioned| Versioned { value: b"secret garbage".to_vec(), ..found };
        Ok(if fault == Some(Fault::Garbage) { found.map(garbage) } else { found })
    }

    async fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        self.befall(false).await?;
        self.inner.set(key, value).await
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.befall(false).await?;
        self.inner.delete(key).await
    }

    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        self.befall(false).await?;
        self.inner.increment(key, delta).await
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError> {
        if self.befall(true).await? == Some(Fault::LostSwaps) {
            return Ok(Swap::Conflict);
        }
        self.inner.compare_and_swap(key, expected, value).await
    }

    async fn list(&self, cursor: Option<String>) -> Result<Page, StoreError> {
        self.befall(false).await?;
        self.inner.list(cursor).await
    }
}
