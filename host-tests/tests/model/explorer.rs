//! Walks through all that can happen: depth first, by replaying choices; states that were
//! seen before are not walked through again.

use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use idempotency_ledger::Instance;
use idempotency_ledger::clock::Millis;

use super::aftermath::aftermath;
use super::history::{Call, History};
use super::oracle;
use super::world::{ModelBucket, ModelClock, Request, Response, Store};

/// The worker whose calls come before all others.
const BEFORE: usize = usize::MAX;
const STACK_BYTES: usize = 128 * 1024;

/// A small history: what happens before, who does what at once, and what may go wrong.
#[derive(Clone, Debug, Default)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// Calls made one after the other before the exploration, each at its time.
    pub(super) before: Vec<(Millis, Call)>,
    /// What each worker does.
    pub(super) workers: Vec<Vec<Call>>,
    /// When the exploration starts.
    pub(super) start_ms: Millis,
    /// Where the clock may go, in this order, between any two store calls.
    pub(super) ticks_ms: Vec<Millis>,
    /// How many store calls may fail: before their effect, after it, or with an effect that
    /// comes later or never.
    pub(super) failures: usize,
    /// How many workers may die, before or after the effect of a store call.
    pub(super) crashes: usize,
}

/// What was explored.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Explored {
    pub(super) states: usize,
    pub(super) histories: usize,
}

type Worker = Coroutine<Response, Request, (), DefaultStack>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Go(usize),
    /// The call fails before its effect, after it, or before an effect that comes later.
    FailBefore(usize),
    FailAfter(usize),
    FailLate(usize),
    CrashBefore(usize),
    CrashAfter(usize),
    CrashLate(usize),
    Tick,
    Land(usize),
}

struct Run<'a> {
    scenario: &'a Scenario,
    store: Store,
    clock: ModelClock,
    workers: Vec<Option<(Worker, Request)>>,
    /// Hash of all that each worker was answered: with its script, its state.
    seen: Vec<u64>,
    history: History,
    ticks: usize,
    failures: usize,
    crashes: usize,
    late: Vec<Request>,
}

/// Explores a scenario.
///
/// # Panics
/// With the choices and the history of the first that breaks a promise.
pub(super) fn explore(scenario: &Scenario) -> Explored {
    let mut visited: HashSet<u64> = HashSet::new();
    let mut explored = Explored::default();
    let mut path: Vec<(usize, usize)> = Vec::new();
    loop {
        let mut run = Run::start(scenario);
        let mut depth = 0;
        let mut trace = Vec::new();
        let finished = loop {
            let choices = run.choices();
            if choices.is_empty() {
                break true;
            }
            if depth == path.len() {
                if !visited.insert(run.fingerprint()) {
                    break false;
                }
                path.push((0, choices.len()));
            }
            let choice = choices[path[depth].0];
            trace.push(choice);
            run.take(choice);
            depth += 1;
        };
        if finished {
            explored.histories += 1;
            run.check(&trace);
        }
        while let Some((taken, of)) = path.pop() {
            if taken + 1 < of {
                path.push((taken + 1, of));
                break;
            }
        }
        if path.is_empty() {
            explored.states = visited.len();
            return explored;
        }
    }
}

impl<'a> Run<'a> {
    fn start(scenario: &'a Scenario) -> Run<'a> {
        let clock = ModelClock::default();
        let history = History::default();
        let store = Rc::new(RefCell::new(Store::default()));
        let instance = Instance::new();
        let mut own = None;
        for (at_ms, call) in &scenario.before {
            clock.0.set(*at_ms);
            let bucket = ModelBucket(|request: Request| store.borrow_mut().apply(&request));
            own = history.make(BEFORE, *call, own, (bucket, &clock, &instance)).or(own);
        }
        clock.0.set(scenario.start_ms);
        let mut run = Run {
            scenario,
            store: store.take(),
            clock,
            workers: Vec::new(),
            seen: vec![0; scenario.workers.len()],
            history,
            ticks: 0,
            failures: scenario.failures,
            crashes: scenario.crashes,
            late: Vec::new(),
        };
        for (number, script) in scenario.workers.iter().enumerate() {
            let worker = run.worker(number, script.clone(), own);
            run.workers.push(None);
            run.resume(number, worker, Response::Written);
        }
        run
    }

    fn worker(&self, number: usize, script: Vec<Call>, own: Option<u64>) -> Worker {
        let (clock, history) = (self.clock.clone(), self.history.clone());
        Coroutine::with_stack(DefaultStack::new(STACK_BYTES).unwrap(), move |yielder, _| {
            let instance = Instance::new();
            let mut own = own;
            for call in script {
                let bucket = ModelBucket(|request: Request| yielder.suspend(request));
                own = history.make(number, call, own, (bucket, &clock, &instance)).or(own);
            }
        })
    }

    fn resume(&mut self, number: usize, mut worker: Worker, response: Response) {
        let mut hasher = DefaultHasher::new();
        (self.seen[number], &response, self.clock.0.get()).hash(&mut hasher);
        self.seen[number] = hasher.finish();
        if let CoroutineResult::Yield(request) = worker.resume(response) {
            self.workers[number] = Some((worker, request));
        }
    }

    fn choices(&self) -> Vec<Choice> {
        let mut choices = Vec::new();
        for (number, worker) in self.workers.iter().enumerate() {
            let Some((_, request)) = worker else { continue };
            choices.push(Choice::Go(number));
            if self.failures > 0 {
                choices.push(Choice::FailBefore(number));
                if !request.is_read() {
                    choices.extend([Choice::FailAfter(number), Choice::FailLate(number)]);
                }
            }
            if self.crashes > 0 {
                choices.push(Choice::CrashBefore(number));
                if !request.is_read() {
                    choices.extend([Choice::CrashAfter(number), Choice::CrashLate(number)]);
                }
            }
        }
        if !choices.is_empty() && self.ticks < self.scenario.ticks_ms.len() {
            choices.push(Choice::Tick);
        }
        if !choices.is_empty() {
            choices.extend((0..self.late.len()).map(Choice::Land));
        }
        choices
    }

    fn take(&mut self, choice: Choice) {
        match choice {
            Choice::Tick => {
                self.clock.0.set(self.scenario.ticks_ms[self.ticks]);
                self.ticks += 1;
                self.history.tick(self.clock.0.get());
            }
            Choice::Land(late) => {
                let request = self.late.remove(late);
                self.store.apply(&request);
            }
            Choice::Go(number) => self.go(number, true, false, true),
            Choice::FailBefore(number) => self.go(number, false, false, false),
            Choice::FailAfter(number) => self.go(number, true, false, false),
            Choice::FailLate(number) => self.go(number, false, true, false),
            Choice::CrashBefore(number) => self.crash(number, false, false),
            Choice::CrashAfter(number) => self.crash(number, true, false),
            Choice::CrashLate(number) => self.crash(number, false, true),
        }
    }

    fn go(&mut self, number: usize, effect: bool, late: bool, answers: bool) {
        let (worker, request) = self.workers[number].take().unwrap();
        let mut response = if effect { self.store.apply(&request) } else { Response::Failed };
        if late {
            self.late.push(request);
        }
        if !answers {
            response = Response::Failed;
            self.failures -= 1;
        }
        self.resume(number, worker, response);
    }

    fn crash(&mut self, number: usize, effect: bool, late: bool) {
        let (worker, request) = self.workers[number].take().unwrap();
        if effect {
            self.store.apply(&request);
        }
        if late {
            self.late.push(request);
        }
        drop(worker);
        self.crashes -= 1;
        self.seen[number] = u64::MAX - self.seen[number];
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.store, self.clock.0.get(), self.ticks, self.failures, self.crashes, &self.late)
            .hash(&mut hasher);
        self.seen.hash(&mut hasher);
        self.workers.iter().flatten().for_each(|(_, request)| request.hash(&mut hasher));
        for operation in self.history.operations() {
            (operation.worker, operation.called, format!("{:?}", operation.answered))
                .hash(&mut hasher);
            operation.clock_ms.hash(&mut hasher);
        }
        hasher.finish()
    }

    /// The history is explained, no key is stuck, and nothing is left in the end.
    fn check(&mut self, trace: &[Choice]) {
        let (name, history) = (self.scenario.name, &self.history);
        assert!(
            oracle::explains(&history.operations()),
            "{name}: no order explains\n{history}{trace:?}"
        );
        let mut stores = vec![self.store.clone()];
        for late in &self.late {
            let mut landed = stores.last().unwrap().clone();
            landed.apply(late);
            stores.push(landed);
        }
        for store in stores {
            if let Err(why) = aftermath(&store, self.clock.0.get()) {
                panic!("{name}: {why}\n{history}{trace:?}");
            }
        }
    }
}
