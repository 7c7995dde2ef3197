//! What only the NATS store says of itself.

use host_tests::servers::{NatsCluster, NatsServer};
use idempotency_ledger_host::store::{Store, StoreError, Swap, open_url};

use crate::shared::{nats_url, new_name};

#[tokio::test]
async fn a_wrong_password_is_access_denied() {
    let server = NatsServer::with("authorization { user: ledger, password: right }");
    let url = |password| format!("nats://ledger:{password}@127.0.0.1:{}/b", server.port());
    open_url(&url("right")).await.unwrap().increment("c", 1).await.unwrap();
    let said = open_url(&url("wrong")).await.err().unwrap().to_string();
    assert_eq!(said, StoreError::AccessDenied.to_string());
}

#[tokio::test]
async fn buckets_separate_stores() {
    let (one, other) = (nats_url().await, nats_url().await);
    let (one, other) = (open_url(&one).await.unwrap(), open_url(&other).await.unwrap());
    one.set("k", b"1".to_vec()).await.unwrap();
    assert_eq!(other.get("k").await, Ok(None));
    assert_eq!(other.compare_and_swap("k", None, b"2".to_vec()).await, Ok(Swap::Swapped));
}

/// A bucket that was made with fewer replicas than the URL asks for.
#[tokio::test]
async fn too_few_replicas_are_refused() {
    let url = nats_url().await;
    open_url(&url).await.unwrap();
    let said = open_url(&format!("{url}?replicas=3")).await.err().unwrap().to_string();
    assert!(said.contains("has 1 replicas, not 3"), "{said}");
}

/// Before version 2.11 two writers can succeed on one revision of a replicated bucket.
#[tokio::test]
async fn an_old_server_may_not_replicate() {
    let cluster = tokio::task::spawn_blocking(NatsCluster::of_debian).await.unwrap();
    let said = open_url(&cluster.url("b")).await.err().unwrap().to_string();
    assert!(said.contains("older than 2.11"), "{said}");
}

#[tokio::test]
async fn a_server_without_jetstream_is_an_error() {
    let said = open_url(&format!("nats://127.0.0.1:1/{}", new_name())).await.err().unwrap();
    assert!(said.to_string().contains("NATS"), "{said}");
}
