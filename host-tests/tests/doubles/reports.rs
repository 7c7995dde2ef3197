//! `check-store` names what is wrong with each double, and the vectors notice.

use std::path::Path;
use std::sync::Arc;

use host_tests::doubles::{SpinRedis, SpinSqlite};
use host_tests::targets::Hosted;
use host_tests::vectors::{read_all, run_all};
use host_tests::{Call, CallName, STRATEGIES, Target, strategy_name};
use idempotency_ledger_host::Strategy;
use idempotency_ledger_host::store::Store;
use serde_json::{Value, json};

/// A double by its name, fresh.
fn double(name: &str) -> Arc<dyn Store> {
    match name {
        "SQLite" => Arc::new(SpinSqlite::new(1)),
        _ => Arc::new(SpinRedis::new(1)),
    }
}

async fn report(strategy: Strategy, name: &str) -> Value {
    let target = Hosted::over(strategy, double(name)).await;
    target.call(&Call::on(CallName::CheckStore, "")).await
}

#[tokio::test]
async fn check_store_names_what_is_wrong() {
    let rows = [
        (
            "SQLite",
            json!({"swap-absent": "unsound", "swap-present": "sound", "swap-answer": "sound"}),
        ),
        (
            "Redis",
            json!({"swap-absent": "sound", "swap-present": "sound", "swap-answer": "unsound"}),
        ),
    ];
    for (name, swaps) in rows {
        for strategy in STRATEGIES {
            let report = report(strategy, name).await;
            assert_eq!(report["read-your-writes"], "sound", "{name}: {report}");
            assert_eq!(report["increment"], "sound", "{name}: {report}");
            assert_eq!(report["sound"], strategy == Strategy::Ticket, "{name}: {report}");
            for finding in ["swap-absent", "swap-present", "swap-answer"] {
                let expected = match strategy {
                    Strategy::Cas => swaps[finding].clone(),
                    Strategy::Ticket => json!("untested"),
                };
                assert_eq!(report[finding], expected, "{name}: {report}");
            }
        }
    }
}

/// The check counts its runs and leaves nothing else, and the store works on.
#[tokio::test]
async fn check_store_does_no_harm() {
    for strategy in STRATEGIES {
        for name in ["SQLite", "Redis"] {
            let target = Hosted::over(strategy, double(name)).await;
            target.call(&Call::on(CallName::CheckStore, "")).await;
            assert_eq!(target.store_keys().await, ["il.k"], "{name}");
            let begin = target.call(&Call::begin("key", 60_000)).await;
            assert!(begin["fresh"].is_object(), "{name}: {begin}");
        }
    }
}

/// By tickets every vector holds on every double; by compare-and-swap some do not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_vectors_notice() {
    let files = read_all(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/vectors")));
    for strategy in STRATEGIES {
        for name in ["SQLite", "Redis"] {
            let make =
                async || Arc::new(Hosted::over(strategy, double(name)).await) as Arc<dyn Target>;
            let report = run_all(&files, strategy_name(strategy), make).await;
            let failed = report.failures.len();
            println!("{strategy:?} on {name}: {failed} of {} scenarios fail", report.scenarios);
            match strategy {
                Strategy::Cas => assert!(failed > 0, "{name}"),
                Strategy::Ticket => assert!(failed == 0, "{name}:\n{}", report.failures.join("\n")),
            }
        }
    }
}
