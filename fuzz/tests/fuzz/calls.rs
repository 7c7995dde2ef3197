//! Whole sequences of calls, on four keys at once: every answer is one that the promises allow.

use bolero::check;
use idempotency_ledger::record::Strategy;
use ledger_fuzz::world::World;
use ledger_model::oracle::{self, Call, Operation};

use crate::choices::{Choice, MAX_STEPS, time};

/// Plays the steps; then each key's history must be explained, a purge being part of all.
fn play(strategy: Strategy, steps: &[Choice]) {
    let mut world = World::new(strategy);
    let mut histories: [Vec<Operation>; 4] = Default::default();
    for (at, step) in steps.iter().take(MAX_STEPS).enumerate() {
        let (address, operation) = world.take(&step.step(), at);
        if matches!(operation.call, Call::Purge { .. }) {
            histories.iter_mut().for_each(|history| history.push(operation.clone()));
        } else {
            histories[address].push(operation);
        }
    }
    for (address, history) in histories.iter().enumerate() {
        assert!(oracle::explains(history, strategy), "key {address}: {history:#?}");
    }
}

#[test]
fn calls_by_compare_and_swap() {
    check!()
        .with_test_time(time())
        .with_type::<Vec<Choice>>()
        .for_each(|steps| play(Strategy::Cas, steps));
}

#[test]
fn calls_by_tickets() {
    check!()
        .with_test_time(time())
        .with_type::<Vec<Choice>>()
        .for_each(|steps| play(Strategy::Ticket, steps));
}
