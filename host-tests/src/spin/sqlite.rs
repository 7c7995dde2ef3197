//! Spin's store on SQLite: its default, `.spin/sqlite_key_value.db`.
//!
//! The table, one connection under a lock, blocking calls and the settings that SQLite comes with
//! are as in Spin's source: a rollback journal, and a flush per write. Two stores on one file lock
//! each other out as two processes do. A panic under the lock poisons it, and every later call
//! panics too, until Spin is started anew (measured on Spin 4.1).

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use tokio::task::block_in_place;

use super::engine::{Answer, Engine, Handle};

const READ: &str = "SELECT value FROM spin_key_value WHERE store = ?1 AND key = ?2";
const WRITE: &str = "INSERT INTO spin_key_value (store, key, value) VALUES (?1, ?2, ?3)
    ON CONFLICT (store, key) DO UPDATE SET value = excluded.value";
const REPLACE: &str =
    "UPDATE spin_key_value SET value = ?3 WHERE store = ?1 AND key = ?2 AND value = ?4";
const DELETE: &str = "DELETE FROM spin_key_value WHERE store = ?1 AND key = ?2";
const LIST: &str = "SELECT key FROM spin_key_value WHERE store = ?1";
const TABLE: &str = "CREATE TABLE IF NOT EXISTS spin_key_value (store TEXT NOT NULL,
    key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (store, key))";

/// A file, and the label under which an app knows it.
#[derive(Clone)]
pub struct SqliteEngine {
    connection: Arc<Mutex<Connection>>,
    label: String,
}

impl SqliteEngine {
    /// Opens the file, and makes it where it is missing.
    ///
    /// # Errors
    /// SQLite's, as text.
    pub fn open(path: &Path, label: &str) -> Answer<Self> {
        let connection = Connection::open(path).map_err(text)?;
        connection.execute(TABLE, []).map_err(text)?;
        Ok(Self { connection: Arc::new(Mutex::new(connection)), label: label.to_owned() })
    }

    /// One call, on the thread of the caller.
    fn run<R>(&self, call: impl FnOnce(&mut Connection) -> rusqlite::Result<R>) -> Answer<R> {
        block_in_place(|| call(&mut self.lock())).map_err(text)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().expect("a store whose lock is not poisoned")
    }

    fn read(&self, connection: &Connection, key: &str) -> rusqlite::Result<Option<Vec<u8>>> {
        let mut statement = connection.prepare_cached(READ)?;
        statement.query_row([&self.label, key], |row| row.get(0)).optional()
    }

    fn write(&self, connection: &Connection, key: &str, value: &[u8]) -> rusqlite::Result<()> {
        connection.prepare_cached(WRITE)?.execute(params![self.label, key, value]).map(drop)
    }
}

fn text(error: rusqlite::Error) -> String {
    error.to_string()
}

#[async_trait]
impl Engine for SqliteEngine {
    async fn get(&self, key: &str) -> Answer<Option<Vec<u8>>> {
        self.run(|connection| self.read(connection, key))
    }

    async fn set(&self, key: &str, value: Vec<u8>) -> Answer<()> {
        self.run(|connection| self.write(connection, key, &value))
    }

    async fn delete(&self, key: &str) -> Answer<()> {
        self.run(|connection| {
            connection.prepare_cached(DELETE)?.execute([&self.label, key]).map(drop)
        })
    }

    async fn exists(&self, key: &str) -> Answer<bool> {
        self.run(|connection| connection.prepare_cached(READ)?.exists([&self.label, key]))
    }

    async fn keys(&self) -> Answer<Vec<String>> {
        self.run(|connection| {
            let mut statement = connection.prepare_cached(LIST)?;
            let rows = statement.query_map([&self.label], |row| row.get(0))?;
            rows.collect()
        })
    }

    /// The transaction reads before it asks for the right to write: of two processes that do so
    /// at once SQLite tells one `database is locked`, without waiting. A value that is not 8
    /// bytes is a panic.
    async fn increment(&self, key: &str, delta: i64) -> Answer<i64> {
        self.run(|connection| {
            let transaction: Transaction<'_> = connection.transaction()?;
            let found = self.read(&transaction, key)?;
            let before = found.map_or(0, |value| {
                i64::from_le_bytes(value.try_into().expect("a counter of 8 bytes"))
            });
            let sum = before + delta;
            self.write(&transaction, key, &sum.to_le_bytes())?;
            transaction.commit()?;
            Ok(sum)
        })
    }

    async fn compare(&self, key: &str) -> Answer<Box<dyn Handle>> {
        Ok(Box::new(Compare { store: self.clone(), key: key.to_owned(), seen: None }))
    }
}

/// Compares values. Where none was seen, because the key was absent or nobody asked for the
/// current value, it writes over whatever stands there by now (measured on Spin 4.1: of 200
/// racing first swaps 85 to 190 succeeded).
struct Compare {
    store: SqliteEngine,
    key: String,
    seen: Option<Vec<u8>>,
}

#[async_trait]
impl Handle for Compare {
    async fn current(&mut self) -> Answer<Option<Vec<u8>>> {
        self.seen = self.store.run(|connection| self.store.read(connection, &self.key))?;
        Ok(self.seen.clone())
    }

    async fn swap(&mut self, value: Vec<u8>) -> Answer<bool> {
        let Self { store, key, seen } = &*self;
        store.run(|connection| match seen {
            None => store.write(connection, key, &value).map(|()| true),
            Some(seen) => {
                let mut statement = connection.prepare_cached(REPLACE)?;
                Ok(statement.execute(params![store.label, key, value, seen])? > 0)
            }
        })
    }
}
