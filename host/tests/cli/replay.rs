//! At most one run per key: what is recorded, and what a replay says.

use std::time::{Duration, Instant};

use crate::support::{Ledger, code, stderr, stdout};

const FAILING: &str = "echo run >> runs; date +%N; echo err >&2; exit 3";

#[test]
fn a_kept_failure_replays_to_the_nanosecond() {
    let ledger = Ledger::new();
    let first = ledger.run(&["--key", "nightly", "--keep-failures"], FAILING);
    let second = ledger.run(&["--key", "nightly", "--keep-failures"], FAILING);
    assert_eq!((code(&first), stderr(&first).as_str()), (3, "err\n"));
    assert_eq!(first, second);
    assert!(!first.stdout.is_empty());
    assert_eq!(ledger.lines("runs").len(), 1);
}

#[test]
fn eight_at_once_are_one_run_and_eight_equal_outputs() {
    let ledger = Ledger::new();
    let script = format!("sleep 0.5; {FAILING}");
    let children: Vec<_> = (0..8)
        .map(|_| {
            ledger.start(
                &["--key", "k", "--keep-failures", "--wait", "--wait-timeout", "1m"],
                &script,
            )
        })
        .collect();
    let outputs: Vec<_> =
        children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    for output in &outputs {
        assert_eq!(output, &outputs[0]);
    }
    assert_eq!((code(&outputs[0]), stderr(&outputs[0]).as_str()), (3, "err\n"));
    assert_eq!(ledger.lines("runs").len(), 1);
}

#[test]
fn eight_at_once_without_wait_are_one_run() {
    let ledger = Ledger::new();
    let children: Vec<_> =
        (0..8).map(|_| ledger.start(&["--key", "k"], "echo run >> runs; sleep 2")).collect();
    let mut codes: Vec<_> =
        children.into_iter().map(|child| code(&child.wait_with_output().unwrap())).collect();
    codes.sort_unstable();
    // On a slow machine some come when it is done and replay it.
    assert!(codes.iter().all(|code| [0, 201].contains(code)) && codes[0] == 0, "{codes:?}");
    assert_eq!(ledger.lines("runs").len(), 1);
}

#[test]
fn a_success_replays_and_its_command_does_not_run_again() {
    let ledger = Ledger::new();
    let first = ledger.run(&["--key", "k", "--json", "log"], r"printf '\000\377\n'; echo note >&2");
    let second = ledger.run(&["--key", "k", "--json", "log"], "echo run >> runs");
    assert_eq!(first, second);
    assert_eq!((first.stdout.as_slice(), code(&first)), (&b"\0\xff\n"[..], 0));
    assert!(ledger.lines("runs").is_empty());
    let reports = ledger.reports("log");
    assert_eq!((&reports[0]["status"], &reports[1]["status"]), (&"ran".into(), &"replayed".into()));
    assert_eq!(reports[0]["token"], reports[1]["token"]);
    assert_eq!(reports[0]["expires_at_ms"], reports[1]["expires_at_ms"]);
}

#[test]
fn a_failing_command_is_released_for_a_retry() {
    let ledger = Ledger::new();
    for attempt in 1..=3 {
        let run = ledger.run(&["--key", "k", "--json", "log"], "echo run >> runs; exit 7");
        assert_eq!(code(&run), 7);
        let report = ledger.reports("log").pop().unwrap();
        assert_eq!((&report["status"], &report["attempt"]), (&"failed".into(), &attempt.into()));
    }
    assert_eq!(ledger.lines("runs").len(), 3);
    assert_eq!(code(&ledger.run(&["--key", "k"], "exit 0")), 0);
    assert_eq!(code(&ledger.run(&["--key", "k"], "exit 9")), 0);
}

#[test]
fn a_command_that_a_signal_ends_fails_like_in_a_shell() {
    let ledger = Ledger::new();
    assert_eq!(code(&ledger.run(&["--key", "k"], "kill -9 $$")), 137);
    let kept = ["--key", "k", "--keep-failures", "--json", "log"];
    assert_eq!(code(&ledger.run(&kept, "kill -TERM $$")), 143);
    assert_eq!(code(&ledger.run(&kept, "exit 0")), 143);
    assert_eq!(ledger.reports("log")[1]["command_signal"], 15);
}

#[test]
fn output_streams_through_as_it_comes() {
    use std::io::Read;
    let ledger = Ledger::new();
    let mut child = ledger
        .start(&["--key", "k"], "echo first; until test -e go; do sleep 0.05; done; echo second");
    let mut first = [0; 6];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"first\n");
    std::fs::write(ledger.path("go"), "").unwrap();
    assert_eq!(stdout(&child.wait_with_output().unwrap()), "second\n");
}

#[test]
fn too_much_output_replays_with_a_marker_and_does_not_run_again() {
    let ledger = Ledger::new();
    let script = "echo run >> runs; head -c 600000 /dev/zero; echo small >&2; exit 4";
    let options = ["--key", "k", "--keep-failures", "--json", "log"];
    let first = ledger.run(&options, script);
    assert_eq!((first.stdout.len(), code(&first)), (600_000, 4));
    let second = ledger.run(&options, script);
    assert_eq!((second.stdout.len(), code(&second)), (0, 4));
    assert!(stderr(&second).starts_with("small\n"), "{second:?}");
    assert!(stderr(&second).contains("600000 bytes"), "{second:?}");
    assert_eq!(ledger.lines("runs").len(), 1);
    let missing: Vec<_> =
        ledger.reports("log").iter().map(|report| report["missing_bytes"].clone()).collect();
    assert_eq!(missing, [600_000, 600_000]);
}

#[test]
fn an_outcome_of_another_program_is_an_error_and_never_a_run() {
    let ledger = Ledger::new();
    for (key, payload) in [("a", Some("7")), ("b", Some("")), ("c", None)] {
        let mut call = vec!["complete", "--key", key, "--upsert-on-missing"];
        call.extend(payload.map(|_| "--payload").into_iter().chain(payload));
        assert_eq!(code(&ledger.call(&call)), 0);
        let run = ledger.run(&["--key", key, "--wait"], "echo run >> runs");
        assert_eq!(code(&run), 207, "{run:?}");
    }
    assert!(ledger.lines("runs").is_empty());
}

#[test]
fn a_reader_that_goes_away_ends_neither_the_command_nor_its_record() {
    let ledger = Ledger::new();
    let mut child = ledger.start(&["--key", "k"], "yes | head -c 300000; echo end >&2");
    drop(child.stdout.take());
    assert_eq!(code(&child.wait_with_output().unwrap()), 0);
    assert_eq!(ledger.run(&["--key", "k"], "exit 1").stdout.len(), 300_000);
}

#[test]
fn a_process_left_behind_does_not_hold_the_call_for_ever() {
    let ledger = Ledger::new();
    let start = Instant::now();
    let run = ledger.run(&["--key", "k"], "sleep 60 & echo $! > pid; echo hi");
    assert!(start.elapsed() < Duration::from_secs(45), "{:?}", start.elapsed());
    assert_eq!((code(&run), stdout(&run).as_str()), (0, "hi\n"));
    assert!(stderr(&run).contains("left processes behind"), "{run:?}");
    let again = ledger.run(&["--key", "k"], "exit 1");
    assert_eq!((code(&again), stdout(&again).as_str()), (0, "hi\n"));
    // Left behind on purpose, so it lives on.
    let pid = ledger.lines("pid").remove(0);
    assert!(std::process::Command::new("kill").arg(pid).status().unwrap().success());
}

#[test]
fn the_command_learns_its_key_and_token() {
    let ledger = Ledger::new();
    let script = "echo $IDEMPOTENCY_KEY $IDEMPOTENCY_SCOPE $IDEMPOTENCY_TOKEN $IDEMPOTENCY_ATTEMPT";
    let run = ledger.run(&["--key", "k", "--scope", "s", "--json", "log"], script);
    let token = ledger.reports("log")[0]["token"].to_string();
    assert_eq!(stdout(&run), format!("k s {token} 1\n"));
}

#[test]
fn standard_input_is_the_commands() {
    let ledger = Ledger::new();
    std::fs::write(ledger.path("input"), "from outside\n").unwrap();
    let input = std::fs::File::open(ledger.path("input")).unwrap();
    let run = ledger.run_command(&["--key", "k"], "cat").stdin(input).output().unwrap();
    assert_eq!(stdout(&run), "from outside\n");
}
