//! The small scenarios, with every change; `cargo xtask check-model --full` explores the others.

use idempotency_ledger::record::Strategy;
use ledger_model::{Size, explore, scenarios};

fn explore_all(strategy: Strategy) {
    let (mut states, mut histories) = (0, 0);
    let all = scenarios(strategy, Size::Small);
    for scenario in &all {
        match explore(scenario) {
            Ok(explored) => {
                states += explored.states;
                histories += explored.histories;
            }
            Err(found) => panic!("{}: {}", scenario.title(), found.text),
        }
    }
    println!("{strategy:?}: {} scenarios, {states} states, {histories} histories", all.len());
}

#[test]
fn every_small_history_by_compare_and_swap_keeps_the_promises() {
    explore_all(Strategy::Cas);
}

#[test]
fn every_small_history_by_tickets_keeps_the_promises() {
    explore_all(Strategy::Ticket);
}
