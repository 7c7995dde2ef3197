//! One state of a model: the store, the clock, where each worker is, and what was seen so far.

use std::rc::Rc;

use idempotency_ledger::clock::Millis;

use crate::hashed::{Hashed, hash_of};
use crate::oracle::{Call, Operation};
use crate::script::Scenario;
use crate::store::{Request, Response, Store};
use crate::told::Told;
use crate::worker::{BEGINNING, Event, Worker, Workers};

/// One call, as its caller saw it.
#[derive(Clone, Debug, Hash)]
struct Seen {
    call: Call,
    token: Option<u64>,
    called: usize,
    answered: Option<(usize, Told)>,
    clock_ms: Vec<Millis>,
}

impl Seen {
    fn has_ended(&self) -> bool {
        self.answered.is_some()
    }
}

/// How far a worker came, and what its caller saw; states share that until it changes.
#[derive(Clone, Hash)]
struct Progress {
    /// Its place in the tree of its script; none where it died.
    at: Option<usize>,
    seen: Rc<Hashed<Vec<Seen>>>,
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Go(usize),
    /// The call fails before its effect, after it, or before an effect that comes later.
    Fail(usize, Effect),
    /// Its caller dies.
    Crash(usize, Effect),
    Tick,
    Land(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Never,
    Now,
    Later,
}

impl Effect {
    fn all(request: Request) -> &'static [Effect] {
        if request.is_read() {
            &[Effect::Never]
        } else {
            &[Effect::Never, Effect::Now, Effect::Later]
        }
    }
}

/// All that decides what can still happen and how it is judged.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) store: Store,
    pub(crate) clock_ms: Millis,
    pub(crate) ticks: usize,
    pub(crate) failures: usize,
    pub(crate) crashes: usize,
    pub(crate) late: Vec<Request>,
    /// What came before.
    before: Rc<Hashed<Vec<Seen>>>,
    /// Of each worker.
    progress: Vec<Progress>,
    /// Calls and answers so far.
    order: usize,
}

impl State {
    pub(crate) fn new(store: Store, clock_ms: Millis, failures: usize, crashes: usize) -> State {
        State {
            store,
            clock_ms,
            ticks: 0,
            failures,
            crashes,
            late: Vec::new(),
            before: Rc::default(),
            progress: Vec::new(),
            order: 0,
        }
    }

    /// Lets a worker begin. All begin at once.
    pub(crate) fn start(&mut self, worker: &Worker) {
        let order = self.order;
        self.order = order.saturating_sub(1);
        self.progress.push(Progress { at: Some(BEGINNING), seen: Rc::default() });
        self.note(self.progress.len() - 1, &worker.events(BEGINNING));
        self.order = order;
    }

    /// What was so far comes before all that follows.
    pub(crate) fn end(&mut self) {
        self.order += 1;
        let before = Rc::make_mut(&mut self.before).value_mut();
        for Progress { seen, .. } in self.progress.drain(..) {
            before.extend_from_slice(seen.value());
        }
    }

    /// The same for states that differ only in which of several workers with one script is
    /// which.
    pub(crate) fn fingerprint(&self, workers: &Workers) -> u64 {
        let each = self.progress.iter().enumerate();
        let all = each
            .map(|(number, progress)| hash_of(&(workers.script(number), progress)))
            .fold(0, u64::wrapping_add);
        let left = (self.ticks, self.failures, self.crashes, &self.late);
        hash_of(&(&self.store, self.clock_ms, left, all, self.order))
    }

    /// What each worker waits for.
    pub(crate) fn requests<'a>(
        &'a self,
        workers: &'a Workers,
    ) -> impl Iterator<Item = (usize, Request)> + 'a {
        let all = 0..self.progress.len();
        all.filter_map(|number| self.request(number, workers).map(|request| (number, request)))
    }

    /// What one worker waits for; none where it has ended or died.
    pub(crate) fn request(&self, number: usize, workers: &Workers) -> Option<Request> {
        workers.of(number).request(self.progress[number].at?)
    }

    fn asks_index(&self, number: usize, workers: &Workers) -> bool {
        self.progress[number].at.is_some_and(|node| workers.of(number).asks_index(node))
    }

    /// What may happen next.
    pub(crate) fn choices(&self, workers: &Workers, scenario: &Scenario) -> Vec<Choice> {
        if !scenario.index
            && let Some(number) = (0..self.progress.len()).find(|n| self.asks_index(*n, workers))
        {
            return vec![Choice::Go(number)];
        }
        let mut choices = Vec::with_capacity(8);
        for (number, request) in self.requests(workers) {
            choices.push(Choice::Go(number));
            if self.failures > 0 {
                choices.extend(Effect::all(request).iter().map(|e| Choice::Fail(number, *e)));
            }
            if self.crashes > 0 {
                choices.extend(Effect::all(request).iter().map(|e| Choice::Crash(number, *e)));
            }
        }
        if !choices.is_empty() && self.ticks < scenario.ticks_ms.len() {
            choices.push(Choice::Tick);
        }
        if !choices.is_empty() {
            choices.extend((0..self.late.len()).map(Choice::Land));
        }
        choices
    }

    /// Lets it happen.
    pub(crate) fn take(&mut self, choice: Choice, workers: &mut Workers, ticks_ms: &[Millis]) {
        match choice {
            Choice::Tick => {
                self.clock_ms = ticks_ms[self.ticks];
                self.ticks += 1;
                let own = self.progress.iter_mut().map(|progress| &mut progress.seen);
                for all in own.chain([&mut self.before]) {
                    if all.value().iter().all(Seen::has_ended) {
                        continue;
                    }
                    let all = Rc::make_mut(all).value_mut();
                    let under_way = all.iter_mut().filter(|seen| !seen.has_ended());
                    under_way.for_each(|seen| seen.clock_ms.push(self.clock_ms));
                }
            }
            Choice::Land(late) => {
                let request = self.late.remove(late);
                self.store.apply(request);
            }
            Choice::Go(number) => {
                let Some(request) = self.request(number, workers) else { return };
                let response = self.store.apply(request);
                self.resume(number, response, workers);
            }
            Choice::Fail(number, effect) => {
                self.failures -= 1;
                self.effect(number, effect, workers);
                self.resume(number, Response::Failed, workers);
            }
            Choice::Crash(number, effect) => {
                self.crashes -= 1;
                self.effect(number, effect, workers);
                self.progress[number].at = None;
            }
        }
    }

    fn effect(&mut self, number: usize, effect: Effect, workers: &Workers) {
        let Some(request) = self.request(number, workers) else { return };
        match effect {
            Effect::Never => {}
            Effect::Now => drop(self.store.apply(request)),
            Effect::Later => self.late.push(request),
        }
    }

    fn resume(&mut self, number: usize, response: Response, workers: &mut Workers) {
        let Some(node) = self.progress[number].at else { return };
        let next = workers.of_mut(number).after(node, response, self.clock_ms);
        self.progress[number].at = Some(next);
        self.note(number, &workers.of(number).events(next));
    }

    fn note(&mut self, worker: usize, events: &[Event]) {
        if events.is_empty() {
            return;
        }
        let seen = Rc::make_mut(&mut self.progress[worker].seen).value_mut();
        for event in events {
            self.order += 1;
            match event {
                Event::Called(call, token) => seen.push(Seen {
                    call: *call,
                    token: *token,
                    called: self.order,
                    answered: None,
                    clock_ms: vec![self.clock_ms],
                }),
                Event::Answered(told) => {
                    if let Some(seen) = seen.last_mut() {
                        seen.answered = Some((self.order, *told));
                    }
                }
            }
        }
    }

    /// The history for the oracle, in the order of its calls.
    pub(crate) fn operations(&self) -> Vec<Operation> {
        let before = self.before.value().iter().map(|seen| (usize::MAX, seen));
        let own = self.progress.iter().enumerate().flat_map(|(worker, progress)| {
            progress.seen.value().iter().map(move |seen| (worker, seen))
        });
        let operation = |(worker, seen): (usize, &Seen)| Operation {
            worker,
            call: seen.call,
            token: seen.token,
            called: seen.called,
            answered: seen.answered.map(|(at, told)| (at, told.answer())),
            clock_ms: seen.clock_ms.clone(),
        };
        let mut operations: Vec<Operation> = before.chain(own).map(operation).collect();
        operations.sort_by_key(|operation| operation.called);
        // Calls that began at once are told apart, all before the next answer.
        let each = operations.len() + 1;
        for (at, operation) in operations.iter_mut().enumerate() {
            operation.called = operation.called * each + at;
            if let Some((answered, _)) = &mut operation.answered {
                *answered *= each;
            }
        }
        operations
    }
}
