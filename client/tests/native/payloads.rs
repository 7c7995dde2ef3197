//! What goes in comes out, to the byte.

use std::fmt::Debug;

use idempotency_ledger_client::{Begin, Complete, Error, Idempotency, State};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::scene::Scene;

/// The most that a payload may have, in bytes.
const LIMIT_BYTES: usize = 524_288;

/// Records the value, then reads it in each way.
fn keeps<T>(scene: &Scene, key: &str, value: &T, bytes: &str)
where
    T: Serialize + DeserializeOwned + Debug,
{
    let client = scene.client::<T>();
    let Ok(Begin::Fresh(claim)) = client.begin(key) else { panic!("{key}: not fresh") };
    let answer = client.complete(key, claim.token, value);
    assert!(matches!(answer, Ok(Complete::Recorded(_))), "{key}: {answer:?}");
    assert_eq!(scene.recorded(key).as_deref(), Some(bytes.as_bytes()), "{key}");
    let shown = format!("{value:?}");
    match client.begin(key) {
        Ok(Begin::Done(outcome)) => assert_eq!(format!("{:?}", outcome.value), shown),
        other => panic!("{key}: {other:?}"),
    }
    match client.get(key).expect(key).expect(key).state {
        State::Done(found) => assert_eq!(format!("{found:?}"), shown),
        State::Inflight => panic!("{key} is in flight"),
    }
}

#[test]
fn small_values_are_kept_exactly() {
    let scene = Scene::new();
    keeps(&scene, "zero", &0, "0");
    keeps(&scene, "false", &false, "false");
    keeps(&scene, "text", &String::new(), "\"\"");
    keeps(&scene, "list", &Vec::<u8>::new(), "[]");
    keeps(&scene, "map", &json!({}), "{}");
    keeps(&scene, "null", &Value::Null, "null");
    keeps(&scene, "nothing", &None::<u8>, "null");
    keeps(&scene, "unit", &(), "null");
    keeps(&scene, "odd", &9_007_199_254_740_993_u64, "9007199254740993");
    keeps(&scene, "odd value", &json!(9_007_199_254_740_993_u64), "9007199254740993");
    keeps(&scene, "least", &i64::MIN, "-9223372036854775808");
    keeps(&scene, "most", &u64::MAX, "18446744073709551615");
    keeps(&scene, "controls", &"\u{0}\u{7f}\u{2028}".to_owned(), "\"\\u0000\u{7f}\u{2028}\"");
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).expect("JSON")
}

#[test]
fn a_raw_value_is_kept_as_the_text_that_it_is() {
    let scene = Scene::new();
    for text in ["1e400", "1.10", "[ 1,  2 ]", "9007199254740993", "-0.0", "\"\\u0041\""] {
        keeps(&scene, text, &raw(text), text);
    }
    let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
    keeps(&scene, "deep", &raw(&deep), &deep);
}

fn nested(depth: usize) -> Value {
    (1..depth).fold(json!([]), |inner, _| json!([inner]))
}

#[test]
fn what_could_not_be_read_again_is_refused() {
    let scene = Scene::new();
    let bytes = format!("{}{}", "[".repeat(127), "]".repeat(127));
    keeps(&scene, "127 deep", &nested(127), &bytes);
    refuses(&scene.client(), "1 000 deep", &nested(1_000));
    refuses(&scene.client(), "NaN", &f64::NAN);
    refuses(&scene.client(), "infinite", &f64::INFINITY);
}

/// The claim stays as it was, and can still be completed.
fn refuses<T: Serialize + DeserializeOwned + Debug>(client: &Idempotency<T>, key: &str, value: &T) {
    let Ok(Begin::Fresh(claim)) = client.begin(key) else { panic!("{key}: not fresh") };
    let before = client.get(key).expect(key);
    let answer = client.complete(key, claim.token, value);
    assert!(matches!(answer, Err(Error::Refused(_))), "{key}: {answer:?}");
    let after = client.get(key).expect(key);
    assert_eq!(format!("{before:?}"), format!("{after:?}"), "{key}");
}

#[test]
fn half_a_mebibyte_is_kept_and_one_byte_more_is_not() {
    let scene = Scene::new();
    let text = "x".repeat(LIMIT_BYTES - 2);
    keeps(&scene, "largest", &text, &format!("\"{text}\""));
    let client = scene.client::<String>();
    let Ok(Begin::Fresh(claim)) = client.begin("larger") else { panic!("not fresh") };
    let answer = client.complete("larger", claim.token, &format!("{text}x"));
    let Err(Error::PayloadTooLarge { limit_bytes }) = answer else { panic!("{answer:?}") };
    assert_eq!(limit_bytes as usize, LIMIT_BYTES);
    assert!(client.complete("larger", claim.token, &text).is_ok(), "the claim stays");
}

/// None, empty bytes and `null` are three different outcomes.
#[test]
fn no_payload_is_not_null() {
    let scene = Scene::new();
    scene.record("none", None);
    scene.record("empty", Some(b""));
    scene.record("null", Some(b"null"));
    let client = scene.client::<Option<u8>>();
    for (key, payload) in [("none", None), ("empty", Some(vec![]))] {
        match client.begin(key) {
            Err(Error::Unfit { outcome, .. }) => assert_eq!(outcome.value, payload, "{key}"),
            other => panic!("{key}: {other:?}"),
        }
    }
    assert!(matches!(client.begin("null"), Ok(Begin::Done(outcome)) if outcome.value.is_none()));
}
