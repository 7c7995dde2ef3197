//! `run`: the whole dance.

use std::cell::Cell;
use std::fmt;

use idempotency_ledger_client::{Begin, Error, LostReason, Release, Renew, Run};

use crate::scene::Scene;

type Never = fmt::Error;

#[test]
fn runs_once_then_replays() {
    let scene = Scene::new();
    let (client, count) = (scene.client::<u32>(), Cell::new(0));
    let work = || {
        client.run("key", |claim| {
            count.set(count.get() + 1);
            assert_eq!(claim.attempt, 1);
            Ok::<_, Never>(7)
        })
    };
    let Ok(Run::Ran(first)) = work() else { panic!("did not run") };
    let Ok(Run::Replayed(second)) = work() else { panic!("did not replay") };
    assert_eq!(first, second);
    assert_eq!((first.value, count.get()), (7, 1));
}

#[test]
fn a_second_run_backs_off_and_another_request_is_a_mismatch() {
    let scene = Scene::new();
    let client = scene.client::<u32>().fingerprint(*b"one");
    let run = client.run("key", |_| {
        let Ok(Run::Inflight(lease)) = client.run("key", |_| Ok::<_, Never>(8)) else {
            panic!("not in flight")
        };
        assert_eq!(lease.retry_after_ms, 60_000);
        Ok::<_, Never>(7)
    });
    assert!(matches!(run, Ok(Run::Ran(_))), "{run:?}");
    let run = client.clone().fingerprint(*b"two").run("key", |_| Ok::<_, Never>(9));
    assert!(matches!(run, Ok(Run::Mismatch)), "{run:?}");
}

#[test]
fn work_that_fails_or_panics_is_released() {
    let scene = Scene::new();
    let client = scene.client::<u32>();
    let failed = client.run("key", |_| Err("no".to_owned()));
    let Err(Error::Work(why)) = failed else { panic!("{failed:?}") };
    assert_eq!(why, "no");
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        client.run("key", |_| -> Result<u32, Never> { panic!("on purpose") })
    }));
    assert!(panicked.is_err());
    let run = client.run("key", |claim| Ok::<_, Never>(claim.attempt));
    assert!(matches!(run, Ok(Run::Ran(outcome)) if outcome.value == 3), "one try after the other");
}

#[test]
fn a_lost_claim_has_its_value_in_hand() {
    let scene = Scene::new();
    let client = scene.client::<u32>();
    let lose = |key: &str, meanwhile: &dyn Fn()| {
        let run = client.run(key, |_| {
            meanwhile();
            Ok::<_, Never>(7)
        });
        let Ok(Run::Lost { value: 7, reason, .. }) = run else { panic!("{run:?}") };
        reason
    };
    let late = || scene.clock.advance_ms(60_000);
    assert_eq!(lose("late", &late), LostReason::Expired);
    let taken = || {
        late();
        assert!(matches!(client.begin("taken"), Ok(Begin::Fresh(_))));
    };
    assert_eq!(lose("taken", &taken), LostReason::Superseded);
    let done = || {
        late();
        assert!(matches!(client.run("done", |_| Ok::<_, Never>(8)), Ok(Run::Ran(_))));
    };
    assert_eq!(lose("done", &done), LostReason::AlreadyDone);
    // The successor's value stands.
    let run = client.run("done", |_| Ok::<_, Never>(9));
    assert!(matches!(run, Ok(Run::Replayed(outcome)) if outcome.value == 8));
}

#[test]
fn long_work_renews() {
    let scene = Scene::new();
    let client = scene.client::<u32>();
    let run = client.run("key", |claim| {
        for _ in 0..5 {
            scene.clock.advance_ms(40_000);
            let renewed = client.renew("key", claim.token).expect("a call");
            assert!(matches!(renewed, Renew::Renewed(_)), "{renewed:?}");
        }
        Ok::<_, Never>(7)
    });
    assert!(matches!(run, Ok(Run::Ran(_))), "{run:?}");
}

#[test]
fn steps_by_hand() {
    let scene = Scene::new();
    let client = scene.client::<u32>();
    let Ok(Begin::Fresh(claim)) = client.begin("key") else { panic!("not fresh") };
    let other = client.release("key", claim.token + 1).expect("a call");
    assert_eq!(other, Release::Lost(LostReason::Superseded));
    assert_eq!(client.release("key", claim.token).expect("a call"), Release::Released);
    assert!(matches!(client.begin("key"), Ok(Begin::Fresh(claim)) if claim.attempt == 2));
}

/// Async work, on a runtime of the caller's; dropped half-way it is released.
#[tokio::test]
async fn async_work_runs_too() {
    let scene = tokio::task::spawn_blocking(Scene::new).await.expect("a scene");
    let client = scene.client::<u32>();
    let pending = client.run_async("dropped", async |_| {
        std::future::pending::<()>().await;
        Ok::<_, Never>(7)
    });
    let short = std::time::Duration::from_millis(50);
    assert!(tokio::time::timeout(short, pending).await.is_err());
    for replay in [false, true] {
        let run = client.run_async("dropped", async |claim| {
            tokio::task::yield_now().await;
            Ok::<_, Never>(claim.attempt)
        });
        match run.await {
            Ok(Run::Ran(outcome)) if !replay => assert_eq!(outcome.value, 2),
            Ok(Run::Replayed(outcome)) if replay => assert_eq!(outcome.value, 2),
            other => panic!("{other:?}"),
        }
    }
}
