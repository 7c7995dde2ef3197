//! The clock moves under a call: back by any amount, or ahead by more than a call may take.

use host_tests::Strategy;
use host_tests::targets::{Intruder, Native};
use host_tests::{Call, Side, Target};
use serde_json::{Value, json};

use crate::scene::{LEASE_MS, START, kind};

const DEADLINE_MS: u64 = 60_000;

fn prepared(setup: &[Call]) -> Native {
    let target = Native::new(Strategy::Cas);
    target.set_clock(100_000);
    setup.iter().for_each(|call| drop(target.ask(call)));
    target.probe().start(None);
    target
}

/// `call` with the clock set at each of its store calls; `verify` learns whether it was at the
/// last one, a write.
fn at_each_point(setup: &[Call], call: &Call, now_ms: u64, verify: impl Fn(&Native, &Value, bool)) {
    let dry_run = prepared(setup);
    dry_run.ask(call);
    let last = dry_run.probe().calls();
    for number in 1..=last {
        let target = prepared(setup);
        let clock = target.beside();
        let act = Box::new(move || clock.set_clock(now_ms));
        target.bucket().intrude(Intruder { number, side: Side::Before, act });
        let answer = target.ask(call);
        println!("{now_ms} at {number}: {answer}");
        verify(&target, &answer, number == last);
    }
}

/// A step back, and more than a call may take: it stops before its next write.
const TOO_FAR: [u64; 3] = [99_999, 0, 100_000 + DEADLINE_MS + 1];

#[test]
fn a_begin_stops_before_its_next_write() {
    for now_ms in TOO_FAR {
        at_each_point(&[], &Call::begin("k", 10 * LEASE_MS), now_ms, |target, answer, last| {
            let entry = target.ask(&Call::get("k"));
            assert_eq!(kind(answer), if last { "fresh" } else { "deadline-exceeded" });
            assert_eq!(entry["token"], answer["fresh"]["token"]);
        });
    }
}

#[test]
fn a_complete_stops_before_its_next_write() {
    let setup = [Call::begin("k", 10 * LEASE_MS)];
    for now_ms in TOO_FAR {
        at_each_point(
            &setup,
            &Call::complete("k", 100_000, "x"),
            now_ms,
            |target, answer, last| {
                let entry = target.ask(&Call::get("k"));
                assert_eq!(kind(answer), if last { "recorded" } else { "deadline-exceeded" });
                assert_eq!(entry["state"]["done"].is_object(), last, "{entry}");
            },
        );
    }
}

#[test]
fn a_call_may_take_as_long_as_its_deadline() {
    let now_ms = 100_000 + DEADLINE_MS;
    at_each_point(&[], &Call::begin("k", 10 * LEASE_MS), now_ms, |target, answer, _| {
        assert_eq!(target.ask(&Call::get("k"))["token"], answer["fresh"]["token"], "{answer}");
        assert!(answer["fresh"].is_object(), "{answer}");
    });
}

/// Named after a fault: the clock steps back, or nodes disagree.
#[test]
fn the_clock_steps_back_or_nodes_disagree() {
    let setup = [Call::begin("k", LEASE_MS)];
    at_each_point(&setup, &Call::begin("k", LEASE_MS), START, |_, answer, _| {
        assert_eq!(answer["inflight"]["expires-at-ms"], json!(100_000 + LEASE_MS), "{answer}");
        let hint = answer["inflight"]["retry-after-ms"].as_u64().unwrap();
        assert!((1..=LEASE_MS).contains(&hint), "{answer}");
    });
}
