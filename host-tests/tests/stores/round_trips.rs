//! The round trips of each operation on each store, counted by a proxy before the server. The
//! table is in `docs/stores.md`; this test holds it.
//!
//! | | Redis | NATS | PostgreSQL |
//! | --- | --- | --- | --- |
//! | `begin`: fresh | 5 | 6 | 5 |
//! | `begin`: replay | 1 | 1 | 1 |
//! | `complete`: recorded | 2 | 2 | 2 |

use host_tests::Strategy;
use host_tests::targets::Hosted;
use host_tests::{Call, Proxy, Target};

use crate::shared::{nats, nats_url, postgres, postgres_url, redis, redis_url};

/// Fresh, replay, complete.
type Row = [u64; 3];

async fn count(port: u16, url: String) -> Row {
    let proxy = Proxy::start(port).await;
    let url = url.replace(&format!("127.0.0.1:{port}"), &format!("127.0.0.1:{}", proxy.port()));
    let target = Hosted::on_url(Strategy::Cas, &url).await;
    target.set_clock(1_000);
    // The first claims make the marker, the bucket of the index, the scripts and the prepared
    // statements.
    for key in ["a", "b"] {
        let claim = target.call(&Call::begin(key, 60_000)).await;
        let token = claim["fresh"]["token"].as_u64().expect("a claim");
        target.call(&Call::complete(key, token, "x")).await;
        target.call(&Call::begin(key, 60_000)).await;
    }
    // Messages that keep the connection alive are round trips too: the least of three counts.
    let mut least = [u64::MAX; 3];
    for number in 0..3 {
        let counted = operations(&target, &proxy, &format!("k{number}")).await;
        least = std::array::from_fn(|column| least[column].min(counted[column]));
    }
    least
}

async fn operations(target: &Hosted, proxy: &Proxy, key: &str) -> Row {
    let before = proxy.round_trips();
    let claim = target.call(&Call::begin(key, 60_000)).await;
    let token = claim["fresh"]["token"].as_u64().expect("a claim");
    let begun = proxy.round_trips();
    let recorded = target.call(&Call::complete(key, token, "x")).await;
    assert!(recorded["recorded"].is_object(), "{recorded}");
    let completed = proxy.round_trips();
    let replayed = target.call(&Call::begin(key, 60_000)).await;
    assert!(replayed["done"].is_object(), "{replayed}");
    [begun - before, proxy.round_trips() - completed, completed - begun]
}

#[tokio::test]
async fn redis_server() {
    assert_eq!(count(redis().await.port(), redis_url().await).await, [5, 1, 2]);
}

#[tokio::test]
async fn nats_server() {
    assert_eq!(count(nats().await.port(), nats_url().await).await, [6, 1, 2]);
}

#[tokio::test]
async fn postgres_server() {
    assert_eq!(count(postgres().await.port(), postgres_url().await).await, [5, 1, 2]);
}
