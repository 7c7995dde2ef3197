//! `kill -9` of the program, at any time.

use std::process::Child;
use std::time::Duration;

use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::support::{Ledger, code, is_full_size, number, until};

/// Alive and no zombie.
fn is_alive(pid: &str) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')),
        Err(_) if cfg!(target_os = "linux") => false,
        Err(_) => kill(Pid::from_raw(pid.parse().unwrap()), None).is_ok(),
    }
}

pub(crate) fn until_dead(pids: &[String]) {
    for pid in pids {
        until(&format!("process {pid} is dead"), || !is_alive(pid));
    }
}

fn kill_hard(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn its_command_and_the_whole_group_die_and_the_key_is_free_after_the_lease() {
    let ledger = Ledger::new();
    // A shell, its child, and a grandchild whose parent is gone.
    let script =
        "echo $$ >> pids; sleep 600 & echo $! >> pids; (sleep 600 & echo $! >> pids); wait";
    let child = ledger.start(&["--key", "k", "--lease", "4s"], script);
    let pids = ledger.until_lines("pids", 3);
    assert!(pids.iter().all(|pid| is_alive(pid)));
    kill_hard(child);
    until_dead(&pids);

    let (entry, _) = ledger.json(&["get", "--key", "k"]);
    let free_at_ms = number(&entry, "expires_at_ms");
    let mut refused = 0;
    until("the key is free again", || {
        let (json, code) = ledger.json(&["begin", "--key", "k", "--lease", "60s"]);
        if code == 201 {
            refused += 1;
            assert_eq!(number(&json, "expires_at_ms"), free_at_ms);
            return false;
        }
        assert_eq!((code, number(&json, "attempt")), (0, 2), "{json}");
        // Not before the lease was over.
        assert!(number(&json, "expires_at_ms") - 60_000 >= free_at_ms, "{json}");
        true
    });
    assert!(refused > 0);
}

/// The parent-death signal alone: the guard leads the group, so the group's number is its own.
#[cfg(target_os = "linux")]
#[test]
fn without_its_guard_the_command_dies_all_the_same() {
    let ledger = Ledger::new();
    let script = "echo $$ >> pids; cut -d ' ' -f 5 /proc/$$/stat >> pids; read forever < fifo";
    std::process::Command::new("mkfifo").arg(ledger.path("fifo")).status().unwrap();
    let child = ledger.start(&["--key", "k"], script);
    let pids = ledger.until_lines("pids", 2);
    let guard = Pid::from_raw(pids[1].parse().unwrap());
    kill(guard, nix::sys::signal::Signal::SIGKILL).unwrap();
    until_dead(&pids[1..]);
    assert!(is_alive(&pids[0]));
    kill_hard(child);
    until_dead(&pids[..1]);
}

/// Half of the kills come at a time spread over the whole call, the others the moment that
/// the outcome was answered as recorded.
#[test]
fn an_answered_outcome_survives_a_kill_at_any_time() {
    let ledger = Ledger::new();
    let kills = if is_full_size() { 50 } else { 15 };
    let mut answered = 0;
    for round in 0..kills {
        let key = format!("k{round}");
        let log = format!("log{round}");
        let script = format!("echo run >> runs{round}; echo {round}-$$; echo err-$$ >&2");
        let mut child = ledger.start(&["--key", &key, "--lease", "1s", "--json", &log], &script);
        if round % 2 == 0 {
            std::thread::sleep(Duration::from_millis(round * 700 / kills));
        } else {
            until("it is over or recorded", || {
                !ledger.lines(&log).is_empty() || child.try_wait().unwrap().is_some()
            });
        }
        // Read before the kill: what is answered after it counts less.
        let was_answered = ledger.lines(&log).iter().any(|line| line.contains("\"ran\""));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        if was_answered {
            answered += 1;
            let replay = ledger.run(&["--key", &key], "echo again");
            assert_eq!(
                (code(&replay), &replay.stdout, &replay.stderr),
                (0, &output.stdout, &output.stderr)
            );
            assert_eq!(ledger.lines(&format!("runs{round}")).len(), 1);
        } else {
            let later = ledger.run(&["--key", &key, "--wait", "--wait-timeout", "30s"], "exit 0");
            assert_eq!(code(&later), 0, "{later:?}");
        }
    }
    assert!(answered >= kills / 2 - 1, "{answered} of {kills} were answered");
    assert_eq!(ledger.json(&["doctor"]).1, 0);
}

#[test]
fn an_answered_complete_survives_with_its_bytes() {
    let ledger = Ledger::new();
    let rounds = if is_full_size() { 20 } else { 4 };
    for round in 0..rounds {
        let key = format!("k{round}");
        let complete = ["complete", "--key", &key, "--upsert-on-missing", "--payload", &key];
        let mut child =
            ledger.command(&complete).stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut first = [0; 1];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
        kill_hard(child);
        assert_eq!(ledger.call(&["get", "--key", &key, "--payload"]).stdout, key.as_bytes());
    }
}
