//! A caller that dies at each of its store calls, before or after its effect: the next one gets
//! through in time, and nothing is stuck, doubled or left.

use std::sync::Arc;

use host_tests::targets::{Hosted, Native};
use host_tests::{Call, CallName, Plan, STRATEGIES, Side, Strategy, Target, leftovers};
use serde_json::{Value, json};

use crate::scene::{LEASE_MS, STALL_MS, START, claimed, kind, prepare};

const QUARANTINE_MS: u64 = 3_600_000;

/// How often the next caller asks.
const ASKS: u64 = 20;

/// A call that dies, after what was before, at a time; and how long the key may be blocked then.
struct Death {
    name: &'static str,
    before: Vec<(u64, Call)>,
    at_ms: u64,
    call: Call,
    blocked_ms: u64,
}

fn deaths() -> Vec<Death> {
    let death =
        |name, before, at_ms, call, blocked_ms| Death { name, before, at_ms, call, blocked_ms };
    let upsert_on_missing = true;
    let done = |ttl_ms| Call { ttl_ms: Some(ttl_ms), ..Call::complete("k", START, "one") };
    let upsert = Call { upsert_on_missing, ..done(1_000) };
    let purged = vec![(START, Call::begin("k", 10)), (START + 11, Call::purge(10))];
    let lease = LEASE_MS + STALL_MS;
    let deletion_ms = START + 11 + QUARANTINE_MS;
    vec![
        death("a first begin", vec![], START, Call::begin("k", LEASE_MS), lease),
        death(
            "a begin on an expired claim",
            vec![(START, Call::begin("k", 10))],
            2_000,
            Call::begin("k", LEASE_MS),
            lease,
        ),
        death("a begin on a tombstone", purged.clone(), 2_000, Call::begin("k", LEASE_MS), lease),
        death("a complete", vec![claimed()], 2_000, done(1_000), lease),
        death(
            "a complete that ends before the lease",
            vec![(START, Call::begin("k", LEASE_MS))],
            2_000,
            done(10),
            lease,
        ),
        death("an upsert", vec![], START, upsert.clone(), STALL_MS + 1_000),
        death(
            "an upsert on an expired claim",
            vec![(START, Call::begin("k", 10))],
            2_000,
            upsert,
            STALL_MS + 1_000,
        ),
        death("a renew", vec![claimed()], 2_000, Call::renew("k", START, LEASE_MS), lease),
        death("a release", vec![claimed()], 2_000, Call::release("k", START), lease),
        death(
            "a forget",
            vec![claimed(), (START, done(5_000))],
            2_000,
            Call::forget("k", START),
            lease,
        ),
        death("a get", vec![claimed()], 2_000, Call::on(CallName::Get, "k"), lease),
        death("a purge", vec![(START, Call::begin("k", 10))], 2_000, Call::purge(10), STALL_MS),
        death("a deletion", purged, deletion_ms, Call::purge(10), 3 * QUARANTINE_MS),
    ]
}

async fn prepared(death: &Death, make: &impl AsyncFn() -> Arc<dyn Target>) -> Arc<dyn Target> {
    let target = make().await;
    prepare(&*target, &death.before, death.at_ms).await;
    target
}

/// The next caller, from the first moment to the last in which it has to get through.
async fn next_gets_through(target: &dyn Target, death: &Death, what: &str) {
    let mut answer = Value::Null;
    // It asks again and again, much less often than it is told to, and at the very end.
    for part in 0..=ASKS {
        target.set_clock(target.now_ms().max(death.at_ms + death.blocked_ms * part / ASKS));
        answer = target.call(&Call::begin("k", 1_000)).await;
        match kind(&answer) {
            "fresh" => break,
            "inflight" | "done" | "contended" => {}
            other => panic!("{what}: {other}: {answer}"),
        }
    }
    if kind(&answer) == "done" {
        return;
    }
    assert_eq!(kind(&answer), "fresh", "{what}: {answer}");
    let token = answer["fresh"]["token"].as_u64().expect("a token");
    let own = Call::complete("k", token, "two");
    assert_eq!(kind(&target.call(&own).await), "recorded", "{what}");
    let replay = target.call(&Call::begin("k", 1_000)).await;
    assert_eq!(replay["done"]["payload"], json!({ "hex": "74776f" }), "{what}: {replay}");
    // Nobody else's token may do anything now.
    let stale = target.call(&Call::complete("k", START, "three")).await;
    assert_eq!(kind(&stale), "lost", "{what}: {stale}");
}

async fn dies_everywhere(
    strategy: Strategy,
    death: &Death,
    make: impl AsyncFn() -> Arc<dyn Target>,
) -> u64 {
    let target = prepared(death, &make).await;
    target.probe().start(None);
    target.call(&death.call).await;
    let calls = target.probe().calls();
    for number in 1..=calls {
        for side in [Side::Before, Side::After] {
            let what = format!("{strategy:?}, {} that died {side:?} call {number}", death.name);
            let target = prepared(death, &make).await;
            target.probe().start(Some(Plan::from(number, side)));
            target.call(&death.call).await;
            target.probe().start(None);
            next_gets_through(&*target, death, &what).await;
            let left = leftovers(&*target, 3 * 86_400_000).await;
            assert_eq!(left, [""; 0], "{what}: left in the store");
        }
    }
    calls
}

#[tokio::test]
async fn whoever_dies_at_whatever_call_blocks_nobody_for_long() {
    for strategy in STRATEGIES {
        for death in deaths() {
            let native = async || Arc::new(Native::new(strategy)) as Arc<dyn Target>;
            let calls = dies_everywhere(strategy, &death, native).await;
            println!("{strategy:?}: {}: died at each of {calls} store calls", death.name);
        }
    }
}

#[tokio::test]
async fn the_component_too() {
    for strategy in STRATEGIES {
        for death in deaths() {
            let hosted = async || Arc::new(Hosted::in_memory(strategy).await) as Arc<dyn Target>;
            dies_everywhere(strategy, &death, hosted).await;
        }
    }
}
