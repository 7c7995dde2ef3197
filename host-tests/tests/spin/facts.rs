//! The double's stores do what was measured on Spin, on the real engines.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use host_tests::spin::Engine;

use crate::scene::{ENGINES, Kind, Storage};

/// Reads the key on a handle, lets another write it, and swaps. Answers what the swap said, and
/// whether it wrote.
async fn race(store: &dyn Engine, key: &str, writes: &[&str]) -> (bool, bool) {
    let mut handle = store.compare(key).await.expect("a handle");
    handle.current().await.expect("a read");
    for value in writes {
        store.set(key, (*value).into()).await.expect("a write");
    }
    let said = handle.swap("swapped".into()).await.expect("an answer");
    (said, store.get(key).await.expect("a read") == Some("swapped".into()))
}

#[tokio::test(flavor = "multi_thread")]
async fn swaps_on_sqlite_compare_values_and_not_absence() {
    let store = Storage::new(Kind::Sqlite);
    let store = store.open().await;
    assert_eq!(race(&*store, "absent", &["another's"]).await, (true, true));
    store.set("k", "a".into()).await.expect("a write");
    assert_eq!(race(&*store, "k", &["b"]).await, (false, false));
    store.set("k", "a".into()).await.expect("a write");
    assert_eq!(race(&*store, "k", &["b", "a"]).await, (true, true));
    // Nobody asked for the current value: it is overwritten.
    let mut blind = store.compare("k").await.expect("a handle");
    assert_eq!(blind.swap("blind".into()).await, Ok(true));
    assert_eq!(store.get("k").await, Ok(Some("blind".into())));
}

#[tokio::test(flavor = "multi_thread")]
async fn swaps_on_redis_say_that_they_failed() {
    let storage = Storage::new(Kind::Redis);
    let store = storage.open().await;
    assert_eq!(race(&*store, "absent", &[]).await, (false, true));
    assert_eq!(race(&*store, "other", &["another's"]).await, (false, false));
    assert_eq!(race(&*store, "absent", &["a", "swapped "]).await, (false, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn counters() {
    for kind in ENGINES {
        let storage = Storage::new(kind);
        let store = storage.open().await;
        assert_eq!(store.increment("n", 0).await, Ok(0));
        assert_eq!(store.exists("n").await, Ok(true), "an increment by 0 makes the key");
        assert_eq!(store.increment("n", 2).await, Ok(2));
        let two = if kind == Kind::Sqlite { 2_i64.to_le_bytes().to_vec() } else { b"2".to_vec() };
        assert_eq!(store.get("n").await, Ok(Some(two)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_counter_of_the_wrong_size_is_an_error_of_redis() {
    let storage = Storage::new(Kind::Redis);
    let store = storage.open().await;
    store.set("v", "text".into()).await.expect("a write");
    assert!(store.increment("v", 1).await.is_err());
    assert_eq!(store.get("v").await, Ok(Some("text".into())));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_counter_of_the_wrong_size_kills_sqlite_until_restart() {
    let storage = Storage::new(Kind::Sqlite);
    let store = storage.open().await;
    store.set("v", "text".into()).await.expect("a write");
    for key in ["v", "other"] {
        let store = Arc::clone(&store);
        let call = AssertUnwindSafe(async move { store.increment(key, 1).await });
        assert!(tokio::spawn(call.0).await.is_err_and(|end| end.is_panic()), "{key}");
    }
    assert_eq!(storage.open().await.get("v").await, Ok(Some("text".into())));
}

/// Racing increments are answered different sums, also by two processes on one store. Those
/// that are answered an error were not applied on SQLite.
#[tokio::test(flavor = "multi_thread")]
async fn increments_are_sound() {
    for kind in ENGINES {
        let storage = Storage::new(kind);
        let stores = [storage.open().await, storage.open().await];
        let tasks: Vec<_> = (0..200)
            .map(|number| {
                let store = Arc::clone(&stores[number % 2]);
                tokio::spawn(async move { store.increment("n", 1).await })
            })
            .collect();
        let mut sums = Vec::new();
        for task in tasks {
            match task.await.expect("no panic") {
                Ok(sum) => sums.push(sum),
                Err(why) => assert!(why.contains("database is locked"), "{why}"),
            }
        }
        sums.sort_unstable();
        let all: Vec<i64> = (1..=i64::try_from(sums.len()).expect("a few")).collect();
        assert_eq!(sums, all, "{kind:?}");
        println!("{kind:?}: {} of 200 increments applied", sums.len());
    }
}

/// All keys at once, on SQLite those of the label; Redis has one keyspace for every label.
#[tokio::test(flavor = "multi_thread")]
async fn listings() {
    for kind in ENGINES {
        let storage = Storage::new(kind);
        let store = storage.open().await;
        for number in 0..2_000 {
            store.set(&format!("k{number}"), Vec::new()).await.expect("a write");
        }
        assert_eq!(store.keys().await.expect("a listing").len(), 2_000, "{kind:?}");
    }
}
