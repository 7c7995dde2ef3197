//! A store whose compare-and-swap is none.

use async_trait::async_trait;
use idempotency_ledger_host::store::{
    MemoryStore, Page, Store, StoreError, Swap, Version, Versioned,
};

/// Its swaps write whatever they find, and say that they succeeded.
#[derive(Default)]
pub(super) struct Liar(MemoryStore);

#[async_trait]
impl Store for Liar {
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        self.0.get(key).await
    }

    async fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        self.0.set(key, value).await
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.0.delete(key).await
    }

    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        self.0.increment(key, delta).await
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        _expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError> {
        self.0.set(key, value).await.map(|()| Swap::Swapped)
    }

    async fn list(&self, cursor: Option<String>) -> Result<Page, StoreError> {
        self.0.list(cursor).await
    }
}
