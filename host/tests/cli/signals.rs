//! Signals are the command's business.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{Ledger, code, stdout};

fn send(child: &std::process::Child, signal: Signal) {
    kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
}

#[test]
fn signals_reach_the_command_once_each() {
    let ledger = Ledger::new();
    let script = "n=0; for s in INT TERM HUP QUIT USR1 USR2; do \
                  trap \"n=\\$((n+1)); echo $s\" $s; done; echo ready >> ready; \
                  until [ $n -ge 6 ]; do sleep 0.05; done; sleep 0.3; echo $n; exit 5";
    let child = ledger.start(&["--key", "k"], script);
    ledger.until_lines("ready", 1);
    let signals = [
        Signal::SIGINT,
        Signal::SIGTERM,
        Signal::SIGHUP,
        Signal::SIGQUIT,
        Signal::SIGUSR1,
        Signal::SIGUSR2,
    ];
    for signal in signals {
        send(&child, signal);
        std::thread::sleep(std::time::Duration::from_millis(150));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(stdout(&output), "INT\nTERM\nHUP\nQUIT\nUSR1\nUSR2\n6\n");
    assert_eq!(code(&output), 5);
}

#[test]
fn a_signal_that_ends_the_command_releases_the_key() {
    let ledger = Ledger::new();
    let child = ledger.start(&["--key", "k", "--json", "log"], "echo ready >> ready; sleep 60");
    ledger.until_lines("ready", 1);
    send(&child, Signal::SIGTERM);
    assert_eq!(code(&child.wait_with_output().unwrap()), 143);
    assert_eq!(ledger.reports("log")[0]["status"], "failed");
    assert_eq!(ledger.json(&["begin", "--key", "k"]).1, 0);
}

#[test]
fn a_signal_while_waiting_ends_the_wait_and_nothing_runs() {
    let ledger = Ledger::new();
    assert_eq!(ledger.json(&["begin", "--key", "k"]).1, 0);
    let child = ledger.start(&["--key", "k", "--wait", "--json", "log"], "echo run >> runs");
    std::thread::sleep(std::time::Duration::from_secs(2));
    send(&child, Signal::SIGINT);
    assert_eq!(code(&child.wait_with_output().unwrap()), 130);
    assert_eq!(ledger.reports("log")[0]["status"], "interrupted");
    assert!(ledger.lines("runs").is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn what_our_parent_had_ignored_stays_ignored() {
    let ledger = Ledger::new();
    let program = env!("CARGO_BIN_EXE_idempotency");
    let store = format!("sqlite:{}", ledger.path("ledger.db").display());
    let script = format!(
        "trap '' HUP; {program} --store {store} run --key k -- \
         sh -c 'kill -HUP $PPID; kill -HUP $$; sleep 0.2; echo alive'"
    );
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(stdout(&output), "alive\n", "{output:?}");
}
