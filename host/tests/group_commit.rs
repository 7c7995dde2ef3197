//! The SQLite store with many callers at once: in one process, in several, and while another
//! program has the file.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use idempotency_ledger_host::store::{SqliteStore, Store};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Callers that each process has at once, and what each adds.
const CALLERS: usize = 16;
const ADDED: usize = 25;
const PROCESSES: usize = 4;

/// Keeps everybody else from writing, until it is dropped.
fn lock(path: &Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

/// Everyone adds to a counter that all share and to one of its own.
async fn add_together(store: Arc<SqliteStore>, name: &str) {
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let (store, own) = (Arc::clone(&store), format!("{name} {caller}"));
        callers.spawn(async move {
            let mut before = 0;
            for added in 1..=ADDED as i64 {
                let all = store.increment("all", 1).await.unwrap();
                assert!(all > before, "{all} was given twice");
                before = all;
                assert_eq!(store.increment(&own, 1).await, Ok(added));
            }
        });
    }
    callers.join_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_with_many_callers_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let children: Vec<Child> = (0..PROCESSES).map(|number| adding_child(&path, number)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let store = SqliteStore::open(&path).await.unwrap();
    let all = store.increment("all", 0).await.unwrap();
    assert_eq!(all, (PROCESSES * CALLERS * ADDED) as i64);
}

/// Not a test by itself: what the one above starts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by another test"]
async fn child() {
    let Ok(path) = std::env::var("CHILD_PATH") else { return };
    let store = SqliteStore::open(path).await.unwrap();
    add_together(Arc::new(store), &std::env::var("CHILD_NAME").unwrap()).await;
}

fn adding_child(path: &Path, number: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["child", "--exact", "--ignored"])
        .env("CHILD_PATH", path)
        .env("CHILD_NAME", number.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn a_read_does_not_wait_for_writers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = Arc::new(SqliteStore::open(&path).await.unwrap());
    store.set("v", b"old".to_vec()).await.unwrap();
    let lock = lock(&path);
    let writer = Arc::clone(&store);
    let write = tokio::spawn(async move { writer.set("v", b"new".to_vec()).await });
    let read = async { store.get("v").await.unwrap().unwrap().value };
    assert_eq!(timeout(Duration::from_secs(2), read).await.unwrap(), b"old");
    assert!(!write.is_finished());
    drop(lock);
    write.await.unwrap().unwrap();
    assert_eq!(store.get("v").await.unwrap().unwrap().value, b"new");
}

#[tokio::test]
async fn callers_that_go_away_hold_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = Arc::new(SqliteStore::open(&path).await.unwrap());
    let lock = lock(&path);
    let mut writes = Vec::new();
    for number in 0..20 {
        let store = Arc::clone(&store);
        writes.push(tokio::spawn(async move { store.increment(&format!("{number}"), 1).await }));
    }
    sleep(Duration::from_millis(100)).await;
    writes.iter().step_by(2).for_each(|write| write.abort());
    sleep(Duration::from_millis(100)).await;
    drop(lock);
    for (number, write) in writes.into_iter().enumerate() {
        match (number % 2, write.await) {
            (0, gone) => assert!(gone.unwrap_err().is_cancelled()),
            (_, sum) => assert_eq!(sum.unwrap(), Ok(1)),
        }
    }
    // The first may have been begun before its caller went.
    for number in (2..20).step_by(2) {
        assert_eq!(store.get(&number.to_string()).await, Ok(None), "{number} was withdrawn");
    }
}

/// It waits, tells all of them in time, and has changed nothing.
#[tokio::test]
async fn a_file_that_stays_locked_fails_for_everyone_before_a_ledger_gives_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = Arc::new(SqliteStore::open(&path).await.unwrap());
    let lock = lock(&path);
    let mut writes = JoinSet::new();
    for _ in 0..10 {
        let store = Arc::clone(&store);
        writes.spawn(async move { store.increment("c", 1).await });
    }
    let answers = timeout(Duration::from_secs(20), writes.join_all()).await.unwrap();
    for answer in answers {
        assert!(answer.unwrap_err().to_string().contains("locked"));
    }
    drop(lock);
    assert_eq!(store.increment("c", 1).await, Ok(1));
}
