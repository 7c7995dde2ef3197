//! `begin`, `complete`, `renew`, `release`, `get`, `forget`: answers and exit codes.

use std::io::Write;
use std::process::Stdio;

use crate::support::{Ledger, code, number, stderr, stdout};

fn begin(ledger: &Ledger, key: &str) -> String {
    let (json, code) = ledger.json(&["begin", "--key", key]);
    assert_eq!((&json["answer"], code), (&"fresh".into(), 0), "{json}");
    number(&json, "token").to_string()
}

#[test]
fn one_key_from_claim_to_replay() {
    let ledger = Ledger::new();
    let token = begin(&ledger, "k");
    let (json, code) = ledger.json(&["begin", "--key", "k"]);
    assert_eq!((&json["answer"], code), (&"inflight".into(), 201));
    assert!((1..=60_000).contains(&number(&json, "retry_after_ms")), "{json}");

    let (json, code) = ledger.json(&["renew", "--key", "k", "--token", &token, "--lease", "5m"]);
    assert_eq!((&json["answer"], code), (&"renewed".into(), 0));
    let (json, code) =
        ledger.json(&["complete", "--key", "k", "--token", &token, "--payload", "42"]);
    assert_eq!((&json["answer"], code), (&"recorded".into(), 0));
    assert_eq!(number(&json, "expires_at_ms") - number(&json, "completed_at_ms"), 86_400_000);

    let (json, code) = ledger.json(&["begin", "--key", "k"]);
    assert_eq!((&json["answer"], code), (&"done".into(), 210));
    assert_eq!((&json["payload"], &json["payload_text"]), (&"NDI=".into(), &"42".into()));
    for call in ["complete", "renew", "release"] {
        let (json, code) = ledger.json(&[call, "--key", "k", "--token", &token]);
        assert_eq!((&json["reason"], code), (&"already-done".into(), 214), "{call}");
    }
}

#[test]
fn every_lost_reason_has_its_code() {
    let ledger = Ledger::new();
    for call in ["complete", "renew", "release"] {
        let (json, code) = ledger.json(&[call, "--key", "absent", "--token", "7"]);
        assert_eq!((&json["reason"], code), (&"missing".into(), 211), "{call}");
    }
    begin(&ledger, "held");
    for call in ["complete", "renew", "release"] {
        let (json, code) = ledger.json(&[call, "--key", "held", "--token", "7"]);
        assert_eq!((&json["reason"], code), (&"superseded".into(), 213), "{call}");
    }
    let (json, _) = ledger.json(&["begin", "--key", "brief", "--lease", "1ms"]);
    let token = number(&json, "token").to_string();
    std::thread::sleep(std::time::Duration::from_millis(5));
    for call in ["complete", "renew", "release"] {
        let (json, code) = ledger.json(&[call, "--key", "brief", "--token", &token]);
        assert_eq!((&json["reason"], code), (&"expired".into(), 212), "{call}");
    }
}

#[test]
fn a_released_key_is_fresh_at_once_as_attempt_2() {
    let ledger = Ledger::new();
    let token = begin(&ledger, "k");
    assert_eq!(ledger.json(&["release", "--key", "k", "--token", &token]).1, 0);
    assert_eq!(ledger.json(&["get", "--key", "k"]).1, 211);
    let (json, code) = ledger.json(&["begin", "--key", "k"]);
    assert_eq!((number(&json, "attempt"), code), (2, 0));
}

#[test]
fn another_fingerprint_is_a_mismatch_before_and_after_complete() {
    let ledger = Ledger::new();
    let begin = |fingerprint| {
        let (json, code) = ledger.json(&["begin", "--key", "k", "--fingerprint", fingerprint]);
        (json["token"].to_string(), code)
    };
    let (token, code) = begin("body-1");
    assert_eq!(code, 0);
    assert_eq!(begin("body-2").1, 203);
    assert_eq!(ledger.json(&["complete", "--key", "k", "--token", &token]).1, 0);
    assert_eq!(begin("body-2").1, 203);
    assert_eq!(begin("body-1").1, 210);
    assert_eq!(ledger.json(&["get", "--key", "k"]).0["fingerprint_hex"], "626f64792d31");
}

#[test]
fn none_empty_zero_and_null_are_four_payloads() {
    let ledger = Ledger::new();
    let payloads: [(&str, &[&str], Option<&str>); 4] = [
        ("none", &[], None),
        ("empty", &["--payload", ""], Some("")),
        ("zero", &["--payload", "0"], Some("0")),
        ("null", &["--payload", "null"], Some("null")),
    ];
    for (key, arguments, expected) in payloads {
        let token = begin(&ledger, key);
        let call = [&["complete", "--key", key, "--token", &token], arguments].concat();
        assert_eq!(ledger.json(&call).1, 0);
        let (json, _) = ledger.json(&["get", "--key", key]);
        assert_eq!(json.get("payload_text").and_then(|text| text.as_str()), expected, "{json}");
        assert_eq!(json["payload"].is_null(), expected.is_none(), "{json}");
        let raw = ledger.call(&["get", "--key", key, "--payload"]);
        assert_eq!(code(&raw), if expected.is_some() { 0 } else { 211 });
        assert_eq!(stdout(&raw), expected.unwrap_or(""));
    }
}

#[test]
fn bytes_in_are_bytes_out() {
    let ledger = Ledger::new();
    let token = begin(&ledger, "k");
    let bytes: Vec<u8> = (0..=255).collect();
    let mut child = ledger
        .command(&["complete", "--key", "k", "--token", &token, "--payload-file", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(ledger.call(&["get", "--key", "k", "--payload"]).stdout, bytes);
    let (json, _) = ledger.json(&["get", "--key", "k"]);
    assert!(json["payload"].as_str().unwrap().starts_with("AAECAwQF"), "{json}");
    assert!(json.get("payload_text").is_none(), "{json}");
}

#[test]
fn forget_removes_what_get_showed_and_nothing_newer() {
    let ledger = Ledger::new();
    let token = begin(&ledger, "k");
    assert_eq!(ledger.json(&["forget", "--key", "k", "--token", &token]).1, 201);
    assert_eq!(ledger.json(&["complete", "--key", "k", "--token", &token]).1, 0);
    assert_eq!(ledger.json(&["forget", "--key", "k", "--token", "7"]).1, 213);
    assert_eq!(ledger.json(&["forget", "--key", "k", "--token", &token]).1, 0);
    assert_eq!(ledger.json(&["forget", "--key", "k", "--token", &token]).1, 211);
    begin(&ledger, "k");
}

#[test]
fn the_same_key_in_two_scopes_is_two_keys() {
    let ledger = Ledger::new();
    begin(&ledger, "k");
    assert_eq!(ledger.json(&["begin", "--key", "k", "--scope", "a"]).1, 0);
    assert_eq!(ledger.json(&["begin", "--key", "k", "--scope", "b"]).1, 0);
    assert_eq!(ledger.json(&["begin", "--key", "k", "--scope", "global"]).1, 201);
}

#[test]
fn people_are_told_in_words() {
    let ledger = Ledger::new();
    let fresh = ledger.call(&["begin", "--key", "k"]);
    assert!(stdout(&fresh).starts_with("fresh: the work is yours until 20"), "{fresh:?}");
    let inflight = ledger.call(&["begin", "--key", "k"]);
    assert!(stdout(&inflight).contains("retry after "), "{inflight:?}");
    let get = ledger.call(&["get", "--key", "k"]);
    assert!(stdout(&get).starts_with("inflight\n  token"), "{get:?}");
    let missing = ledger.call(&["get", "--key", "other", "--payload"]);
    assert_eq!((code(&missing), stderr(&missing).lines().count()), (211, 2), "{missing:?}");
}
