//! `Ledger::run`.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use idempotency_ledger_host::store::MemoryStore;
use idempotency_ledger_host::{
    Begin, BeginOptions, CompleteOptions, EntryState, Error, Ledger, LostReason, ManualClock,
    OnLost, Run, RunError, RunOptions,
};
use support::{Act, Hooked};
use tokio::time::{Instant, sleep, timeout};

mod support;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

async fn ledger() -> Ledger {
    Ledger::new(MemoryStore::new()).await.unwrap()
}

fn lease(lease_ms: u64) -> RunOptions {
    RunOptions { lease: Some(ms(lease_ms)), ..RunOptions::default() }
}

async fn answer(payload: &str) -> Result<Vec<u8>, Infallible> {
    Ok(payload.into())
}

fn payload(run: Result<Run, RunError<Infallible>>) -> Option<Vec<u8>> {
    match run.unwrap() {
        Run::Ran(outcome) | Run::Replayed(outcome) => outcome.payload,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn work_runs_once_and_is_replayed() {
    let ledger = ledger().await;
    let options = RunOptions { fingerprint: Some(vec![1]), ..RunOptions::default() };
    let ran = ledger
        .run("k", &options, |claim| answer(if claim.attempt == 1 { "one" } else { "two" }))
        .await
        .unwrap();
    let Run::Ran(outcome) = &ran else { panic!("{ran:?}") };
    assert_eq!(outcome.payload.as_deref(), Some(&b"one"[..]));
    let again = ledger.run("k", &options, |_| answer("three")).await.unwrap();
    assert_eq!(again, Run::Replayed(outcome.clone()));
    let other = RunOptions { fingerprint: Some(vec![2]), ..RunOptions::default() };
    assert_eq!(ledger.run("k", &other, |_| answer("four")).await.unwrap(), Run::Mismatch);
    for (key, none) in [("empty", Some(vec![])), ("none", None)] {
        let expected = none.clone();
        let ran = ledger.run(key, &options, async |_| Ok::<_, Infallible>(none)).await;
        assert_eq!(payload(ran), expected);
    }
}

#[tokio::test]
async fn failed_work_is_released() {
    let ledger = ledger().await;
    let failed = ledger.run("k", &RunOptions::default(), async |_| Err::<Vec<u8>, _>("oh")).await;
    assert_eq!(failed, Err(RunError::Work("oh")));
    let ran = ledger
        .run("k", &RunOptions::default(), async |claim| answer(&claim.attempt.to_string()).await)
        .await;
    assert_eq!(payload(ran), Some(b"2".to_vec()));
}

#[tokio::test]
async fn dropped_and_panicking_work_is_released() {
    let ledger = ledger().await;
    let options = RunOptions::default();
    let never = ledger.run("dropped", &options, async |_| {
        sleep(ms(60_000)).await;
        Ok::<_, Infallible>(vec![])
    });
    timeout(ms(50), never).await.unwrap_err();
    let panicking = {
        let ledger = ledger.clone();
        async move {
            let work = async |_| -> Result<Vec<u8>, Infallible> { panic!("on purpose") };
            ledger.run("panicked", &RunOptions::default(), work).await
        }
    };
    assert!(tokio::spawn(panicking).await.is_err());
    sleep(ms(50)).await;
    for key in ["dropped", "panicked"] {
        let begin = ledger.begin(key, &BeginOptions::default()).await.unwrap();
        assert!(matches!(&begin, Begin::Fresh(claim) if claim.attempt == 2), "{begin:?}");
    }
}

#[tokio::test]
async fn long_work_keeps_its_claim() {
    let ledger = ledger().await;
    let start = Instant::now();
    let work = |_| async {
        let mut seen = Vec::new();
        while start.elapsed() < ms(2_500) {
            sleep(ms(30)).await;
            let begin = ledger.begin("k", &BeginOptions::default()).await.unwrap();
            assert!(matches!(begin, Begin::Inflight(_)), "{begin:?} after {:?}", start.elapsed());
            let entry = ledger.get("k", None).await.unwrap().unwrap();
            if seen.last() != Some(&entry.expires_at_ms) {
                seen.push(entry.expires_at_ms);
            }
        }
        // Doubled at each renewal: after 200 ms, 600 ms, 1 400 ms.
        assert!((3..=5).contains(&seen.len()), "{seen:?}");
        Ok::<_, Infallible>(b"x".to_vec())
    };
    assert_eq!(payload(ledger.run("k", &lease(600), work).await), Some(b"x".to_vec()));
}

/// Moves the clock past the lease, and lets somebody else claim the key.
async fn usurp(ledger: &Ledger, clock: &ManualClock) -> u64 {
    clock.advance_ms(3_600_000);
    match ledger.begin("k", &BeginOptions::default()).await.unwrap() {
        Begin::Fresh(claim) => claim.token,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_lost_claim_stops_the_work() {
    let clock = ManualClock::new(1_000);
    let ledger = Ledger::builder(MemoryStore::new()).clock(clock.clone()).build().await.unwrap();
    let finished = AtomicBool::new(false);
    let work = |_| async {
        usurp(&ledger, &clock).await;
        sleep(ms(20_000)).await;
        finished.store(true, Ordering::SeqCst);
        Ok::<_, Infallible>(vec![])
    };
    let lost = ledger.run("k", &lease(300), work).await;
    assert_eq!(lost, Err(RunError::Lost { reason: LostReason::Superseded }));
    assert!(!finished.load(Ordering::SeqCst));
    assert_eq!(ledger.get("k", None).await.unwrap().unwrap().state, EntryState::Inflight);
}

#[tokio::test]
async fn a_lost_claim_lets_the_work_go_on_if_asked() {
    let clock = ManualClock::new(1_000);
    let ledger = Ledger::builder(MemoryStore::new()).clock(clock.clone()).build().await.unwrap();
    let options = RunOptions { on_lost: OnLost::Continue, ..lease(150) };
    let work = |_| async {
        let token = usurp(&ledger, &clock).await;
        sleep(ms(300)).await;
        let complete = CompleteOptions { token: Some(token), ..CompleteOptions::default() };
        ledger.complete("k", Some(b"theirs".to_vec()), &complete).await.unwrap();
        Ok::<_, Infallible>(b"mine".to_vec())
    };
    let lost = ledger.run("k", &options, work).await;
    let expected =
        RunError::LostAfter { reason: LostReason::AlreadyDone, payload: Some(b"mine".to_vec()) };
    assert_eq!(lost, Err(expected));
    assert_eq!(
        ledger.get("k", None).await.unwrap().unwrap().state,
        EntryState::Done(Some(b"theirs".to_vec()))
    );
}

#[tokio::test]
async fn a_claim_that_cannot_be_renewed_is_lost_at_its_end() {
    let store = Arc::new(Hooked::new(|_| Act::Go));
    let ledger = Ledger::new(store.clone()).await.unwrap();
    let start = Instant::now();
    let work = |_| async {
        store.set_hook(|_| Act::FailBefore);
        sleep(ms(20_000)).await;
        Ok::<_, Infallible>(vec![])
    };
    let lost = ledger.run("k", &lease(400), work).await;
    assert_eq!(lost, Err(RunError::Lost { reason: LostReason::Expired }));
    assert!((ms(350)..ms(2_000)).contains(&start.elapsed()), "{:?}", start.elapsed());
}

/// The store fails for a while after the work, in each of two ways; the outcome is recorded all
/// the same, and recognised if it had landed before.
#[tokio::test]
async fn an_outcome_is_recorded_through_a_failing_store() {
    for act in [Act::FailBefore, Act::FailAfter] {
        let store = Arc::new(Hooked::new(|_| Act::Go));
        let ledger = Ledger::new(store.clone()).await.unwrap();
        let work = |_| async {
            let mut failures = 0;
            store.set_hook(move |call| {
                let fails = call.name == "compare_and_swap" && failures < 3;
                failures += u32::from(fails);
                if fails { act } else { Act::Go }
            });
            answer("x").await
        };
        let ran = ledger.run("k", &RunOptions::default(), work).await.unwrap();
        let Run::Ran(outcome) = ran else { panic!("{ran:?}") };
        let entry = ledger.get("k", None).await.unwrap().unwrap();
        assert_eq!((entry.state, entry.token), (EntryState::Done(outcome.payload), outcome.token));
        assert_eq!(
            (entry.completed_at_ms, entry.expires_at_ms),
            (Some(outcome.completed_at_ms), outcome.expires_at_ms)
        );
    }
}

#[tokio::test]
async fn an_outcome_that_cannot_be_recorded_is_handed_back() {
    let ledger = ledger().await;
    let large = vec![0; 524_289];
    let refused =
        ledger.run("k", &RunOptions::default(), async |_| Ok::<_, Infallible>(large.clone())).await;
    let Err(RunError::NotRecorded { claim, payload, error }) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(error, Error::PayloadTooLarge { limit_bytes: 524_288 });
    assert_eq!(payload.map(|payload| payload.len()), Some(524_289));
    let complete = CompleteOptions { token: Some(claim.token), ..CompleteOptions::default() };
    ledger.complete("k", None, &complete).await.unwrap();
    assert_eq!(self::payload(ledger.run("k", &RunOptions::default(), |_| answer("x")).await), None);
}

#[tokio::test]
async fn recording_goes_on_without_the_caller() {
    let store = Arc::new(Hooked::new(|_| Act::Go));
    let ledger = Ledger::new(store.clone()).await.unwrap();
    let options = RunOptions::default();
    let run = ledger.run("k", &options, |_| async {
        store.set_hook(|_| Act::Sleep(ms(100)));
        answer("x").await
    });
    timeout(ms(50), run).await.unwrap_err();
    sleep(ms(600)).await;
    store.set_hook(|_| Act::Go);
    assert_eq!(
        ledger.get("k", None).await.unwrap().unwrap().state,
        EntryState::Done(Some(b"x".to_vec()))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_wait_for_the_outcome_if_asked() {
    let ledger = ledger().await;
    let ran = Arc::new(AtomicU32::new(0));
    let options = RunOptions { wait: Some(ms(10_000)), ..RunOptions::default() };
    let runs: Vec<_> = (0..8)
        .map(|_| {
            let (ledger, ran, options) = (ledger.clone(), Arc::clone(&ran), options.clone());
            tokio::spawn(async move {
                let work = |_| async {
                    ran.fetch_add(1, Ordering::SeqCst);
                    sleep(ms(200)).await;
                    answer("x").await
                };
                payload(ledger.run("k", &options, work).await)
            })
        })
        .collect();
    for run in runs {
        assert_eq!(run.await.unwrap(), Some(b"x".to_vec()));
    }
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn waiting_is_bounded() {
    let ledger = ledger().await;
    ledger.begin("k", &BeginOptions::default()).await.unwrap();
    for wait_ms in [None, Some(0), Some(250)] {
        let options = RunOptions { wait: wait_ms.map(ms), ..RunOptions::default() };
        let start = Instant::now();
        let run = ledger.run("k", &options, |_| answer("x")).await.unwrap();
        assert!(matches!(run, Run::Inflight(_)));
        let wait = ms(wait_ms.unwrap_or(0));
        assert!(
            start.elapsed() >= wait && start.elapsed() < wait + ms(1_000),
            "{:?}",
            start.elapsed()
        );
    }
    let options = BeginOptions { lease: Some(ms(300)), ..BeginOptions::default() };
    ledger.begin("l", &options).await.unwrap();
    let options = RunOptions { wait: Some(Duration::MAX), ..RunOptions::default() };
    assert_eq!(payload(ledger.run("l", &options, |_| answer("x")).await), Some(b"x".to_vec()));
}

#[tokio::test]
async fn errors_of_begin_do_not_run_the_work() {
    let store = Arc::new(Hooked::new(|_| Act::FailBefore));
    let ledger = Ledger::new(store).await.unwrap();
    let work = async |_| -> Result<Vec<u8>, Infallible> { panic!("it ran") };
    let error = ledger.run("k", &RunOptions::default(), work).await.unwrap_err();
    assert!(matches!(error, RunError::NotClaimed(Error::Unavailable(_))), "{error:?}");
    let error = ledger.run("", &RunOptions::default(), work).await.unwrap_err();
    assert!(matches!(error, RunError::NotClaimed(Error::InvalidKey(_))));
    let error = ledger.run("k", &lease(0), work).await.unwrap_err();
    assert!(matches!(error, RunError::NotClaimed(Error::InvalidTtl(_))));
}
