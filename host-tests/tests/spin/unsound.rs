//! Why the ledger for Spin is `ledger-ticket`: what becomes of `ledger-cas` on the same stores,
//! and that `check-store` says so.

use std::sync::Arc;
use std::time::Duration;

use host_tests::Size;
use host_tests::spin::Faults;
use hyper::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::scene::{ENGINES, Kind, Served, Setting, Storage, bank};

const CROWD: usize = 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_compare_and_swap_a_card_is_charged_twice_on_sqlite() {
    let (storage, bank) = (Storage::new(Kind::Sqlite), bank(50).await);
    let faults = Faults { delay: Duration::from_millis(20), ..Faults::default() };
    let setting = Setting { ledger: "ledger-cas", faults, ..Setting::default() };
    let served = Arc::new(Served::start(&storage, &bank, setting).await);
    let rounds = Size::from_env().pick(2, 20);
    let mut charges = Vec::new();
    for round in 0..rounds {
        let key = format!("order-{round}");
        let mut crowd = JoinSet::new();
        for _ in 0..CROWD {
            let (served, key) = (Arc::clone(&served), key.clone());
            crowd.spawn(async move { served.charge(&key, 1999).await });
        }
        crowd.join_all().await;
        charges.push(bank.tokens(&key).len());
    }
    println!("ledger-cas on SQLite, {rounds} rounds of {CROWD}: charges of each order {charges:?}");
    assert!(charges.iter().any(|charges| *charges > 1), "{charges:?}");
}

fn expected(kind: Kind, ledger: &str) -> Value {
    let (strategy, swaps) = match (ledger, kind) {
        ("ledger-ticket", _) => ("ticket", ["untested", "untested", "untested"]),
        (_, Kind::Sqlite) => ("cas", ["unsound", "sound", "sound"]),
        (_, Kind::Redis) => ("cas", ["sound", "sound", "unsound"]),
    };
    json!({
        "strategy": strategy,
        "sound": strategy == "ticket",
        "read-your-writes": "sound",
        "increment": "sound",
        "swap-absent": swaps[0],
        "swap-present": swaps[1],
        "swap-answer": swaps[2],
    })
}

/// The report without the time, and without what is said for people of what is unsound.
fn facts(report: &Value) -> Value {
    let mut facts = report.clone();
    let object = facts.as_object_mut().expect("a report");
    object.remove("now-ms").expect("the host's clock");
    for finding in object.values_mut() {
        if finding["unsound"].is_string() {
            *finding = json!("unsound");
        }
    }
    facts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn check_store_names_each_fault_and_does_no_harm() {
    for kind in ENGINES {
        for ledger in ["ledger-cas", "ledger-ticket"] {
            let (storage, bank) = (Storage::new(kind), bank(0).await);
            let setting = Setting { ledger, ..Setting::default() };
            let served = Served::start(&storage, &bank, setting).await;
            let report = served.operator(Method::GET, "/check-store").await;
            assert_eq!(report.status, StatusCode::OK, "{report:?}");
            assert_eq!(facts(&report.body), expected(kind, ledger), "{kind:?}, {ledger}");
            let keys = storage.open().await.keys().await.expect("a listing");
            assert_eq!(keys, ["il.k"], "{kind:?}, {ledger}");
            let charge = served.charge("order-1", 1999).await;
            assert_eq!(charge.status, StatusCode::CREATED, "{kind:?}, {ledger}: {charge:?}");
        }
    }
}

/// A store belongs to one build of the ledger.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_other_build_refuses_the_store() {
    for kind in ENGINES {
        let (storage, bank) = (Storage::new(kind), bank(0).await);
        let served = Served::start(&storage, &bank, Setting::default()).await;
        assert_eq!(served.charge("order-1", 1999).await.status, StatusCode::CREATED);
        let setting = Setting { ledger: "ledger-cas", ..Setting::default() };
        let other = Served::start(&storage, &bank, setting).await;
        let reply = other.charge("order-2", 1999).await;
        assert_eq!(reply.status, StatusCode::INTERNAL_SERVER_ERROR, "{reply:?}");
        assert!(reply.body["error"].as_str().is_some_and(|why| why.contains("corrupt")));
        assert_eq!(bank.charges().len(), 1);
    }
}
