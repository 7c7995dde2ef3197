//! A store that is away when the outcome is to be recorded.

use std::time::Duration;

use crate::support::{Ledger, code, number, stderr, stdout, until};

const SCRIPT: &str = "touch started; until test -e go; do sleep 0.05; done; echo out";

/// Keeps every other process from writing, until it is dropped.
fn lock(ledger: &Ledger) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(ledger.path("ledger.db")).unwrap();
    connection.busy_timeout(Duration::from_secs(10)).unwrap();
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    connection
}

#[test]
fn recording_is_tried_again_while_the_lease_lives() {
    let ledger = Ledger::new();
    let child = ledger.start(&["--key", "k", "--lease", "40s", "--json", "log"], SCRIPT);
    until("the command runs", || ledger.path("started").exists());
    let lock = lock(&ledger);
    std::fs::write(ledger.path("go"), "").unwrap();
    std::thread::sleep(Duration::from_secs(8));
    drop(lock);
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stdout(&output).as_str()), (0, "out\n"), "{output:?}");
    assert_eq!(ledger.reports("log")[0]["status"], "ran");
    assert_eq!(stdout(&ledger.run(&["--key", "k"], "exit 1")), "out\n");
}

#[test]
fn what_could_not_be_recorded_is_said_and_the_key_heals() {
    let ledger = Ledger::new();
    let child = ledger.start(&["--key", "k", "--lease", "3s", "--json", "log"], SCRIPT);
    until("the command runs", || ledger.path("started").exists());
    let lock = lock(&ledger);
    std::fs::write(ledger.path("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    drop(lock);
    assert_eq!((code(&output), stdout(&output).as_str()), (206, "out\n"), "{output:?}");
    assert!(stderr(&output).contains("the command ended with 0, and it "), "{output:?}");
    assert_eq!(ledger.reports("log")[0]["status"], "outcome-unknown");
    // What was under way when the lock went may have landed; otherwise the key is free.
    let later = ledger.run(&["--key", "k", "--wait", "--json", "log"], "echo again");
    assert_eq!(code(&later), 0, "{later:?}");
    let report = &ledger.reports("log")[1];
    assert!(report["status"] == "replayed" || number(report, "attempt") == 2, "{report}");
}

#[test]
fn garbage_in_a_records_place_never_runs_the_command_and_harms_no_other_key() {
    let ledger = Ledger::new();
    assert_eq!(code(&ledger.run(&["--key", "k"], "echo out")), 0);
    let connection = rusqlite::Connection::open(ledger.path("ledger.db")).unwrap();
    let broken = "UPDATE entry SET value = x'67617262616765', version = version + 1000 \
                  WHERE key LIKE 'il.r.%'";
    assert_eq!(connection.execute(broken, []).unwrap(), 1);
    drop(connection);
    let run = ledger.run(&["--key", "k", "--wait"], "echo run >> runs");
    assert_eq!(code(&run), 207, "{run:?}");
    for call in [&["begin", "--key", "k"][..], &["get", "--key", "k"]] {
        assert_eq!(ledger.json(call).1, 207);
    }
    assert!(ledger.lines("runs").is_empty());
    assert_eq!(code(&ledger.run(&["--key", "other"], "echo out")), 0);
}
