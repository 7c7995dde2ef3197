//! Two callers that meet at every point: one call runs as a whole between any two store calls
//! of the other, with and without a failing store.

use std::sync::{Arc, Mutex};

use host_tests::Strategy;
use host_tests::targets::{Intruder, Native};
use host_tests::{Call, Plan, Side, Target};
use serde_json::{Value, json};

use crate::scene::{LEASE_MS, START, Scene, claimed, kind};

const HOUR_MS: u64 = 3_600_000;

const SIDES: [Side; 3] = [Side::Before, Side::After, Side::Late];

/// The intruder: at a time, a call.
type Visit = (u64, Call);

/// Runs the scene's call with `visit` at each point, and `plans` of failure; `verify` sees the
/// ledger, the answer of the call and that of the visitor.
fn meet(scene: &Scene, visit: &Visit, fails: bool, verify: impl Fn(&Native, &Value, &Value)) {
    let mut meetings = 0;
    for number in 1.. {
        let before = meetings;
        for side in [Side::Before, Side::After] {
            // A failure may end the call before they meet.
            let met = |plan: &Option<Plan>| meet_once(scene, visit, number, side, *plan, &verify);
            meetings += plans(number, fails).iter().filter(|plan| met(plan)).count();
        }
        if meetings == before {
            println!("{meetings} meetings");
            return;
        }
    }
}

/// No failure; or one at the meeting or shortly before or after it.
fn plans(number: u64, fails: bool) -> Vec<Option<Plan>> {
    let near = number.saturating_sub(2).max(1)..=number + 2;
    let failing = near.flat_map(|at| SIDES.map(|side| Some(Plan::one(at, side))));
    std::iter::once(None).chain(failing.filter(|_| fails)).collect()
}

/// Answers whether they met.
fn meet_once(
    scene: &Scene,
    (at_ms, visit): &Visit,
    number: u64,
    side: Side,
    plan: Option<Plan>,
    verify: &impl Fn(&Native, &Value, &Value),
) -> bool {
    let target = Native::new(Strategy::Cas);
    for (at_ms, call) in &scene.setup {
        target.set_clock(*at_ms);
        target.ask(call);
    }
    target.set_clock(scene.at_ms);
    let visited = Arc::new(Mutex::new(None));
    let (visitor, at_ms, visit, answer) = (target.beside(), *at_ms, visit.clone(), visited.clone());
    target.probe().start(plan);
    let act = Box::new(move || {
        visitor.set_clock(at_ms);
        *answer.lock().unwrap() = Some(visitor.ask(&visit));
    });
    target.bucket().intrude(Intruder { number, side, act });
    let answer = target.ask(&scene.call);
    target.probe().start(None);
    target.bucket().land();
    let visited = visited.lock().unwrap().take();
    let Some(visited) = visited else { return false };
    println!("met {side:?} {number}, {plan:?}: {answer} and {visited}");
    verify(&target, &answer, &visited);
    true
}

fn count(wanted: &str, answers: [&Value; 2]) -> usize {
    answers.into_iter().filter(|answer| kind(answer) == wanted).count()
}

#[test]
fn two_begins_in_one_millisecond_one_is_fresh() {
    let begin = Call::begin("k", LEASE_MS);
    let setups = [
        vec![],
        vec![(START, Call::begin("k", 10))],
        vec![claimed(), (START, Call::release("k", START))],
        vec![(START, Call::begin("k", 10)), (START + 11, Call::purge(10))],
    ];
    for setup in setups {
        let scene = Scene { setup, at_ms: 2_000, call: begin.clone() };
        meet(&scene, &(2_000, begin.clone()), false, |target, one, two| {
            assert_eq!(count("fresh", [one, two]), 1);
            assert_eq!(count("inflight", [one, two]), 1);
            let winner = if kind(one) == "fresh" { one } else { two };
            assert_eq!(target.ask(&Call::get("k"))["token"], winner["fresh"]["token"]);
        });
        meet(&scene, &(2_000, begin.clone()), true, |target, one, two| {
            assert!(count("fresh", [one, two]) <= 1);
            for fresh in [one, two].into_iter().filter(|answer| kind(answer) == "fresh") {
                assert_eq!(target.ask(&Call::get("k"))["token"], fresh["fresh"]["token"]);
            }
        });
    }
}

#[test]
fn two_completes_with_one_token_in_one_millisecond_one_is_recorded() {
    let complete = Call::complete("k", START, "x");
    let scene = Scene { setup: vec![claimed()], at_ms: 2_000, call: complete.clone() };
    let visit = (2_000, complete);
    meet(&scene, &visit, false, |_, one, two| {
        assert_eq!((count("recorded", [one, two]), count("lost", [one, two])), (1, 1));
    });
    meet(&scene, &visit, true, |target, one, two| {
        assert!(count("recorded", [one, two]) <= 1, "{one} and {two}");
        assert!(target.ask(&Call::get("k"))["state"]["done"].is_object());
    });
}

#[test]
fn two_upserts_in_one_millisecond_one_is_recorded() {
    let call = Call { upsert_on_missing: true, ..Call::complete("k", START, "x") };
    for setup in [vec![], vec![(START, Call::begin("k", 10))]] {
        let scene = Scene { setup, at_ms: 2_000, call: call.clone() };
        meet(&scene, &(2_000, call.clone()), false, |_, one, two| {
            assert_eq!((count("recorded", [one, two]), count("lost", [one, two])), (1, 1));
        });
        meet(&scene, &(2_000, call.clone()), true, |_, one, two| {
            assert!(count("recorded", [one, two]) <= 1, "{one} and {two}");
        });
    }
}

/// Named after a fault: a late worker overwrites or deletes its successor's claim.
#[test]
fn a_late_worker_overwrites_or_deletes_its_successors_claim() {
    let upsert = Call { upsert_on_missing: true, ..Call::complete("k", START, "x") };
    let late = [
        Call::complete("k", START, "x"),
        Call::renew("k", START, LEASE_MS),
        Call::release("k", START),
        Call::forget("k", START),
        upsert,
    ];
    let successor = (START + LEASE_MS, Call::begin("k", LEASE_MS));
    for call in late {
        let at_ms = START + LEASE_MS - 1;
        let scene = Scene { setup: vec![claimed()], at_ms, call };
        meet(&scene, &successor, true, |target, late, successor| {
            let entry = target.ask(&Call::get("k"));
            if kind(successor) == "fresh" {
                assert_eq!(entry["token"], successor["fresh"]["token"], "{late}");
                assert_eq!(entry["state"], json!("inflight"));
                assert!(!["recorded", "renewed"].contains(&kind(late)), "{late}");
            }
        });
    }
}

/// Whoever forgot an outcome saw that it was recorded: its recorder may not hear that it was
/// lost, or that nothing changed.
#[test]
fn an_outcome_that_is_forgotten_at_once_was_recorded() {
    let complete = Call::complete("k", START, "x");
    let upsert = Call { upsert_on_missing: true, ..complete.clone() };
    for call in [complete, upsert] {
        let scene = Scene { setup: vec![claimed()], at_ms: 2_000, call };
        meet(&scene, &(2_000, Call::forget("k", START)), true, |target, complete, forget| {
            if kind(forget) == "forgotten" {
                assert!(["recorded", "outcome-unknown"].contains(&kind(complete)), "{complete}");
                assert_eq!(target.ask(&Call::get("k")), Value::Null);
            }
        });
    }
}

/// Named after a fault: the reaper deletes locks of running jobs.
#[test]
fn the_reaper_deletes_locks_of_running_jobs() {
    let expired = vec![(START, Call::begin("k", 10)), (START, Call::begin("l", 10))];
    let removed = [expired.clone(), vec![(2_000, Call::purge(10))]].concat();
    for (setup, at_ms) in [(expired, 2_000), (removed, 2_000 + HOUR_MS)] {
        let scene = Scene { setup, at_ms, call: Call::purge(10) };
        meet(&scene, &(at_ms, Call::begin("k", LEASE_MS)), true, |target, purge, begin| {
            match kind(begin) {
                "fresh" => {
                    let entry = target.ask(&Call::get("k"));
                    assert_eq!(entry["token"], begin["fresh"]["token"], "{purge}");
                    assert_eq!(entry["expired"], json!(false));
                }
                // Met in the middle of the deletion: told to come back in a moment.
                _ => {
                    assert!(begin["inflight"]["retry-after-ms"].as_u64() <= Some(1_000), "{begin}");
                    assert_eq!(target.ask(&Call::get("k")), Value::Null);
                }
            }
        });
    }
}

#[test]
fn two_purges_remove_everything_once_and_nothing_that_lives() {
    let keys = ["a", "b", "c", "d"].map(|key| (START, Call::begin(key, 10)));
    let setup = [keys.to_vec(), vec![(START, Call::begin("live", HOUR_MS))]].concat();
    let scene = Scene { setup, at_ms: 2_000, call: Call::purge(10) };
    meet(&scene, &(2_000, Call::purge(10)), false, |target, one, two| {
        let removed = [one, two].map(|report| report["removed"].as_u64().unwrap_or_default());
        assert_eq!(removed.iter().sum::<u64>(), 4, "{one} and {two}");
        assert_eq!(target.ask(&Call::get("live"))["expired"], json!(false));
        for key in ["a", "b", "c", "d"] {
            assert_eq!(target.ask(&Call::get(key)), Value::Null);
        }
    });
}
