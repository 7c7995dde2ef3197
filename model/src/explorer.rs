//! Walks through all that can happen; states that were seen before are not walked through again.
//!
//! Depth first, which holds few states at once; or breadth first, to the shortest history that
//! breaks a promise.

use std::collections::HashSet;
use std::fmt::{self, Write};
use std::iter;
use std::mem;
use std::rc::Rc;

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

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VIOLATION after {} steps\n{}", self.steps, self.text)
    }
}

struct Explorer<'a> {
    scenario: &'a Scenario,
    workers: Workers,
    /// The fingerprints of the states so far.
    visited: HashSet<u64, FixedState>,
    aftermath: Aftermath,
    histories: usize,
}

/// A state on the way, and which of its choices are left.
struct Fork {
    state: State,
    choices: Vec<Choice>,
    next: usize,
}

/// Choices that led to a state, the last one first. States that differ later share the rest.
type Trail = Option<Rc<Step>>;

struct Step {
    choice: Choice,
    before: Trail,
}

/// Explores a scenario.
///
/// # Errors
/// The first history that breaks a promise.
pub fn explore(scenario: &Scenario) -> Result<Explored, Violation> {
    explored(scenario, Explorer::walk)
}

/// Explores a scenario up to its shortest history that breaks a promise; all states of one
/// number of steps are held at once.
///
/// # Errors
/// That history; no other has fewer steps. None is looked for that has `shorter_than()` steps or
/// more, which is asked before each step.
pub fn shortest(
    scenario: &Scenario,
    shorter_than: impl Fn() -> usize,
) -> Result<Explored, Violation> {
    explored(scenario, |explorer, start| explorer.walk_in_layers(start, shorter_than))
}

fn explored<'a>(
    scenario: &'a Scenario,
    walk: impl FnOnce(&mut Explorer<'a>, State) -> Result<(), Broken>,
) -> Result<Explored, Violation> {
    let (mut start, own) = before(scenario);
    let workers = Workers::new(scenario.strategy, &scenario.workers, own, scenario.start_ms);
    (0..workers.count()).for_each(|number| start.start(workers.of(number)));
    let mut explorer = Explorer {
        scenario,
        workers,
        visited: HashSet::default(),
        aftermath: Aftermath::new(scenario.strategy, strays(scenario)),
        histories: 0,
    };
    match walk(&mut explorer, start.clone()) {
        Ok(()) => Ok(Explored { states: explorer.visited.len(), histories: explorer.histories }),
        Err((choices, why)) => Err(explorer.violation(start, &choices, &why)),
    }
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
        if scenario.late {
            let writes = state.request(0, &workers).filter(|request| !request.is_read());
            state.late.extend(writes);
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

/// The choices that lead to a broken promise, and which promise it is.
type Broken = (Vec<Choice>, String);

impl Explorer<'_> {
    fn walk(&mut self, start: State) -> Result<(), Broken> {
        let mut path = vec![self.fork(start)];
        while let Some(fork) = path.last_mut() {
            let Some(choice) = fork.choices.get(fork.next).copied() else {
                path.pop();
                continue;
            };
            fork.next += 1;
            let mut state = fork.state.clone();
            state.take(choice, &mut self.workers, &self.scenario.ticks_ms);
            if !self.visited.insert(state.fingerprint(&self.workers)) {
                continue;
            }
            let fork = self.fork(state);
            if fork.choices.is_empty() {
                let taken = |fork: &Fork| fork.choices[fork.next - 1];
                self.judge(&fork.state).map_err(|why| (path.iter().map(taken).collect(), why))?;
            } else {
                path.push(fork);
            }
        }
        Ok(())
    }

    fn walk_in_layers(
        &mut self,
        start: State,
        shorter_than: impl Fn() -> usize,
    ) -> Result<(), Broken> {
        let mut layer: Vec<(State, Trail)> = vec![(start, None)];
        let mut steps = 0;
        while !layer.is_empty() && steps < shorter_than() {
            for (state, trail) in mem::take(&mut layer) {
                let choices = self.choices(&state);
                if choices.is_empty() {
                    self.judge(&state).map_err(|why| (choices_of(&trail), why))?;
                }
                for choice in choices {
                    let mut next = state.clone();
                    next.take(choice, &mut self.workers, &self.scenario.ticks_ms);
                    if self.visited.insert(next.fingerprint(&self.workers)) {
                        layer.push((next, Some(Rc::new(Step { choice, before: trail.clone() }))));
                    }
                }
            }
            steps += 1;
        }
        Ok(())
    }

    fn choices(&self, state: &State) -> Vec<Choice> {
        state.choices(&self.workers, self.scenario)
    }

    fn fork(&self, state: State) -> Fork {
        Fork { choices: self.choices(&state), state, next: 0 }
    }

    /// The history is explained, no key is stuck, and nothing is left in the end.
    fn judge(&mut self, state: &State) -> Result<(), String> {
        self.histories += 1;
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

    /// Goes the way once more, for people to read.
    fn violation(&mut self, start: State, choices: &[Choice], why: &str) -> Violation {
        let (mut state, mut steps) = (start, String::new());
        for choice in choices {
            let what = match *choice {
                Choice::Go(number) | Choice::Fail(number, _) | Choice::Crash(number, _) => {
                    state.request(number, &self.workers).map(Request::show).unwrap_or_default()
                }
                Choice::Land(late) => state.late[late].show(),
                Choice::Tick => String::new(),
            };
            let _ = writeln!(steps, "  {} {choice:?} {what}", state.clock_ms);
            state.take(*choice, &mut self.workers, &self.scenario.ticks_ms);
        }
        let mut text = format!("{why}\n");
        for operation in state.operations() {
            let _ = writeln!(text, "  {operation:?}");
        }
        Violation { steps: choices.len(), text: text + &steps }
    }
}

/// From the first to the last.
fn choices_of(trail: &Trail) -> Vec<Choice> {
    let steps = iter::successors(trail.as_deref(), |step| step.before.as_deref());
    let mut choices: Vec<Choice> = steps.map(|step| step.choice).collect();
    choices.reverse();
    choices
}
