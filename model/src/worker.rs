//! One worker: its script on the shipped core, as a tree of what it asks after what it was
//! answered. A branch is found by running the script once; then it is looked up.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use foldhash::fast::FixedState;
use idempotency_ledger::Instance;
use idempotency_ledger::answer::Begin;
use idempotency_ledger::clock::Millis;
use idempotency_ledger::record::Strategy;

use crate::oracle::{Answer, Call};
use crate::script::{KEY, ModelClock, make};
use crate::store::{ModelBucket, Request, Response};
use crate::told::Told;

const STACK_BYTES: usize = 256 * 1024;

/// What a worker's caller sees.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Called(Call, Option<u64>),
    Answered(Told),
}

/// A script and the tree of its runs.
pub(crate) struct Worker {
    strategy: Strategy,
    script: Vec<Call>,
    own: Option<u64>,
    start_ms: Millis,
    nodes: Vec<Node>,
    stack: RefCell<Option<DefaultStack>>,
}

struct Node {
    /// The node before, what was answered there and when.
    came: Option<(usize, Response, Millis)>,
    /// None where the script has ended.
    request: Option<Request>,
    asks_index: bool,
    /// Since the node before.
    events: Rc<[Event]>,
    next: HashMap<(Response, Millis), usize, FixedState>,
}

/// All workers; those with one script share its tree.
pub(crate) struct Workers {
    scripts: Vec<Worker>,
    script_of: Vec<usize>,
}

impl Workers {
    pub(crate) fn new(
        strategy: Strategy,
        scripts: &[Vec<Call>],
        own: Option<u64>,
        start_ms: Millis,
    ) -> Workers {
        let first = |script: &Vec<Call>| scripts.iter().position(|other| other == script);
        Workers {
            scripts: scripts
                .iter()
                .map(|script| Worker::new(strategy, script.clone(), own, start_ms))
                .collect(),
            script_of: scripts.iter().filter_map(first).collect(),
        }
    }

    pub(crate) fn script(&self, number: usize) -> usize {
        self.script_of[number]
    }

    pub(crate) fn of(&self, number: usize) -> &Worker {
        &self.scripts[self.script_of[number]]
    }

    pub(crate) fn of_mut(&mut self, number: usize) -> &mut Worker {
        &mut self.scripts[self.script_of[number]]
    }

    pub(crate) fn count(&self) -> usize {
        self.script_of.len()
    }
}

/// The number of a script's beginning.
pub(crate) const BEGINNING: usize = 0;

impl Worker {
    /// `own` is the token of the claim that it holds.
    pub(crate) fn new(
        strategy: Strategy,
        script: Vec<Call>,
        own: Option<u64>,
        start_ms: Millis,
    ) -> Worker {
        let stack = RefCell::default();
        let mut worker = Worker { strategy, script, own, start_ms, nodes: Vec::new(), stack };
        worker.nodes.push(worker.node(None, &[]));
        worker
    }

    pub(crate) fn request(&self, node: usize) -> Option<Request> {
        self.nodes[node].request
    }

    pub(crate) fn asks_index(&self, node: usize) -> bool {
        self.nodes[node].asks_index
    }

    pub(crate) fn events(&self, node: usize) -> Rc<[Event]> {
        Rc::clone(&self.nodes[node].events)
    }

    /// Where it is after an answer.
    pub(crate) fn after(&mut self, node: usize, response: Response, now_ms: Millis) -> usize {
        if let Some(next) = self.nodes[node].next.get(&(response, now_ms)) {
            return *next;
        }
        let mut answers = vec![(response, now_ms)];
        let mut at = node;
        while let Some((before, response, now_ms)) = self.nodes[at].came {
            answers.push((response, now_ms));
            at = before;
        }
        answers.reverse();
        self.nodes.push(self.node(Some((node, response, now_ms)), &answers));
        let next = self.nodes.len() - 1;
        self.nodes[node].next.insert((response, now_ms), next);
        next
    }

    fn node(
        &self,
        came: Option<(usize, Response, Millis)>,
        answers: &[(Response, Millis)],
    ) -> Node {
        let (request, events) = self.run(answers);
        let asks_index = request.is_some_and(Request::is_of_index);
        Node { came, request, asks_index, events, next: HashMap::default() }
    }

    /// Runs the script with these answers: its next request, and what it told since the last.
    fn run(&self, answers: &[(Response, Millis)]) -> (Option<Request>, Rc<[Event]>) {
        let clock = ModelClock::default();
        clock.0.set(self.start_ms);
        let events: Rc<RefCell<Vec<Event>>> = Rc::default();
        let (script, strategy, mut own) = (self.script.clone(), self.strategy, self.own);
        let (its_clock, its_events) = (clock.clone(), Rc::clone(&events));
        let stack = self.stack.borrow_mut().take();
        let stack = stack.unwrap_or_else(|| DefaultStack::new(STACK_BYTES).expect("a stack"));
        let mut coroutine = Coroutine::with_stack(stack, move |yielder, _: Response| {
            let instance = Instance::new();
            for call in script {
                let Some(token) = call.token(own) else { continue };
                its_events.borrow_mut().push(Event::Called(call, token));
                let bucket = ModelBucket(|request: Request| yielder.suspend(request));
                let answer = make(strategy, KEY, (call, token), (bucket, &its_clock, &instance));
                if let Answer::Begin(Begin::Fresh(claim)) = &answer {
                    own = Some(claim.token);
                }
                its_events.borrow_mut().push(Event::Answered(Told::of(answer)));
            }
        });
        let mut result = coroutine.resume(Response::Written);
        for (response, now_ms) in answers {
            events.borrow_mut().clear();
            clock.0.set(*now_ms);
            result = coroutine.resume(*response);
        }
        let request = match result {
            CoroutineResult::Yield(request) => Some(request),
            CoroutineResult::Return(()) => None,
        };
        if !coroutine.done() {
            // Unwinds what it holds, so that its stack can be used again.
            coroutine.force_unwind();
        }
        *self.stack.borrow_mut() = Some(coroutine.into_stack());
        let events = events.borrow().as_slice().into();
        (request, events)
    }
}
