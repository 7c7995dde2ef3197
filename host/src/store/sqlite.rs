//! The store in an SQLite file, which several processes of one machine may share.

use std::path::Path;

use async_trait::async_trait;
use crossbeam_channel::{Sender, unbounded};
use tokio::sync::oneshot;

use super::{Page, Store, StoreError, Swap, Version, Versioned, check_key};

mod batch;
mod file;
mod read;
mod threads;
mod write;

use read::Read;
use threads::Job;
use write::{Write, Written};

/// A store in one SQLite file.
///
/// An answered write survives `kill -9` and the loss of power, as far as the disk keeps what
/// it acknowledges: write-ahead log, `synchronous = FULL`. Several processes of one machine may
/// use the file at once; a file on a network file system may not be shared. A write that waits
/// longer than about four seconds for another process fails and has changed nothing.
///
/// Writes that wait at the same time share a commit, up to 256 of them, and are answered after
/// it: many callers wait for the disk together. One that fails leaves the others as they are; a
/// commit that fails is an error of each, and may have happened. Reads never wait for writes.
///
/// One thread writes and two read, so the executor never waits for the disk. They finish what is
/// queued and awaited, end, and close the file soon after the store is dropped.
#[derive(Debug)]
pub struct SqliteStore {
    reads: Sender<Job<Read>>,
    writes: Sender<Job<Write>>,
}

impl SqliteStore {
    /// Open the file at `path`; it and the folders above it are made where missing.
    ///
    /// Errors say the path: a folder or file that cannot be made or read, a file that is no
    /// ledger's, or one that a newer version of this crate made.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref().to_owned();
        let opened = tokio::task::spawn_blocking(move || Self::open_blocking(&path)).await;
        opened.map_err(|error| StoreError::Other(format!("opening was cut short: {error}")))?
    }

    fn open_blocking(path: &Path) -> Result<Self, StoreError> {
        let named = |error: &dyn std::fmt::Display| {
            StoreError::Other(format!("{}: {error}", path.display()))
        };
        let writer = file::open_writer(path).map_err(|error| named(&error))?;
        let (writes, jobs) = unbounded();
        threads::start_writer(writer, jobs).map_err(|error| named(&error))?;
        let readers = file::open_readers(path).map_err(|error| named(&error))?;
        let (reads, jobs) = unbounded();
        threads::start_readers(readers, &jobs).map_err(|error| named(&error))?;
        Ok(Self { reads, writes })
    }

    async fn write(&self, write: Write) -> Result<Written, StoreError> {
        ask(&self.writes, write).await
    }
}

/// Hand `call` to the threads behind `jobs` and wait for its answer. Dropping the future
/// withdraws a call that no thread has started.
async fn ask<C: threads::Call>(jobs: &Sender<Job<C>>, call: C) -> Result<C::Answer, StoreError> {
    let gone = || StoreError::Other("the threads of the SQLite store are gone".to_owned());
    let (reply, answer) = oneshot::channel();
    jobs.send(Job { call, reply }).map_err(|_| gone())?;
    answer.await.map_err(|_| gone())?
}

/// A write was answered as another kind of write would be: cannot happen.
fn mixed_up() -> StoreError {
    StoreError::Other("the SQLite store mixed up its answers".to_owned())
}

#[async_trait]
impl Store for SqliteStore {
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let read = Read::Get { key: check_key(key)?.to_owned() };
        Ok(ask(&self.reads, read).await?.found)
    }

    async fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        let key = check_key(key)?.to_owned();
        self.write(Write::Set { key, value }).await.map(drop)
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        let key = check_key(key)?.to_owned();
        self.write(Write::Delete { key }).await.map(drop)
    }

    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        let key = check_key(key)?.to_owned();
        match self.write(Write::Increment { key, delta }).await? {
            Written::Sum(sum) => Ok(sum),
            _ => Err(mixed_up()),
        }
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError> {
        let key = check_key(key)?.to_owned();
        match self.write(Write::Swap { key, expected, value }).await? {
            Written::Swap(swap) => Ok(swap),
            _ => Err(mixed_up()),
        }
    }

    async fn list(&self, cursor: Option<String>) -> Result<Page, StoreError> {
        Ok(ask(&self.reads, Read::List { cursor }).await?.page)
    }
}
