//! A ledger in memory, its clock, and a raw look at it.

use idempotency_ledger_client::{Idempotency, Ledger};
use idempotency_ledger_host::store::MemoryStore;
use idempotency_ledger_host::{self as host, ManualClock};
use std::sync::Arc;

pub(crate) struct Scene {
    pub(crate) ledger: Ledger,
    pub(crate) clock: ManualClock,
    store: Arc<MemoryStore>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let (store, clock) = (Arc::new(MemoryStore::new()), ManualClock::new(1_000_000));
        let builder = host::Ledger::builder(store.clone()).clock(clock.clone());
        let ledger = Ledger::on_host(builder).expect("a ledger");
        Self { ledger, clock, store }
    }

    pub(crate) fn client<T>(&self) -> Idempotency<T> {
        Idempotency::new(&self.ledger)
    }

    /// Works on the same records without the client.
    pub(crate) fn raw<R>(&self, work: impl AsyncFnOnce(&host::Ledger) -> R) -> R {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let builder = host::Ledger::builder(self.store.clone()).clock(self.clock.clone());
            work(&builder.build().await.expect("a ledger")).await
        })
    }

    /// Claims `key` and records this payload, as any other client can.
    pub(crate) fn record(&self, key: &str, payload: Option<&[u8]>) {
        let payload = payload.map(<[u8]>::to_vec);
        let options = host::CompleteOptions { upsert_on_missing: true, ..Default::default() };
        let answer = self.raw(async |ledger| ledger.complete(key, payload, &options).await);
        assert!(matches!(answer, Ok(host::Complete::Recorded(_))), "{answer:?}");
    }

    /// The bytes that are recorded under `key`.
    pub(crate) fn recorded(&self, key: &str) -> Option<Vec<u8>> {
        let entry = self.raw(async |ledger| ledger.get(key, None).await);
        match entry.expect("a working store").expect("a record").state {
            host::EntryState::Done(payload) => payload,
            host::EntryState::Inflight => panic!("{key} is in flight"),
        }
    }
}
