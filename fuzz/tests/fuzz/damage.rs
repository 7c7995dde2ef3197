//! A store with a damaged value: no call traps, no damaged key is claimed, no other key is harmed.

use bolero::{TypeGenerator, check};
use idempotency_ledger::answer::Begin;
use idempotency_ledger::key::Address;
use idempotency_ledger::record::{Strategy, decode};
use ledger_fuzz::step::ADDRESSES;
use ledger_fuzz::world::World;
use ledger_model::oracle::Answer;

use crate::choices::{Choice, time};

/// Which value is damaged, and how.
#[derive(Clone, Debug, TypeGenerator)]
struct Damage {
    victim: u16,
    at: u16,
    length: u16,
    instead: Vec<u8>,
}

impl Damage {
    /// Damages a value of the store: its key, and whether it was changed.
    fn apply(&self, world: &World) -> Option<(String, Vec<u8>)> {
        let values = world.bucket.values();
        let (key, mut bytes) = values.get(usize::from(self.victim) % values.len().max(1))?.clone();
        let at = usize::from(self.at) % (bytes.len() + 1);
        let end = (at + usize::from(self.length)).min(bytes.len());
        bytes.splice(at..end, self.instead.iter().copied());
        world.bucket.put(&key, &bytes);
        Some((key, bytes))
    }
}

/// The slot of a key, as it stands in the names of the store's keys.
fn slot(address: usize) -> String {
    let (scope, key) = ADDRESSES[address];
    Address::new(scope, key).unwrap().slot
}

fn play(strategy: Strategy, (before, damage, after): &(Vec<Choice>, Damage, Vec<Choice>)) {
    let mut world = World::new(strategy);
    for (at, choice) in before.iter().enumerate() {
        world.take(&choice.step(), at);
    }
    let sound: Vec<Answer> = (0..ADDRESSES.len()).map(|key| world.would_begin(key)).collect();
    let Some((victim, bytes)) = damage.apply(&world) else { return };
    for (key, before) in sound.iter().enumerate() {
        let answer = world.would_begin(key);
        let is_its_record = victim.starts_with(&format!("il.r.{}", slot(key)));
        if victim.starts_with("il.r.") && !is_its_record {
            assert_eq!(&answer, before, "{victim} is not of key {key}");
        }
        // By compare-and-swap a slot is one value.
        let is_lost = strategy == Strategy::Cas && decode(&bytes, strategy).is_err();
        if is_its_record && is_lost {
            assert!(!matches!(answer, Answer::Begin(Begin::Fresh(_))), "{answer:?}");
        }
    }
    for (at, choice) in after.iter().enumerate() {
        world.take(&choice.step(), at);
    }
}

#[test]
fn a_damaged_store_by_compare_and_swap() {
    check!()
        .with_test_time(time())
        .with_type::<(Vec<Choice>, Damage, Vec<Choice>)>()
        .for_each(|input| play(Strategy::Cas, input));
}

#[test]
fn a_damaged_store_by_tickets() {
    check!()
        .with_test_time(time())
        .with_type::<(Vec<Choice>, Damage, Vec<Choice>)>()
        .for_each(|input| play(Strategy::Ticket, input));
}
