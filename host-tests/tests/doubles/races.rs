//! Many first claims of one key at once.

use std::sync::Arc;

use host_tests::doubles::{SpinRedis, SpinSqlite};
use host_tests::targets::Hosted;
use host_tests::{Call, STRATEGIES, Size, Target};
use idempotency_ledger_host::Strategy;
use idempotency_ledger_host::store::Store;
use tokio::task::JoinSet;

/// Claims of one key at once.
const CROWD: usize = 200;

/// How many of a crowd were answered `fresh`, key by key.
async fn crowds(strategy: Strategy, store: Arc<dyn Store>) -> Vec<usize> {
    let target: Arc<dyn Target> = Arc::new(Hosted::over(strategy, store).await);
    target.set_clock(1_000_000);
    let mut fresh = Vec::new();
    for number in 0..Size::from_env().pick(20, 500) {
        let mut crowd = JoinSet::new();
        for _ in 0..CROWD {
            let target = Arc::clone(&target);
            let begin = Call::begin(&format!("key {number}"), 60_000);
            crowd.spawn(async move { target.call(&begin).await });
        }
        let answers = crowd.join_all().await;
        fresh.push(answers.iter().filter(|answer| answer["fresh"].is_object()).count());
    }
    fresh
}

fn show(strategy: Strategy, store: &str, fresh: &[usize]) {
    let doubled = fresh.iter().filter(|fresh| **fresh > 1).count();
    let most = fresh.iter().max().copied().unwrap_or_default();
    println!(
        "{strategy:?} on {store}: {} keys, {doubled} of them claimed twice or more, at most {most} times",
        fresh.len()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn first_claims_on_sqlite() {
    for strategy in STRATEGIES {
        let fresh = crowds(strategy, Arc::new(SpinSqlite::new(1))).await;
        show(strategy, "SQLite", &fresh);
        match strategy {
            Strategy::Cas => assert!(fresh.iter().any(|fresh| *fresh > 1), "{fresh:?}"),
            Strategy::Ticket => assert!(fresh.iter().all(|fresh| *fresh == 1), "{fresh:?}"),
        }
    }
}

/// Who wrote recognises its claim by its id, so that one is `fresh` by compare-and-swap too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn first_claims_on_redis() {
    for strategy in STRATEGIES {
        let fresh = crowds(strategy, Arc::new(SpinRedis::new(1))).await;
        show(strategy, "Redis", &fresh);
        assert!(fresh.iter().all(|fresh| *fresh == 1), "{fresh:?}");
    }
}

/// An outcome has nothing to recognise it by: by compare-and-swap its own recorder is told that
/// it came too late.
#[tokio::test]
async fn an_outcome_on_redis() {
    for strategy in STRATEGIES {
        let target = Hosted::over(strategy, Arc::new(SpinRedis::new(1))).await;
        let begin = target.call(&Call::begin("key", 60_000)).await;
        let token = begin["fresh"]["token"].as_u64().expect("a claim");
        let complete = target.call(&Call::complete("key", token, "mine")).await;
        match strategy {
            Strategy::Cas => assert_eq!(complete["lost"], "already-done"),
            Strategy::Ticket => assert_eq!(complete["recorded"]["token"], token),
        }
        let get = target.call(&Call::get("key")).await;
        assert_eq!(get["state"]["done"]["hex"], "6d696e65", "{get}");
    }
}

/// Calls that fail because the database is locked cost a claim, and never make two.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn first_claims_on_a_locked_sqlite() {
    for strategy in STRATEGIES {
        let store = Arc::new(SpinSqlite::new(1));
        store.set_locked_per_mille(130);
        let fresh = crowds(strategy, store).await;
        show(strategy, "a locked SQLite", &fresh);
        if strategy == Strategy::Ticket {
            assert!(fresh.iter().all(|fresh| *fresh <= 1), "{fresh:?}");
        }
    }
}
