//! An error injected into each store call in turn, before and after its effect: no claim that
//! is not in the store, no second outcome, and a retry gets through.

use host_tests::Strategy;
use host_tests::targets::Native;
use host_tests::{Call, CallName, Plan, Side, Target};
use serde_json::{Value, json};

use crate::scene::{LEASE_MS, START, Scene, changed_nothing, claimed, kind};

async fn get(target: &dyn Target) -> Value {
    target.call(&Call::get("k")).await
}

fn is_live(entry: &Value) -> bool {
    entry["expired"] == json!(false)
}

/// The claim is there if the answer says so, not if it says that nothing changed, and one
/// lease later the key is free.
async fn begin_is_never_fresh_without_a_claim(target: &dyn Target, answer: &Value) {
    let entry = get(target).await;
    match kind(answer) {
        "fresh" => {
            assert!(is_live(&entry), "{entry}");
            assert_eq!(entry["token"], answer["fresh"]["token"]);
        }
        "outcome-unknown" => {}
        _ if changed_nothing(answer) => assert!(!is_live(&entry), "{entry}"),
        _ => panic!("{answer}"),
    }
    let again = target.call(&Call::begin("k", LEASE_MS)).await;
    assert_eq!(kind(&again), if is_live(&entry) { "inflight" } else { "fresh" });
    target.set_clock(target.now_ms() + LEASE_MS);
    let later = target.call(&Call::begin("k", LEASE_MS)).await;
    assert_eq!(kind(&later), "fresh", "a retry gets through after the lease");
    let token = later["fresh"]["token"].as_u64().unwrap();
    assert_eq!(kind(&target.call(&Call::complete("k", token, "x")).await), "recorded");
}

/// Named after a fault: store time-outs fail open.
#[tokio::test]
async fn store_timeouts_fail_open() {
    let call = Call::begin("k", LEASE_MS);
    let completed = Call { ttl_ms: Some(10), ..Call::complete("k", START, "x") };
    let setups = [
        vec![],
        vec![(START, Call::begin("k", 10))],
        vec![claimed(), (START, completed)],
        vec![claimed(), (START, Call::release("k", START))],
        vec![(START, Call::begin("k", 10)), (START + 11, Call::purge(10))],
    ];
    for setup in setups {
        let scene = Scene { setup, at_ms: 2_000, call: call.clone() };
        scene.with_each_failure(begin_is_never_fresh_without_a_claim).await;
    }
}

/// One outcome in the end, the first; a call that says so recorded it.
async fn one_outcome(target: &dyn Target, answer: &Value) {
    let entry = get(target).await;
    let done = entry["state"]["done"].is_object();
    match kind(answer) {
        "recorded" => assert!(done, "{entry}"),
        "outcome-unknown" => {}
        _ if changed_nothing(answer) => assert!(!done, "{entry}"),
        _ => panic!("{answer}"),
    }
    let upsert_on_missing = true;
    let repeat = Call { upsert_on_missing, ..Call::complete("k", START, "one") };
    let repeated = target.call(&repeat).await;
    assert_eq!(kind(&repeated), if done { "lost" } else { "recorded" }, "{repeated}");
    let other = target.call(&Call { upsert_on_missing, ..Call::complete("k", START, "two") }).await;
    assert_eq!(other, json!({ "lost": "already-done" }));
    let replay = target.call(&Call::begin("k", LEASE_MS)).await;
    assert_eq!(replay["done"]["payload"], json!({ "hex": "6f6e65" }), "{replay}");
    if done {
        assert_eq!(replay["done"]["completed-at-ms"], entry["completed-at-ms"]);
    }
}

/// Named after a fault: storing the result failed and the claim was deleted.
#[tokio::test]
async fn storing_the_result_failed_and_the_claim_was_deleted() {
    let complete = Call::complete("k", START, "one");
    let scene = Scene { setup: vec![claimed()], at_ms: 2_000, call: complete };
    let held = async |target: &dyn Target, answer: &Value| {
        if changed_nothing(answer) {
            let begin = target.call(&Call::begin("k", LEASE_MS)).await;
            assert_eq!(begin["inflight"]["expires-at-ms"], json!(START + LEASE_MS), "{begin}");
            target.set_clock(START + LEASE_MS - 1);
            let begin = target.call(&Call::begin("k", LEASE_MS)).await;
            assert_eq!(begin["inflight"]["retry-after-ms"], json!(1), "{begin}");
        }
        one_outcome(target, answer).await;
    };
    scene.with_each_failure(held).await;
}

#[tokio::test]
async fn an_outcome_that_ends_before_the_lease_is_recorded_once() {
    let setup = vec![(START, Call::begin("k", 10_000_000))];
    let call = Call { ttl_ms: Some(LEASE_MS), ..Call::complete("k", START, "one") };
    Scene { setup, at_ms: 2_000, call }.with_each_failure(one_outcome).await;
}

#[tokio::test]
async fn an_upsert_is_recorded_once() {
    let call = Call { upsert_on_missing: true, ..Call::complete("k", START, "one") };
    let setups = [
        vec![],
        vec![(START, Call::begin("k", 10))],
        vec![claimed(), (START, Call::release("k", START))],
    ];
    for setup in setups {
        let scene = Scene { setup, at_ms: 2_000, call: call.clone() };
        scene.with_each_failure(one_outcome).await;
    }
}

#[tokio::test]
async fn a_renewal_holds_or_the_claim_stays_as_it_was() {
    let call = Call::renew("k", START, 100_000);
    let verify = async |target: &dyn Target, answer: &Value| {
        let entry = get(target).await;
        let (before, after) = (json!(START + LEASE_MS), json!(102_000));
        match kind(answer) {
            "renewed" => assert_eq!(entry["expires-at-ms"], after),
            "outcome-unknown" => assert!([before, after].contains(&entry["expires-at-ms"])),
            _ if changed_nothing(answer) => assert_eq!(entry["expires-at-ms"], before),
            _ => panic!("{answer}"),
        }
        assert_eq!(kind(&target.call(&Call::begin("k", LEASE_MS)).await), "inflight");
        let again = target.call(&Call::renew("k", START, 100_000)).await;
        assert_eq!(again["renewed"]["expires-at-ms"], json!(102_000));
    };
    Scene { setup: vec![claimed()], at_ms: 2_000, call }.with_each_failure(verify).await;
}

#[tokio::test]
async fn a_release_holds_or_the_claim_stays() {
    let call = Call::release("k", START);
    let verify = async |target: &dyn Target, answer: &Value| {
        let entry = get(target).await;
        match kind(answer) {
            "released" => assert_eq!(entry, Value::Null),
            "outcome-unknown" => {}
            _ if changed_nothing(answer) => assert!(is_live(&entry), "{entry}"),
            _ => panic!("{answer}"),
        }
        let again = target.call(&Call::release("k", START)).await;
        assert_eq!(kind(&again), if is_live(&entry) { "released" } else { "lost" });
        assert_eq!(kind(&target.call(&Call::begin("k", LEASE_MS)).await), "fresh");
    };
    Scene { setup: vec![claimed()], at_ms: 2_000, call }.with_each_failure(verify).await;
}

#[tokio::test]
async fn get_answers_what_is_there_or_an_error() {
    let call = Call::on(CallName::Get, "k");
    let verify = async |target: &dyn Target, answer: &Value| {
        let entry = get(target).await;
        assert!(changed_nothing(answer) || *answer == entry, "{answer}");
        assert!(is_live(&entry));
    };
    Scene { setup: vec![claimed()], at_ms: 2_000, call }.with_each_failure(verify).await;
}

/// A write that took effect although it failed, and can be looked at: begin, renew and release
/// know their own record; complete cannot, and says so.
#[test]
fn what_landed_although_it_failed_is_known() {
    let expired = vec![(START, Call::begin("k", 10))];
    let rows = [
        (vec![], Call::begin("k", LEASE_MS), "fresh"),
        (expired, Call::begin("k", LEASE_MS), "fresh"),
        (vec![claimed()], Call::renew("k", START, 2 * LEASE_MS), "renewed"),
        (vec![claimed()], Call::release("k", START), "released"),
        (vec![claimed()], Call::complete("k", START, "x"), "outcome-unknown"),
    ];
    for (setup, call, expected) in rows {
        let prepared = || {
            let target = Native::new(Strategy::Cas);
            for (at_ms, call) in &setup {
                target.set_clock(*at_ms);
                target.ask(call);
            }
            target.set_clock(2_000);
            target.probe().start(None);
            target
        };
        let dry_run = prepared();
        dry_run.ask(&call);
        let target = prepared();
        target.probe().start(Some(Plan::one(dry_run.probe().calls(), Side::After)));
        assert_eq!(kind(&target.ask(&call)), expected, "{call:?}");
    }
}
