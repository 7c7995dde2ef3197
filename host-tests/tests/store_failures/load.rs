//! Workers that begin and complete keys without pause, and write down what they are answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use host_tests::Strategy;
use host_tests::targets::Hosted;
use host_tests::{Call, Target};
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// Workers that go through the same keys.
const GROUP: u64 = 4;
/// Groups, each with keys of its own.
const GROUPS: u64 = 4;

/// The pause after an error, and how often a call is repeated that ends in one.
const PAUSE: Duration = Duration::from_millis(20);
const REPEATS: u32 = 2_000;

/// The clock stands still, so no claim and no outcome expires.
pub(crate) const NOW_MS: u64 = 1_000_000;

/// A call, when it was made, and its answer.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) worker: u64,
    pub(crate) call: Call,
    pub(crate) started: Instant,
    pub(crate) ended: Instant,
    pub(crate) answer: Value,
}

impl Answered {
    pub(crate) fn is_error(&self) -> bool {
        !self.answer["error"].is_null()
    }
}

/// Workers at work.
pub(crate) struct Load {
    pub(crate) target: Arc<Hosted>,
    stop: Arc<AtomicBool>,
    workers: JoinSet<Vec<Answered>>,
}

impl Load {
    /// On a ledger in the store of this URL.
    pub(crate) async fn start(url: &str) -> Self {
        let target = Arc::new(Hosted::on_url(Strategy::Cas, url).await);
        target.set_clock(NOW_MS);
        let stop = Arc::new(AtomicBool::new(false));
        let mut workers = JoinSet::new();
        for worker in 0..GROUP * GROUPS {
            workers.spawn(work(Arc::clone(&target), worker, Arc::clone(&stop)));
        }
        Self { target, stop, workers }
    }

    /// What was answered to all of them, once each has finished the key that it is at.
    pub(crate) async fn stop(self) -> (Arc<Hosted>, Vec<Answered>) {
        self.stop.store(true, Ordering::SeqCst);
        let mut history: Vec<Answered> =
            self.workers.join_all().await.into_iter().flatten().collect();
        history.sort_by_key(|answered| answered.started);
        (self.target, history)
    }
}

async fn work(target: Arc<Hosted>, worker: u64, stop: Arc<AtomicBool>) -> Vec<Answered> {
    let mut history = Vec::new();
    for number in 0.. {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let key = format!("{}/{number}", worker % GROUPS);
        let begin = Call::begin(&key, 600_000);
        let answer = until_answered(&target, worker, begin, &mut history).await;
        if let Some(token) = answer["fresh"]["token"].as_u64() {
            let payload = format!("by {worker} under {token}");
            let complete = Call::complete(&key, token, &payload);
            until_answered(&target, worker, complete, &mut history).await;
        }
    }
    history
}

/// Makes the call until its answer is no error.
async fn until_answered(
    target: &Hosted,
    worker: u64,
    call: Call,
    history: &mut Vec<Answered>,
) -> Value {
    for _ in 0..REPEATS {
        let started = Instant::now();
        let answer = target.call(&call).await;
        let ended = Instant::now();
        let call = call.clone();
        let answered = Answered { worker, call, started, ended, answer };
        history.push(answered.clone());
        if !answered.is_error() {
            return answered.answer;
        }
        sleep(PAUSE).await;
    }
    panic!("the service does not come back: {:?}", history.last());
}
