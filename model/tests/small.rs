//! The small scenarios, with every change; `cargo xtask check-model --full` explores the others.

use idempotency_ledger::record::Strategy;
use ledger_model::{Explored, Size, explore, scenarios, shortest};

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

/// Where no promise is broken, the search for the shortest history that breaks one sees them all.
#[test]
fn layer_by_layer_the_same_is_seen() {
    for scenario in scenarios(Strategy::Cas, Size::Small).iter().step_by(10) {
        let seen = |explored: Explored| (explored.states, explored.histories);
        let deep = explore(scenario).map(seen).map_err(|found| found.text);
        let layers = shortest(scenario, || usize::MAX).map(seen).map_err(|found| found.text);
        assert_eq!(deep, layers, "{}", scenario.title());
    }
}
