//! Walks through all that can happen, depth first; states that were seen before are not walked
//! through again.

use std::collections::HashMap;
use std::fmt::Write;

use foldhash::fast::FixedState;
use idempotency_ledger::answer::Begin;

use crate::aftermath::{Aftermath, Strays};
use crate::oracle::{self, Answer, Call};
use crate::script::Scenario;
use crate::state::{Choice, State};
use crate::store::{Request, Store};
use crate::worker::Workers;

/// What was explored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Explored {
    /// Different states.
    pub states: usize,
    /// Different histories that came to an end.
    pub histories: usize,
}

/// A history that breaks a promise.
#[derive(Clone, Debug)]
pub struct Violation {
    /// How many choices led to it.
    pub steps: usize,
    /// Which promise, the calls and answers, and every step.
    pub text: String,
}

struct Explorer<'a> {
    scenario: &'a Scenario,
    workers: Workers,
    /// With how many steps each state was reached at best.
    visited: HashMap<u64, u32, FixedState>,
    aftermath: Aftermath,
    explored: Explored,
    /// Histories of so many steps or more are left out.
    shorter_than: Option<usize>,
}

/// A state on the way, and which of its choices are left.
struct Fork {
    state: State,
    choices: Vec<Choice>,
    next: usize,
}

/// Explores a scenario; with `shorter_than`, only histories of fewer steps.
///
/// # Errors
/// The first history that breaks a promise.
pub fn explore(scenario: &Scenario, shorter_than: Option<usize>) -> Result<Explored, Violation> {
    let (state, own) = before(scenario);
    let workers = Workers::new(scenario.strategy, &scenario.workers, own, scenario.start_ms);
    let mut explorer = Explorer {
        scenario,
        workers,
        visited: HashMap::default(),
        aftermath: Aftermath::new(scenario.strategy, strays(scenario)),
        explored: Explored::default(),
        shorter_than,
    };
    explorer.walk(state)?;
    explorer.explored.states = explorer.visited.len();
    Ok(explorer.explored)
}

fn strays(scenario: &Scenario) -> Strays {
    let purges =
        scenario.workers.iter().flatten().filter(|call| matches!(call, Call::Purge { .. })).count();
    let counters = if purges > 1 { scenario.crashes } else { 0 };
    Strays { tickets: scenario.strays, counters }
}

/// The state after what happened before, and the token of the last claim.
fn before(scenario: &Scenario) -> (State, Option<u64>) {
    let mut state = State::new(Store::default(), 0, 0, 0);
    let mut own = None;
    for (at_ms, call, dies_after) in &scenario.before {
        state.clock_ms = *at_ms;
        let mut workers = Workers::new(scenario.strategy, &[vec![*call]], own, *at_ms);
        state.end();
        state.start(workers.of(0));
        for _ in 0..dies_after.unwrap_or(usize::MAX) {
            if state.requests(&workers).next().is_none() {
                break;
            }
            state.take(Choice::Go(0), &mut workers, &[]);
        }
        let answered = state.operations().pop().and_then(|last| last.answered);
        if let Some((_, Answer::Begin(Begin::Fresh(claim)))) = answered {
            own = Some(claim.token);
        }
    }
    state.end();
    state.clock_ms = scenario.start_ms;
    (state.failures, state.crashes) = (scenario.failures, scenario.crashes);
    (state, own)
}

/// Keys of the index and the marker: nobody but a purge looks at what another wrote there.
fn is_of_index(request: Request) -> bool {
    let key = request.key().bytes();
    ["il.b.", "il.n.", "il.e.", "il.l.", "il.c", "il.m"]
        .iter()
        .any(|start| key.starts_with(start.as_bytes()))
}

impl Explorer<'_> {
    fn walk(&mut self, mut start: State) -> Result<(), Violation> {
        (0..self.workers.count()).for_each(|number| start.start(self.workers.of(number)));
        let mut path = vec![self.fork(start)];
        while let Some(fork) = path.last_mut() {
            let Some(choice) = fork.choices.get(fork.next).copied() else {
                path.pop();
                continue;
            };
            fork.next += 1;
            let mut state = fork.state.clone();
            state.take(choice, &mut self.workers, &self.scenario.ticks_ms);
            let steps = path.len();
            if self.shorter_than.is_some_and(|limit| steps >= limit) || !self.is_new(&state, steps)
            {
                continue;
            }
            let fork = self.fork(state);
            if fork.choices.is_empty() {
                self.explored.histories += 1;
                if let Err(why) = self.judge(&fork.state) {
                    path.push(fork);
                    return Err(self.violation(&path, &why));
                }
            } else {
                path.push(fork);
            }
        }
        Ok(())
    }

    fn fork(&self, state: State) -> Fork {
        let through = |request: Request| !self.scenario.index && is_of_index(request);
        let choices = state.choices(&self.workers, self.scenario.ticks_ms.len(), through);
        Fork { state, choices, next: 0 }
    }

    fn is_new(&mut self, state: &State, steps: usize) -> bool {
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        let best = self.visited.entry(state.fingerprint(&self.workers)).or_insert(u32::MAX);
        let is_new = steps < *best && (*best == u32::MAX || self.shorter_than.is_some());
        *best = steps.min(*best);
        is_new
    }

    /// The history is explained, no key is stuck, and nothing is left in the end.
    fn judge(&mut self, state: &State) -> Result<(), String> {
        if !oracle::explains(&state.operations(), self.scenario.strategy) {
            return Err("no order of the calls explains the answers".into());
        }
        let mut store = state.store.clone();
        self.aftermath.check(&store, state.clock_ms)?;
        for late in &state.late {
            store.apply(*late);
            self.aftermath.check(&store, state.clock_ms)?;
        }
        Ok(())
    }

    fn violation(&self, path: &[Fork], why: &str) -> Violation {
        let mut text = format!("{why}\n");
        let last = path.last().map(|fork| fork.state.operations()).unwrap_or_default();
        for operation in last {
            let _ = writeln!(text, "  {operation:?}");
        }
        for fork in &path[..path.len() - 1] {
            let choice = fork.choices[fork.next - 1];
            let what = match choice {
                Choice::Go(number) | Choice::Fail(number, _) | Choice::Crash(number, _) => {
                    let request = fork.state.request(number, &self.workers);
                    request.map(Request::show).unwrap_or_default()
                }
                Choice::Land(late) => fork.state.late[late].show(),
                Choice::Tick => String::new(),
            };
            let _ = writeln!(text, "  {} {choice:?} {what}", fork.state.clock_ms);
        }
        Violation { steps: path.len() - 1, text }
    }
}
