//! Connections that are cut between request and answer, by a proxy.

use std::time::Duration;

use host_tests::Strategy;
use host_tests::servers::{NatsServer, PostgresServer, RedisServer};
use host_tests::targets::Hosted;
use host_tests::{Call, Proxy, Size, Target};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::check::{check, check_back};
use crate::load::Load;

/// Calls that are cut, until one is cut at the right moment.
const ATTEMPTS: u32 = 20;

/// A URL that leads through the proxy.
fn through(proxy: &Proxy, port: u16, url: &str) -> String {
    url.replace(&format!("127.0.0.1:{port}"), &format!("127.0.0.1:{}", proxy.port()))
}

/// Under load: the answers of all connections are cut, again and again.
async fn under_load(name: &str, port: u16, url: &str) {
    let proxy = Proxy::start(port).await;
    let load = Load::start(&through(&proxy, port, url)).await;
    for _ in 0..Size::from_env().pick(10, 50) {
        sleep(Duration::from_millis(200)).await;
        proxy.cut_answers();
        sleep(Duration::from_millis(50)).await;
        proxy.open();
    }
    let end = Instant::now();
    sleep(Duration::from_secs(6)).await;
    let (target, history) = load.stop().await;
    println!("{name}: {} answers were cut", proxy.cut());
    assert!(proxy.cut() > 0);
    assert!(check(name, &target, &history).await > 0, "{name}: nobody noticed");
    check_back(name, &history, end);
}

/// One call at a time: a `complete` whose answer is cut is `outcome-unknown`, and asking again
/// tells what became of it.
async fn one_call(port: u16, url: &str) {
    let proxy = Proxy::start(port).await;
    let target = Hosted::on_url(Strategy::Cas, &through(&proxy, port, url)).await;
    target.set_clock(1_000);
    for attempt in 0..ATTEMPTS {
        let key = format!("k{attempt}");
        let claim = until_answered(&target, &Call::begin(&key, 60_000)).await;
        let token = claim["fresh"]["token"].as_u64().expect("a claim");
        let complete = Call::complete(&key, token, "paid");
        // The look comes first; the answer to the swap after it is the one that is cut.
        proxy.cut_answers_from(2);
        let answer = target.call(&complete).await;
        proxy.open();
        let again = until_answered(&target, &complete).await;
        let begin = until_answered(&target, &Call::begin(&key, 60_000)).await;
        assert_eq!(begin["done"]["payload"]["hex"], "70616964", "{begin}");
        assert_eq!(begin["done"]["token"].as_u64(), Some(token));
        if answer["error"] == "outcome-unknown" && again["lost"] == "already-done" {
            return;
        }
        // A message that keeps the connection alive was cut instead, or before the swap landed.
        println!("port {port}: {answer}, then {again}");
    }
    panic!("no complete was cut after it had landed");
}

async fn until_answered(target: &Hosted, call: &Call) -> Value {
    for _ in 0..500 {
        let answer = target.call(call).await;
        if answer["error"].is_null() {
            return answer;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("the service does not come back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn redis_answers_are_cut() {
    let server = RedisServer::start();
    under_load("Redis, answers cut", server.port(), &server.url("p:")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nats_answers_are_cut() {
    let server = NatsServer::start();
    under_load("NATS, answers cut", server.port(), &server.url("b")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn postgres_answers_are_cut() {
    let server = PostgresServer::start();
    under_load("PostgreSQL, answers cut", server.port(), &server.url("s")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_answer_is_cut() {
    let redis = RedisServer::start();
    one_call(redis.port(), &redis.url("p:")).await;
    let nats = NatsServer::start();
    one_call(nats.port(), &nats.url("b")).await;
    let postgres = PostgresServer::start();
    one_call(postgres.port(), &postgres.url("s")).await;
}
