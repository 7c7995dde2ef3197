//! The threads that own the connections, and the queues before them.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::StoreError;
use super::read::Read;
use super::write::Write;

/// Something to do with a connection.
pub(super) trait Call: Send + 'static {
    type Answer: Send + 'static;

    fn perform(&self, connection: &mut Connection) -> Result<Self::Answer, StoreError>;
}

/// A call and where its answer goes. If nobody waits any more before it starts, it is skipped.
#[derive(Debug)]
pub(super) struct Job<C: Call> {
    pub(super) call: C,
    pub(super) reply: oneshot::Sender<Result<C::Answer, StoreError>>,
}

impl<C: Call> Job<C> {
    fn perform(self, connection: &mut Connection) {
        if !self.reply.is_closed() {
            // Nobody waits for the answer if this fails.
            let _ = self.reply.send(self.call.perform(connection));
        }
    }
}

/// Serve writes one after the other until all senders are gone.
pub(super) fn start_writer(
    mut connection: Connection,
    jobs: mpsc::Receiver<Job<Write>>,
) -> io::Result<()> {
    let serve = move || {
        for job in jobs {
            job.perform(&mut connection);
        }
    };
    thread::Builder::new().name("ledger-sqlite-write".to_owned()).spawn(serve).map(drop)
}

/// Serve reads, each by the first connection that is free, until all senders are gone.
pub(super) fn start_readers(
    connections: Vec<Connection>,
    jobs: mpsc::Receiver<Job<Read>>,
) -> io::Result<()> {
    let jobs = Arc::new(Mutex::new(jobs));
    for mut connection in connections {
        let jobs = Arc::clone(&jobs);
        let next = move || jobs.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
        let serve = move || {
            while let Some(job) = next() {
                job.perform(&mut connection);
            }
        };
        thread::Builder::new().name("ledger-sqlite-read".to_owned()).spawn(serve)?;
    }
    Ok(())
}
