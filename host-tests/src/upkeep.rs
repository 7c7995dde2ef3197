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
        let (now_removed, now_reclaimed, more) = purged(&answer);
        removed += now_removed;
        reclaimed += now_reclaimed;
        assert!(now_removed.max(now_reclaimed) <= u64::from(limit), "{answer}");
        if !more {
            return (removed, reclaimed);
        }
    }
    panic!("{MAX_PURGES} purges, and more is due");
}

/// What a purge answered: how many keys it removed, how many it reclaimed, and whether there is
/// more.
///
/// # Panics
/// Where the purge failed.
pub fn purged(answer: &Value) -> (u64, u64, bool) {
    let number = |name: &str| answer[name].as_u64();
    match (number("removed"), number("reclaimed"), answer["more"].as_bool()) {
        (Some(removed), Some(reclaimed), Some(more)) => (removed, reclaimed, more),
        _ => panic!("a purge answered {answer}"),
    }
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
