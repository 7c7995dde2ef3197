//! The conformance vectors on each target of this machine, with both strategies.

mod broken;

use std::path::Path;
use std::sync::Arc;

use host_tests::targets::{Hosted, Native};
use host_tests::vectors::{read_all, run_all};
use host_tests::{Strategy, Target};

async fn run<F: Future<Output = Arc<dyn Target>>>(name: &str, make: impl Fn(Strategy) -> F) {
    let files = read_all(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/vectors")));
    for (strategy, word) in [(Strategy::Cas, "cas"), (Strategy::Ticket, "ticket")] {
        let report = run_all(&files, word, async || make(strategy).await).await;
        println!("{name}, {word}: {} scenarios, {} steps", report.scenarios, report.steps);
        assert!(report.scenarios > 0);
        let failed = report.failures.len();
        assert!(failed == 0, "{name}, {word}: {failed} failed\n{}", report.failures.join("\n"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn native_core() {
    run("native core", async |strategy| Arc::new(Native::new(strategy)) as Arc<dyn Target>).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn component_on_the_memory_store() {
    run("component, memory", async |strategy| {
        Arc::new(Hosted::in_memory(strategy).await) as Arc<dyn Target>
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn component_on_the_sqlite_store() {
    run("component, SQLite", async |strategy| {
        Arc::new(Hosted::on_sqlite(strategy).await) as Arc<dyn Target>
    })
    .await;
}
