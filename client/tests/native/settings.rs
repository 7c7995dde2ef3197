//! Settings of a client, and of a copy for a single call.

use std::time::Duration;

use idempotency_ledger_client::{Begin, Complete};

use crate::scene::Scene;

#[test]
fn a_client_has_its_own_scope_lease_and_ttl() {
    let scene = Scene::new();
    let client = scene
        .client::<u32>()
        .scope("mine")
        .lease(Duration::from_millis(5_000))
        .ttl(Duration::from_millis(7_000));
    let Ok(Begin::Fresh(claim)) = client.begin("key") else { panic!("not fresh") };
    assert_eq!(claim.expires_at_ms, 1_005_000);
    let answer = client.complete("key", claim.token, &1).expect("a call");
    let Complete::Recorded(recorded) = answer else { panic!("{answer:?}") };
    assert_eq!((recorded.token, recorded.expires_at_ms), (claim.token, 1_007_000));
    assert!(scene.client::<u32>().get("key").expect("a look").is_none(), "another scope");
}

#[test]
fn a_copy_changes_one_call_only() {
    let scene = Scene::new();
    let client = scene.client::<u32>();
    let longer = client.clone().lease(Duration::from_nanos(90_000_000_001));
    let Ok(Begin::Fresh(claim)) = longer.begin("one") else { panic!("not fresh") };
    assert_eq!(claim.expires_at_ms, 1_090_001, "rounded up");
    let Ok(Begin::Fresh(claim)) = client.begin("two") else { panic!("not fresh") };
    assert_eq!(claim.expires_at_ms, 1_060_000, "the ledger's default");
}

#[test]
fn an_upsert_records_where_no_claim_is() {
    let scene = Scene::new();
    let client = scene.client::<u32>();
    let missing = client.complete("key", None, &1).expect("a call");
    assert!(matches!(missing, Complete::Lost(_)), "{missing:?}");
    let upsert = client.clone().upsert_on_missing(true).complete("key", None, &1);
    assert!(matches!(upsert, Ok(Complete::Recorded(_))), "{upsert:?}");
    assert!(matches!(client.begin("key"), Ok(Begin::Done(outcome)) if outcome.value == 1));
}

#[test]
fn a_fingerprint_is_kept() {
    let scene = Scene::new();
    let client = scene.client::<u32>().fingerprint(*b"request");
    assert!(matches!(client.begin("key"), Ok(Begin::Fresh(_))));
    let entry = client.get("key").expect("a look").expect("a record");
    assert_eq!(entry.fingerprint.as_deref(), Some(&b"request"[..]));
}
