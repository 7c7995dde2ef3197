//! What is refused, with what code, and that nothing is written then.

use crate::support::{Ledger, code, number, stderr};

#[test]
fn keys_outside_their_size_are_usage_errors() {
    let ledger = Ledger::new();
    let long = "k".repeat(1_025);
    for key in ["", long.as_str()] {
        let (json, code) = ledger.json(&["begin", "--key", key]);
        assert_eq!((&json["answer"], code), (&"error".into(), 200), "{json}");
        let run = ledger.run(&["--key", key], "echo ran >> runs");
        assert_eq!(self::code(&run), 200, "{run:?}");
    }
    assert!(ledger.lines("runs").is_empty());
    let most = "k".repeat(1_024);
    assert_eq!(ledger.json(&["begin", "--key", &most]).1, 0);
    // Bytes count, not characters.
    assert_eq!(ledger.json(&["begin", "--key", &"é".repeat(513)]).1, 200);
}

#[test]
fn newlines_emoji_and_hyphens_are_keys_like_any_other() {
    let ledger = Ledger::new();
    for key in ["a\nb", "🔑", "-x", "--key", " "] {
        assert_eq!(ledger.json(&["begin", "--key", key]).1, 0, "{key:?}");
        assert_eq!(ledger.json(&["begin", "--key", key]).1, 201, "{key:?}");
    }
}

#[test]
fn leases_outside_their_range_are_refused_and_nothing_is_written() {
    let ledger = Ledger::new();
    for lease in [
        "0",
        "60",
        "0s",
        "0ms",
        "-1s",
        "",
        "1.5s",
        "18446744073709551615ms",
        "18446744073709551616ms",
        "31d",
    ] {
        let begin = ledger.call(&["begin", "--key", "k", &format!("--lease={lease}")]);
        assert_eq!(code(&begin), 200, "{lease}: {begin:?}");
        let run = ledger.run(&["--key", "k", &format!("--lease={lease}")], "echo ran >> runs");
        assert_eq!(code(&run), 200, "{lease}: {run:?}");
    }
    assert!(ledger.lines("runs").is_empty());
    assert_eq!(ledger.json(&["get", "--key", "k"]).1, 211);
}

#[test]
fn a_bare_number_is_told_to_take_a_unit() {
    let ledger = Ledger::new();
    let refused = ledger.call(&["begin", "--key", "k", "--lease", "60"]);
    assert!(stderr(&refused).contains("60ms or 60s?"), "{refused:?}");
}

#[test]
fn sixty_seconds_are_60_000_milliseconds() {
    let ledger = Ledger::new();
    for (key, lease, expected_ms) in
        [("a", "60s", 60_000), ("b", "60000ms", 60_000), ("c", "1m", 60_000), ("d", "250ms", 250)]
    {
        assert_eq!(ledger.json(&["begin", "--key", key, "--lease", lease]).1, 0);
        let (json, _) = ledger.json(&["get", "--key", key]);
        assert_eq!(
            number(&json, "expires_at_ms") - number(&json, "claimed_at_ms"),
            expected_ms,
            "{lease}"
        );
    }
}

#[test]
fn an_outcome_that_could_not_be_kept_is_refused_before_the_command_runs() {
    let ledger = Ledger::new();
    for keep in ["0s", "3651d", "18446744073709551615ms", "24"] {
        let run = ledger.run(&["--key", "k", "--keep", keep], "echo ran >> runs");
        assert_eq!(code(&run), 200, "{keep}: {run:?}");
    }
    assert!(ledger.lines("runs").is_empty());
}

#[test]
fn a_payload_over_the_limit_is_refused_and_the_claim_stays() {
    let ledger = Ledger::new();
    let (json, _) = ledger.json(&["begin", "--key", "k"]);
    let token = number(&json, "token").to_string();
    let complete = |bytes: usize| {
        std::fs::write(ledger.path("payload"), vec![0; bytes]).unwrap();
        ledger.json(&["complete", "--key", "k", "--token", &token, "--payload-file", "payload"]).1
    };
    assert_eq!(complete(524_289), 200);
    assert_eq!(ledger.json(&["begin", "--key", "k"]).1, 201);
    assert_eq!(complete(524_288), 0);
    assert_eq!(ledger.call(&["get", "--key", "k", "--payload"]).stdout.len(), 524_288);
}

#[test]
fn wrong_usage_has_a_code_of_our_own() {
    let ledger = Ledger::new();
    let calls: [&[&str]; 9] = [
        &[],
        &["nonsense"],
        &["begin"],
        &["run", "--key", "k"],
        &["run", "--key", "k", "--wait-timeout", "1s", "--", "true"],
        &["run", "--key", "k", "--json", "fd:1", "--", "true"],
        &["run", "--key", "k", "--json", "fd:99", "--", "true"],
        &["purge", "--limit", "0"],
        &["--store", "mysql://x", "get", "--key", "k"],
    ];
    for call in calls {
        let output = ledger.call(call);
        assert_eq!(code(&output), 200, "{call:?}: {output:?}");
        assert!(stderr(&output).lines().count() >= 2, "{output:?}");
    }
    assert_eq!(code(&ledger.call(&["--help"])), 0);
}

#[test]
fn a_store_that_cannot_be_opened_never_runs_the_command() {
    let ledger = Ledger::new();
    std::fs::write(ledger.path("ledger.db"), "this is no database, whatever its name says")
        .unwrap();
    let run = ledger.run(&["--key", "k"], "echo ran >> runs");
    assert_eq!(code(&run), 205, "{run:?}");
    let nowhere = ledger.call(&[
        "--store",
        "sqlite:/dev/null/ledger.db",
        "run",
        "--key",
        "k",
        "--",
        "touch",
        "runs",
    ]);
    assert_eq!(code(&nowhere), 205, "{nowhere:?}");
    assert!(!ledger.path("runs").exists());
}
