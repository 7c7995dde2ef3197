//! What the tests of the index do to a ledger again and again.

use host_tests::targets::Native;
use host_tests::{Call, Strategy, Target};
use serde_json::Value;

pub(crate) const MINUTE_MS: u64 = 60_000;
pub(crate) const HOUR_MS: u64 = 60 * MINUTE_MS;
pub(crate) const DAY_MS: u64 = 24 * HOUR_MS;

pub(crate) fn start(strategy: Strategy) -> Native {
    let target = Native::new(strategy);
    target.set_clock(1_000_000_000);
    target
}

pub(crate) fn pass(target: &dyn Target, pause_ms: u64) {
    target.set_clock(target.now_ms() + pause_ms);
}

pub(crate) async fn begin(target: &dyn Target, key: &str, lease_ms: u64) -> u64 {
    let answer = target.call(&Call::begin(key, lease_ms)).await;
    answer["fresh"]["token"].as_u64().unwrap_or_else(|| panic!("{key}: {answer}"))
}

/// A key that is completed, with this life. Answers its token.
pub(crate) async fn complete(target: &dyn Target, key: &str, ttl_ms: u64) -> u64 {
    let token = begin(target, key, MINUTE_MS).await;
    let answer =
        target.call(&Call { ttl_ms: Some(ttl_ms), ..Call::complete(key, token, "x") }).await;
    assert!(answer["recorded"].is_object(), "{key}: {answer}");
    token
}

/// Of keys: records, tickets, notes, entries of the index.
pub(crate) async fn traces(target: &dyn Target) -> Vec<String> {
    let mut keys = target.store_keys().await;
    keys.retain(|key| ["il.r.", "il.t.", "il.s.", "il.e."].iter().any(|of| key.starts_with(of)));
    keys
}

pub(crate) async fn is_there(target: &dyn Target, key: &str) -> bool {
    target.call(&Call::get(key)).await != Value::Null
}
