//! Opening the file: folders, settings, and the schema with its version.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

/// Connections that read.
const READERS: usize = 2;

/// How often a statement that waits for another process looks again, and the pause between two
/// looks: about four seconds in all. Below the 5 s that a ledger waits for a store call by
/// default, so that the caller learns that nothing was changed. Short pauses, because a process
/// that commits one batch after the other leaves the file alone for a moment only.
const BUSY_LOOKS: i32 = 3_600;
const BUSY_PAUSE: Duration = Duration::from_millis(1);

/// Attempts at what SQLite does not wait for by itself, and the pause between two.
const OPEN_ATTEMPTS: u32 = 100;
const OPEN_PAUSE: Duration = Duration::from_millis(50);

/// Marks the file as a ledger's: "iled" in ASCII.
const APPLICATION_ID: i64 = 0x696c_6564;

/// The version of [`SCHEMA`].
const SCHEMA_VERSION: i64 = 1;

/// A value is a BLOB, a counter an INTEGER.
const SCHEMA: &str = "
    CREATE TABLE entry (
        key TEXT NOT NULL PRIMARY KEY,
        value ANY NOT NULL,
        version INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE sequence (
        id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
        last_version INTEGER NOT NULL
    ) STRICT;
    INSERT INTO sequence (id, last_version) VALUES (1, 0);
";

/// Why a file could not be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("cannot make the folder {}: {error}", folder.display())]
    Folder { folder: PathBuf, error: io::Error },
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("the file is another program's")]
    Foreign,
    #[error("the file was made by a newer version (schema {0}, this one knows {SCHEMA_VERSION})")]
    Newer(i64),
    #[error("SQLite keeps the journal mode {0}, the ledger needs WAL")]
    NoWal(String),
}

/// What a file turned out to be.
#[derive(PartialEq, Eq)]
enum Schema {
    Empty,
    Present,
}

/// Make what is missing and answer the connection that writes.
pub(super) fn open_writer(path: &Path) -> Result<Connection, Fault> {
    make_folder(path)?;
    let mut connection = connect(path)?;
    // Look before anything is changed: the file may be another program's.
    patiently(|| schema(&connection))?;
    patiently(|| use_wal(&connection))?;
    patiently(|| make_schema(&mut connection))?;
    Ok(connection)
}

/// The connections that read; the writer has made the file.
pub(super) fn open_readers(path: &Path) -> Result<Vec<Connection>, Fault> {
    let reader = |_| {
        let connection = connect(path)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    };
    (0..READERS).map(reader).collect()
}

/// Make the folder of `path`, and see to it that the new folders outlast a loss of power.
fn make_folder(path: &Path) -> Result<(), Fault> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    let make = || {
        let missing: Vec<&Path> =
            folder.ancestors().take_while(|folder| !folder.exists()).collect();
        fs::create_dir_all(folder)?;
        for parent in missing.iter().filter_map(|folder| folder.parent()) {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            if cfg!(unix) {
                File::open(parent)?.sync_all()?;
            }
        }
        Ok(())
    };
    make().map_err(|error| Fault::Folder { folder: folder.to_owned(), error })
}

fn connect(path: &Path) -> Result<Connection, Fault> {
    let mut connection = Connection::open(path)?;
    connection.busy_handler(Some(wait_for_others))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Only macOS knows a difference between flushing to the disk and flushing the disk.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    Ok(connection)
}

/// What SQLite asks when it finds the file locked for the `looks`-th time: whether to look again.
fn wait_for_others(looks: i32) -> bool {
    thread::sleep(BUSY_PAUSE);
    looks < BUSY_LOOKS
}

fn schema(connection: &Connection) -> Result<Schema, Fault> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    match (pragma("application_id")?, pragma("user_version")?) {
        (APPLICATION_ID, SCHEMA_VERSION) => Ok(Schema::Present),
        (APPLICATION_ID, version) if version > SCHEMA_VERSION => Err(Fault::Newer(version)),
        (0, 0) => {
            let tables: i64 =
                connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
            if tables == 0 { Ok(Schema::Empty) } else { Err(Fault::Foreign) }
        }
        _ => Err(Fault::Foreign),
    }
}

fn use_wal(connection: &Connection) -> Result<(), Fault> {
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode.eq_ignore_ascii_case("wal") { Ok(()) } else { Err(Fault::NoWal(mode)) }
}

/// Make the tables unless another process was first.
fn make_schema(connection: &mut Connection) -> Result<(), Fault> {
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    if schema(&transaction)? == Schema::Empty {
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    }
    transaction.commit()?;
    Ok(())
}

/// Repeat what fails because another process is opening the file too: while the journal mode
/// changes, SQLite reports that at once instead of waiting.
fn patiently<R>(mut attempt: impl FnMut() -> Result<R, Fault>) -> Result<R, Fault> {
    for _ in 1..OPEN_ATTEMPTS {
        match attempt() {
            Err(Fault::Sqlite(error)) if is_busy(&error) => thread::sleep(OPEN_PAUSE),
            done => return done,
        }
    }
    attempt()
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
