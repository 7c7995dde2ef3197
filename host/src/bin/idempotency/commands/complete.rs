//! `idempotency complete`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use idempotency_ledger_host::{Complete, CompleteOptions};
use serde_json::json;

use crate::cli::{JsonArgs, KeyArgs, StoreArgs};
use crate::duration::{moment, parse};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;

/// One byte more than the ledger takes is enough to be refused by it.
const READ_MAX_BYTES: u64 = 524_288 + 1;

/// Record the outcome of a claim.
///
/// Without --payload and --payload-file the outcome has no payload, which is not the same as
/// an empty one. Exit codes: 0 recorded; 211 missing; 212 expired; 213 superseded; 214 an
/// outcome is recorded already; 206 not known, repeat the call.
#[derive(Args, Debug)]
pub(crate) struct CompleteArgs {
    #[command(flatten)]
    key: KeyArgs,

    /// Token of the claim. Without one a late worker can complete a successor's claim
    #[arg(long, value_name = "TOKEN")]
    token: Option<u64>,

    /// How long the outcome is kept: 1ms to 3650d
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = parse)]
    keep: Duration,

    /// The payload: at most 524288 bytes
    #[arg(long, value_name = "TEXT", conflicts_with = "payload_file", allow_hyphen_values = true)]
    payload: Option<String>,

    /// Read the payload from a file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    payload_file: Option<PathBuf>,

    /// Record also where the claim is missing or expired and nobody holds the key
    #[arg(long)]
    upsert_on_missing: bool,

    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

pub(crate) async fn complete(args: &CompleteArgs, store: &StoreArgs) -> Result<Answer, Failure> {
    let payload = match (&args.payload, &args.payload_file) {
        (Some(text), _) => Some(text.as_bytes().to_vec()),
        (None, Some(path)) => Some(read(path)?),
        (None, None) => None,
    };
    let ledger = store.ledger().await?;
    let options = CompleteOptions {
        scope: args.key.scope.clone(),
        token: args.token,
        ttl: Some(args.keep),
        upsert_on_missing: args.upsert_on_missing,
    };
    Ok(match ledger.complete(&args.key.key, payload, &options).await? {
        Complete::Recorded(recorded) => Answer::new(
            Exit::Success,
            json!({
                "answer": "recorded",
                "token": recorded.token,
                "completed_at_ms": recorded.completed_at_ms,
                "expires_at_ms": recorded.expires_at_ms,
            }),
            format!(
                "recorded: kept until {}\n  token  {}",
                moment(recorded.expires_at_ms),
                recorded.token
            ),
        ),
        Complete::Lost(reason) => Answer::lost(
            reason,
            "nothing was recorded: `idempotency get` shows the key as it stands",
        ),
    })
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(READ_MAX_BYTES).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(READ_MAX_BYTES).read_to_end(&mut bytes))
    };
    read.map(|_| bytes).map_err(|error| {
        Failure::usage(
            format!("the payload cannot be read from {}: {error}", path.display()),
            "Nothing was recorded; the claim is still yours.",
        )
    })
}
