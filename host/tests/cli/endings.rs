//! The endings of `run` that are not the command's own, and what `--json` says of them.

use std::os::fd::AsFd;
use std::process::Stdio;

use crate::support::{Ledger, code, number, stderr, until};

#[test]
fn in_flight_says_how_long_to_back_off() {
    let ledger = Ledger::new();
    assert_eq!(code(&ledger.call(&["begin", "--key", "k", "--lease", "5m"])), 0);
    let run = ledger.run(&["--key", "k", "--json", "log"], "echo run >> runs");
    assert_eq!(code(&run), 201, "{run:?}");
    let report = &ledger.reports("log")[0];
    assert_eq!(report["status"], "inflight");
    let retry_after_ms = number(report, "retry_after_ms");
    assert!((200_000..=300_000).contains(&retry_after_ms), "{report}");
    assert!(stderr(&run).contains(&format!("retry after {retry_after_ms} ms")), "{run:?}");
    assert!(ledger.lines("runs").is_empty());
}

#[test]
fn a_wait_is_bounded() {
    let ledger = Ledger::new();
    assert_eq!(code(&ledger.call(&["begin", "--key", "k", "--lease", "5m"])), 0);
    let run = ledger.run(
        &["--key", "k", "--wait", "--wait-timeout", "300ms", "--json", "log"],
        "echo run >> runs",
    );
    assert_eq!(code(&run), 202, "{run:?}");
    assert_eq!(ledger.reports("log")[0]["status"], "wait-timeout");
    assert!(ledger.lines("runs").is_empty());
}

#[test]
fn who_waits_for_a_failure_runs_it_again() {
    let ledger = Ledger::new();
    let first = ledger.start(&["--key", "k"], "touch started; sleep 1; exit 5");
    until("the first runs", || ledger.path("started").exists());
    let second = ledger.run(&["--key", "k", "--wait", "--json", "log"], "echo second");
    assert_eq!(code(&first.wait_with_output().unwrap()), 5);
    assert_eq!(code(&second), 0);
    let report = &ledger.reports("log")[0];
    assert_eq!((&report["status"], number(report, "attempt")), (&"ran".into(), 2));
}

#[test]
fn another_fingerprint_is_a_mismatch() {
    let ledger = Ledger::new();
    let auto = ["--key", "k", "--fingerprint", "auto"];
    assert_eq!(code(&ledger.run(&auto, "echo a")), 0);
    assert_eq!(code(&ledger.run(&auto, "echo a")), 0);
    let other = ledger.run(&auto, "echo run >> runs");
    assert_eq!(code(&other), 203, "{other:?}");
    assert_eq!(code(&ledger.run(&["--key", "k", "--fingerprint", "text"], "echo a")), 203);
    assert!(ledger.lines("runs").is_empty());
}

#[test]
fn a_command_that_cannot_start_releases_its_claim() {
    let ledger = Ledger::new();
    std::fs::write(ledger.path("plain"), "no program").unwrap();
    for (program, expected) in
        [("no-such-command-anywhere", 127), ("./plain", 126), ("./missing/x", 127)]
    {
        let run =
            ledger.call(&["run", "--key", "k", "--keep-failures", "--json", "log", "--", program]);
        assert_eq!(code(&run), expected, "{run:?}");
        assert!(stderr(&run).contains(program), "{run:?}");
        assert_eq!(ledger.reports("log").pop().unwrap()["status"], "not-started");
        assert_eq!(ledger.json(&["get", "--key", "k"]).1, 211);
    }
    // The command's own 127 is the command's.
    assert_eq!(code(&ledger.run(&["--key", "k", "--keep-failures"], "exit 127")), 127);
    assert_eq!(code(&ledger.run(&["--key", "k", "--keep-failures"], "exit 0")), 127);
}

#[test]
fn an_argument_named_like_the_guard_is_just_an_argument() {
    let ledger = Ledger::new();
    let run = ledger.call(&["run", "--key", "k", "--", "echo", "__guard"]);
    assert_eq!((code(&run), run.stdout.as_slice()), (0, &b"__guard\n"[..]));
}

#[test]
fn json_goes_to_a_descriptor_and_the_command_does_not_get_it() {
    let ledger = Ledger::new();
    let program = env!("CARGO_BIN_EXE_idempotency");
    let store = format!("sqlite:{}", ledger.path("ledger.db").display());
    // A shell opens descriptor 3 for us.
    let script = format!(
        "{program} --store {store} run --key k --json fd:3 -- \
         sh -c 'echo out; (echo leak >&3) 2>/dev/null || echo closed' 3>>log"
    );
    let mut shell = std::process::Command::new("sh");
    let output = shell.args(["-c", &script]).current_dir(ledger.path(".")).output().unwrap();
    assert_eq!((code(&output), output.stdout.as_slice()), (0, &b"out\nclosed\n"[..]), "{output:?}");
    let reports = ledger.reports("log");
    assert_eq!((reports.len(), &reports[0]["status"]), (1, &"ran".into()));
}

#[test]
fn a_report_that_cannot_be_written_does_not_change_the_ending() {
    let ledger = Ledger::new();
    let run = ledger.run(&["--key", "k", "--json", "/dev/full"], "echo out");
    assert_eq!((code(&run), run.stdout.as_slice()), (0, &b"out\n"[..]));
    assert!(stderr(&run).contains("--json could not be written"), "{run:?}");
    let nowhere = ledger.run(&["--key", "j", "--json", "no/such/folder"], "echo run >> runs");
    assert_eq!(code(&nowhere), 200);
    assert!(ledger.lines("runs").is_empty());
}

#[test]
fn standard_output_and_error_may_be_one_file() {
    let ledger = Ledger::new();
    let file = std::fs::File::create(ledger.path("both")).unwrap();
    let copy = || Stdio::from(file.as_fd().try_clone_to_owned().unwrap());
    let status = ledger
        .run_command(&["--key", "k"], "echo a; sleep 0.2; echo b >&2")
        .stdout(copy())
        .stderr(copy())
        .status();
    assert!(status.unwrap().success());
    assert_eq!(ledger.lines("both"), ["a", "b"]);
}
