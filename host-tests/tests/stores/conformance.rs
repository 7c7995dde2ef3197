//! Each store against the contract.

use std::sync::Arc;

use async_trait::async_trait;
use host_tests::Proxy;
use host_tests::servers::NatsServer;
use idempotency_ledger_host::store::conformance::{
    Limits, Outage, check, check_outage, check_within,
};
use idempotency_ledger_host::store::{Page, Store, open_url};

use crate::shared::{
    nats, nats_cluster_url, nats_url, new_name, postgres, postgres_url, redis, redis_url,
};

async fn keeps_the_contract(url: String) {
    let store = open_url(&url).await.unwrap();
    check(Arc::clone(&store)).await.unwrap();
    assert_eq!(store.list(None).await.unwrap(), Page::default(), "nothing is left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory() {
    keeps_the_contract("memory:".to_owned()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sqlite() {
    let folder = tempfile::tempdir().unwrap();
    keeps_the_contract(format!("sqlite:{}", folder.path().join("a.db").display())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn redis_server() {
    keeps_the_contract(redis_url().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nats_server() {
    keeps_the_contract(nats_url().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nats_cluster_of_three() {
    keeps_the_contract(nats_cluster_url().await).await;
}

/// As it comes: a message holds less than 1 MiB.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nats_server_with_its_own_limit() {
    let server = tokio::task::spawn_blocking(NatsServer::start).await.unwrap();
    let store = open_url(&server.url("bucket")).await.unwrap();
    check_within(store, &Limits::max_value_bytes(1_000 * 1_024)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn postgres_server() {
    keeps_the_contract(postgres_url().await).await;
}

/// A proxy that closes every connection and refuses new ones.
struct Closed(Proxy);

#[async_trait]
impl Outage for Closed {
    async fn begin(&self) {
        self.0.close().await;
    }
    async fn end(&self) {
        self.0.open();
    }
}

async fn survives_an_outage(port: u16, url: String) {
    let proxy = Proxy::start(port).await;
    let url = url.replace(&format!("127.0.0.1:{port}"), &format!("127.0.0.1:{}", proxy.port()));
    let store: Arc<dyn Store> = open_url(&url).await.unwrap();
    check_outage(store, &Closed(proxy)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn redis_after_a_closed_connection() {
    survives_an_outage(redis().await.port(), redis_url().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nats_after_a_closed_connection() {
    survives_an_outage(nats().await.port(), nats().await.url(&new_name())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn postgres_after_a_closed_connection() {
    survives_an_outage(postgres().await.port(), postgres_url().await).await;
}
