//! Ends that come before the one that the index knew first.

use host_tests::targets::Native;
use host_tests::{Call, STRATEGIES, Target, purge_until_clean};

use super::steps::{DAY_MS, HOUR_MS, MINUTE_MS, begin, complete, pass, start, traces};

/// An hour and a moment later nothing is left of the key but entries of the index, which go at
/// the ends that they knew.
async fn is_reclaimed_within_the_hour(target: &Native) {
    for pause_ms in [MINUTE_MS, HOUR_MS] {
        pass(target, pause_ms);
        purge_until_clean(target, 200).await;
    }
    let mut traces = traces(target).await;
    traces.retain(|key| !key.starts_with("il.e."));
    assert_eq!(traces, [""; 0]);
}

#[tokio::test]
async fn a_forgotten_key_is_reclaimed_an_hour_later_however_long_it_would_have_lived() {
    for strategy in STRATEGIES {
        let target = start(strategy);
        let token = complete(&target, "k", 30 * DAY_MS).await;
        pass(&target, 2 * MINUTE_MS);
        // The index knows the end in a month from here on.
        purge_until_clean(&target, 200).await;
        assert_eq!(target.call(&Call::forget("k", token)).await, "forgotten", "{strategy:?}");
        is_reclaimed_within_the_hour(&target).await;
    }
}

#[tokio::test]
async fn an_outcome_kept_for_less_than_its_lease_is_reclaimed_an_hour_later() {
    for strategy in STRATEGIES {
        let target = start(strategy);
        let token = begin(&target, "k", DAY_MS).await;
        let done = Call { ttl_ms: Some(1_000), ..Call::complete("k", token, "x") };
        assert!(target.call(&done).await["recorded"].is_object());
        is_reclaimed_within_the_hour(&target).await;
        // The key is free.
        complete(&target, "k", 1_000).await;
    }
}
