//! Two apps, and data of their own, in the one store that Spin calls `default`.

use std::collections::BTreeMap;

use host_tests::spin::Engine;
use hyper::{Method, StatusCode};

use crate::scene::{ENGINES, Served, Setting, Storage, bank};

/// Of an app's own data: names that look like the ledger's, counters, nothing, much.
const FOREIGN: [(&str, &[u8]); 7] = [
    ("il", b"an app's"),
    ("ilk", b""),
    ("i", b"{\"format\":1}"),
    ("r.il.m", b"not the marker"),
    ("charges", b"text"),
    ("visits", &5_i64.to_le_bytes()),
    ("order-1", &[0xff; 4_096]),
];

/// What the store holds besides the ledger's keys.
async fn foreign(store: &dyn Engine) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for key in store.keys().await.expect("a listing") {
        if !key.starts_with("il.") {
            let value = store.get(&key).await.expect("a read").expect("a value");
            found.insert(key, value);
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_apps_data_stay_as_they_are() {
    for kind in ENGINES {
        let (storage, bank) = (Storage::new(kind), bank(0).await);
        let store = storage.open().await;
        for (key, value) in FOREIGN {
            store.set(key, value.to_vec()).await.expect("a write");
        }
        let before = foreign(&*store).await;
        let setting = Setting { lease_ms: 1_000, ..Setting::default() };
        let first = Served::start(&storage, &bank, setting.clone()).await;
        let second = Served::start(&storage, &bank, setting).await;
        for app in [&first, &second] {
            for number in 0..10 {
                let reply = app.charge(&format!("order-{number}"), 1999).await;
                assert_eq!(reply.status, StatusCode::CREATED, "{reply:?}");
            }
            for (method, path) in [(Method::GET, "/check-store"), (Method::POST, "/purge")] {
                let reply = app.operator(method, path).await;
                assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
            }
        }
        // Two apps on one store share their ledger.
        assert_eq!(bank.charges().len(), 10, "{kind:?}");
        assert_eq!(before.len(), FOREIGN.len());
        assert_eq!(foreign(&*store).await, before, "{kind:?}");
    }
}
