//! Bad input: a typed error, before any store call.

use host_tests::Strategy;
use host_tests::targets::{Hosted, Native};
use host_tests::{Call, CallName, Target};
use serde_json::{Value, json};

fn refused() -> Vec<(Call, Value)> {
    let key = json!("invalid-key");
    let ttl = json!("invalid-ttl");
    let limit = json!("invalid-limit");
    let on = |name, text: &str| Call { token: Some(1), ..Call::on(name, text) };
    let names = [
        CallName::Begin,
        CallName::Complete,
        CallName::Renew,
        CallName::Release,
        CallName::Get,
        CallName::Forget,
    ];
    let mut rows = Vec::new();
    for name in names {
        for text in [String::new(), "k".repeat(1_025), "\u{1f600}".repeat(257)] {
            rows.push((on(name, &text), key.clone()));
        }
        for scope in [String::new(), "s".repeat(257)] {
            rows.push((Call { scope: Some(scope), ..on(name, "k") }, key.clone()));
        }
    }
    for fingerprint in [vec![], vec![0; 65]] {
        rows.push((
            Call { fingerprint: Some(fingerprint), ..on(CallName::Begin, "k") },
            key.clone(),
        ));
    }
    for lease_ms in [0, 2_592_000_001, u64::MAX] {
        rows.push((Call::begin("k", lease_ms), ttl.clone()));
        rows.push((Call::renew("k", 1, lease_ms), ttl.clone()));
    }
    for ttl_ms in [0, 315_360_000_001, u64::MAX] {
        rows.push((Call { ttl_ms: Some(ttl_ms), ..on(CallName::Complete, "k") }, ttl.clone()));
    }
    for upsert_on_missing in [false, true] {
        let payload = Some(vec![b'x'; 524_289]);
        let call = Call { payload, upsert_on_missing, ..on(CallName::Complete, "k") };
        rows.push((call, json!({ "payload-too-large": 524_288 })));
    }
    for number in [0, 10_001, u32::MAX] {
        rows.push((Call::purge(number), limit.clone()));
    }
    rows
}

async fn is_refused(target: &dyn Target) {
    for (call, error) in refused() {
        target.probe().start(None);
        let answer = target.call(&call).await;
        let shown: String = format!("{call:?}").chars().take(200).collect();
        assert_eq!(answer, json!({ "error": error }), "{shown}");
        assert_eq!(target.probe().calls(), 0, "store calls of {shown}");
    }
    assert_eq!(target.store_keys().await, [""; 0]);
}

#[tokio::test]
async fn by_the_native_core() {
    is_refused(&Native::new(Strategy::Cas)).await;
}

#[tokio::test]
async fn by_the_component() {
    is_refused(&Hosted::in_memory(Strategy::Cas).await).await;
}

/// Keys that are odd and yet fine; what they hold shows up in no key of the store.
#[tokio::test]
async fn odd_keys_are_fine_and_do_not_leak() {
    let target = Hosted::on_sqlite(Strategy::Cas).await;
    for key in ["\0", "\n", "\u{1f600}", "secret-key", "il.m", "../../x"] {
        let answer = target.call(&Call::begin(key, 60_000)).await;
        assert!(answer["fresh"].is_object(), "{key:?}: {answer}");
    }
    for store_key in target.store_keys().await {
        assert!(store_key.starts_with("il.") && store_key.is_ascii(), "{store_key:?}");
        assert!(!store_key.contains("secret"), "{store_key:?}");
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'.';
        assert!(store_key.bytes().all(plain), "{store_key:?}");
    }
}
