//! Purging as a host does it, and what may be left in a store then.

use serde_json::Value;

use crate::call::Call;
use crate::target::Target;

/// More purges in a row than any test needs.
const MAX_PURGES: usize = 10_000;
/// Until then another purger that died keeps the others waiting.
const PURGE_LEASE_MS: u64 = 60_000;
/// How long removed keys, and buckets of the index, are left alone.
const QUARANTINE_MS: u64 = 3_600_000;

/// Purges until nothing more is due; waits for the lease of a purger that died, by the
/// target's clock. Answers how many keys were removed and how many reclaimed.
///
/// # Panics
/// Where a purge fails, or there is no end to it.
pub async fn purge_until_clean(target: &dyn Target, limit: u32) -> (u64, u64) {
    let (mut removed, mut reclaimed) = (0, 0);
    for _ in 0..MAX_PURGES {
        let answer = target.call(&Call::purge(limit)).await;
        if answer["error"]["contended"].is_u64() {
            target.set_clock(target.now_ms() + PURGE_LEASE_MS);
            continue;
        }
        let number = |name: &str| match answer[name].as_u64() {
            Some(number) => number,
            None => panic!("a purge answered {answer}"),
        };
        removed += number("removed");
        reclaimed += number("reclaimed");
        assert!(number("removed").max(number("reclaimed")) <= u64::from(limit), "{answer}");
        if answer["more"] == Value::Bool(false) {
            return (removed, reclaimed);
        }
    }
    panic!("{MAX_PURGES} purges, and more is due");
}

/// Lets everything expire that does so within `within_ms`, purges as often as it takes to
/// delete it, and answers the keys that are in the store all the same.
pub async fn leftovers(target: &dyn Target, within_ms: u64) -> Vec<String> {
    target.set_clock(target.now_ms() + within_ms + 1);
    // What was left by those who died is noted, and given up; removal; an hour later deletion;
    // then the buckets end, and an hour later they go.
    for _ in 0..8 {
        purge_until_clean(target, 1_000).await;
        target.set_clock(target.now_ms() + QUARANTINE_MS);
    }
    let mut keys = target.store_keys().await;
    keys.retain(|key| !is_constant(key));
    keys
}

/// Whether a store key is one of the few that every used store holds.
fn is_constant(store_key: &str) -> bool {
    ["il.m", "il.c", "il.p", "il.k"].contains(&store_key)
}
