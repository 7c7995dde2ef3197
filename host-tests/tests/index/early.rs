//! Ends that come before the one that the index knew first.

use host_tests::targets::Native;
use host_tests::{Call, CallName, STRATEGIES, Strategy, Target, purge_until_clean};

use super::{DAY_MS, HOUR_MS, MINUTE_MS, TRACES, begin, complete};

/// An hour and a moment later nothing is left of the key.
async fn is_reclaimed_within_the_hour(target: &Native, what: &str) {
    for pause_ms in [MINUTE_MS, HOUR_MS] {
        target.set_clock(target.now_ms() + pause_ms);
        purge_until_clean(target, 200).await;
    }
    let keys = target.store_keys().await;
    let traces: Vec<_> = keys
        .iter()
        .filter(|key| TRACES.iter().any(|trace| key.starts_with(trace) && trace != &"il.e."))
        .collect();
    assert_eq!(traces, [""; 0], "{what}");
}

fn start(strategy: Strategy) -> Native {
    let target = Native::new(strategy);
    target.set_clock(1_000_000_000);
    target
}

#[tokio::test]
async fn a_forgotten_key_is_reclaimed_an_hour_later_however_long_it_would_have_lived() {
    for strategy in STRATEGIES {
        let target = start(strategy);
        let token = begin(&target, "k", MINUTE_MS).await;
        let done = Call { ttl_ms: Some(30 * DAY_MS), ..Call::complete("k", token, "x") };
        assert!(target.call(&done).await["recorded"].is_object());
        // The index knows the end in a month by now.
        target.set_clock(target.now_ms() + 2 * MINUTE_MS);
        purge_until_clean(&target, 200).await;
        let forget = Call { token: Some(token), ..Call::on(CallName::Forget, "k") };
        let answer = target.call(&forget).await;
        assert_eq!(answer, "forgotten", "{strategy:?}");
        is_reclaimed_within_the_hour(&target, "a forgotten key").await;
    }
}

#[tokio::test]
async fn an_outcome_kept_for_less_than_its_lease_is_reclaimed_an_hour_later() {
    for strategy in STRATEGIES {
        let target = start(strategy);
        let token = begin(&target, "k", DAY_MS).await;
        let done = Call { ttl_ms: Some(1_000), ..Call::complete("k", token, "x") };
        assert!(target.call(&done).await["recorded"].is_object());
        is_reclaimed_within_the_hour(&target, "an outcome").await;
        complete(&target, "k", 1_000).await;
    }
}
