//! A lease that is lost while the command runs.

use std::time::{Duration, Instant};

use crate::support::{Ledger, code, number, stderr, stdout};

/// Takes the claim away from a running command, by the token that it was told.
fn take_away(ledger: &Ledger) {
    let token = ledger.until_lines("token", 1).remove(0);
    assert_eq!(ledger.json(&["release", "--key", "k", "--token", &token]).1, 0);
}

#[test]
fn a_lost_lease_ends_the_command_by_term() {
    let ledger = Ledger::new();
    let script = "trap 'echo term; exit 0' TERM; echo $IDEMPOTENCY_TOKEN > token; \
                  while :; do sleep 0.05; done";
    let child = ledger.start(&["--key", "k", "--lease", "3s", "--json", "log"], script);
    take_away(&ledger);
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stdout(&output).as_str()), (204, "term\n"), "{output:?}");
    assert!(stderr(&output).contains("lease was lost (missing)"), "{output:?}");
    let report = &ledger.reports("log")[0];
    assert_eq!((&report["status"], &report["lost_reason"]), (&"lost".into(), &"missing".into()));
    assert_eq!(number(report, "command_exit_code"), 0);
    assert_eq!(ledger.json(&["get", "--key", "k"]).1, 211);
}

#[test]
fn a_command_and_its_children_that_ignore_term_are_killed_after_a_grace() {
    let ledger = Ledger::new();
    let script = "trap 'echo term' TERM; echo $IDEMPOTENCY_TOKEN > token; \
                  sh -c 'trap \"\" TERM; echo $$ > child; exec sleep 600' & \
                  while :; do sleep 0.05; done";
    let child = ledger.start(&["--key", "k", "--lease", "3s"], script);
    take_away(&ledger);
    let start = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stdout(&output).as_str()), (204, "term\n"), "{output:?}");
    assert!(start.elapsed() >= Duration::from_secs(5), "{:?}", start.elapsed());
    let left = ledger.until_lines("child", 1).remove(0);
    crate::crash::until_dead(&[left]);
}

#[test]
fn on_lost_continue_lets_it_finish_and_reports_the_loss() {
    let ledger = Ledger::new();
    let script =
        "echo $IDEMPOTENCY_TOKEN > token; until test -e go; do sleep 0.05; done; echo finished";
    let child = ledger
        .start(&["--key", "k", "--lease", "1500ms", "--on-lost=continue", "--json", "log"], script);
    take_away(&ledger);
    // A renewal finds out meanwhile.
    std::thread::sleep(Duration::from_secs(3));
    std::fs::write(ledger.path("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stdout(&output).as_str()), (204, "finished\n"), "{output:?}");
    assert_eq!(ledger.json(&["get", "--key", "k"]).1, 211);
}

#[test]
fn a_loss_that_shows_only_at_the_end_is_reported_too() {
    let ledger = Ledger::new();
    let script =
        "echo $IDEMPOTENCY_TOKEN > token; until test -e go; do sleep 0.05; done; echo finished";
    let child = ledger.start(&["--key", "k", "--lease", "10m", "--json", "log"], script);
    take_away(&ledger);
    assert_eq!(ledger.json(&["begin", "--key", "k"]).1, 0);
    std::fs::write(ledger.path("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stdout(&output).as_str()), (204, "finished\n"), "{output:?}");
    assert_eq!(ledger.reports("log")[0]["lost_reason"], "superseded");
    assert_eq!(ledger.json(&["get", "--key", "k"]).0["answer"], "inflight");
}

#[test]
fn a_lease_is_renewed_while_the_command_runs() {
    let ledger = Ledger::new();
    let child = ledger
        .start(&["--key", "k", "--lease", "1500ms"], "echo ready >> ready; sleep 4; echo done");
    ledger.until_lines("ready", 1);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(ledger.json(&["begin", "--key", "k"]).1, 201);
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stdout(&output).as_str()), (0, "done\n"), "{output:?}");
}
