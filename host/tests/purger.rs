//! The `Purger`.

use std::sync::Arc;
use std::time::Duration;

use idempotency_ledger_host::store::{MemoryStore, Store};
use idempotency_ledger_host::{
    Begin, BeginOptions, Ledger, ManualClock, Purger, PurgerOptions, Sweep,
};
use support::{Act, Hooked};
use tokio::time::timeout;

mod support;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[tokio::test]
async fn the_purger_sweeps_until_nothing_is_due() {
    let clock = ManualClock::new(1_000_000);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let ledger = Ledger::builder(store).clock(clock.clone()).build().await.unwrap();
    for key in 0..45 {
        ledger.begin(&key.to_string(), &BeginOptions::default()).await.unwrap();
    }
    let live = BeginOptions { lease: Some(ms(10_000_000)), ..BeginOptions::default() };
    ledger.begin("live", &live).await.unwrap();
    clock.advance_ms(600_000);
    let (told, mut sweeps) = tokio::sync::mpsc::unbounded_channel();
    let options = PurgerOptions { first_after: ms(0), interval: ms(50), limit: 10 };
    let purger =
        Purger::start(ledger.clone(), options, move |sweep: Sweep| told.send(sweep).unwrap());
    let first = sweeps.recv().await.unwrap();
    assert_eq!((first.removed, first.error), (45, None));
    assert!(first.passes >= 5, "{}", first.passes);
    let second = sweeps.recv().await.unwrap();
    assert_eq!((second.removed, second.passes, second.error), (0, 1, None));
    purger.stop().await;
    while sweeps.recv().await.is_some() {}
    assert!(matches!(ledger.begin("live", &live).await.unwrap(), Begin::Inflight(_)));
}

#[tokio::test]
async fn a_failed_sweep_is_reported_and_dropping_stops_the_purger() {
    let ledger = Ledger::new(Hooked::new(|_| Act::FailBefore)).await.unwrap();
    let (told, mut sweeps) = tokio::sync::mpsc::unbounded_channel();
    let options = PurgerOptions { first_after: ms(0), ..PurgerOptions::default() };
    let purger = Purger::start(ledger, options, move |sweep: Sweep| told.send(sweep).unwrap());
    assert!(sweeps.recv().await.unwrap().error.is_some());
    drop(purger);
    assert!(timeout(ms(5_000), sweeps.recv()).await.unwrap().is_none());
}
