//! `idempotency forget`.

use clap::Args;
use idempotency_ledger_host::{Forget, Ledger};
use serde_json::json;

use super::begin::inflight;
use crate::cli::{JsonArgs, KeyArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;

/// Remove one outcome or expired claim before its time, so that the work runs again.
///
/// Exit codes: 0 forgotten; 211 missing; 213 superseded, the key has another token by now;
/// 201 in flight, the claim lives.
#[derive(Args, Debug)]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    key: KeyArgs,

    /// The token that `get` showed, so that nothing newer is removed
    #[arg(long, value_name = "TOKEN")]
    token: u64,

    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

pub(crate) async fn forget(args: &ForgetArgs, ledger: &Ledger) -> Result<Answer, Failure> {
    Ok(match ledger.forget(&args.key.key, args.token, args.key.scope.as_deref()).await? {
        Forget::Forgotten => Answer::new(
            Exit::Success,
            json!({"answer": "forgotten"}),
            "forgotten: the next `begin` is fresh, the work will run again",
        ),
        Forget::Missing => Answer::new(
            Exit::Missing,
            json!({"answer": "missing"}),
            "missing: there was nothing to forget",
        ),
        Forget::Superseded => Answer::new(
            Exit::Superseded,
            json!({"answer": "superseded"}),
            "superseded: the key has another token by now\n  look again with `idempotency get`",
        ),
        Forget::Inflight(lease) => inflight(&lease),
    })
}
