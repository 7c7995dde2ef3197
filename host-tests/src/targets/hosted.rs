//! The component on the host crate.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use idempotency_ledger_host::store::{MemoryStore, SqliteStore, Store, open_url};
use idempotency_ledger_host::{
    BeginOptions, Clock, CompleteOptions, Ledger, ManualClock, PurgeOptions, RenewOptions, Strategy,
};
use serde_json::Value;
use tempfile::TempDir;

use super::probed_store::ProbedStore;
use super::words::Words;
use crate::call::{Call, CallName};
use crate::probe::Probe;
use crate::target::Target;

/// A ledger of the host crate, over a store under a probe.
pub struct Hosted {
    ledger: Ledger,
    store: ProbedStore,
    clock: ManualClock,
    _folder: Option<TempDir>,
}

impl Hosted {
    /// Over the host crate's store in memory.
    pub async fn in_memory(strategy: Strategy) -> Self {
        Self::on(strategy, Arc::new(MemoryStore::new()), None).await
    }

    /// Over a new SQLite file, which goes with the target.
    pub async fn on_sqlite(strategy: Strategy) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the store");
        let store = SqliteStore::open(folder.path().join("ledger.db")).await;
        Self::on(strategy, Arc::new(store.expect("a new store")), Some(folder)).await
    }

    /// Over any store.
    pub async fn over(strategy: Strategy, store: Arc<dyn Store>) -> Self {
        Self::on(strategy, store, None).await
    }

    /// Over the store of this URL.
    pub async fn on_url(strategy: Strategy, url: &str) -> Self {
        Self::on(strategy, open_url(url).await.expect("a store"), None).await
    }

    async fn on(strategy: Strategy, store: Arc<dyn Store>, folder: Option<TempDir>) -> Self {
        let (store, clock) = (ProbedStore::new(store), ManualClock::new(0));
        let builder = Ledger::builder(store.clone()).clock(clock.clone()).strategy(strategy);
        let ledger = builder.build().await;
        Hosted { ledger: ledger.expect("the component"), store, clock, _folder: folder }
    }
}

fn duration(ms: Option<u64>) -> Option<Duration> {
    ms.map(Duration::from_millis)
}

fn begin_options(call: &Call) -> BeginOptions {
    BeginOptions {
        scope: call.scope.clone(),
        lease: duration(call.lease_ms),
        fingerprint: call.fingerprint.clone(),
    }
}

fn complete_options(call: &Call) -> CompleteOptions {
    CompleteOptions {
        scope: call.scope.clone(),
        token: call.token,
        ttl: duration(call.ttl_ms),
        upsert_on_missing: call.upsert_on_missing,
    }
}

#[async_trait]
impl Target for Hosted {
    async fn call(&self, call: &Call) -> Value {
        let (ledger, key) = (&self.ledger, call.key.as_str());
        let (scope, token) = (call.scope.as_deref(), call.token.unwrap_or_default());
        match call.name {
            CallName::Begin => ledger.begin(key, &begin_options(call)).await.words(),
            CallName::Complete => {
                let options = complete_options(call);
                ledger.complete(key, call.payload.clone(), &options).await.words()
            }
            CallName::Renew => {
                let lease = duration(call.lease_ms);
                let options = RenewOptions { scope: call.scope.clone(), lease };
                ledger.renew(key, token, &options).await.words()
            }
            CallName::Release => ledger.release(key, token, scope).await.words(),
            CallName::Get => ledger.get(key, scope).await.words(),
            CallName::Purge => {
                let options = PurgeOptions { before_ms: call.before_ms, limit: call.limit };
                ledger.purge(&options).await.words()
            }
            CallName::Forget => ledger.forget(key, token, scope).await.words(),
            CallName::CheckStore => ledger.check_store().await.words(),
        }
    }

    fn set_clock(&self, now_ms: u64) {
        self.clock.set_ms(now_ms);
    }

    fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    async fn store_set(&self, key: &str, value: Vec<u8>) {
        self.store.inner().set(key, value).await.expect("a working store");
    }

    async fn store_get(&self, key: &str) -> Option<Vec<u8>> {
        let found = self.store.inner().get(key).await.expect("a working store");
        found.map(|versioned| versioned.value)
    }

    async fn store_keys(&self) -> Vec<String> {
        let (mut keys, mut cursor) = (Vec::new(), None);
        loop {
            let page = self.store.inner().list(cursor).await.expect("a working store");
            keys.extend(page.keys);
            cursor = page.cursor;
            if cursor.is_none() {
                keys.sort();
                return keys;
            }
        }
    }

    fn probe(&self) -> &Probe {
        self.store.probe()
    }
}
