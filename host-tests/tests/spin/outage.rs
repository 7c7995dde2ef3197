//! Redis goes away in the midst of requests, and comes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use host_tests::Size;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::promises::{Receipts, settle_all};
use crate::scene::{Kind, Served, Setting, Storage, bank};

/// Those who charge one order after the other.
const CALLERS: usize = 8;

/// Before and after the outage.
const CALM: Duration = Duration::from_secs(1);

/// Charges orders until told to stop; answers those that were asked for, with what was answered.
async fn call(served: Arc<Served>, caller: usize, stop: Arc<AtomicBool>) -> Vec<(String, u16)> {
    let mut asked = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let key = format!("order-{caller}-{}", asked.len());
        let reply = served.charge(&key, 1999).await;
        asked.push((key, reply.status.as_u16()));
    }
    asked
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis_goes_away_and_comes_back() {
    // The lease is longer than the outage: no claim is lost, so no order is charged twice.
    let (away_s, lease_ms) = Size::from_env().pick((2, 10_000), (20, 30_000));
    let (mut storage, bank) = (Storage::new(Kind::Redis), bank(5).await);
    let setting = Setting { lease_ms, ..Setting::default() };
    let served = Arc::new(Served::start(&storage, &bank, setting).await);
    let stop = Arc::new(AtomicBool::new(false));
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        callers.spawn(call(Arc::clone(&served), caller, Arc::clone(&stop)));
    }
    sleep(CALM).await;
    let redis = storage.redis.as_mut().expect("a server");
    redis.stop();
    sleep(Duration::from_secs(away_s)).await;
    redis.start_again();
    let back = Instant::now();
    sleep(CALM).await;
    stop.store(true, Ordering::Relaxed);
    let asked: Vec<_> = callers.join_all().await.into_iter().flatten().collect();
    let served_again = back.elapsed();
    let failed = asked.iter().filter(|(_, status)| *status != 201).count();
    assert!(asked.iter().all(|(_, status)| [201, 503].contains(status)), "{asked:?}");
    let keys: Vec<String> = asked.into_iter().map(|(key, _)| key).collect();
    let mut receipts = Receipts::default();
    let stuck = settle_all(served.double.address(), &keys, lease_ms, &mut receipts).await;
    let again = receipts.check(&bank, lease_ms);
    println!(
        "Redis away for {away_s} s under {CALLERS} callers: {} orders, {failed} answers of 503, \
         the last hanging request answered {served_again:?} after it was back, every key free \
         after {stuck:?} more (lease {lease_ms} ms); {again} charged again after their claim was \
         lost",
        keys.len(),
    );
}
