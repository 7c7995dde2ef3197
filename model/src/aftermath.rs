//! What must hold after every history, whatever died and whatever failed.

use std::cell::RefCell;
use std::collections::HashSet;

use idempotency_ledger::answer::Begin;
use idempotency_ledger::clock::{Millis, QUARANTINE_MS};
use idempotency_ledger::record::Strategy;
use idempotency_ledger::slot_log::ticket::STALL_MS;
use idempotency_ledger::{Error, Instance};

use crate::hashed::hash_of;
use crate::oracle::{Answer, Call};
use crate::script::{KEY, ModelClock, make};
use crate::store::{ModelBucket, Request, Store};

/// What a store may hold in the end.
const CONSTANTS: [&str; 3] = ["il.m", "il.p", "il.c"];

/// Tickets and notes: whoever meets the very moment of a log's deletion may leave one.
const STRAYS: [&str; 2] = ["il.t.", "il.s."];

const DAY_MS: Millis = 86_400_000;

/// Counters of buckets: a purge that looks at one while another closes its bucket makes it anew,
/// and may stop before it removes it.
const COUNTERS: &str = "il.n.";

/// What a history may leave that no purge finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strays {
    /// Tickets and notes.
    pub(crate) tickets: bool,
    /// So many counters of buckets.
    pub(crate) counters: usize,
}

impl Strays {
    fn remove_from(self, left: &mut Vec<String>) {
        let is_ticket = |key: &str| STRAYS.iter().any(|start| key.starts_with(start));
        left.retain(|key| !(self.tickets && is_ticket(key)));
        let mut counters = self.counters;
        left.retain(|key| {
            let goes = counters > 0 && key.starts_with(COUNTERS);
            counters -= usize::from(goes);
            !goes
        });
    }
}

/// Checks stores, each once.
pub(crate) struct Aftermath {
    strategy: Strategy,
    strays: Strays,
    checked: HashSet<u64>,
}

impl Aftermath {
    pub(crate) fn new(strategy: Strategy, strays: Strays) -> Aftermath {
        Aftermath { strategy, strays, checked: HashSet::new() }
    }

    /// Whatever happened: after leases and quarantines the key can be claimed, and purges leave
    /// nothing but constants.
    pub(crate) fn check(&mut self, store: &Store, now_ms: Millis) -> Result<(), String> {
        if !self.checked.insert(hash_of(&(store, now_ms))) {
            return Ok(());
        }
        let world = World::new(self.strategy, store);
        world.comes_free(now_ms + DAY_MS)?;
        world.is_cleared_up(now_ms + 2 * DAY_MS, self.strays)?;
        // Also where nobody asks for the key again.
        World::new(self.strategy, store).is_cleared_up(now_ms + DAY_MS, self.strays)
    }
}

struct World {
    strategy: Strategy,
    store: RefCell<Store>,
    clock: ModelClock,
    instance: Instance,
}

impl World {
    fn new(strategy: Strategy, store: &Store) -> World {
        let store = RefCell::new(store.clone());
        World { strategy, store, clock: ModelClock::default(), instance: Instance::new() }
    }

    fn make(&self, call: Call) -> Answer {
        let bucket = ModelBucket(|request: Request| self.store.borrow_mut().apply(request));
        make(self.strategy, KEY, (call, None), (bucket, &self.clock, &self.instance))
    }

    /// At once; after a stall where a ticket is left; within a period and its half, where the
    /// caller died in the moment of deletion.
    fn comes_free(&self, now_ms: Millis) -> Result<(), String> {
        let mut answer = None;
        for wait_ms in [0, STALL_MS, STALL_MS + QUARANTINE_MS, STALL_MS + 2 * QUARANTINE_MS] {
            self.clock.0.set(now_ms + wait_ms);
            match self.make(Call::Begin { lease_ms: 10 }) {
                Answer::Begin(Begin::Fresh(_)) => return Ok(()),
                Answer::Begin(Begin::Inflight(lease)) if lease.retry_after_ms <= 1_000 => {}
                Answer::Error(Error::OutcomeUnknown(_)) if self.strategy == Strategy::Ticket => {}
                other => answer = Some(other),
            }
        }
        Err(format!("a day later the key is not free: {answer:?}"))
    }

    fn is_cleared_up(&self, from_ms: Millis, strays: Strays) -> Result<(), String> {
        for hour in 0..24 {
            for pass in 0..50 {
                self.clock.0.set(from_ms + hour * (QUARANTINE_MS + 100_000) + pass);
                match self.make(Call::Purge { limit: 10 }) {
                    Answer::Purge(report) if !report.more => break,
                    Answer::Purge(_) | Answer::Error(Error::Contended(_)) => {}
                    other => return Err(format!("a purge failed: {other:?}")),
                }
            }
        }
        let mut left = self.store.borrow().keys();
        left.retain(|key| !CONSTANTS.contains(&key.as_str()));
        strays.remove_from(&mut left);
        if left.is_empty() { Ok(()) } else { Err(format!("purges left {left:?}")) }
    }
}
