//! What shares a commit, and whose failure is whose.

use std::path::{Path, PathBuf};

use crossbeam_channel::{Sender, unbounded};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::*;
use crate::store::sqlite::file;
use crate::store::{Swap, Version};

type Answer = Result<Written, StoreError>;

/// A new file, and the connection that writes to it.
struct Place {
    path: PathBuf,
    connection: Connection,
    _folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let connection = file::open_writer(&path).unwrap();
        Self { path, connection, _folder: folder }
    }

    /// Queue these writes, and serve until the queue is empty and closed.
    fn serve(&mut self, writes: Vec<Write>) -> Vec<Answer> {
        let (sender, queue) = unbounded();
        let answers: Vec<_> = writes.into_iter().map(|write| enqueue(&sender, write)).collect();
        drop(sender);
        serve(&mut self.connection, &queue);
        answers.into_iter().map(|mut answer| answer.try_recv().unwrap()).collect()
    }

    fn count(&self, key: &str) -> Option<i64> {
        let sql = "SELECT value FROM entry WHERE key = ?1";
        self.connection.query_row(sql, [key], |row| row.get(0)).ok()
    }
}

fn enqueue(
    queue: &Sender<Job<Write>>,
    call: Write,
) -> oneshot::Receiver<Result<Written, StoreError>> {
    let (reply, answer) = oneshot::channel();
    queue.send(Job { call, reply }).unwrap();
    answer
}

/// How many commits the write-ahead log holds: a frame that ends one says how large the file
/// is after it.
fn commits(path: &Path) -> usize {
    const HEADER_BYTES: usize = 32;
    const FRAME_BYTES: usize = 24 + 4096;
    let log = std::fs::read(path.with_extension("db-wal")).unwrap();
    let frames = log[HEADER_BYTES..].chunks_exact(FRAME_BYTES);
    frames.filter(|frame| frame[4..8] != [0; 4]).count()
}

fn add(key: &str) -> Write {
    Write::Increment { key: key.into(), delta: 1 }
}

fn set(key: &str, bytes: usize) -> Write {
    Write::Set { key: key.into(), value: vec![b'x'; bytes] }
}

fn sum(answer: &Answer) -> i64 {
    match answer {
        Ok(Written::Sum(sum)) => *sum,
        other => panic!("{other:?}"),
    }
}

fn error(answer: &Answer) -> String {
    answer.as_ref().unwrap_err().to_string()
}

#[test]
fn what_waits_shares_a_commit_up_to_a_bound() {
    let mut place = Place::new();
    let before = commits(&place.path);
    let answers = place.serve((0..2 * MAX_WRITES + 1).map(|_| add("c")).collect());
    let sums: Vec<i64> = answers.iter().map(sum).collect();
    assert!(sums.into_iter().eq(1..=513), "in their order, each on top of the one before");
    assert_eq!(commits(&place.path) - before, 3);
}

#[test]
fn large_values_end_a_batch() {
    let mut place = Place::new();
    let before = commits(&place.path);
    let answers = place.serve((0..4).map(|_| set("v", MAX_BYTES * 2 / 3)).collect());
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(commits(&place.path) - before, 2);
}

#[test]
fn a_write_that_is_refused_fails_alone() {
    let mut place = Place::new();
    let before = commits(&place.path);
    let swap = |expected| Write::Swap { key: "v".into(), expected, value: b"2".to_vec() };
    let answers = place.serve(vec![
        set("v", 1),
        add("v"),
        set("c", 1),
        Write::Delete { key: "c".into() },
        add("c"),
        Write::Increment { key: "c".into(), delta: i64::MAX },
        swap(None),
        swap(Some(Version(1))),
        swap(Some(Version(1))),
        add("c"),
    ]);
    assert!(error(&answers[1]).contains("holds a value"));
    assert!(error(&answers[5]).contains("overflow"));
    assert!(matches!(answers[6], Ok(Written::Swap(Swap::Conflict))));
    assert!(matches!(answers[7], Ok(Written::Swap(Swap::Swapped))));
    assert!(matches!(answers[8], Ok(Written::Swap(Swap::Conflict))), "its version is gone");
    assert_eq!((sum(&answers[4]), sum(&answers[9])), (1, 2));
    assert_eq!(commits(&place.path) - before, 1);
}

/// A full disk makes SQLite undo the transaction, and with it what others wrote before.
#[test]
fn a_write_that_breaks_the_transaction_off_fails_alone() {
    let mut place = Place::new();
    place.serve(vec![add("a"), add("b")]);
    let pages: i64 =
        place.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    place.connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
    let answers = place.serve(vec![add("a"), set("large", 100_000), add("b"), add("a")]);
    assert!(error(&answers[1]).contains("full"), "{answers:?}");
    assert_eq!([0, 2, 3].map(|number| sum(&answers[number])), [2, 2, 3]);
    assert_eq!((place.count("a"), place.count("b")), (Some(3), Some(2)));
}

/// Nobody is told that a write is done before its commit is.
#[test]
fn a_commit_that_fails_fails_for_all_and_blocks_nothing() {
    let mut place = Place::new();
    let unfulfilled = "
        PRAGMA foreign_keys = ON;
        CREATE TEMP TABLE parent (id INTEGER PRIMARY KEY);
        CREATE TEMP TABLE child (id REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
        CREATE TEMP TRIGGER wrong AFTER INSERT ON main.entry WHEN new.key = 'bad'
            BEGIN INSERT INTO child VALUES (1); END;
    ";
    place.connection.execute_batch(unfulfilled).unwrap();
    let answers = place.serve(vec![add("a"), add("bad"), add("a")]);
    for answer in &answers {
        assert!(error(answer).contains("may have happened"), "{answers:?}");
    }
    assert_eq!(place.count("a"), None);
    assert_eq!(sum(&place.serve(vec![add("a")])[0]), 1);
}

#[test]
fn a_locked_file_fails_for_all_that_wait_and_changes_nothing() {
    let mut place = Place::new();
    place.connection.busy_timeout(std::time::Duration::ZERO).unwrap();
    let other = Connection::open(&place.path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let answers = place.serve(vec![add("a"), add("a")]);
    assert!(answers.iter().all(|answer| error(answer).contains("locked")), "{answers:?}");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(sum(&place.serve(vec![add("a")])[0]), 1);
}

#[test]
fn a_write_that_nobody_awaits_any_more_is_not_begun() {
    let mut place = Place::new();
    let (sender, queue) = unbounded();
    let gone = enqueue(&sender, add("a"));
    let mut waiting = enqueue(&sender, add("a"));
    let gone_too = enqueue(&sender, add("a"));
    drop((gone, gone_too, sender));
    serve(&mut place.connection, &queue);
    assert_eq!(sum(&waiting.try_recv().unwrap()), 1);
    assert_eq!(place.count("a"), Some(1));
}
