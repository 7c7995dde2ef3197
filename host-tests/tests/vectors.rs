//! The conformance vectors on each target of this machine.

use std::path::Path;
use std::sync::Arc;

use host_tests::Target;
use host_tests::targets::{Hosted, Native};
use host_tests::vectors::{read_all, run_all};

async fn run<F: Future<Output = Arc<dyn Target>>>(name: &str, make: impl Fn() -> F) {
    let files = read_all(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/vectors")));
    let report = run_all(&files, "cas", make).await;
    println!("{name}: {} scenarios, {} steps", report.scenarios, report.steps);
    assert!(report.scenarios > 0);
    let failed = report.failures.len();
    assert!(failed == 0, "{name}: {failed} failed\n{}", report.failures.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn native_core() {
    run("native core", async || Arc::new(Native::new()) as Arc<dyn Target>).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn component_on_the_memory_store() {
    run("component, memory", async || Arc::new(Hosted::in_memory().await) as Arc<dyn Target>).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn component_on_the_sqlite_store() {
    run("component, SQLite", async || Arc::new(Hosted::on_sqlite().await) as Arc<dyn Target>).await;
}
