//! What is promised of a key, whatever goes wrong, and whether a history kept it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use host_tests::spin::{Bank, Reply};
use hyper::StatusCode;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::scene::charge;

/// What the ledger adds to a lease where somebody died or failed half-way.
pub(crate) const STALL: Duration = Duration::from_secs(30);

/// What a try may take on such a machine.
const SLACK: Duration = Duration::from_secs(20);

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(100);

/// The receipts that were answered as recorded, by key.
#[derive(Default)]
pub(crate) struct Receipts(BTreeMap<String, Value>);

impl Receipts {
    /// Takes an answer; says whether it was a recorded receipt.
    ///
    /// # Panics
    /// Where it is another than before, or no answer that the example gives.
    pub(crate) fn take(&mut self, key: &str, reply: &Reply) -> bool {
        match reply.status {
            StatusCode::CREATED if reply.body["recorded"] != false => {
                let receipt = self.0.entry(key.to_owned()).or_insert(reply.body["receipt"].clone());
                assert_eq!(*receipt, reply.body["receipt"], "{key} was answered another receipt");
                true
            }
            StatusCode::CREATED | StatusCode::CONFLICT | StatusCode::SERVICE_UNAVAILABLE => false,
            _ => panic!("{key}: {reply:?}"),
        }
    }

    /// The keys that have one.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    /// Fails unless the bank was asked once per claim, no two claims of a key lived at once, and
    /// what is recorded is the last charge. Answers how many keys were charged more than once,
    /// after a claim that was lost.
    pub(crate) fn check(&self, bank: &Bank, lease_ms: u64) -> usize {
        let mut tokens: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for charge in bank.charges() {
            tokens.entry(charge.order).or_default().push(charge.token);
        }
        for (key, receipt) in &self.0 {
            let tokens = &tokens[key];
            // A token is the time of its claim, in milliseconds.
            let apart = tokens.windows(2).all(|pair| pair[1] >= pair[0] + lease_ms);
            assert!(apart, "{key} was charged twice within a lease: {tokens:?}");
            let last = tokens.last().expect("a charge");
            assert_eq!(*receipt, format!("receipt-{key}-{last}"), "{key}: {tokens:?}");
        }
        tokens.values().filter(|tokens| tokens.len() > 1).count()
    }
}

/// Asks until the charge is recorded. Answers the receipt, and how long it took from the first
/// answer, which is when the ledger has seen what is half-done, until the request that was served
/// was sent: so it is not counted how long requests take on a machine that has much else to do.
///
/// # Panics
/// Where that is longer than the lease and [`STALL`].
async fn settle(address: SocketAddr, key: &str, lease_ms: u64) -> (Reply, Duration) {
    let (mut start, limit) = (None, Duration::from_millis(lease_ms) + STALL + SLACK);
    loop {
        let sent = start.map_or(Duration::ZERO, |start: Instant| start.elapsed());
        let reply = charge(address, key, 1999).await;
        start.get_or_insert_with(Instant::now);
        if let Ok(reply) = &reply
            && Receipts::default().take(key, reply)
        {
            return (reply.clone(), sent);
        }
        assert!(sent < limit, "{key} is stuck: {reply:?}");
        sleep(PAUSE).await;
    }
}

/// Settles all keys at once, and takes their receipts. Answers how long the slowest took.
pub(crate) async fn settle_all(
    address: SocketAddr,
    keys: &[String],
    lease_ms: u64,
    receipts: &mut Receipts,
) -> Duration {
    let mut slowest = Duration::ZERO;
    let tasks: Vec<_> = keys
        .iter()
        .map(|key| {
            let key = key.clone();
            tokio::spawn(async move { (settle(address, &key, lease_ms).await, key) })
        })
        .collect();
    for task in tasks {
        let ((reply, took), key) = task.await.expect("no panic");
        receipts.take(&key, &reply);
        slowest = slowest.max(took);
    }
    slowest
}
