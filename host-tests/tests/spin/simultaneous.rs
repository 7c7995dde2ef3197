//! Many requests with one key at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use host_tests::Size;
use host_tests::spin::{Bank, Faults, Reply};
use hyper::StatusCode;
use tokio::task::JoinSet;

use crate::scene::{ENGINES, Kind, Served, Setting, Storage, bank};

/// Requests with one key at once.
const CROWD: usize = 200;

/// How long the bank takes for a charge.
const BANK_MS: u64 = 50;

/// The answers to a crowd that asks for one charge.
async fn crowd(served: &Arc<Served>, key: &str) -> Vec<Reply> {
    let mut crowd = JoinSet::new();
    for _ in 0..CROWD {
        let (served, key) = (Arc::clone(served), key.to_owned());
        crowd.spawn(async move { served.charge(&key, 1999).await });
    }
    crowd.join_all().await
}

/// How often each status was answered.
#[derive(Default)]
struct Tally(BTreeMap<u16, usize>);

impl Tally {
    fn add(&mut self, replies: &[Reply]) {
        for reply in replies {
            *self.0.entry(reply.status.as_u16()).or_default() += 1;
        }
    }
}

/// Every receipt of a key is the one that its only charge gave.
fn assert_one_charge(bank: &Bank, key: &str, replies: &[Reply]) {
    let tokens = bank.tokens(key);
    assert_eq!(tokens.len(), 1, "{key}: {tokens:?}");
    let receipt = format!("receipt-{key}-{}", tokens[0]);
    for reply in replies {
        match reply.status {
            StatusCode::CREATED => assert_eq!(reply.body["receipt"], receipt, "{reply:?}"),
            StatusCode::CONFLICT => assert!(reply.headers.contains_key("retry-after"), "{reply:?}"),
            _ => panic!("{reply:?}"),
        }
    }
}

async fn rounds(kind: Kind, faults: Faults, rounds: usize) {
    let (storage, bank) = (Storage::new(kind), bank(BANK_MS).await);
    let setting = Setting { faults: faults.clone(), ..Setting::default() };
    let served = Arc::new(Served::start(&storage, &bank, setting).await);
    let mut tally = Tally::default();
    for round in 0..rounds {
        let key = format!("order-{round}");
        let replies = crowd(&served, &key).await;
        assert_one_charge(&bank, &key, &replies);
        tally.add(&replies);
        let last = served.charge(&key, 1999).await;
        assert_eq!(last.headers["idempotent-replayed"], "true", "{last:?}");
    }
    println!(
        "{kind:?}, {:?} before each call: {rounds} rounds of {CROWD}: {:?}; {} charges, {} \
         instances, at most {} requests at once in one",
        faults.delay,
        tally.0,
        bank.charges().len(),
        served.double.instances(),
        served.double.most_at_once(),
    );
    assert!(served.double.most_at_once() > 1, "instances are shared");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_request_of_a_crowd_does_the_work() {
    for kind in ENGINES {
        rounds(kind, Faults::default(), Size::from_env().pick(3, 50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_request_of_a_crowd_does_the_work_on_a_slow_store() {
    for kind in ENGINES {
        let delay = Duration::from_millis(20);
        let faults = Faults { delay, ..Faults::default() };
        rounds(kind, faults, Size::from_env().pick(1, 50)).await;
    }
}
