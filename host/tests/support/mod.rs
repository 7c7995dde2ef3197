//! What the tests of this crate share.
#![allow(dead_code, reason = "each test uses some of it")]

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use idempotency_ledger_host::store::{
    MemoryStore, Page, Store, StoreError, Swap, Version, Versioned,
};

pub(crate) mod component;

/// What becomes of a store call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Go,
    Sleep(Duration),
    /// An error, and nothing done.
    FailBefore,
    /// An error, and done all the same.
    FailAfter,
    Panic,
    Hang,
}

/// One store call.
pub(crate) struct Call<'a> {
    /// How many calls came before it.
    pub(crate) number: usize,
    pub(crate) name: &'static str,
    pub(crate) key: &'a str,
}

type Hook = Box<dyn FnMut(&Call<'_>) -> Act + Send>;

/// A store in memory whose calls a test decides about.
pub(crate) struct Hooked {
    pub(crate) inner: MemoryStore,
    hook: Mutex<Hook>,
    calls: AtomicUsize,
    under_way: AtomicUsize,
    most_under_way: AtomicUsize,
}

impl Hooked {
    pub(crate) fn new(hook: impl FnMut(&Call<'_>) -> Act + Send + 'static) -> Self {
        Self {
            inner: MemoryStore::new(),
            hook: Mutex::new(Box::new(hook)),
            calls: AtomicUsize::new(0),
            under_way: AtomicUsize::new(0),
            most_under_way: AtomicUsize::new(0),
        }
    }

    pub(crate) fn set_hook(&self, hook: impl FnMut(&Call<'_>) -> Act + Send + 'static) {
        *self.hook.lock().unwrap() = Box::new(hook);
    }

    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    pub(crate) fn most_under_way(&self) -> usize {
        self.most_under_way.load(Ordering::SeqCst)
    }

    pub(crate) async fn keys(&self) -> Vec<String> {
        self.inner.list(None).await.unwrap().keys
    }

    async fn act<R>(
        &self,
        name: &'static str,
        key: &str,
        call: impl Future<Output = Result<R, StoreError>>,
    ) -> Result<R, StoreError> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        let act = (self.hook.lock().unwrap())(&Call { number, name, key });
        let under_way = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_under_way.fetch_max(under_way, Ordering::SeqCst);
        let failed = || StoreError::Other(format!("injected into {name}"));
        let answer = match act {
            Act::Go => call.await,
            Act::Sleep(time) => {
                tokio::time::sleep(time).await;
                call.await
            }
            Act::FailBefore => Err(failed()),
            Act::FailAfter => call.await.and(Err(failed())),
            Act::Panic => panic!("injected into {name}"),
            Act::Hang => std::future::pending().await,
        };
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        answer
    }
}

#[async_trait::async_trait]
impl Store for Hooked {
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        self.act("get", key, self.inner.get(key)).await
    }
    async fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        self.act("set", key, self.inner.set(key, value)).await
    }
    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.act("delete", key, self.inner.delete(key)).await
    }
    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        self.act("increment", key, self.inner.increment(key, delta)).await
    }
    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError> {
        self.act("compare_and_swap", key, self.inner.compare_and_swap(key, expected, value)).await
    }
    async fn list(&self, cursor: Option<String>) -> Result<Page, StoreError> {
        self.act("list", "", self.inner.list(cursor)).await
    }
}
