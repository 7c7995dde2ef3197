//! The doubles do what was measured.

use std::time::Duration;

use host_tests::doubles::{SpinRedis, SpinSqlite};
use idempotency_ledger_host::store::{Store, StoreError, Swap, Version};
use tokio::time::timeout;

async fn value(store: &dyn Store, key: &str) -> Option<Vec<u8>> {
    store.get(key).await.expect("a read").map(|found| found.value)
}

async fn write(store: &dyn Store, key: &str, value: &str) {
    store.set(key, value.into()).await.expect("a write");
}

async fn read(store: &dyn Store, key: &str) -> Option<Version> {
    store.get(key).await.expect("a read").map(|found| found.version)
}

/// Swaps what was read under the key, and answers whether it was written.
async fn swaps(store: &dyn Store, key: &str, read: Option<Version>, answer: Swap) -> bool {
    assert_eq!(store.compare_and_swap(key, read, "swapped".into()).await, Ok(answer));
    value(store, key).await == Some("swapped".into())
}

/// A first swap writes over what came meanwhile, and of a value that is the same again nobody
/// notices that it had changed.
#[tokio::test]
async fn swaps_on_sqlite() {
    let store = SpinSqlite::new(1);
    write(&store, "first", "another's").await;
    assert!(swaps(&store, "first", None, Swap::Swapped).await);
    write(&store, "k", "a").await;
    let before = read(&store, "k").await;
    write(&store, "k", "b").await;
    assert!(!swaps(&store, "k", before, Swap::Conflict).await);
    write(&store, "k", "a").await;
    assert!(swaps(&store, "k", before, Swap::Swapped).await);
}

/// It does what it should, and says of everything that it failed.
#[tokio::test]
async fn swaps_on_redis() {
    let store = SpinRedis::new(1);
    assert!(swaps(&store, "first", None, Swap::Conflict).await);
    write(&store, "first", "another's").await;
    assert!(!swaps(&store, "first", None, Swap::Conflict).await);
    write(&store, "k", "a").await;
    let before = read(&store, "k").await;
    write(&store, "k", "a").await;
    assert!(!swaps(&store, "k", before, Swap::Conflict).await);
    let now = read(&store, "k").await;
    assert!(swaps(&store, "k", now, Swap::Conflict).await);
}

/// By 0 an increment makes the key; a counter reads as `two` after two increments.
async fn counts(store: &dyn Store, two: &[u8]) {
    assert_eq!(store.increment("n", 0).await, Ok(0));
    assert!(value(store, "n").await.is_some());
    assert_eq!(store.increment("n", 1).await, Ok(1));
    assert_eq!(store.increment("n", 1).await, Ok(2));
    assert_eq!(value(store, "n").await.as_deref(), Some(two));
}

async fn lists_at_once(store: &dyn Store) {
    for number in 0..2_000 {
        store.set(&format!("k{number:04}"), Vec::new()).await.expect("a write");
    }
    let page = store.list(None).await.expect("a listing");
    assert_eq!((page.keys.len(), page.cursor), (2_000, None));
    assert!(matches!(store.list(Some("k0000".into())).await, Err(StoreError::Other(_))));
}

#[tokio::test]
async fn counters_and_listings_of_sqlite() {
    lists_at_once(&SpinSqlite::new(1)).await;
    counts(&SpinSqlite::new(1), &2_i64.to_le_bytes()).await;
}

#[tokio::test]
async fn counters_and_listings_of_redis() {
    lists_at_once(&SpinRedis::new(1)).await;
    counts(&SpinRedis::new(1), b"2").await;
}

#[tokio::test]
async fn an_increment_of_a_value_kills_sqlite_until_restart() {
    let store = SpinSqlite::new(1);
    store.set("v", "text".into()).await.expect("a write");
    assert!(store.increment("v", 1).await.is_err());
    assert!(store.get("other").await.is_err(), "every later call fails");
    store.restart();
    assert_eq!(value(&store, "v").await, Some("text".into()));
}

#[tokio::test]
async fn an_increment_of_a_value_is_an_error_of_redis() {
    let store = SpinRedis::new(1);
    store.set("v", "text".into()).await.expect("a write");
    assert!(store.increment("v", 1).await.is_err());
    assert_eq!(value(&store, "v").await, Some("text".into()));
}

#[tokio::test]
async fn a_locked_database_has_done_nothing() {
    let store = SpinSqlite::new(1);
    store.set_locked_per_mille(130);
    let mut counted = 0;
    for _ in 0..1_000 {
        match store.increment("n", 1).await {
            Ok(sum) => counted = sum,
            Err(error) => assert_eq!(error, StoreError::Other("database is locked".into())),
        }
    }
    assert!((800..950).contains(&counted), "{counted}");
    store.set_locked_per_mille(0);
    assert_eq!(store.increment("n", 0).await, Ok(counted));
}

#[tokio::test]
async fn a_call_to_redis_hangs_and_happens_later() {
    let store = SpinRedis::new(1);
    store.set_away(true);
    let call = timeout(Duration::from_millis(20), store.increment("n", 1));
    assert!(call.await.is_err(), "its caller gave up");
    store.set_away(false);
    assert_eq!(store.increment("n", 1).await, Ok(2), "it happened all the same");
}
