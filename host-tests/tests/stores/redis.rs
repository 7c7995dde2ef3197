//! What only the Redis store says of itself.

use host_tests::servers::RedisServer;
use idempotency_ledger_host::store::{Store, StoreError, Swap, open_url};

use crate::shared::{redis, redis_url};

async fn refusal(settings: &'static [&'static str], options: &str) -> String {
    let server = tokio::task::spawn_blocking(|| RedisServer::with(settings)).await.unwrap();
    match open_url(&format!("{}{options}", server.url("p:"))).await {
        Ok(_) => panic!("{settings:?} was accepted"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_server_that_evicts_is_refused() {
    let said = refusal(&["--maxmemory-policy", "allkeys-lru"], "").await;
    assert!(said.contains("evicts keys (allkeys-lru)"), "{said}");
}

#[tokio::test]
async fn a_server_that_is_less_durable_than_asked_is_refused() {
    let said = refusal(&["--appendonly", "no"], "&fsync=always").await;
    assert!(said.contains("has appendonly no"), "{said}");
    let said = refusal(&["--appendonly", "yes"], "&fsync=always").await;
    assert!(said.contains("has appendfsync everysec"), "{said}");
    open_url(&format!("{}&fsync=always", redis_url().await)).await.unwrap();
}

#[tokio::test]
async fn a_wrong_password_is_access_denied() {
    let server = RedisServer::with(&["--requirepass", "right"]);
    let url = |password| format!("redis://:{password}@127.0.0.1:{}/", server.port());
    open_url(&url("right")).await.unwrap().increment("c", 1).await.unwrap();
    let said = open_url(&url("wrong")).await.err().unwrap().to_string();
    assert_eq!(said, StoreError::AccessDenied.to_string());
}

/// A write is answered once the replica has it, and fails where there is none.
#[tokio::test]
async fn a_write_waits_for_replicas() {
    let server = RedisServer::start();
    let alone = open_url(&format!("{}&replicas=1&replicas_ms=50", server.url("p:"))).await.unwrap();
    let said = alone.set("k", b"v".to_vec()).await.unwrap_err().to_string();
    assert!(said.contains("0 of 1 replicas"), "{said}");
    let port = server.port().to_string();
    let replica = RedisServer::with(&["--replicaof", "127.0.0.1", port.leak()]);
    let store = open_url(&format!("{}&replicas=1&replicas_ms=3000", server.url("p:"))).await;
    let store = store.unwrap();
    for _ in 0..50 {
        if store.set("k", b"v".to_vec()).await.is_ok() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(store.increment("c", 5).await, Ok(5));
    let said = open_url(&replica.url("p:")).await.err().unwrap().to_string();
    assert!(said.contains("is a replica"), "{said}");
}

fn redis_cli(port: u16, arguments: &[&str]) {
    let mut command = std::process::Command::new("redis-cli");
    let output = command.args(["-p", &port.to_string()]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A server that refuses the store for a while is found again: the password changes and back.
#[tokio::test]
async fn a_refusal_is_not_for_ever() {
    let server = RedisServer::with(&["--requirepass", "right"]);
    let cli = |password, arguments: &[&str]| {
        let login = ["--no-auth-warning", "-a", password];
        redis_cli(server.port(), &[&login, arguments].concat());
    };
    let store = open_url(&format!("redis://:right@127.0.0.1:{}/", server.port())).await.unwrap();
    assert_eq!(store.increment("c", 1).await, Ok(1));
    cli("right", &["CONFIG", "SET", "requirepass", "other"]);
    cli("other", &["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
    for _ in 0..3 {
        assert!(store.increment("c", 1).await.is_err());
    }
    cli("other", &["CONFIG", "SET", "requirepass", "right"]);
    let mut sum = store.increment("c", 1).await;
    for _ in 0..50 {
        if sum.is_ok() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        sum = store.increment("c", 1).await;
    }
    assert_eq!(sum, Ok(2));
}

/// Stores with different prefixes never meet, on one server.
#[tokio::test]
async fn prefixes_separate_stores() {
    let [one, other] = [redis_url().await, redis_url().await];
    let (one, other) = (open_url(&one).await.unwrap(), open_url(&other).await.unwrap());
    one.set("k", b"1".to_vec()).await.unwrap();
    assert_eq!(other.get("k").await, Ok(None));
    assert_eq!(other.list(None).await.unwrap().keys, Vec::<String>::new());
    assert_eq!(other.compare_and_swap("k", None, b"2".to_vec()).await, Ok(Swap::Swapped));
}

/// The server forgets scripts when it is told to, and is given them again.
#[tokio::test]
async fn scripts_are_sent_again_where_they_are_unknown() {
    let store = open_url(&redis_url().await).await.unwrap();
    assert_eq!(store.increment("c", 1).await, Ok(1));
    redis_cli(redis().await.port(), &["SCRIPT", "FLUSH"]);
    assert_eq!(store.increment("c", 1).await, Ok(2));
}
