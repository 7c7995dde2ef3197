//! One ledger that is called, and what it answered.

use std::cell::Cell;

use idempotency_ledger::Instance;
use idempotency_ledger::answer::Begin;
use idempotency_ledger::clock::{Clock, Millis};
use idempotency_ledger::record::Strategy;
use ledger_model::oracle::{Answer, Call, Operation, Token};

use crate::bucket::PlainBucket;
use crate::step::{ADDRESSES, Step, What, Which};

/// A time long after the first bucket of the expiry index.
const START_MS: Millis = 1_000_000_000;

/// A ledger, its store and clock.
pub struct World {
    /// The store.
    pub bucket: PlainBucket,
    strategy: Strategy,
    now_ms: Cell<Millis>,
    instance: Instance,
    /// The token of each key's last claim.
    last: [u64; ADDRESSES.len()],
}

#[derive(Clone)]
struct ItsClock(Millis);

impl Clock for ItsClock {
    fn now_ms(&self) -> Millis {
        self.0
    }
}

impl World {
    /// An empty one.
    #[must_use]
    pub fn new(strategy: Strategy) -> Self {
        Self::over(strategy, PlainBucket::default())
    }

    /// A new instance over a store, as another process has it.
    #[must_use]
    pub fn over(strategy: Strategy, bucket: PlainBucket) -> Self {
        let instance = Instance::new();
        Self { bucket, strategy, now_ms: Cell::new(START_MS), instance, last: Default::default() }
    }

    /// The same again, with a store of its own.
    #[must_use]
    pub fn copy(&self) -> Self {
        let copy = Self::over(self.strategy, self.bucket.copy());
        copy.now_ms.set(self.now_ms.get());
        Self { last: self.last, ..copy }
    }

    /// Which build it is.
    #[must_use]
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Makes the step: which key it was, and the call with its answer. `at` is its place in the
    /// order of all.
    pub fn take(&mut self, step: &Step, at: usize) -> (usize, Operation) {
        let now_ms = self.now_ms.get();
        let after_ms = step.after.ms();
        self.now_ms.set(match step.back {
            true => now_ms.saturating_sub(after_ms),
            false => now_ms.saturating_add(after_ms),
        });
        let address = usize::from(step.address) % ADDRESSES.len();
        let (call, token) = self.call(step.what, address);
        let answer = self.ask(call, token, address);
        if let Answer::Begin(Begin::Fresh(claim)) = &answer {
            self.last[address] = claim.token;
        }
        let operation = Operation {
            worker: 0,
            call,
            token,
            called: 2 * at,
            answered: Some((2 * at + 1, answer)),
            clock_ms: vec![self.now_ms.get()],
        };
        (address, operation)
    }

    /// Calls `begin` now, without a lasting effect: on a copy.
    #[must_use]
    pub fn would_begin(&self, address: usize) -> Answer {
        self.copy().ask(Call::Begin { lease_ms: 10 }, None, address)
    }

    fn call(&self, what: What, address: usize) -> (Call, Option<u64>) {
        let last = self.last[address];
        let given = |which| match which {
            Which::None => None,
            Which::Last => Some(last),
            Which::Near(by) => Some(last.saturating_add_signed(i64::from(by))),
        };
        let needed = |which| given(which).or(Some(last));
        let of = |token: Option<u64>| token.map_or(Token::None, Token::Is);
        match what {
            What::Begin { lease } => (Call::Begin { lease_ms: lease.lease_ms() }, None),
            What::Complete { token, ttl, upsert, payload } => {
                let (token, ttl_ms) = (given(token), ttl.ms().max(1));
                (Call::Complete { token: of(token), ttl_ms, upsert, payload }, token)
            }
            What::Renew { token, lease } => {
                let (token, lease_ms) = (needed(token), lease.lease_ms());
                (Call::Renew { token: of(token), lease_ms }, token)
            }
            What::Release { token } => {
                let token = needed(token);
                (Call::Release { token: of(token) }, token)
            }
            What::Get => (Call::Get, None),
            What::Forget { token } => {
                let token = needed(token);
                (Call::Forget { token: of(token) }, token)
            }
            What::Purge { limit } => (Call::Purge { limit: u32::from(limit.max(1)) }, None),
        }
    }

    fn ask(&self, call: Call, token: Option<u64>, address: usize) -> Answer {
        let clock = ItsClock(self.now_ms.get());
        let on = (self.bucket.clone(), &clock, &self.instance);
        match ledger_model::make(self.strategy, ADDRESSES[address], (call, token), on) {
            // The keys beside this one may be among those that are counted.
            Answer::Purge(report) => Answer::Swept(report),
            answer => answer,
        }
    }
}
