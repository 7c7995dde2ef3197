//! The conformance vectors on the component over each networked store; `tests/vectors.rs` has
//! those of memory and SQLite.

use std::path::Path;
use std::sync::Arc;

use host_tests::Strategy;
use host_tests::Target;
use host_tests::targets::Hosted;
use host_tests::vectors::{read_all, run_all};

use crate::shared::{nats_url, postgres_url, redis_url};

async fn run<F: Future<Output = String>>(name: &str, new_url: fn() -> F) {
    let files = read_all(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/vectors")));
    let target =
        async || Arc::new(Hosted::on_url(Strategy::Cas, &new_url().await).await) as Arc<dyn Target>;
    let report = run_all(&files, "cas", target).await;
    println!("component, {name}: {} scenarios, {} steps", report.scenarios, report.steps);
    assert!(report.scenarios > 0);
    let failed = report.failures.len();
    assert!(failed == 0, "{name}: {failed} failed\n{}", report.failures.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn component_on_redis() {
    run("Redis", redis_url).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn component_on_nats() {
    run("NATS", nats_url).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn component_on_postgres() {
    run("PostgreSQL", postgres_url).await;
}
