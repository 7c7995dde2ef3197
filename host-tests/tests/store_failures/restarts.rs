//! Servers that are restarted, killed, and lose their leader, under load.

use std::time::Duration;

use host_tests::Size;
use host_tests::servers::{NatsCluster, NatsServer, PostgresServer, RedisServer};
use tokio::time::{Instant, sleep};

use crate::check::{check, check_away, check_back};
use crate::load::Load;

/// How long the server is away.
const AWAY: Duration = Duration::from_millis(700);

/// How long there is load before a fault, and after its end.
fn between() -> Duration {
    Duration::from_secs(Size::from_env().pick(2, 8))
}

fn rounds() -> usize {
    Size::from_env().pick(1, 5)
}

/// Load on the store; `rounds` times the server is stopped and started by `fault`.
async fn under_load<S>(
    name: &str,
    server: S,
    url: &str,
    stop: impl Fn(&mut S) + Send + Clone + 'static,
    start: impl Fn(&mut S) + Send + Clone + 'static,
) where
    S: Send + 'static,
{
    let load = Load::start(url).await;
    let mut server = server;
    let mut ends = Vec::new();
    for _ in 0..rounds() {
        sleep(between()).await;
        let (stop, start) = (stop.clone(), start.clone());
        server = tokio::task::spawn_blocking(move || {
            stop(&mut server);
            std::thread::sleep(AWAY);
            start(&mut server);
            server
        })
        .await
        .unwrap();
        ends.push(Instant::now());
    }
    sleep(between().max(Duration::from_secs(6))).await;
    let (target, history) = load.stop().await;
    check(name, &target, &history).await;
    check_away(name, &history, AWAY);
    ends.into_iter().for_each(|end| check_back(name, &history, end));
    drop(server);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn redis_is_restarted() {
    let server = RedisServer::start();
    let url = server.url("p:");
    let name = "Redis, restarted";
    under_load(name, server, &url, RedisServer::stop, RedisServer::start_again).await;
}

/// With its append-only file written before each answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn redis_is_killed() {
    let server = RedisServer::start();
    let url = server.url("p:");
    let name = "Redis, kill -9";
    under_load(name, server, &url, RedisServer::kill, RedisServer::start_again).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn postgres_is_restarted() {
    let server = PostgresServer::start();
    let url = server.url("s");
    let name = "PostgreSQL, restarted";
    under_load(name, server, &url, PostgresServer::stop, PostgresServer::start_again).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn postgres_crashes() {
    let server = PostgresServer::start();
    let url = server.url("s");
    let name = "PostgreSQL, immediate shutdown";
    under_load(name, server, &url, PostgresServer::kill, PostgresServer::start_again).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nats_is_killed() {
    let server = NatsServer::start();
    let url = server.url("b");
    let name = "NATS, kill -9";
    under_load(name, server, &url, NatsServer::kill, NatsServer::start_again).await;
}

/// Of three servers the one that leads the bucket is killed; the other two go on, once they have
/// elected a leader. NATS takes 4 to 9 s for that by itself, and the fault ends with it: nobody
/// waits for the third server.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nats_loses_its_leader() {
    let name = "NATS, leader of three killed";
    let mut cluster = NatsCluster::start();
    let url = cluster.url("b");
    let load = Load::start(&url).await;
    let mut ends = Vec::new();
    for _ in 0..rounds() {
        sleep(between()).await;
        let killed = Instant::now();
        let leader = cluster.kill_leader("b").await;
        let next = cluster.leader("b").await;
        println!("{name}: n{leader}, then n{next} after {} ms", killed.elapsed().as_millis());
        ends.push(Instant::now());
        sleep(between().max(Duration::from_secs(6))).await;
        cluster.start_again(leader).await;
    }
    sleep(between()).await;
    let (target, history) = load.stop().await;
    assert!(check(name, &target, &history).await > 0, "{name}: nobody noticed");
    ends.into_iter().for_each(|end| check_back(name, &history, end));
}
