//! Bad input, a store that fails, and no ledger at all.

use std::error::Error as _;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use idempotency_ledger_client::{Error, Idempotency, Ledger, Run};
use idempotency_ledger_host as host;
use idempotency_ledger_host::store::{
    MemoryStore, Page, Store, StoreError, Swap, Version, Versioned,
};

use crate::scene::Scene;

#[test]
fn bad_input_is_told_before_the_work_runs() {
    let scene = Scene::new();
    let client = scene.client::<u32>();
    let run = |client: &Idempotency<u32>, key: &str| {
        client.run(key, |_| -> Result<u32, fmt::Error> { panic!("it ran") }).err()
    };
    assert!(matches!(run(&client, ""), Some(Error::InvalidKey(_))));
    assert!(matches!(run(&client, &"k".repeat(1_025)), Some(Error::InvalidKey(_))));
    assert!(matches!(run(&client.clone().scope(""), "key"), Some(Error::InvalidKey(_))));
    for lease in [Duration::ZERO, Duration::MAX] {
        let answer = run(&client.clone().lease(lease), "key");
        assert!(matches!(answer, Some(Error::InvalidTtl(_))), "{answer:?}");
    }
}

#[test]
fn native_code_without_a_ledger_is_told_so() {
    let client = Idempotency::<u32>::imported();
    let run = client.run("key", |_| Ok::<_, fmt::Error>(7));
    assert!(matches!(run, Err(Error::NoLedger)), "{run:?}");
    assert!(matches!(client.get("key"), Err(Error::NoLedger)));
    assert!(matches!(client.complete("key", 1, &7), Err(Error::NoLedger)));
}

#[test]
fn the_works_error_is_the_source() {
    let error: Error<fmt::Error> = Error::Work(fmt::Error);
    assert_eq!(error.source().map(ToString::to_string), Some(fmt::Error.to_string()));
}

/// A store whose next swaps fail: with `after` they have taken effect.
#[derive(Clone)]
struct Failing {
    store: Arc<MemoryStore>,
    failures: Arc<AtomicU32>,
    after: bool,
}

impl Failing {
    fn fails(&self) -> bool {
        let less = |left: u32| left.checked_sub(1);
        self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
    }
}

#[async_trait]
impl Store for Failing {
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        self.store.get(key).await
    }

    async fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        self.store.set(key, value).await
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.store.delete(key).await
    }

    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        self.store.increment(key, delta).await
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError> {
        let fails = self.fails();
        if fails && !self.after {
            return Err(StoreError::Other("lost".to_owned()));
        }
        let swap = self.store.compare_and_swap(key, expected, value).await;
        if fails { Err(StoreError::Other("lost".to_owned())) } else { swap }
    }

    async fn list(&self, cursor: Option<String>) -> Result<Page, StoreError> {
        self.store.list(cursor).await
    }
}

/// Runs work during which the store begins to fail so many swaps.
fn run_on(after: bool, failures: u32) -> (Idempotency<u32>, Run<u32>) {
    let store = Failing { store: Arc::default(), failures: Arc::default(), after };
    let ledger = Ledger::on_host(host::Ledger::builder(store.clone())).expect("a ledger");
    let client = Idempotency::<u32>::new(&ledger);
    let run = client.run("key", |_| {
        store.failures.store(failures, Ordering::SeqCst);
        Ok::<_, fmt::Error>(7)
    });
    let run = run.expect("a claim");
    store.failures.store(0, Ordering::SeqCst);
    (client, run)
}

#[test]
fn a_failure_that_passes_is_repeated() {
    for after in [false, true] {
        let (client, run) = run_on(after, 1);
        assert!(matches!(run, Run::Ran(_)), "after {after}: {run:?}");
        let again = client.run("key", |_| Ok::<_, fmt::Error>(8));
        assert!(matches!(again, Ok(Run::Replayed(outcome)) if outcome.value == 7));
    }
}

/// The value and the claim are in hand, and the same value can be recorded later.
#[test]
fn a_failure_that_stays_has_the_value_in_hand() {
    let (client, run) = run_on(false, 1_000);
    let Run::NotRecorded { value, claim, error } = run else { panic!("{run:?}") };
    assert_eq!(value, 7);
    assert!(matches!(error, Error::OutcomeUnknown(_) | Error::Unavailable(_)), "{error:?}");
    client.complete("key", claim.token, &value).expect("a call");
    let again = client.run("key", |_| Ok::<_, fmt::Error>(8));
    assert!(matches!(again, Ok(Run::Replayed(outcome)) if outcome.value == 7));
}
