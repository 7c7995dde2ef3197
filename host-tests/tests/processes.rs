//! Eight processes on one store: each key is begun four times, by four of them, and has one
//! claim and one outcome.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use host_tests::Strategy;
use host_tests::servers::{NatsCluster, PostgresServer, RedisServer};
use host_tests::targets::Hosted;
use host_tests::{Call, Size, Target};
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::Instant;

const PROCESSES: usize = 8;
const BEGINS: usize = 4;
/// Keys that one process is at, at once.
const TASKS: usize = 8;
/// Most attempts at one call.
const REPEATS: usize = 100;

/// The clock of all of them stands still, so no claim expires.
const NOW_MS: u64 = 1_000_000;
const LEASE_MS: u64 = 600_000;

fn keys() -> usize {
    Size::from_env().pick(500, 20_000)
}

/// What the processes were answered about one key.
#[derive(Debug, Default)]
struct Key {
    fresh: usize,
    recorded: Vec<String>,
    done: Vec<String>,
    inflight: usize,
    errors: usize,
}

async fn share(name: &str, url: String) {
    let start = Instant::now();
    let (children, target) = (start_all(&url), Hosted::on_url(Strategy::Cas, &url).await);
    // All at once: a child whose output nobody reads stands still.
    let readers = children.into_iter().map(|child| std::thread::spawn(move || lines(child)));
    let mut keys: BTreeMap<usize, Key> = BTreeMap::new();
    for reader in readers.collect::<Vec<_>>() {
        reader.join().unwrap().iter().for_each(|line| read(line, &mut keys));
    }
    let (number, took) = (keys.len(), start.elapsed());
    let errors: usize = keys.values().map(|key| key.errors).sum();
    println!(
        "{name}: {PROCESSES} processes, {number} keys, each begun {BEGINS} times: {took:?}, \
         {errors} calls repeated after an error"
    );
    assert_eq!(number, self::keys());
    target.set_clock(NOW_MS);
    for (number, key) in &mut keys {
        let answer = target.call(&Call::begin(&format!("key {number}"), LEASE_MS)).await;
        let payload = answer["done"]["payload"]["hex"].as_str().map(str::to_owned);
        key.done.push(payload.unwrap_or_else(|| panic!("key {number}: {answer}")));
        assert_eq!(key.fresh, 1, "key {number}: {key:?}");
        assert_eq!(key.recorded.len(), 1, "key {number}: {key:?}");
        assert!(key.done.iter().all(|done| *done == key.recorded[0]), "key {number}: {key:?}");
        assert_eq!(key.done.len() + key.inflight, BEGINS, "key {number}: {key:?}");
    }
}

/// All that a child says.
fn lines(mut child: Child) -> Vec<String> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let lines = lines.map_while(Result::ok).collect();
    assert!(child.wait().unwrap().success());
    lines
}

/// One line of a child: the number of a key, what was answered, and a payload.
fn read(line: &str, keys: &mut BTreeMap<usize, Key>) {
    let Some((_, said)) = line.split_once("key=") else { return };
    let mut words = said.split(' ');
    let number = words.next().unwrap().parse().unwrap();
    let key = keys.entry(number).or_default();
    match (words.next().unwrap(), words.next()) {
        ("fresh", _) => key.fresh += 1,
        ("recorded", Some(payload)) => key.recorded.push(payload.to_owned()),
        ("done", Some(payload)) => key.done.push(payload.to_owned()),
        ("inflight", _) => key.inflight += 1,
        ("error", _) => key.errors += 1,
        other => panic!("{other:?}"),
    }
}

fn start_all(url: &str) -> Vec<Child> {
    let start = |number: usize| {
        Command::new(std::env::current_exe().unwrap())
            .args(["child", "--exact", "--ignored", "--nocapture"])
            .env("CHILD_URL", url)
            .env("CHILD_NUMBER", number.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    (0..PROCESSES).map(start).collect()
}

/// Not a test by itself: one of the processes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by other tests"]
async fn child() {
    let Ok(url) = std::env::var("CHILD_URL") else { return };
    let number: usize = std::env::var("CHILD_NUMBER").unwrap().parse().unwrap();
    let target = Arc::new(Hosted::on_url(Strategy::Cas, &url).await);
    target.set_clock(NOW_MS);
    let next = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        let (target, next) = (Arc::clone(&target), Arc::clone(&next));
        tasks.spawn(async move {
            loop {
                let key = next.fetch_add(1, Ordering::Relaxed);
                if key >= keys() {
                    return;
                }
                // Four of the eight processes begin it.
                if (key + number) % PROCESSES < BEGINS {
                    one_key(&target, key, number).await;
                }
            }
        });
    }
    tasks.join_all().await;
}

async fn one_key(target: &Hosted, number: usize, process: usize) {
    let key = format!("key {number}");
    let answer = until_answered(target, number, &Call::begin(&key, LEASE_MS)).await;
    if let Some(payload) = answer["done"]["payload"]["hex"].as_str() {
        println!("key={number} done {payload}");
    } else if answer["inflight"].is_object() {
        println!("key={number} inflight");
    } else {
        let token = answer["fresh"]["token"].as_u64();
        let token = token.unwrap_or_else(|| panic!("{key}: {answer}"));
        println!("key={number} fresh");
        let payload = format!("by {process}");
        let complete = Call::complete(&key, token, &payload);
        let recorded = until_answered(target, number, &complete).await;
        // One whose answer was an error may have landed.
        let landed = recorded["recorded"].is_object() || recorded["lost"] == "already-done";
        assert!(landed, "{key}: {recorded}");
        println!("key={number} recorded {}", host_tests::to_hex(payload.as_bytes()));
    }
}

/// Makes the call until its answer is no error: a store that many processes crowd may give up.
async fn until_answered(target: &Hosted, number: usize, call: &Call) -> Value {
    for _ in 0..REPEATS {
        let answer = target.call(call).await;
        if answer["error"].is_null() {
            return answer;
        }
        println!("key={number} error");
    }
    panic!("key {number} is never answered");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_one_sqlite_file() {
    let folder = tempfile::tempdir().unwrap();
    share("SQLite", format!("sqlite:{}", folder.path().join("a.db").display())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_one_redis_server() {
    let server = RedisServer::start();
    share("Redis", server.url("p:")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_one_nats_cluster() {
    let cluster = NatsCluster::start();
    share("NATS, three servers", cluster.url("b")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_one_postgres_server() {
    let server = PostgresServer::start();
    share("PostgreSQL", server.url("s")).await;
}
