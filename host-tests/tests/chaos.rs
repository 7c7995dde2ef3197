//! Chaos on the component, some seeds of it; `cargo xtask chaos --seeds 2000` plays more.

use host_tests::chaos::{Kind, Outcome, Setup, play, run_seeds};
use host_tests::{STRATEGIES, Size};
use idempotency_ledger_host::Strategy;

/// Promises that are broken are found within so many seeds.
const SOON: u64 = 20;

fn series(setup: Setup, seeds: u64) -> Outcome {
    let outcome = run_seeds(setup, 1, seeds);
    println!("{setup:?}: {} histories, {:?}", outcome.histories, outcome.totals);
    outcome
}

fn keeps_its_promises(setup: Setup, seeds: u64) {
    let outcome = series(setup, seeds);
    if let Some(found) = outcome.violation {
        panic!("{}seed {}: {}\n{}", found.text, found.seed, found.why, found.replay);
    }
    assert_eq!(outcome.histories, seeds);
}

#[test]
fn on_the_memory_store() {
    for strategy in STRATEGIES {
        let setup = Setup { strategy, kind: Kind::Memory };
        keeps_its_promises(setup, Size::from_env().pick(150, 2_000));
    }
}

#[test]
fn on_the_sqlite_store() {
    for strategy in STRATEGIES {
        let setup = Setup { strategy, kind: Kind::Sqlite };
        keeps_its_promises(setup, Size::from_env().pick(15, 300));
    }
}

/// By tickets on hosts as they are too; by compare-and-swap it is found out soon.
#[test]
fn on_a_host_without_a_sound_swap() {
    for strategy in STRATEGIES {
        let setup = Setup { strategy, kind: Kind::SpinSqlite };
        match strategy {
            Strategy::Cas => assert!(series(setup, SOON).violation.is_some()),
            Strategy::Ticket => keeps_its_promises(setup, Size::from_env().pick(50, 1_000)),
        }
    }
}

#[test]
fn on_a_host_whose_swap_lies_about_success() {
    for strategy in STRATEGIES {
        let setup = Setup { strategy, kind: Kind::SpinRedis };
        match strategy {
            Strategy::Cas => assert!(series(setup, SOON).violation.is_some()),
            Strategy::Ticket => keeps_its_promises(setup, Size::from_env().pick(50, 1_000)),
        }
    }
}

/// Chaos bites: swaps that always succeed are found out soon, with what it takes to see it again.
#[test]
fn a_store_that_lies_is_found_out() {
    let setup = Setup { strategy: Strategy::Cas, kind: Kind::Liar };
    let found = series(setup, SOON).violation.expect("a violation");
    println!("seed {}: {}", found.seed, found.why);
    let again = format!("--seed {} --strategy cas --store liar", found.seed);
    assert!(found.replay.ends_with(&again), "{}", found.replay);
    let folder = tempfile::tempdir().expect("a folder");
    let replayed = play(setup, found.seed, folder.path());
    assert_eq!((replayed.text, replayed.violation), (found.text, Some(found.why)));
}

#[test]
fn a_seed_is_a_history() {
    for strategy in STRATEGIES {
        let folder = tempfile::tempdir().expect("a folder");
        for seed in 1..=10 {
            let setup = Setup { strategy, kind: Kind::Memory };
            let (one, other) = (play(setup, seed, folder.path()), play(setup, seed, folder.path()));
            assert_eq!(one.text, other.text, "seed {seed}");
            assert_eq!(one.totals, other.totals, "seed {seed}");
            // The store makes no difference to what happens.
            let file = play(Setup { kind: Kind::Sqlite, ..setup }, seed, folder.path());
            assert_eq!(one.text, file.text, "seed {seed}");
            assert!(one.text.lines().count() > 10, "{}", one.text);
        }
    }
}
