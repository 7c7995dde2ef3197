//! The threads that own the connections, and the queues before them.

use std::io;
use std::thread;

use crossbeam_channel::Receiver;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::read::Read;
use super::write::Write;
use super::{StoreError, batch};

/// Something to do with a connection.
pub(super) trait Call: Send + 'static {
    type Answer: Send + 'static;
}

/// A call and where its answer goes. If nobody waits any more before it starts, it is skipped.
#[derive(Debug)]
pub(super) struct Job<C: Call> {
    pub(super) call: C,
    pub(super) reply: oneshot::Sender<Result<C::Answer, StoreError>>,
}

impl<C: Call> Job<C> {
    pub(super) fn is_awaited(&self) -> bool {
        !self.reply.is_closed()
    }

    pub(super) fn answer(self, answer: Result<C::Answer, StoreError>) {
        // Whoever went away meanwhile needs none.
        let _ = self.reply.send(answer);
    }
}

/// Serve writes, those that wait together, until all senders are gone.
pub(super) fn start_writer(
    mut connection: Connection,
    jobs: Receiver<Job<Write>>,
) -> io::Result<()> {
    let serve = move || batch::serve(&mut connection, &jobs);
    thread::Builder::new().name("ledger-sqlite-write".to_owned()).spawn(serve).map(drop)
}

/// Serve reads, each by the first connection that is free, until all senders are gone.
pub(super) fn start_readers(
    connections: Vec<Connection>,
    jobs: &Receiver<Job<Read>>,
) -> io::Result<()> {
    for connection in connections {
        let jobs = jobs.clone();
        let serve = move || {
            for job in jobs {
                if job.is_awaited() {
                    let found = job.call.perform(&connection);
                    job.answer(found);
                }
            }
        };
        thread::Builder::new().name("ledger-sqlite-read".to_owned()).spawn(serve)?;
    }
    Ok(())
}
