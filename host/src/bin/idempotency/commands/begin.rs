//! `idempotency begin`.

use std::time::Duration;

use clap::Args;
use idempotency_ledger_host::{Begin, BeginOptions, Claim, Lease, Ledger, Outcome};
use serde_json::{Value, json};

use crate::cli::{JsonArgs, KeyArgs};
use crate::duration::{human, moment, parse};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, add_payload, describe_payload};

/// Claim a key: do the work only if the exit code is 0.
///
/// Exit codes: 0 fresh, the work is yours; 201 in flight; 210 done before, do not do it again;
/// 203 mismatch.
#[derive(Args, Debug)]
pub(crate) struct BeginArgs {
    #[command(flatten)]
    key: KeyArgs,

    /// How long the claim lives unless renewed: 1ms to 30d
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse)]
    lease: Duration,

    /// What identifies the request, a hash of its body say: 1 to 64 bytes
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    fingerprint: Option<String>,

    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

pub(crate) async fn begin(args: &BeginArgs, ledger: &Ledger) -> Result<Answer, Failure> {
    let options = BeginOptions {
        scope: args.key.scope.clone(),
        lease: Some(args.lease),
        fingerprint: args.fingerprint.as_ref().map(|text| text.as_bytes().to_vec()),
    };
    Ok(match ledger.begin(&args.key.key, &options).await? {
        Begin::Fresh(claim) => fresh(&claim),
        Begin::Inflight(lease) => inflight(&lease),
        Begin::Done(outcome) => done(&outcome),
        Begin::Mismatch => mismatch(),
    })
}

fn fresh(claim: &Claim) -> Answer {
    let json = json!({
        "answer": "fresh",
        "token": claim.token,
        "attempt": claim.attempt,
        "expires_at_ms": claim.expires_at_ms,
    });
    let again = match claim.attempt {
        1 => "",
        _ => "\n  an earlier holder failed or vanished: its work may have happened",
    };
    let human = format!(
        "fresh: the work is yours until {}\n  token    {}\n  attempt  {}{again}",
        moment(claim.expires_at_ms),
        claim.token,
        claim.attempt,
    );
    Answer::new(Exit::Success, json, human)
}

/// Also what `forget` meets.
pub(super) fn inflight(lease: &Lease) -> Answer {
    let json = json!({
        "answer": "inflight",
        "expires_at_ms": lease.expires_at_ms,
        "retry_after_ms": lease.retry_after_ms,
    });
    let human = format!(
        "inflight: somebody holds the key until {}\n  retry after {} ms ({})",
        moment(lease.expires_at_ms),
        lease.retry_after_ms,
        human(lease.retry_after_ms),
    );
    Answer::new(Exit::Inflight, json, human)
}

fn done(outcome: &Outcome) -> Answer {
    let mut json = json!({
        "answer": "done",
        "token": outcome.token,
        "completed_at_ms": outcome.completed_at_ms,
        "expires_at_ms": outcome.expires_at_ms,
    });
    if let Value::Object(object) = &mut json {
        add_payload(object, outcome.payload.as_deref());
    }
    let human = format!(
        "done: recorded {}, kept until {}\n  token    {}\n  payload  {}",
        moment(outcome.completed_at_ms),
        moment(outcome.expires_at_ms),
        outcome.token,
        describe_payload(outcome.payload.as_deref()).replace("--payload", "`get --payload`"),
    );
    Answer::new(Exit::Done, json, human)
}

fn mismatch() -> Answer {
    let human = "mismatch: the key is in use with another fingerprint\n  \
                 take another key for another request";
    Answer::new(Exit::Mismatch, json!({"answer": "mismatch"}), human)
}
