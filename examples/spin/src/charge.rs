//! `POST /charge`: `{"order": "order-1", "cents": 1999}` under an `Idempotency-Key`.
//!
//! | status | meaning |
//! | --- | --- |
//! | 201 | charged, by this request or, with `idempotent-replayed: true`, by an earlier one |
//! | 201, `"recorded": false` | charged by this request, but that could not be recorded: keep the receipt, and do not try again |
//! | 400 | no key, or no such body |
//! | 402 | the bank refused; another try asks it again |
//! | 409 | another request with this key is at work: try again after `retry-after` |
//! | 422 | the key was used for another order or amount |
//! | 502 | the bank did not answer; it may have charged: try again with the same key |
//! | 503 | the store failed; the bank was not asked by this request: try again |

use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use idempotency_ledger_client::{Claim, Error, Idempotency, Run};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use spin_sdk::http::{HeaderMap, StatusCode};
use spin_sdk::variables;
use spin_sdk::wasip3::http_compat::IncomingRequestBody;

use crate::answer::{Answer, Ended, failure, json, retry_after, with};
use crate::bank;

/// An order is small.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// When to try again where the store failed.
const RETRY_AFTER_MS: u64 = 1_000;

/// What the request's body holds, and the bank is asked for.
#[derive(Deserialize, Serialize)]
pub(crate) struct Order {
    pub(crate) order: String,
    pub(crate) cents: u32,
}

/// Charges, or answers what was charged before.
pub(crate) async fn charge(headers: &HeaderMap, body: IncomingRequestBody) -> Ended {
    let key = key(headers)?;
    let (order, fingerprint) = read(body).await?;
    // Longer than the bank takes, as short as a crash may delay a retry.
    let lease_ms: u64 = variable("lease_ms").await?;
    let bank_url: String = variable("bank_url").await?;
    let charges = Idempotency::<String>::imported()
        .scope("charges")
        .lease(Duration::from_millis(lease_ms))
        .fingerprint(fingerprint);
    // The bank is told the token too: it can refuse a worker that comes late.
    let work = async |claim: &Claim| bank::charge(&bank_url, &order, claim.token).await;
    charges
        .run_async(key, work)
        .await
        .map_or_else(|error| Err(refused(error)), |run| Ok(ended(run)))
}

fn key(headers: &HeaderMap) -> Result<&str, Answer> {
    let key = headers.get("idempotency-key").and_then(|value| value.to_str().ok());
    key.ok_or_else(|| failure(StatusCode::BAD_REQUEST, "the header Idempotency-Key is missing"))
}

/// The order, and what tells its request from others with the same key.
async fn read(body: IncomingRequestBody) -> Result<(Order, Vec<u8>), Answer> {
    let bad = |why: &dyn ToString| failure(StatusCode::BAD_REQUEST, why.to_string());
    let body = Limited::new(body, MAX_BODY_BYTES).collect().await;
    let body = body.map_err(|why| bad(&why))?.to_bytes();
    let order = serde_json::from_slice(&body).map_err(|why| bad(&why))?;
    Ok((order, Sha256::digest(&body).to_vec()))
}

/// A variable of the component, as `spin.toml` sets it.
async fn variable<T: std::str::FromStr>(name: &'static str) -> Result<T, Answer> {
    let wrong = |why| failure(StatusCode::INTERNAL_SERVER_ERROR, format!("variable {name}: {why}"));
    let value = variables::get(name).await.map_err(|error| wrong(error.to_string()))?;
    value.parse().map_err(|_| wrong(format!("`{value}` does not fit")))
}

fn ended(run: Run<String>) -> Answer {
    let charged = |receipt: &str| json(StatusCode::CREATED, &json!({ "receipt": receipt }));
    match run {
        Run::Ran(outcome) => charged(&outcome.value),
        Run::Replayed(outcome) => with(
            charged(&outcome.value),
            "idempotent-replayed",
            spin_sdk::http::HeaderValue::from_static("true"),
        ),
        Run::Inflight(lease) => {
            let busy = failure(StatusCode::CONFLICT, "a request with this key is at work");
            retry_after(busy, lease.retry_after_ms)
        }
        Run::Mismatch => {
            failure(StatusCode::UNPROCESSABLE_ENTITY, "the key was used for another request")
        }
        Run::Lost { value, .. } | Run::NotRecorded { value, .. } => {
            let body: Value = json!({ "receipt": value, "recorded": false });
            json(StatusCode::CREATED, &body)
        }
    }
}

fn refused(error: Error<bank::Failure>) -> Answer {
    match error {
        Error::Work(bank::Failure::Refused(why)) => failure(StatusCode::PAYMENT_REQUIRED, why),
        Error::Work(bank::Failure::Silent(why)) => failure(StatusCode::BAD_GATEWAY, why),
        Error::InvalidKey(why) => failure(StatusCode::BAD_REQUEST, why),
        Error::Contended { retry_after_ms } => {
            let busy = failure(StatusCode::SERVICE_UNAVAILABLE, "others keep changing the key");
            retry_after(busy, retry_after_ms)
        }
        Error::Unavailable(_) | Error::OutcomeUnknown(_) | Error::DeadlineExceeded => {
            retry_after(failure(StatusCode::SERVICE_UNAVAILABLE, error), RETRY_AFTER_MS)
        }
        // A wrong lease, no store, a record that nobody can read: the operator's to mend.
        other => failure(StatusCode::INTERNAL_SERVER_ERROR, other),
    }
}
