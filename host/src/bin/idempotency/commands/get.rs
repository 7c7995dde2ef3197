//! `idempotency get`.

use std::io::Write;

use clap::Args;
use idempotency_ledger_host::{Entry, EntryState, Ledger};
use serde_json::{Value, json};

use crate::cli::{JsonArgs, KeyArgs};
use crate::duration::moment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, add_payload, describe_payload, hex};

/// Look at a key without claiming it.
///
/// Exit codes: 0 found, in flight or done, perhaps expired; 211 missing: never claimed,
/// released, forgotten or purged; with --payload also: no payload.
#[derive(Args, Debug)]
pub(crate) struct GetArgs {
    #[command(flatten)]
    key: KeyArgs,

    /// Write the payload's bytes to standard output, and nothing else
    #[arg(long, conflicts_with = "json")]
    payload: bool,

    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

pub(crate) async fn get(args: &GetArgs, ledger: &Ledger) -> Result<Answer, Failure> {
    let entry = ledger.get(&args.key.key, args.key.scope.as_deref()).await?;
    if args.payload {
        return raw(entry);
    }
    Ok(match entry {
        Some(entry) => describe(&entry),
        None => Answer::new(
            Exit::Missing,
            json!({"answer": "missing"}),
            "missing: never claimed, released, forgotten or purged",
        ),
    })
}

fn raw(entry: Option<Entry>) -> Result<Answer, Failure> {
    let Some(Entry { state: EntryState::Done(Some(payload)), .. }) = entry else {
        return Err(Failure::new(
            Exit::Missing,
            "there is no payload",
            "`idempotency get` without --payload shows the key as it stands.",
        ));
    };
    let mut out = std::io::stdout().lock();
    // A reader that went away wants no more.
    let _ = out.write_all(&payload).and_then(|()| out.flush());
    Ok(Answer::new(Exit::Success, Value::Null, ""))
}

fn describe(entry: &Entry) -> Answer {
    let state = match entry.state {
        EntryState::Inflight => "inflight",
        EntryState::Done(_) => "done",
    };
    let fingerprint = entry.fingerprint.as_deref().map(hex);
    let mut json = json!({
        "answer": state,
        "expired": entry.expired,
        "token": entry.token,
        "attempt": entry.attempt,
        "claimed_at_ms": entry.claimed_at_ms,
        "completed_at_ms": entry.completed_at_ms,
        "expires_at_ms": entry.expires_at_ms,
        "fingerprint_hex": fingerprint,
    });
    let mut lines = vec![format!("{state}{}", if entry.expired { ", expired" } else { "" })];
    let mut line = |name: &str, value: String| lines.push(format!("  {name:<11}  {value}"));
    line("token", entry.token.to_string());
    line("attempt", entry.attempt.to_string());
    line("claimed", moment(entry.claimed_at_ms));
    if let Some(at_ms) = entry.completed_at_ms {
        line("completed", moment(at_ms));
    }
    line("expires", moment(entry.expires_at_ms));
    if let Some(fingerprint) = fingerprint {
        line("fingerprint", fingerprint);
    }
    if let EntryState::Done(payload) = &entry.state {
        line("payload", describe_payload(payload.as_deref()));
        if let Value::Object(object) = &mut json {
            add_payload(object, payload.as_deref());
        }
    }
    Answer::new(Exit::Success, json, lines.join("\n"))
}
