//! What workers do, and the calls on the shipped core.

use std::cell::Cell;
use std::rc::Rc;

use idempotency_ledger::answer::{BeginOptions, CompleteOptions, PurgeOptions, RenewOptions};
use idempotency_ledger::bucket::Bucket;
use idempotency_ledger::clock::{Clock, Millis};
use idempotency_ledger::record::Strategy;
use idempotency_ledger::slot_log::SlotLog;
use idempotency_ledger::slot_log::cas::Cas;
use idempotency_ledger::slot_log::ticket::Ticket;
use idempotency_ledger::{Instance, Ledger};

use crate::oracle::{Answer, Call};

/// A scope, where one is given, and a key.
pub type Address<'a> = (Option<&'a str>, &'a str);

/// The one key of a model.
pub(crate) const KEY: Address<'_> = (None, "k");

/// A small history: what happens before, who does what at once, and what may go wrong.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// For people.
    pub name: &'static str,
    /// Who decides who won.
    pub strategy: Strategy,
    /// Calls made one after the other before the exploration, each at its time; the number is how
    /// many of its store calls are made before the caller dies, where it does.
    pub before: Vec<(Millis, Call, Option<usize>)>,
    /// The write at which a caller died before may take effect at any time yet.
    pub late: bool,
    /// What each worker does.
    pub workers: Vec<Vec<Call>>,
    /// When the exploration starts.
    pub start_ms: Millis,
    /// Where the clock may go, in this order, between any two store calls.
    pub ticks_ms: Vec<Millis>,
    /// How many store calls may fail: before their effect, after it, or with an effect that
    /// comes later or never.
    pub failures: usize,
    /// How many workers may die, before or after the effect of a store call.
    pub crashes: usize,
    /// A ticket or a note may be left in the end.
    pub strays: bool,
    /// Calls of the index are interleaved too. Without, they run through: where nobody purges,
    /// they concern nobody else.
    pub index: bool,
}

impl Scenario {
    /// Its name, and what may go wrong.
    pub fn title(&self) -> String {
        let Scenario { name, strategy, failures, crashes, ticks_ms, .. } = self;
        let ticks = ticks_ms.len();
        format!(
            "{}: {name} ({failures} failures, {crashes} crashes, {ticks} ticks)",
            strategy.name()
        )
    }
}

/// A clock that the explorer moves.
#[derive(Clone, Default)]
pub(crate) struct ModelClock(pub(crate) Rc<Cell<Millis>>);

impl Clock for ModelClock {
    fn now_ms(&self) -> Millis {
        self.0.get()
    }
}

/// Makes the call on the shipped core.
pub fn make<B: Bucket, C: Clock + Clone>(
    strategy: Strategy,
    address: Address<'_>,
    (call, token): (Call, Option<u64>),
    (bucket, clock, instance): (B, &C, &Instance),
) -> Answer {
    let on = (bucket, clock, instance);
    match strategy {
        Strategy::Cas => make_on::<B, C, Cas>(address, call, token, on),
        Strategy::Ticket => make_on::<B, C, Ticket>(address, call, token, on),
    }
}

fn make_on<B: Bucket, C: Clock + Clone, L: SlotLog<B>>(
    (scope, key): Address<'_>,
    call: Call,
    token: Option<u64>,
    (bucket, clock, instance): (B, &C, &Instance),
) -> Answer {
    let ledger: Ledger<B, C, L> = Ledger::new(bucket, clock.clone(), instance);
    let own = || scope.map(str::to_owned);
    let some = token.unwrap_or_default();
    let answer = match call {
        Call::Begin { lease_ms } => {
            let lease_ms = Some(lease_ms);
            let options = BeginOptions { scope: own(), lease_ms, ..Default::default() };
            ledger.begin(key, &options).map(Answer::Begin)
        }
        Call::Complete { ttl_ms, upsert, payload, .. } => {
            let options = CompleteOptions {
                scope: own(),
                token,
                ttl_ms: Some(ttl_ms),
                upsert_on_missing: upsert,
            };
            ledger.complete(key, Some(&[payload]), &options).map(Answer::Complete)
        }
        Call::Renew { lease_ms, .. } => {
            let options = RenewOptions { scope: own(), lease_ms: Some(lease_ms) };
            ledger.renew(key, some, &options).map(Answer::Renew)
        }
        Call::Release { .. } => ledger.release(key, some, scope).map(Answer::Release),
        Call::Get => ledger.get(key, scope).map(Answer::Get),
        Call::Forget { .. } => ledger.forget(key, some, scope).map(Answer::Forget),
        Call::Purge { limit } => ledger
            // A cutoff in the future is none.
            .purge(&PurgeOptions { limit: Some(limit), before_ms: Some(Millis::MAX) })
            .map(Answer::Purge),
    };
    answer.unwrap_or_else(Answer::Error)
}
