//! Counts store calls and makes chosen ones fail.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A kind of store call. The native core is seen at the ledger's imports; the host at its
/// `Store`, where opening a compare-and-swap is a `Get`, and so is `Exists`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named after the calls")]
pub enum StoreCall {
    Get,
    Set,
    Delete,
    Exists,
    Increment,
    CasNew,
    CasCurrent,
    Swap,
}

/// How often each kind was called.
pub type Counts = BTreeMap<StoreCall, u64>;

/// What a failing store answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after the errors")]
pub enum Failure {
    NoSuchStore,
    AccessDenied,
    Other,
}

/// Whether a failing call has had its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It has not, and never will.
    Before,
    /// It has.
    After,
    /// A swap has it later: before the next swap, or when [`crate::Target::land`] is called,
    /// if nobody has written the key meanwhile. Other calls, and any on the host, never have.
    Late,
}

/// Which calls fail, counted from 1 since the plan was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The first that fails.
    pub first: u64,
    /// The last that fails.
    pub last: u64,
    /// One more that fails, before its effect.
    pub also: Option<u64>,
    /// How.
    pub side: Side,
    /// With what.
    pub failure: Failure,
}

impl Plan {
    /// One call fails.
    pub fn one(number: u64, side: Side) -> Self {
        Plan { first: number, last: number, also: None, side, failure: Failure::Other }
    }

    /// This call and all after it fail.
    pub fn from(number: u64, side: Side) -> Self {
        Plan { last: u64::MAX, ..Self::one(number, side) }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct Probe {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    counts: Counts,
    number: u64,
    plan: Option<Plan>,
}

impl Probe {
    /// A probe that lets everything pass.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts counting anew, and fails what the plan says.
    pub fn start(&self, plan: Option<Plan>) {
        *self.lock() = State { plan, ..State::default() };
    }

    /// How many store calls there were since the start.
    pub fn calls(&self) -> u64 {
        self.lock().number
    }

    /// How many of each kind there were since the start.
    pub fn counts(&self) -> Counts {
        self.lock().counts.clone()
    }

    /// Whether a call was made to fail since the start.
    pub fn has_failed(&self) -> bool {
        let state = self.lock();
        state.plan.is_some_and(|plan| state.number >= plan.first)
    }

    /// To be asked once by every store call: whether and how it fails.
    pub fn next(&self, call: StoreCall) -> Option<(Side, Failure)> {
        let mut state = self.lock();
        *state.counts.entry(call).or_default() += 1;
        state.number += 1;
        let plan = state.plan?;
        if plan.also == Some(state.number) {
            return Some((Side::Before, plan.failure));
        }
        let fails = (plan.first..=plan.last).contains(&state.number);
        fails.then_some((plan.side, plan.failure))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
