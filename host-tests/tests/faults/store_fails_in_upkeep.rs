//! The same for what operators call: a purge or a forget that fails anywhere does no harm.

use host_tests::{Call, Target, purge_until_clean};
use serde_json::{Value, json};

use crate::scene::{LEASE_MS, START, Scene, changed_nothing, claimed, kind};

const HOUR_MS: u64 = 3_600_000;

/// At `2 * HOUR_MS`: expired claims, an expired outcome, tombstones young and old, live keys
/// that have been renewed, completed and claimed again.
fn all_sorts() -> Vec<(u64, Call)> {
    let long = |key| Call::begin(key, 3 * HOUR_MS);
    let now = 2 * HOUR_MS;
    vec![
        (START, Call::begin("old", LEASE_MS)),
        (START, Call::begin("reclaimed", 10)),
        (START + 100, Call::purge(10)),
        (2_000, Call::begin("expired", LEASE_MS)),
        (2_000, Call::begin("done", LEASE_MS)),
        (2_000, Call { ttl_ms: Some(9), ..Call::complete("done", 2_000, "x") }),
        (2_000, Call::begin("released", LEASE_MS)),
        (2_000, Call::release("released", 2_000)),
        (2_000, Call::begin("renewed", LEASE_MS)),
        (2_000, Call::renew("renewed", 2_000, 3 * HOUR_MS)),
        (2_000, Call::begin("completed", LEASE_MS)),
        (2_000, Call::complete("completed", 2_000, "x")),
        (2_000, Call::begin("again", 10)),
        (now - 1, long("again")),
        (now - 1, long("live")),
    ]
}

/// The next begin is fresh; an hour later where the purge died in the middle of a deletion.
async fn is_free(target: &dyn Target, key: &str) {
    let now_ms = target.now_ms();
    let begin = target.call(&Call::begin(key, 10)).await;
    if kind(&begin) == "inflight" {
        assert!(begin["inflight"]["retry-after-ms"].as_u64() <= Some(1_000), "{key}: {begin}");
        target.set_clock(now_ms + HOUR_MS);
        let begin = target.call(&Call::begin(key, 10)).await;
        assert_eq!(kind(&begin), "fresh", "{key}: {begin}");
        target.set_clock(now_ms);
        return;
    }
    assert_eq!(kind(&begin), "fresh", "{key}: {begin}");
}

#[tokio::test]
async fn a_purge_that_fails_removes_nothing_that_lives_and_is_made_up_for() {
    let scene = Scene { setup: all_sorts(), at_ms: 2 * HOUR_MS, call: Call::purge(100) };
    let verify = async |target: &dyn Target, answer: &Value| {
        let known = ["removed", "more", "reclaimed", "outcome-unknown"];
        assert!(changed_nothing(answer) || known.contains(&kind(answer)), "{answer}");
        for key in ["renewed", "completed", "again", "live"] {
            let entry = target.call(&Call::get(key)).await;
            assert_eq!(entry["expired"], json!(false), "{key}: {entry}");
        }
        purge_until_clean(target, 100).await;
        for key in ["old", "reclaimed", "expired", "done", "released"] {
            assert_eq!(target.call(&Call::get(key)).await, Value::Null, "{key}");
            is_free(target, key).await;
        }
    };
    scene.with_each_failure(verify).await;
}

#[tokio::test]
async fn a_forget_holds_or_the_outcome_stays() {
    let setup = vec![claimed(), (START, Call::complete("k", START, "x"))];
    let verify = async |target: &dyn Target, answer: &Value| {
        let entry = target.call(&Call::get("k")).await;
        match kind(answer) {
            "forgotten" => assert_eq!(entry, Value::Null),
            "outcome-unknown" => {}
            _ if changed_nothing(answer) => assert!(entry.is_object()),
            _ => panic!("{answer}"),
        }
        let again = target.call(&Call::forget("k", START)).await;
        assert_eq!(kind(&again), if entry.is_object() { "forgotten" } else { "missing" });
        assert_eq!(kind(&target.call(&Call::begin("k", LEASE_MS)).await), "fresh");
    };
    let scene = Scene { setup, at_ms: 2_000, call: Call::forget("k", START) };
    scene.with_each_failure(verify).await;
}
