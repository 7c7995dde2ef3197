//! A store of the host crate under a probe.

use std::sync::Arc;

use async_trait::async_trait;
use idempotency_ledger_host::store::{Page, Store, StoreError, Swap, Version, Versioned};

use crate::probe::{Failure, Probe, Side, StoreCall};

/// Counts the calls of another store, and makes chosen ones fail. Clones are the same store.
#[derive(Clone)]
pub struct ProbedStore {
    inner: Arc<dyn Store>,
    probe: Arc<Probe>,
}

impl ProbedStore {
    /// `inner` under a probe of its own.
    pub fn new(inner: Arc<dyn Store>) -> Self {
        ProbedStore { inner, probe: Arc::default() }
    }

    /// The store without the probe.
    pub fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    /// What counts the calls.
    pub fn probe(&self) -> &Probe {
        &self.probe
    }

    async fn run<R>(
        &self,
        call: StoreCall,
        effect: impl Future<Output = Result<R, StoreError>>,
    ) -> Result<R, StoreError> {
        match self.probe.next(call) {
            None => effect.await,
            Some((Side::Before | Side::Late, failure)) => Err(store_error(failure)),
            Some((Side::After, failure)) => effect.await.and(Err(store_error(failure))),
        }
    }
}

fn store_error(failure: Failure) -> StoreError {
    match failure {
        Failure::NoSuchStore => StoreError::NoSuchStore,
        Failure::AccessDenied => StoreError::AccessDenied,
        Failure::Other => StoreError::Other("injected".into()),
    }
}

#[async_trait]
impl Store for ProbedStore {
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        self.run(StoreCall::Get, self.inner.get(key)).await
    }

    async fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        self.run(StoreCall::Set, self.inner.set(key, value)).await
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.run(StoreCall::Delete, self.inner.delete(key)).await
    }

    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        self.run(StoreCall::Increment, self.inner.increment(key, delta)).await
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError> {
        self.run(StoreCall::Swap, self.inner.compare_and_swap(key, expected, value)).await
    }

    async fn list(&self, cursor: Option<String>) -> Result<Page, StoreError> {
        self.inner.list(cursor).await
    }
}
