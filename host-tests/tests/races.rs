//! Many tasks on the same keys, on the real component: one claim, one outcome.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use host_tests::targets::Hosted;
use host_tests::{Call, CallName, STRATEGIES, Size, Strategy, Target};
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

/// Tasks that begin one key at once.
const CROWD: usize = 16;
/// Crowds at work at once: 64 tasks in all.
const CROWDS: usize = 4;

/// What one task was answered about one key.
#[derive(Debug)]
struct Answers {
    key: String,
    begin: Value,
    complete: Value,
    again: Value,
}

/// One member of a crowd: everyone begins, everyone completes with the winner's token and a
/// payload of its own, everyone begins once more.
async fn member(
    target: Arc<dyn Target>,
    keys: Vec<String>,
    number: usize,
    together: Arc<Barrier>,
    token: Arc<AtomicU64>,
) -> Vec<Answers> {
    let mut all = Vec::new();
    for key in keys {
        together.wait().await;
        let begin = target.call(&Call::begin(&key, 60_000)).await;
        if let Some(fresh) = begin["fresh"]["token"].as_u64() {
            token.store(fresh, Ordering::SeqCst);
        }
        together.wait().await;
        let payload = format!("by {number}");
        let call = Call::complete(&key, token.load(Ordering::SeqCst), &payload);
        let complete = target.call(&call).await;
        together.wait().await;
        let again = settled(&*target, &Call::begin(&key, 60_000)).await;
        all.push(Answers { key, begin, complete, again });
    }
    all
}

/// What a call is answered once nobody is between deciding and writing.
async fn settled(target: &dyn Target, call: &Call) -> Value {
    for _ in 0..1_000 {
        let answer = target.call(call).await;
        let hint_ms = answer["inflight"]["retry-after-ms"].as_u64();
        if !says_contended(&answer) && hint_ms.is_none_or(|hint_ms| hint_ms > 1_000) {
            return answer;
        }
        tokio::task::yield_now().await;
    }
    panic!("{call:?}: nobody comes to an end");
}

fn says_contended(answer: &Value) -> bool {
    answer["error"]["contended"].is_u64()
}

async fn race(target: Arc<dyn Target>, keys: usize) {
    target.set_clock(1_000_000);
    let mut tasks = JoinSet::new();
    for crowd in 0..CROWDS {
        let keys: Vec<_> = (crowd..keys).step_by(CROWDS).map(|key| format!("key {key}")).collect();
        let (together, token) = (Arc::new(Barrier::new(CROWD)), Arc::new(AtomicU64::new(0)));
        for number in 0..CROWD {
            let (together, token) = (Arc::clone(&together), Arc::clone(&token));
            tasks.spawn(member(Arc::clone(&target), keys.clone(), number, together, token));
        }
    }
    let mut by_key: BTreeMap<String, Vec<Answers>> = BTreeMap::new();
    for answers in tasks.join_all().await.into_iter().flatten() {
        by_key.entry(answers.key.clone()).or_default().push(answers);
    }
    assert_eq!(by_key.len(), keys);
    by_key.values().for_each(|answers| one_of_each(answers));
}

fn one_of_each(answers: &[Answers]) {
    let count = |found: &dyn Fn(&Answers) -> bool| answers.iter().filter(|one| found(one)).count();
    assert_eq!(answers.len(), CROWD);
    assert_eq!(count(&|one| one.begin["fresh"].is_object()), 1, "{answers:?}");
    assert_eq!(count(&|one| one.begin["inflight"].is_object()), CROWD - 1, "{answers:?}");
    let recorded = count(&|one| one.complete["recorded"].is_object());
    // With tickets, whoever cannot see the end of a crowd says so.
    let unknown = count(&|one| one.complete["error"] == json!("outcome-unknown"));
    assert!(recorded == 1 || recorded == 0 && unknown > 0, "{answers:?}");
    let is_late = |one: &Answers| {
        one.complete == json!({ "lost": "already-done" }) || says_contended(&one.complete)
    };
    assert_eq!(count(&is_late), CROWD - recorded - unknown, "{answers:?}");
    let outcome = &answers[0].again;
    assert!(outcome["done"].is_object(), "{answers:?}");
    assert_eq!(count(&|one| one.again == *outcome), CROWD, "{answers:?}");
}

fn on_four_threads(test: impl Future<Output = ()>) {
    let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build();
    runtime.expect("a runtime").block_on(test);
}

fn keys() -> usize {
    let keys = Size::from_env().pick(200, 2_000);
    println!("{keys} keys, each begun {CROWD} times at once, by {} tasks", CROWD * CROWDS);
    keys
}

#[test]
fn one_claim_and_one_outcome_on_memory() {
    for strategy in STRATEGIES {
        on_four_threads(async { race(Arc::new(Hosted::in_memory(strategy).await), keys()).await });
    }
}

#[test]
fn one_claim_and_one_outcome_on_sqlite() {
    for strategy in STRATEGIES {
        on_four_threads(async { race(Arc::new(Hosted::on_sqlite(strategy).await), keys()).await });
    }
}

/// Purges beside begins and completes on keys that keep expiring: whoever is answered `fresh`
/// holds the key, and nothing that lives is removed.
#[test]
fn purges_beside_claims_remove_nothing_that_lives() {
    on_four_threads(async {
        let target: Arc<dyn Target> = Arc::new(Hosted::in_memory(Strategy::Cas).await);
        let rounds = Size::from_env().pick(100, 1_000);
        for round in 1..=rounds {
            target.set_clock(round * 1_000);
            let mut tasks = JoinSet::new();
            for number in 0..24 {
                let target = Arc::clone(&target);
                tasks.spawn(async move {
                    match number % 6 {
                        0 => target.call(&Call::on(CallName::Purge, "")).await,
                        _ => target.call(&Call::begin(&format!("key {}", number % 4), 500)).await,
                    }
                });
            }
            let answers = tasks.join_all().await;
            let fresh = answers.iter().filter(|answer| answer["fresh"].is_object()).count();
            assert_eq!(fresh, 4, "round {round}: {answers:?}");
            for number in 0..4 {
                let entry = target.call(&Call::get(&format!("key {number}"))).await;
                assert_eq!(entry["expired"], json!(false), "round {round}: {entry}");
            }
        }
    });
}
