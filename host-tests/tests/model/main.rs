//! Every interleaving of the store calls of a few workers, with crashes, failing calls, effects
//! that come late, and a clock that moves between any two calls.
//!
//! The shipped core runs in coroutines; each of its store calls is a point where the explorer
//! chooses who goes on, what fails, who dies, and whether the clock moves. Each history that
//! comes out is checked against the oracle, which knows the promises and nothing of the code;
//! and after each, the key must become free and purges must leave nothing.
//!
//! `LEDGER_TEST_SIZE=full` explores the larger scenarios too. A failure prints the history and
//! the choices that led to it.

mod aftermath;
mod explorer;
mod history;
mod oracle;
mod oracle_tests;
mod world;

use explorer::{Scenario, explore};
use history::{Call, Token};

const BEGIN: Call = Call::Begin { lease_ms: 10 };
const COMPLETE: Call = Call::Complete { token: Token::Own, ttl_ms: 20, upsert: false, payload: 1 };
const BLIND: Call = Call::Complete { token: Token::None, ttl_ms: 20, upsert: false, payload: 2 };
const UPSERT: Call = Call::Complete { token: Token::Own, ttl_ms: 5, upsert: true, payload: 3 };
const RENEW: Call = Call::Renew { token: Token::Own, lease_ms: 15 };
const RELEASE: Call = Call::Release { token: Token::Own };
const FORGET: Call = Call::Forget { token: Token::Own };
const PURGE: Call = Call::Purge { limit: 10 };
const GET: Call = Call::Get;

const HOUR_MS: u64 = 3_600_000;

fn is_full() -> bool {
    std::env::var("LEDGER_TEST_SIZE").is_ok_and(|size| size == "full")
}

fn run(scenario: &Scenario) {
    let explored = explore(scenario);
    let Scenario { name, failures, crashes, ticks_ms, .. } = scenario;
    println!(
        "{name} ({failures} failures, {crashes} crashes, {} ticks): {} states, {} histories",
        ticks_ms.len(),
        explored.states,
        explored.histories
    );
}

/// With one failing store call, and with one crash.
fn run_with_faults(scenario: &Scenario) {
    for (failures, crashes) in [(1, 0), (0, 1)] {
        run(&Scenario { failures, crashes, ..scenario.clone() });
    }
}

#[test]
fn two_first_claims() {
    let scenario = Scenario {
        name: "begin | begin",
        workers: vec![vec![BEGIN], vec![BEGIN]],
        start_ms: 100,
        ..Scenario::default()
    };
    run_with_faults(&scenario);
    if is_full() {
        run_with_faults(&Scenario { ticks_ms: vec![110], ..scenario.clone() });
        let workers = vec![vec![BEGIN, COMPLETE], vec![BEGIN, COMPLETE]];
        run_with_faults(&Scenario {
            name: "begin, complete | begin, complete",
            workers,
            ..scenario
        });
    }
}

#[test]
fn over_a_standing_claim() {
    let pairs: [(&'static str, &[Call], &[Call]); 12] = [
        ("complete | complete", &[COMPLETE], &[COMPLETE]),
        ("complete | complete without a token", &[COMPLETE], &[BLIND]),
        ("complete | begin", &[COMPLETE], &[BEGIN]),
        ("renew, complete | begin", &[RENEW, COMPLETE], &[BEGIN]),
        ("renew | renew", &[RENEW], &[RENEW]),
        ("release | begin, complete", &[RELEASE], &[BEGIN, COMPLETE]),
        ("release | complete", &[RELEASE], &[COMPLETE]),
        ("release | release", &[RELEASE], &[RELEASE]),
        ("upsert | begin", &[UPSERT], &[BEGIN]),
        ("upsert | upsert", &[UPSERT], &[UPSERT]),
        ("complete, get | forget", &[COMPLETE, GET], &[FORGET]),
        ("upsert | forget", &[UPSERT], &[FORGET]),
    ];
    for (name, first, second) in pairs {
        // To the lease's end and to the millisecond after it; past it; and a clock that steps back.
        for (start_ms, ticks_ms) in [(105, vec![109, 110]), (110, vec![]), (105, vec![90, 110])] {
            let scenario = Scenario {
                name,
                before: vec![(100, BEGIN)],
                workers: vec![first.to_vec(), second.to_vec()],
                start_ms,
                ticks_ms,
                ..Scenario::default()
            };
            if is_full() {
                run(&Scenario { failures: 2, crashes: 1, ..scenario });
            } else {
                run_with_faults(&scenario);
            }
        }
    }
}

#[test]
fn a_stale_worker() {
    let stale = Token::Is(100);
    for call in [
        Call::Complete { token: stale, ttl_ms: 20, upsert: true, payload: 4 },
        Call::Renew { token: stale, lease_ms: 15 },
        Call::Release { token: stale },
        Call::Forget { token: stale },
    ] {
        run_with_faults(&Scenario {
            name: "a stale call | complete",
            before: vec![(100, BEGIN), (110, BEGIN)],
            workers: vec![vec![call], vec![COMPLETE]],
            start_ms: 115,
            ticks_ms: vec![120],
            ..Scenario::default()
        });
    }
}

#[test]
fn three_workers() {
    let crowds: [(&'static str, [&[Call]; 3]); 3] = [
        ("begin | begin | begin, over an expired claim", [&[BEGIN], &[BEGIN], &[BEGIN]]),
        ("complete | begin | upsert, over an expired claim", [&[COMPLETE], &[BEGIN], &[UPSERT]]),
        ("complete | begin | purge, over an expired claim", [&[COMPLETE], &[BEGIN], &[PURGE]]),
    ];
    for (name, workers) in crowds {
        let scenario = Scenario {
            name,
            before: vec![(100, BEGIN)],
            workers: workers.map(<[Call]>::to_vec).to_vec(),
            start_ms: 111,
            ..Scenario::default()
        };
        run(&scenario);
        if is_full() {
            run_with_faults(&scenario);
        }
    }
}

#[test]
fn a_purge_among_others() {
    type Row = (&'static str, &'static [(u64, Call)], &'static [Call]);
    let rows: [Row; 6] = [
        ("purge | begin", &[(100, BEGIN)], &[BEGIN]),
        ("purge | complete", &[(100, BEGIN)], &[COMPLETE]),
        ("purge | upsert", &[(100, BEGIN)], &[UPSERT]),
        ("purge | purge", &[(100, BEGIN)], &[PURGE]),
        ("purge of an outcome | begin", &[(100, BEGIN), (101, UPSERT)], &[BEGIN]),
        ("purge of nothing | begin", &[], &[BEGIN]),
    ];
    for (name, before, other) in rows {
        let scenario = Scenario {
            name,
            before: before.to_vec(),
            workers: vec![other.to_vec(), vec![PURGE]],
            start_ms: 111,
            ..Scenario::default()
        };
        run_with_faults(&scenario);
        run(&Scenario {
            start_ms: 109,
            ticks_ms: vec![111],
            failures: usize::from(is_full()),
            ..scenario
        });
    }
}

#[test]
fn a_deletion_among_others() {
    for (name, other) in
        [("deletion | begin", BEGIN), ("deletion | upsert", UPSERT), ("deletion | deletion", PURGE)]
    {
        run_with_faults(&Scenario {
            name,
            before: vec![(100, BEGIN), (200, PURGE)],
            workers: vec![vec![other], vec![PURGE]],
            start_ms: 200 + HOUR_MS,
            ..Scenario::default()
        });
    }
}
