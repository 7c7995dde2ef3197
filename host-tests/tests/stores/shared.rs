//! One server of each kind for all tests of this program, and a new store on it for each.

use std::sync::atomic::{AtomicU32, Ordering};

use host_tests::servers::{NatsCluster, NatsServer, PostgresServer, RedisServer};
use tokio::sync::OnceCell;

static REDIS: OnceCell<RedisServer> = OnceCell::const_new();
static NATS: OnceCell<NatsServer> = OnceCell::const_new();
static NATS_CLUSTER: OnceCell<NatsCluster> = OnceCell::const_new();
static POSTGRES: OnceCell<PostgresServer> = OnceCell::const_new();

/// A name that no other store has.
pub(crate) fn new_name() -> String {
    static LAST: AtomicU32 = AtomicU32::new(0);
    format!("s{}", LAST.fetch_add(1, Ordering::Relaxed))
}

async fn start<S: Send + 'static>(start: fn() -> S) -> S {
    tokio::task::spawn_blocking(start).await.expect("a server")
}

/// `redis-server` with an append-only file.
pub(crate) async fn redis() -> &'static RedisServer {
    REDIS.get_or_init(|| start(RedisServer::start)).await
}

/// One `nats-server`, with messages that hold the 1 MiB of the contract.
pub(crate) async fn nats() -> &'static NatsServer {
    NATS.get_or_init(|| start(|| NatsServer::with("max_payload: 2MB"))).await
}

/// Three of them.
pub(crate) async fn nats_cluster() -> &'static NatsCluster {
    NATS_CLUSTER.get_or_init(|| start(|| NatsCluster::with("max_payload: 2MB"))).await
}

/// `postgres`.
pub(crate) async fn postgres() -> &'static PostgresServer {
    POSTGRES.get_or_init(|| start(PostgresServer::start)).await
}

/// The URL of a new store.
pub(crate) async fn redis_url() -> String {
    redis().await.url(&format!("{}:", new_name()))
}

/// The URL of a new store.
pub(crate) async fn nats_url() -> String {
    nats().await.url(&new_name())
}

/// The URL of a new store on three servers.
pub(crate) async fn nats_cluster_url() -> String {
    nats_cluster().await.url(&new_name())
}

/// The URL of a new store.
pub(crate) async fn postgres_url() -> String {
    postgres().await.url(&new_name())
}
