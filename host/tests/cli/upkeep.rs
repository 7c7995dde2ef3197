//! `purge`, `sweep`, `doctor`, `demo`, `completions`, and where the ledger is kept.

use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{Ledger, code, number, stderr, stdout, until};

#[test]
fn purge_removes_what_expired_and_nothing_else() {
    let ledger = Ledger::new();
    for round in 0..5 {
        assert_eq!(ledger.json(&["begin", "--key", &format!("k{round}"), "--lease", "1ms"]).1, 0);
    }
    assert_eq!(ledger.json(&["begin", "--key", "live"]).1, 0);
    let (json, code) = ledger.json(&["purge", "--before", "2001-01-01T00:00:00Z"]);
    assert_eq!((number(&json, "removed"), code), (0, 0), "{json}");
    let (json, _) = ledger.json(&["purge", "--limit", "2"]);
    assert_eq!((number(&json, "removed"), &json["more"]), (2, &true.into()), "{json}");
    let (json, _) = ledger.json(&["purge", "--limit", "2", "--until-clean"]);
    assert_eq!((number(&json, "removed"), &json["more"]), (3, &false.into()), "{json}");
    assert_eq!(ledger.json(&["begin", "--key", "live"]).1, 201);
    let again = ledger.call(&["purge"]);
    assert!(stdout(&again).starts_with("purged: 0 expired keys removed"), "{again:?}");
}

#[test]
fn sweep_goes_on_until_it_is_told_to_stop() {
    let ledger = Ledger::new();
    assert_eq!(ledger.json(&["begin", "--key", "k", "--lease", "1ms"]).1, 0);
    let log = std::fs::File::create(ledger.path("log")).unwrap();
    let mut command = ledger.command(&["sweep", "--every", "200ms", "--json"]);
    let mut child = command.stdout(Stdio::from(log)).spawn().unwrap();
    until("two sweeps", || ledger.lines("log").len() >= 2);
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
    assert!(child.wait().unwrap().success());
    let reports = ledger.reports("log");
    assert_eq!((&reports[0]["answer"], number(&reports[0], "removed")), (&"swept".into(), 1));
    assert_eq!(number(&reports[1], "removed"), 0);
}

#[test]
fn doctor_says_where_the_store_is_and_that_it_is_sound() {
    let ledger = Ledger::new();
    let path = ledger.path("ledger.db").display().to_string();
    let (json, code) = ledger.json(&["doctor"]);
    assert_eq!((&json["answer"], code), (&"sound".into(), 0), "{json}");
    assert_eq!(json["store"], format!("sqlite:{path}"));
    assert_eq!(json["findings"]["swap_absent"]["finding"], "sound");
    let table = stdout(&ledger.call(&["doctor"]));
    assert!(table.contains(&path) && table.ends_with("sound: a ledger works here\n"), "{table}");
    let memory = ledger.call(&["--store", "memory:", "doctor"]);
    assert!(stdout(&memory).contains("gone when this process ends"), "{memory:?}");
}

#[test]
fn the_demo_shows_every_promise_and_checks_it() {
    let ledger = Ledger::new();
    let demo = ledger.call(&["demo"]);
    let text = stdout(&demo);
    assert_eq!(code(&demo), 0, "{text}{}", stderr(&demo));
    for answer in [
        "fresh: attempt 1",
        "inflight: retry in 59s",
        "recorded: for 1d",
        "done: charged 42 EUR",
        "fresh: attempt 2",
        "lost: superseded",
        "removed: 2",
        "none",
        "idempotency run --key nightly",
    ] {
        assert!(text.contains(answer), "{answer} is not in\n{text}");
    }
    assert!(!text.contains('\x1b') && !text.contains("expected:"), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    // It has a ledger of its own.
    assert!(!ledger.path("ledger.db").exists());
}

#[test]
fn completions_print_for_every_shell() {
    let ledger = Ledger::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = ledger.call(&["completions", shell]);
        assert_eq!(code(&script), 0);
        assert!(stdout(&script).contains("keep-failures"), "{shell}");
        assert!(!stdout(&script).contains("__guard"), "{shell}");
    }
}

#[test]
fn help_tells_the_exit_codes() {
    let ledger = Ledger::new();
    let help = stdout(&ledger.call(&["--help"]));
    for line in ["201  in flight", "204  run: the lease was lost", "IDEMPOTENCY_STORE"] {
        assert!(help.contains(line), "{line} is not in\n{help}");
    }
    assert!(stdout(&ledger.call(&["begin", "--help"])).contains("201 in flight"));
}

#[test]
fn the_default_store_is_in_the_users_state_folder() {
    let ledger = Ledger::new();
    let state = ledger.path("state");
    let begin = |variable: &str, value: &std::path::Path| {
        let mut command = ledger.command(&["begin", "--key", "k"]);
        command
            .env_remove("IDEMPOTENCY_STORE")
            .env_remove("XDG_STATE_HOME")
            .env("HOME", ledger.path("elsewhere"));
        code(&command.env(variable, value).output().unwrap())
    };
    assert_eq!(begin("XDG_STATE_HOME", &state), 0);
    assert!(state.join("idempotency/ledger.db").is_file());
    assert_eq!(begin("XDG_STATE_HOME", &state), 201);
    assert_eq!(begin("HOME", &ledger.path("home")), 0);
    assert!(ledger.path("home/.local/state/idempotency/ledger.db").is_file());
    // An empty variable is no variable.
    assert_eq!(begin("IDEMPOTENCY_STORE", std::path::Path::new("")), 0);
    assert!(ledger.path("elsewhere/.local/state/idempotency/ledger.db").is_file());
}

#[test]
fn a_memory_ledger_lives_as_long_as_its_process() {
    let ledger = Ledger::new();
    for _ in 0..2 {
        assert_eq!(code(&ledger.call(&["--store", "memory:", "begin", "--key", "k"])), 0);
    }
}
