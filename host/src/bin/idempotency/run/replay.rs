//! Says again what was recorded.

use idempotency_ledger_host::Outcome as Recorded;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::Ending;
use super::outcome::{Outcome, Stream};
use crate::failure::Failure;

/// Writes the recorded streams and answers the recorded exit code.
pub(super) async fn replay(recorded: &Recorded) -> Result<Ending, Failure> {
    let outcome = Outcome::decode(recorded.payload.as_deref())?;
    write(tokio::io::stdout(), outcome.stdout.bytes()).await;
    write(tokio::io::stderr(), outcome.stderr.bytes()).await;
    tell_missing("standard output", &outcome.stdout);
    tell_missing("standard error", &outcome.stderr);
    let mut ending = Ending::new("replayed", outcome.exit_code);
    super::work::describe(&mut ending, &outcome);
    ending.report.token = Some(recorded.token);
    ending.report.completed_at_ms = Some(recorded.completed_at_ms);
    ending.report.expires_at_ms = Some(recorded.expires_at_ms);
    let missing_bytes =
        outcome.stdout.missing_bytes().saturating_add(outcome.stderr.missing_bytes());
    ending.report.missing_bytes = Some(missing_bytes);
    Ok(ending)
}

/// A reader that went away does not change what the command's exit code was.
async fn write(mut to: impl AsyncWrite + Unpin, bytes: &[u8]) {
    if to.write_all(bytes).await.is_ok() {
        let _ = to.flush().await;
    }
}

fn tell_missing(name: &str, stream: &Stream) {
    if let Stream::Missing { size_bytes } = stream {
        eprintln!(
            "idempotency: replayed without its {name}: {size_bytes} bytes were too many to record"
        );
    }
}
