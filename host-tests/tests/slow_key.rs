//! One key whose store calls hang, among a hundred: only its own callers wait.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use host_tests::{STRATEGIES, builder};
use idempotency_ledger::key::Address;
use idempotency_ledger_host::store::{
    MemoryStore, Page, Store, StoreError, Swap, Version, Versioned,
};
use idempotency_ledger_host::{Begin, BeginOptions};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// The others must be through before the slow one's store gives up.
const STORE_TIMEOUT: Duration = Duration::from_secs(300);
const SLOW: &str = "slow";
const OTHERS: usize = 99;

/// A store in which the calls on one slot wait until they are let go.
struct OneSlow {
    inner: MemoryStore,
    slot: String,
    gate: Arc<Semaphore>,
}

impl OneSlow {
    async fn wait(&self, key: &str) {
        if key.contains(&self.slot) {
            let permit = self.gate.acquire().await;
            drop(permit);
        }
    }
}

#[async_trait]
impl Store for OneSlow {
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        self.wait(key).await;
        self.inner.get(key).await
    }

    async fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        self.wait(key).await;
        self.inner.set(key, value).await
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.wait(key).await;
        self.inner.delete(key).await
    }

    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        self.wait(key).await;
        self.inner.increment(key, delta).await
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError> {
        self.wait(key).await;
        self.inner.compare_and_swap(key, expected, value).await
    }

    async fn list(&self, cursor: Option<String>) -> Result<Page, StoreError> {
        self.inner.list(cursor).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_global_lock_for_all_keys() {
    for strategy in STRATEGIES {
        let gate = Arc::new(Semaphore::new(0));
        let slot = Address::new(None, SLOW).unwrap().slot;
        let store = OneSlow { inner: MemoryStore::new(), slot, gate: Arc::clone(&gate) };
        let ledger = builder(strategy, Arc::new(store)).store_timeout(STORE_TIMEOUT);
        let ledger = ledger.build().await.unwrap();
        let begin = |key: String| {
            let ledger = ledger.clone();
            async move { ledger.begin(&key, &BeginOptions::default()).await.unwrap() }
        };
        let slow = tokio::spawn(begin(SLOW.to_owned()));
        let mut others = JoinSet::new();
        (0..OTHERS).for_each(|number| drop(others.spawn(begin(format!("key {number}")))));
        for answer in others.join_all().await {
            assert!(matches!(answer, Begin::Fresh(_)), "{answer:?}");
        }
        assert!(!slow.is_finished());
        gate.add_permits(Semaphore::MAX_PERMITS);
        assert!(matches!(slow.await.unwrap(), Begin::Fresh(_)));
    }
}
