//! Group commit: the writes that wait share one transaction, and so one flush to the disk.
//!
//! The file is locked first and the queue emptied then, so that whoever comes while another
//! process has the file joins in. Nobody waits for company: a lone write is committed at once.

use crossbeam_channel::Receiver;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::StoreError;
use super::threads::Job;
use super::write::{Write, Written, failed};

/// Most writes in one transaction, and the bytes of values after which it takes no more. They
/// bound how long other processes wait, and what shares the fate of a failing commit.
const MAX_WRITES: usize = 256;
const MAX_BYTES: usize = 1 << 20;

/// The transaction that the writes of a batch share.
struct Batch<'a> {
    transaction: Transaction<'a>,
    versions: Versions,
}

/// Gives the versions of one transaction. One row keeps the last, so they never recur, also
/// where keys are deleted.
pub(super) struct Versions {
    stored: i64,
    last: i64,
}

/// Why the writes of a batch have no answers of their own.
enum Failure {
    /// The transaction broke off on the way, so nothing has changed. One write may be to blame.
    BrokenOff(StoreError),
    /// It did not begin, or its commit failed and may have happened.
    Whole(StoreError),
}

/// Serve writes until all senders are gone and the queue is empty.
pub(super) fn serve(connection: &mut Connection, queue: &Receiver<Job<Write>>) {
    while let Ok(first) = queue.recv() {
        if !first.is_awaited() {
            continue;
        }
        let batch = Batch::begin(connection);
        let repeat = answer(batch, gather(first, queue));
        for job in repeat.into_iter().filter(Job::is_awaited) {
            answer(Batch::begin(connection), vec![job]);
        }
    }
}

/// What waits in the queue, as much as one transaction takes.
fn gather(first: Job<Write>, queue: &Receiver<Job<Write>>) -> Vec<Job<Write>> {
    let mut bytes = first.call.value_bytes();
    let mut jobs = vec![first];
    while jobs.len() < MAX_WRITES && bytes < MAX_BYTES {
        let Ok(job) = queue.try_recv() else { break };
        if job.is_awaited() {
            bytes += job.call.value_bytes();
            jobs.push(job);
        }
    }
    jobs
}

/// Perform and answer `jobs`. Hands back those that shall be repeated each alone, because only
/// the one that is to blame may fail.
fn answer(batch: Result<Batch<'_>, Failure>, jobs: Vec<Job<Write>>) -> Vec<Job<Write>> {
    match batch.and_then(|batch| batch.perform(&jobs)) {
        Ok(answers) => jobs.into_iter().zip(answers).for_each(|(job, answer)| job.answer(answer)),
        Err(Failure::BrokenOff(_)) if jobs.len() > 1 => return jobs,
        Err(Failure::BrokenOff(error) | Failure::Whole(error)) => {
            jobs.into_iter().for_each(|job| job.answer(Err(error.clone())));
        }
    }
    Vec::new()
}

impl<'a> Batch<'a> {
    /// Lock the file, waiting for other processes if need be.
    fn begin(connection: &'a mut Connection) -> Result<Self, Failure> {
        let begun = Transaction::new(connection, TransactionBehavior::Immediate);
        let begun = begun.and_then(|transaction| {
            let versions = Versions::read(&transaction)?;
            Ok(Self { transaction, versions })
        });
        begun.map_err(|error| Failure::Whole(failed(error)))
    }

    /// The answers of all, once they are on the disk. Dropped before, the transaction changes
    /// nothing.
    fn perform(mut self, jobs: &[Job<Write>]) -> Result<Vec<Result<Written, StoreError>>, Failure> {
        let mut answers = Vec::with_capacity(jobs.len());
        for job in jobs {
            answers.push(self.apply(&job.call).map_err(Failure::BrokenOff)?);
        }
        self.versions
            .store(&self.transaction)
            .map_err(|error| Failure::BrokenOff(failed(error)))?;
        self.transaction.commit().map_err(|error| {
            Failure::Whole(StoreError::Other(format!(
                "{}; the write may have happened",
                failed(error)
            )))
        })?;
        Ok(answers)
    }

    /// One write in a savepoint of its own, so that it fails alone. The outer error is that the
    /// transaction cannot go on: SQLite undoes it as a whole where the disk is full, say.
    fn apply(&mut self, write: &Write) -> Result<Result<Written, StoreError>, StoreError> {
        self.execute("SAVEPOINT write")?;
        let written = write.apply(&self.transaction, &mut self.versions);
        if let Err(error) = &written {
            if self.transaction.is_autocommit() {
                return Err(error.clone());
            }
            self.execute("ROLLBACK TO write")?;
        }
        self.execute("RELEASE write")?;
        Ok(written)
    }

    fn execute(&self, sql: &str) -> Result<(), StoreError> {
        let execute = || self.transaction.prepare_cached(sql)?.execute([]);
        execute().map(drop).map_err(failed)
    }
}

impl Versions {
    fn read(transaction: &Transaction<'_>) -> rusqlite::Result<Self> {
        let mut statement = transaction.prepare_cached("SELECT last_version FROM sequence")?;
        let last = statement.query_row([], |row| row.get(0))?;
        Ok(Self { stored: last, last })
    }

    /// A version that no key has had.
    pub(super) fn next(&mut self) -> i64 {
        self.last = self.last.saturating_add(1);
        self.last
    }

    /// Keep the last one, if there was any.
    fn store(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        if self.last != self.stored {
            let mut statement =
                transaction.prepare_cached("UPDATE sequence SET last_version = ?1")?;
            statement.execute([self.last])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
