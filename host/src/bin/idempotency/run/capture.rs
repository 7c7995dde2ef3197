//! Passes a stream through as it comes, and keeps what can be recorded of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time::Instant;

use super::outcome::{LIMIT_BYTES, Stream};

const CHUNK_BYTES: usize = 64 * 1024;
/// How long a process that the command left behind may keep a stream open.
const LINGER: Duration = Duration::from_secs(5);
/// And how much is read for it after that: more than a pipe holds.
const LINGER_MAX_BYTES: usize = 1024 * 1024;

/// How far the command is.
#[derive(Clone, Copy)]
pub(crate) enum Phase {
    Running,
    Exited(Instant),
    /// Exited, and our own reader is not worth waiting for any more.
    Hurry(Instant),
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Closed,
    /// The command is over, another process holds the stream open.
    HeldOpen,
}

/// What one stream has carried so far. Holds no more than can be recorded.
#[derive(Clone, Default)]
pub(crate) struct Capture(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    size_bytes: u64,
}

impl Capture {
    fn add(&self, chunk: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.size_bytes = kept.size_bytes.saturating_add(chunk.len() as u64);
        if kept.size_bytes <= LIMIT_BYTES as u64 {
            kept.bytes.extend_from_slice(chunk);
        } else {
            kept.bytes = Vec::new();
        }
    }

    /// Everything, or how much it was.
    pub(crate) fn stream(&self) -> Stream {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.size_bytes == kept.bytes.len() as u64 {
            Stream::Whole(kept.bytes.clone())
        } else {
            Stream::Missing { size_bytes: kept.size_bytes }
        }
    }
}

/// Copies until `from` ends. A reader of ours that went away does not end the command: what
/// it writes is recorded all the same.
pub(crate) async fn tee(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    capture: Capture,
    mut phase: watch::Receiver<Phase>,
) -> End {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut wanted = true;
    let mut lingered_bytes = 0;
    loop {
        let count = tokio::select! {
            biased;
            read = from.read(&mut chunk) => read.unwrap_or(0),
            () = lingered(&mut phase) => return End::HeldOpen,
        };
        let bytes = chunk.get(..count).unwrap_or_default();
        if bytes.is_empty() {
            return End::Closed;
        }
        capture.add(bytes);
        if is_over(*phase.borrow()) {
            lingered_bytes += count;
            if lingered_bytes > LINGER_MAX_BYTES {
                return End::HeldOpen;
            }
        }
        wanted = wanted && pass_on(&mut to, bytes, &mut phase).await;
    }
}

/// Whether the reader took it and may want more.
async fn pass_on(
    to: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
    phase: &mut watch::Receiver<Phase>,
) -> bool {
    tokio::select! {
        biased;
        written = async { to.write_all(bytes).await?; to.flush().await } => written.is_ok(),
        _ = phase.wait_for(|phase| matches!(phase, Phase::Hurry(_))) => false,
    }
}

fn is_over(phase: Phase) -> bool {
    match phase {
        Phase::Running => false,
        Phase::Exited(at) | Phase::Hurry(at) => at.elapsed() >= LINGER,
    }
}

/// Ends when the command has been over for a while.
async fn lingered(phase: &mut watch::Receiver<Phase>) {
    let exited = match phase.wait_for(|phase| !matches!(phase, Phase::Running)).await {
        Ok(exited) => *exited,
        Err(_) => Phase::Exited(Instant::now()),
    };
    if let Phase::Exited(at) | Phase::Hurry(at) = exited {
        tokio::time::sleep_until(at + LINGER).await;
    }
}
