//! The ledger over the real component: its calls, its bounds, and what a failing store does.

use std::sync::Arc;
use std::time::Duration;

use idempotency_ledger_host::store::{MemoryStore, SqliteStore, Store};
use idempotency_ledger_host::{
    Begin, BeginOptions, Claim, Complete, CompleteOptions, EntryState, Error, Finding, Forget,
    Ledger, LostReason, ManualClock, PurgeOptions, Release, Renew, RenewOptions,
};
use support::{Act, Hooked};
use tokio::time::Instant;

mod support;

const fn is_send_and_sync<T: Send + Sync + Clone>() {}
const _: () = is_send_and_sync::<Ledger>();

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

async fn fresh(ledger: &Ledger, key: &str) -> Claim {
    match ledger.begin(key, &BeginOptions::default()).await.unwrap() {
        Begin::Fresh(claim) => claim,
        other => panic!("{other:?}"),
    }
}

fn with_token(token: u64) -> CompleteOptions {
    CompleteOptions { token: Some(token), ..CompleteOptions::default() }
}

#[tokio::test]
async fn every_call_is_answered() {
    let clock = ManualClock::new(1_000_000);
    let ledger = Ledger::builder(MemoryStore::new()).clock(clock.clone()).build().await.unwrap();
    let options = BeginOptions {
        scope: Some("s".into()),
        lease: Some(Duration::from_micros(9_999_001)),
        fingerprint: Some(vec![1]),
    };
    let Begin::Fresh(claim) = ledger.begin("k", &options).await.unwrap() else { panic!() };
    assert_eq!((claim.expires_at_ms, claim.attempt), (1_010_000, 1), "durations are rounded up");
    let Begin::Inflight(lease) = ledger.begin("k", &options).await.unwrap() else { panic!() };
    assert_eq!((lease.expires_at_ms, lease.retry_after_ms), (1_010_000, 10_000));
    let other = BeginOptions { fingerprint: Some(vec![2]), ..options.clone() };
    assert_eq!(ledger.begin("k", &other).await.unwrap(), Begin::Mismatch);

    let renew = RenewOptions { scope: Some("s".into()), lease: Some(ms(20_000)) };
    let Renew::Renewed(renewed) = ledger.renew("k", claim.token, &renew).await.unwrap() else {
        panic!()
    };
    assert_eq!(renewed, Claim { expires_at_ms: 1_020_000, ..claim.clone() });
    let lost = ledger.renew("k", claim.token + 1, &renew).await.unwrap();
    assert_eq!(lost, Renew::Lost(LostReason::Superseded));
    assert_eq!(ledger.get("k", None).await.unwrap(), None, "another scope");
    assert_eq!(ledger.get("k", Some("s")).await.unwrap().unwrap().state, EntryState::Inflight);

    let complete =
        CompleteOptions { scope: Some("s".into()), ttl: Some(ms(100)), ..with_token(claim.token) };
    let Complete::Recorded(recorded) =
        ledger.complete("k", Some(b"p".to_vec()), &complete).await.unwrap()
    else {
        panic!()
    };
    assert_eq!((recorded.completed_at_ms, recorded.expires_at_ms), (1_000_000, 1_000_100));
    let again = ledger.complete("k", None, &complete).await.unwrap();
    assert_eq!(again, Complete::Lost(LostReason::AlreadyDone));
    let Begin::Done(outcome) = ledger.begin("k", &options).await.unwrap() else { panic!() };
    assert_eq!((outcome.payload, outcome.token), (Some(b"p".to_vec()), claim.token));
    let released = ledger.release("k", claim.token, Some("s")).await.unwrap();
    assert_eq!(released, Release::Lost(LostReason::AlreadyDone));

    let claim = fresh(&ledger, "l").await;
    assert_eq!(ledger.release("l", claim.token, None).await.unwrap(), Release::Released);
    assert_eq!(
        ledger.forget("k", recorded.token + 1, Some("s")).await.unwrap(),
        Forget::Superseded
    );
    assert_eq!(ledger.forget("k", recorded.token, Some("s")).await.unwrap(), Forget::Forgotten);
    assert_eq!(ledger.forget("k", recorded.token, Some("s")).await.unwrap(), Forget::Missing);

    fresh(&ledger, "m").await;
    clock.advance_ms(60_001);
    assert!(ledger.get("m", None).await.unwrap().unwrap().expired);
    let report = ledger.purge(&PurgeOptions::default()).await.unwrap();
    assert_eq!((report.removed, report.more), (1, false));
    assert_eq!(ledger.get("m", None).await.unwrap(), None);
}

#[tokio::test]
async fn stores_are_found_sound() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("a.db")).await.unwrap();
    for store in [Arc::new(MemoryStore::new()) as Arc<dyn Store>, Arc::new(sqlite)] {
        let ledger = Ledger::builder(store).clock(ManualClock::new(77)).build().await.unwrap();
        let report = ledger.check_store().await.unwrap();
        assert!(report.sound, "{report:?}");
        assert_eq!((report.now_ms, report.swap_absent), (77, Finding::Sound));
    }
}

#[tokio::test]
async fn bad_input_is_a_typed_error_without_a_store_call() {
    let store = Arc::new(Hooked::new(|_| Act::Go));
    let ledger = Ledger::new(store.clone()).await.unwrap();
    let lease = |lease| BeginOptions { lease: Some(lease), ..BeginOptions::default() };
    let begin =
        async |key: &str, options: BeginOptions| ledger.begin(key, &options).await.unwrap_err();
    assert!(matches!(begin("", BeginOptions::default()).await, Error::InvalidKey(_)));
    assert!(matches!(
        begin(&"x".repeat(1025), BeginOptions::default()).await,
        Error::InvalidKey(_)
    ));
    for bad in [Duration::ZERO, Duration::MAX, Duration::from_millis(u64::MAX), ms(2_592_000_001)] {
        assert!(matches!(begin("k", lease(bad)).await, Error::InvalidTtl(_)), "{bad:?}");
    }
    let scope = BeginOptions { scope: Some(String::new()), ..BeginOptions::default() };
    assert!(matches!(begin("k", scope).await, Error::InvalidKey(_)));
    let large = ledger.complete("k", Some(vec![0; 524_289]), &with_token(1)).await.unwrap_err();
    assert_eq!(large, Error::PayloadTooLarge { limit_bytes: 524_288 });
    let limit = ledger.purge(&PurgeOptions { limit: Some(0), before_ms: None }).await.unwrap_err();
    assert!(matches!(limit, Error::InvalidLimit(_)));
    assert_eq!(store.calls(), 0);
    for key in ["a\0b", "a\nb", "🦀", &"x".repeat(1024)] {
        assert_eq!(fresh(&ledger, key).await.attempt, 1);
    }
}

#[tokio::test]
async fn the_largest_payload_comes_back() {
    let ledger = Ledger::new(MemoryStore::new()).await.unwrap();
    let payload: Vec<u8> = (0..524_288_u32).map(|i| (i * 7) as u8).collect();
    let claim = fresh(&ledger, "k").await;
    ledger.complete("k", Some(payload.clone()), &with_token(claim.token)).await.unwrap();
    let Begin::Done(outcome) = ledger.begin("k", &BeginOptions::default()).await.unwrap() else {
        panic!()
    };
    assert!(outcome.payload == Some(payload));
}

#[tokio::test]
async fn garbage_is_corrupt_and_harms_no_other_key() {
    let store = Arc::new(Hooked::new(|_| Act::Go));
    let ledger = Ledger::new(store.clone()).await.unwrap();
    fresh(&ledger, "k").await;
    let slots: Vec<String> =
        store.keys().await.into_iter().filter(|key| key.starts_with("il.r.")).collect();
    assert_eq!(slots.len(), 1);
    for garbage in [&b""[..], b"\xff\xfe", b"{}\n", b"{\"format\":99}\n", &[b'['; 500_000]] {
        store.inner.set(&slots[0], garbage.to_vec()).await.unwrap();
        let error = ledger.begin("k", &BeginOptions::default()).await.unwrap_err();
        assert!(matches!(error, Error::Corrupt(_)), "{error:?}");
        assert!(matches!(ledger.get("k", None).await, Err(Error::Corrupt(_))));
    }
    fresh(&ledger, "l").await;
}

/// Fail closed: where one store call of a `begin` fails, it is answered `Fresh` only if its claim
/// was made and seen after the failure; and nobody else is answered `Fresh` then.
#[tokio::test]
async fn errors_in_store_calls_never_make_two_claims() {
    for act in [Act::FailBefore, Act::FailAfter] {
        for failing in 0.. {
            let store = Arc::new(Hooked::new(
                move |call| if call.number == failing { act } else { Act::Go },
            ));
            let ledger = Ledger::new(store.clone()).await.unwrap();
            let first = ledger.begin("k", &BeginOptions::default()).await;
            let hit = store.calls() > failing;
            store.set_hook(|_| Act::Go);
            let second = ledger.begin("k", &BeginOptions::default()).await.unwrap();
            match (&first, hit) {
                (Ok(Begin::Fresh(claim)), _) => {
                    println!("{act:?} {failing}: fresh");
                    assert!(
                        !hit || act == Act::FailAfter,
                        "{failing}: nothing was written, and yet {first:?}"
                    );
                    assert!(matches!(second, Begin::Inflight(_)), "{failing}: {second:?}");
                    assert_eq!(ledger.get("k", None).await.unwrap().unwrap().token, claim.token);
                }
                (Err(Error::Unavailable(_)), true) => {
                    assert!(matches!(second, Begin::Fresh(_)), "{failing}: {second:?}")
                }
                (Err(Error::OutcomeUnknown(_)), true) => {}
                _ => panic!("{act:?} {failing}: {first:?}"),
            }
            if !hit {
                assert!(failing >= 4, "{failing} calls were tried");
                break;
            }
        }
    }
}

#[tokio::test]
async fn errors_in_complete_lose_nothing() {
    for act in [Act::FailBefore, Act::FailAfter] {
        for failing in 0.. {
            let store = Arc::new(Hooked::new(|_| Act::Go));
            let ledger = Ledger::new(store.clone()).await.unwrap();
            let claim = fresh(&ledger, "k").await;
            let begun = store.calls();
            store.set_hook(move |call| if call.number == begun + failing { act } else { Act::Go });
            let first = ledger.complete("k", Some(b"1".to_vec()), &with_token(claim.token)).await;
            if store.calls() <= begun + failing {
                assert!(failing >= 2);
                break;
            }
            assert!(
                matches!(first, Err(Error::Unavailable(_) | Error::OutcomeUnknown(_))),
                "{first:?}"
            );
            let second =
                ledger.complete("k", Some(b"1".to_vec()), &with_token(claim.token)).await.unwrap();
            let landed = second == Complete::Lost(LostReason::AlreadyDone);
            assert!(landed || matches!(second, Complete::Recorded(_)));
            assert!(
                !landed || matches!(first, Err(Error::OutcomeUnknown(_))),
                "{act:?} {failing} {first:?}"
            );
            let entry = ledger.get("k", None).await.unwrap().unwrap();
            assert_eq!(
                (entry.state, entry.token),
                (EntryState::Done(Some(b"1".to_vec())), claim.token)
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_key_is_claimed_and_completed_once() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("a.db")).await.unwrap();
    for (store, keys) in
        [(Arc::new(MemoryStore::new()) as Arc<dyn Store>, 400), (Arc::new(sqlite), 40)]
    {
        let ledger = Ledger::new(store).await.unwrap();
        for key in 0..keys {
            let key = format!("key {key}");
            let begins: Vec<_> = (0..16)
                .map(|_| {
                    let (ledger, key) = (ledger.clone(), key.clone());
                    tokio::spawn(async move {
                        match ledger.begin(&key, &BeginOptions::default()).await.unwrap() {
                            Begin::Fresh(claim) => {
                                let done = ledger
                                    .complete(&key, Some(b"x".to_vec()), &with_token(claim.token))
                                    .await;
                                assert!(matches!(done, Ok(Complete::Recorded(_))), "{done:?}");
                                1
                            }
                            Begin::Inflight(_) | Begin::Done(_) => 0,
                            Begin::Mismatch => panic!("mismatch"),
                        }
                    })
                })
                .collect();
            let mut fresh = 0;
            for begin in begins {
                fresh += begin.await.unwrap();
            }
            assert_eq!(fresh, 1);
        }
    }
}

#[tokio::test]
async fn another_ledger_costs_next_to_nothing() {
    Ledger::new(MemoryStore::new()).await.unwrap();
    let start = Instant::now();
    for _ in 0..100 {
        Ledger::new(MemoryStore::new()).await.unwrap();
    }
    assert!(start.elapsed() < ms(100), "{:?} for 100", start.elapsed());
}
