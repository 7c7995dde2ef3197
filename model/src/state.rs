//! One state of a model: the store, the clock, where each worker is, and what was seen so far.

use std::hash::{BuildHasher, Hash, Hasher};
use std::rc::Rc;

use foldhash::quality::{FixedState, FoldHasher};
use idempotency_ledger::clock::Millis;

use crate::oracle::{Call, Operation};
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

/// Where a worker is.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
enum Local {
    At(usize),
    Dead,
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
    locals: Vec<Local>,
    /// What came before, then what each worker saw; states share it until it changes.
    before: Rc<Vec<Seen>>,
    seen: Vec<Rc<Vec<Seen>>>,
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
            locals: Vec::new(),
            before: Rc::default(),
            seen: Vec::new(),
            order: 0,
        }
    }

    /// Lets a worker begin. All begin at once.
    pub(crate) fn start(&mut self, worker: &Worker) {
        let order = self.order;
        self.order = order.saturating_sub(1);
        self.locals.push(Local::At(BEGINNING));
        self.seen.push(Rc::default());
        self.note(self.locals.len() - 1, &worker.events(BEGINNING));
        self.order = order;
    }

    /// What was so far comes before all that follows.
    pub(crate) fn end(&mut self) {
        self.order += 1;
        self.locals.clear();
        for seen in self.seen.drain(..) {
            Rc::make_mut(&mut self.before).extend_from_slice(&seen);
        }
    }

    /// The same for states that differ only in which of several workers with one script is
    /// which.
    pub(crate) fn fingerprint(&self, workers: &Workers) -> u64 {
        let hash = |value: &dyn Fn(&mut FoldHasher)| {
            let mut hasher = FixedState::default().build_hasher();
            value(&mut hasher);
            hasher.finish()
        };
        let mut each: Vec<(usize, u64)> = (0..self.locals.len())
            .map(|number| {
                let own = (self.locals[number], &self.seen[number]);
                (workers.script(number), hash(&|hasher| own.hash(hasher)))
            })
            .collect();
        each.sort_unstable();
        hash(&|hasher| {
            (&self.store, self.clock_ms, self.ticks, self.failures, self.crashes).hash(hasher);
            (&self.late, &each, self.order).hash(hasher);
        })
    }

    /// What each worker waits for.
    pub(crate) fn requests<'a>(
        &'a self,
        workers: &'a Workers,
    ) -> impl Iterator<Item = (usize, Request)> + 'a {
        let all = 0..self.locals.len();
        all.filter_map(|number| self.request(number, workers).map(|request| (number, request)))
    }

    /// What one worker waits for; none where it has ended or died.
    pub(crate) fn request(&self, number: usize, workers: &Workers) -> Option<Request> {
        match self.locals[number] {
            Local::At(node) => workers.of(number).request(node),
            Local::Dead => None,
        }
    }

    /// What may happen next; `runs_through` says which calls concern nobody else.
    pub(crate) fn choices(
        &self,
        workers: &Workers,
        ticks: usize,
        runs_through: impl Fn(Request) -> bool,
    ) -> Vec<Choice> {
        if let Some((number, _)) =
            self.requests(workers).find(|(_, request)| runs_through(*request))
        {
            return vec![Choice::Go(number)];
        }
        let mut choices = Vec::new();
        for (number, request) in self.requests(workers) {
            choices.push(Choice::Go(number));
            if self.failures > 0 {
                choices.extend(Effect::all(request).iter().map(|e| Choice::Fail(number, *e)));
            }
            if self.crashes > 0 {
                choices.extend(Effect::all(request).iter().map(|e| Choice::Crash(number, *e)));
            }
        }
        if !choices.is_empty() && self.ticks < ticks {
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
                for all in self.seen.iter_mut().chain([&mut self.before]) {
                    if all.iter().all(Seen::has_ended) {
                        continue;
                    }
                    let under_way = Rc::make_mut(all).iter_mut().filter(|seen| !seen.has_ended());
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
                self.locals[number] = Local::Dead;
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
        let Local::At(node) = self.locals[number] else { return };
        let next = workers.of_mut(number).after(node, response, self.clock_ms);
        self.locals[number] = Local::At(next);
        self.note(number, &workers.of(number).events(next));
    }

    fn note(&mut self, worker: usize, events: &[Event]) {
        if events.is_empty() {
            return;
        }
        let seen = Rc::make_mut(&mut self.seen[worker]);
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
        let before = self.before.iter().map(|seen| (usize::MAX, seen));
        let own = self.seen.iter().enumerate().flat_map(|(n, all)| all.iter().map(move |s| (n, s)));
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
