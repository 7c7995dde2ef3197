//! `idempotency renew` and `idempotency release`: what a holder does besides completing.

use std::time::Duration;

use clap::Args;
use idempotency_ledger_host::{Ledger, Release, Renew, RenewOptions};
use serde_json::json;

use crate::cli::{JsonArgs, KeyArgs};
use crate::duration::{moment, parse};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;

/// Extend a live claim.
///
/// Exit codes: 0 renewed; 211 missing; 212 expired; 213 superseded; 214 an outcome is
/// recorded. Anything but 0 is for good: stop the work.
#[derive(Args, Debug)]
pub(crate) struct RenewArgs {
    #[command(flatten)]
    key: KeyArgs,

    /// Token of the claim
    #[arg(long, value_name = "TOKEN")]
    token: u64,

    /// The new lease from now on: 1ms to 30d. Never shortens the present one
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse)]
    lease: Duration,

    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

/// Give a live claim back without an outcome, so that a retry need not wait.
///
/// Exit codes: 0 released; 211 missing; 212 expired; 213 superseded; 214 an outcome is
/// recorded and stays.
#[derive(Args, Debug)]
pub(crate) struct ReleaseArgs {
    #[command(flatten)]
    key: KeyArgs,

    /// Token of the claim
    #[arg(long, value_name = "TOKEN")]
    token: u64,

    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

pub(crate) async fn renew(args: &RenewArgs, ledger: &Ledger) -> Result<Answer, Failure> {
    let options = RenewOptions { scope: args.key.scope.clone(), lease: Some(args.lease) };
    Ok(match ledger.renew(&args.key.key, args.token, &options).await? {
        Renew::Renewed(claim) => Answer::new(
            Exit::Success,
            json!({
                "answer": "renewed",
                "token": claim.token,
                "attempt": claim.attempt,
                "expires_at_ms": claim.expires_at_ms,
            }),
            format!("renewed: the work is yours until {}", moment(claim.expires_at_ms)),
        ),
        Renew::Lost(reason) => Answer::lost(reason, "stop the work: the claim is gone for good"),
    })
}

pub(crate) async fn release(args: &ReleaseArgs, ledger: &Ledger) -> Result<Answer, Failure> {
    Ok(match ledger.release(&args.key.key, args.token, args.key.scope.as_deref()).await? {
        Release::Released => Answer::new(
            Exit::Success,
            json!({"answer": "released"}),
            "released: the next `begin` is fresh",
        ),
        Release::Lost(reason) => Answer::lost(reason, "nothing was changed"),
    })
}
