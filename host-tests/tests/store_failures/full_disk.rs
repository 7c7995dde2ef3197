//! A disk that fills up under an SQLite file: what was recorded stays, and nothing more is.
//!
//! The process is given a limit of its files' sizes; a write beyond it fails as one on a full
//! disk does.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use host_tests::Strategy;
use host_tests::targets::Hosted;
use host_tests::{Call, Target};

/// The limit, in blocks of 512 bytes: 16 MiB.
const LIMIT_BLOCKS: u32 = 32_768;
/// Calls that fail in a row before the child takes the disk for full.
const FAILURES: u32 = 20;
const MAX_KEYS: u32 = 100_000;

#[tokio::test]
async fn sqlite_on_a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let recorded = recorded_until_full(&path);
    println!("SQLite, disk full: {} outcomes were recorded before", recorded.len());
    assert!(recorded.len() > 100, "{}", recorded.len());
    // The disk has room again.
    let target = Hosted::on_url(Strategy::Cas, &format!("sqlite:{}", path.display())).await;
    target.set_clock(1_000);
    for key in &recorded {
        let answer = target.call(&Call::begin(key, 60_000)).await;
        let payload = host_tests::to_hex(payload(key).as_bytes());
        assert_eq!(answer["done"]["payload"]["hex"], payload.as_str(), "{key}: {answer}");
    }
    let claim = target.call(&Call::begin("more", 60_000)).await;
    assert!(claim["fresh"].is_object(), "{claim}");
}

fn payload(key: &str) -> String {
    format!("{key} {}", "x".repeat(1_000))
}

/// The keys whose outcome a child was answered to be recorded.
fn recorded_until_full(path: &Path) -> Vec<String> {
    let limited = format!("trap '' XFSZ; ulimit -f {LIMIT_BLOCKS}; exec \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &limited, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["full_disk::child", "--exact", "--ignored", "--nocapture"])
        .env("CHILD_PATH", path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let recorded = lines.filter_map(|line| Some(line.split_once("recorded ")?.1.to_owned()));
    let recorded = recorded.collect();
    assert!(child.wait().unwrap().success());
    recorded
}

/// Not a test by itself: what the one above starts.
#[tokio::test]
#[ignore = "started by another test"]
async fn child() {
    let Ok(path) = std::env::var("CHILD_PATH") else { return };
    let target = Hosted::on_url(Strategy::Cas, &format!("sqlite:{path}")).await;
    target.set_clock(1_000);
    let mut failures = 0;
    for number in 0..MAX_KEYS {
        let key = format!("key {number}");
        let claim = target.call(&Call::begin(&key, 60_000)).await;
        let Some(token) = claim["fresh"]["token"].as_u64() else {
            assert!(claim["error"].is_object() || claim["error"].is_string(), "{claim}");
            failures += 1;
            if failures == FAILURES {
                return;
            }
            continue;
        };
        let recorded = target.call(&Call::complete(&key, token, &payload(&key))).await;
        if recorded["recorded"].is_object() {
            println!("recorded {key}");
        }
    }
    panic!("the disk is never full");
}
