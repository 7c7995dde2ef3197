//! One history: processes, each with an instance of its own, over one store.

mod world;

use std::sync::Arc;
use std::time::Duration;

use idempotency_ledger::answer::Begin;
use idempotency_ledger::clock::Millis;
use idempotency_ledger_host::store::{Store, StoreError};
use idempotency_ledger_host::{Clock, Ledger, ManualClock, Strategy};
use tokio::sync::mpsc;

use super::caller;
use super::gate::{Event, GatedStore, Reply, Request, Response};
use super::notes::{Notes, told};
use super::plan::{ADDRESSES, Plan};
use crate::oracle::Answer;
use crate::strategies::builder;

/// More decisions than any history needs.
const MAX_STEPS: usize = 20_000;
/// The bounds of the host are in real time, and none of these histories'.
const NEVER: Duration = Duration::from_secs(86_400);

/// A process with at most one call of the ledger under way.
struct Process {
    ledger: Ledger,
    stage: Stage,
    /// The place of its call in the notes.
    operation: usize,
    key: Option<usize>,
    /// Token of its last claim of each key.
    own: Vec<Option<u64>>,
}

/// Where a process stands while another one computes.
enum Stage {
    Idle,
    /// Its store call is issued.
    Asked(Request, Millis, Reply),
    /// It has had its effect and is not answered yet.
    Served(Result<Response, StoreError>, Reply),
}

/// An effect that is still to come, and when it was issued.
struct Late(Request, Millis);

#[derive(Clone, Copy)]
enum Choice {
    Start(usize),
    Serve(usize),
    Answer(usize),
    Land(usize),
    Tick,
}

pub(super) struct Run {
    pub(super) plan: Plan,
    pub(super) notes: Notes,
    pub(super) store: Arc<dyn Store>,
    clock: ManualClock,
    /// The latest that the clock has shown.
    pub(super) max_ms: Millis,
    pub(super) totals: Totals,
    pub(super) strategy: Strategy,
    processes: Vec<Process>,
    late: Vec<Late>,
    /// Calls of processes that died wait here for ever.
    graves: Vec<Reply>,
    sender: mpsc::UnboundedSender<Event>,
    events: mpsc::UnboundedReceiver<Event>,
}

/// How much happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what is counted")]
pub struct Totals {
    pub calls: u64,
    pub store_calls: u64,
    pub failures: u64,
    pub crashes: u64,
    pub late_effects: u64,
    pub clock_moves: u64,
}

impl Run {
    pub(super) async fn new(strategy: Strategy, store: Arc<dyn Store>, seed: u64) -> Self {
        let mut plan = Plan::new(seed);
        let max_ms = plan.start_ms();
        let (sender, events) = mpsc::unbounded_channel();
        let mut run = Run {
            notes: Notes::default(),
            store,
            clock: ManualClock::new(max_ms),
            max_ms,
            totals: Totals::default(),
            strategy,
            processes: Vec::new(),
            late: Vec::new(),
            graves: Vec::new(),
            sender,
            events,
            plan,
        };
        run.notes.world(format!("at {max_ms}"));
        for _ in 0..run.plan.calls.len() {
            let process = run.process().await;
            run.processes.push(process);
        }
        run
    }

    async fn process(&self) -> Process {
        let store = GatedStore(self.sender.clone());
        let ledger = builder(self.strategy, store)
            .clock(self.clock.clone())
            .store_timeout(NEVER)
            .call_timeout(NEVER)
            .build()
            .await
            .expect("the component");
        let own = vec![None; self.plan.keys];
        Process { ledger, stage: Stage::Idle, operation: 0, key: None, own }
    }

    /// Runs the history to its end: every call answered or dead, every late effect decided.
    pub(super) async fn run_out(&mut self) {
        for _ in 0..MAX_STEPS {
            let choices = self.choices();
            let Some(choice) = self.plan.rng.choice(&choices).copied() else {
                self.decide_late(Millis::MAX).await;
                return;
            };
            match choice {
                Choice::Start(process) => self.start(process).await,
                Choice::Serve(process) => self.serve(process).await,
                Choice::Answer(process) => self.answer(process).await,
                Choice::Land(late) => self.land(late).await,
                Choice::Tick => self.tick().await,
            }
        }
        panic!("no end after {MAX_STEPS} steps");
    }

    fn choices(&self) -> Vec<Choice> {
        let mut choices = Vec::new();
        for (number, process) in self.processes.iter().enumerate() {
            match process.stage {
                Stage::Idle if self.plan.calls[number] > 0 => choices.push(Choice::Start(number)),
                Stage::Idle => {}
                Stage::Asked(..) => choices.extend([Choice::Serve(number); 6]),
                Stage::Served(..) => choices.extend([Choice::Answer(number); 3]),
            }
        }
        if !choices.is_empty() {
            choices.extend((0..self.late.len()).map(Choice::Land));
            if self.plan.moves > 0 {
                let often = if self.is_busy() { 1 } else { 4 };
                choices.extend([Choice::Tick].repeat(often));
            }
        }
        choices
    }

    fn is_busy(&self) -> bool {
        self.processes.iter().any(|process| !matches!(process.stage, Stage::Idle))
    }

    async fn start(&mut self, number: usize) {
        self.plan.calls[number] -= 1;
        self.totals.calls += 1;
        let now_ms = self.clock.now_ms();
        let (key, call, token) = self.plan.call(&self.processes[number].own, now_ms);
        let operation = self.notes.call(number, key, (call, token), now_ms);
        let process = &mut self.processes[number];
        (process.operation, process.key) = (operation, key);
        let (ledger, sender) = (process.ledger.clone(), self.sender.clone());
        let address = ADDRESSES[key.unwrap_or_default()];
        tokio::spawn(async move {
            let answer = caller::make(&ledger, &address, call, token).await;
            // Nobody listens any more where the history is over.
            let _ = sender.send(Event::Answered(answer));
        });
        self.next_event(number).await;
    }

    /// One process computes until its next store call, or to the end of its call.
    async fn next_event(&mut self, number: usize) {
        match self.events.recv().await.expect("the run holds a sender") {
            Event::Asked(request, reply) => {
                self.totals.store_calls += 1;
                let now_ms = self.clock.now_ms();
                self.processes[number].stage = Stage::Asked(request, now_ms, reply);
            }
            Event::Answered(answer) => self.end_call(number, answer),
        }
    }

    fn end_call(&mut self, number: usize, answer: Answer) {
        let process = &mut self.processes[number];
        process.stage = Stage::Idle;
        if let (Some(key), Some((token, expires_at_ms))) = (process.key, told(&answer)) {
            self.plan.learn(key, token, expires_at_ms);
            if matches!(answer, Answer::Begin(Begin::Fresh(_))) {
                process.own[key] = Some(token);
            }
        }
        self.notes.answer(process.operation, answer);
    }

    fn take(&mut self, number: usize) -> Stage {
        std::mem::replace(&mut self.processes[number].stage, Stage::Idle)
    }

    async fn reply(&mut self, number: usize, response: Result<Response, StoreError>, to: Reply) {
        assert!(to.send(response).is_ok(), "process {number} went away by itself");
        self.next_event(number).await;
    }
}
