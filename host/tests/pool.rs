//! The pool of instances: bounds, traps, time limits, and futures that are dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use idempotency_ledger_host::store::MemoryStore;
use idempotency_ledger_host::{
    Begin, BeginOptions, Claim, CompleteOptions, EntryState, Error, Ledger, LedgerBuilder,
    PurgeOptions,
};
use support::{Act, Hooked, component};
use tokio::time::Instant;

mod support;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

async fn begin(ledger: &Ledger, key: &str) -> Result<Begin, Error> {
    ledger.begin(key, &BeginOptions::default()).await
}

async fn fresh(ledger: &Ledger, key: &str) -> Claim {
    match begin(ledger, key).await.unwrap() {
        Begin::Fresh(claim) => claim,
        other => panic!("{other:?}"),
    }
}

/// A ledger with one instance at most, so that a leaked one would be missed at once.
fn narrow(store: &Arc<Hooked>) -> LedgerBuilder {
    Ledger::builder(store.clone()).max_instances(1)
}

#[tokio::test]
async fn a_trap_is_an_error_and_the_instance_is_replaced() {
    let ledger =
        Ledger::builder(MemoryStore::new()).max_instances(1).component(component::trapping());
    let ledger = ledger.build().await.unwrap();
    for _ in 0..5 {
        let error = begin(&ledger, "k").await.unwrap_err();
        assert!(
            matches!(&error, Error::OutcomeUnknown(message) if message.contains("trapped")),
            "{error:?}"
        );
        let error = ledger.get("k", None).await.unwrap_err();
        assert!(
            matches!(&error, Error::Unavailable(message) if message.contains("trapped")),
            "{error:?}"
        );
        let error = ledger.purge(&PurgeOptions::default()).await.unwrap_err();
        assert!(matches!(error, Error::OutcomeUnknown(_)));
        assert!(matches!(ledger.check_store().await, Err(Error::Unavailable(_))));
    }
}

/// On one thread: the loop has to let the others run.
#[tokio::test(flavor = "current_thread")]
async fn endless_computing_lets_others_run_and_is_ended() {
    let ledger =
        Ledger::builder(MemoryStore::new()).component(component::looping()).build().await.unwrap();
    let start = Instant::now();
    let looping = tokio::spawn(async move { begin(&ledger, "k").await });
    let mut ticks = 0;
    while !looping.is_finished() {
        tokio::time::sleep(ms(10)).await;
        ticks += 1;
    }
    let error = looping.await.unwrap().unwrap_err();
    assert!(
        matches!(&error, Error::OutcomeUnknown(message) if message.contains("computed")),
        "{error:?}"
    );
    assert!(ticks > 20, "{ticks}");
    assert!(start.elapsed() < ms(20_000), "{:?}", start.elapsed());
}

#[tokio::test]
async fn what_is_no_ledger_is_refused() {
    for bad in [&b""[..], b"\0asm", b"\0asm\x0d\0\x01\0"] {
        let built = Ledger::builder(MemoryStore::new()).component(bad).build().await;
        assert!(matches!(built, Err(Error::Component(_))), "{built:?}");
    }
}

#[tokio::test]
async fn a_panicking_store_poisons_nothing() {
    let store = Arc::new(Hooked::new(|call| if call.number == 0 { Act::Panic } else { Act::Go }));
    let ledger = narrow(&store).build().await.unwrap();
    assert!(matches!(begin(&ledger, "k").await, Err(Error::OutcomeUnknown(_))));
    fresh(&ledger, "k").await;
}

#[tokio::test]
async fn a_call_ends_at_its_time_limit() {
    let hang = Arc::new(AtomicBool::new(true));
    let store = {
        let hang = Arc::clone(&hang);
        Arc::new(Hooked::new(
            move |_| if hang.load(Ordering::SeqCst) { Act::Hang } else { Act::Go },
        ))
    };
    let ledger = narrow(&store).call_timeout(ms(100)).build().await.unwrap();
    assert!(matches!(begin(&ledger, "k").await, Err(Error::OutcomeUnknown(_))));
    assert!(matches!(ledger.get("k", None).await, Err(Error::Unavailable(_))));
    // Both at once: one waits for the other's instance until its own time is over.
    let (one, other) = tokio::join!(begin(&ledger, "k"), begin(&ledger, "l"));
    let busy = |answer: &Result<Begin, Error>| matches!(answer, Err(Error::Unavailable(message)) if message.contains("busy"));
    assert!(busy(&one) || busy(&other) || one.is_err() && other.is_err(), "{one:?} {other:?}");
    hang.store(false, Ordering::SeqCst);
    fresh(&ledger, "k").await;
}

#[tokio::test]
async fn a_store_call_ends_at_its_time_limit() {
    let store = Arc::new(Hooked::new(|_| Act::Hang));
    let ledger = narrow(&store).store_timeout(ms(20)).build().await.unwrap();
    let start = Instant::now();
    let error = begin(&ledger, "k").await.unwrap_err();
    assert!(matches!(&error, Error::Unavailable(_) | Error::OutcomeUnknown(_)), "{error:?}");
    assert!(error.to_string().contains("timed out after 20 ms"), "{error}");
    assert!(start.elapsed() < ms(5_000));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_key_delays_no_other() {
    let store = Arc::new(Hooked::new(|_| Act::Go));
    let ledger = Ledger::new(store.clone()).await.unwrap();
    fresh(&ledger, "slow").await;
    let slow_keys: Vec<String> =
        store.keys().await.into_iter().filter(|key| key.starts_with("il.r.")).collect();
    store.set_hook(move |call| {
        if slow_keys.iter().any(|key| key == call.key) { Act::Sleep(ms(1_500)) } else { Act::Go }
    });
    let slow: Vec<_> = (0..50)
        .map(|_| {
            let ledger = ledger.clone();
            tokio::spawn(async move { begin(&ledger, "slow").await.unwrap() })
        })
        .collect();
    tokio::time::sleep(ms(50)).await;
    let start = Instant::now();
    for key in 0..100 {
        fresh(&ledger, &key.to_string()).await;
    }
    assert!(start.elapsed() < ms(1_000), "{:?}", start.elapsed());
    for slow in slow {
        assert!(matches!(slow.await.unwrap(), Begin::Inflight(_)));
    }
}

#[tokio::test]
async fn a_dropped_future_cancels_nothing() {
    let store = Arc::new(Hooked::new(|_| Act::Go));
    let ledger = narrow(&store).build().await.unwrap();
    let claim = fresh(&ledger, "k").await;
    store.set_hook(|_| Act::Sleep(ms(50)));
    let options = CompleteOptions { token: Some(claim.token), ..CompleteOptions::default() };
    let complete = ledger.complete("k", Some(b"x".to_vec()), &options);
    tokio::time::timeout(ms(10), complete).await.unwrap_err();
    tokio::time::sleep(ms(400)).await;
    store.set_hook(|_| Act::Go);
    let entry = ledger.get("k", None).await.unwrap().unwrap();
    assert_eq!(entry.state, EntryState::Done(Some(b"x".to_vec())));
    for key in 0..20 {
        let key = key.to_string();
        let _ = tokio::time::timeout(Duration::ZERO, begin(&ledger, &key)).await;
    }
    fresh(&ledger, "l").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_are_bounded() {
    let store = Arc::new(Hooked::new(|_| Act::Sleep(ms(2))));
    let ledger = Ledger::builder(store.clone()).max_instances(4).build().await.unwrap();
    let begins: Vec<_> = (0..64)
        .map(|key| {
            let ledger = ledger.clone();
            tokio::spawn(async move { fresh(&ledger, &key.to_string()).await })
        })
        .collect();
    for begin in begins {
        begin.await.unwrap();
    }
    assert_eq!(store.most_under_way(), 4);
}
