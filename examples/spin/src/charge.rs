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

use std::str::FromStr;
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use idempotency_ledger_client::{Claim, Error, Idempotency, Run};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use spin_sdk::http::{HeaderMap, HeaderValue, StatusCode};
use spin_sdk::variables;
use spin_sdk::wasip3::http_compat::IncomingRequestBody;

use crate::answer::{Answer, Ended, Failure, json};
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
    charges.run_async(key, work).await.map_err(refused).and_then(ended)
}

fn key(headers: &HeaderMap) -> Result<&str, Failure> {
    let key = headers.get("idempotency-key").and_then(|value| value.to_str().ok());
    let missing = "the header Idempotency-Key is missing";
    key.ok_or_else(|| Failure::new(StatusCode::BAD_REQUEST, missing))
}

/// The order, and what tells its request from others with the same key.
async fn read(body: IncomingRequestBody) -> Result<(Order, Vec<u8>), Failure> {
    let bad = |why: String| Failure::new(StatusCode::BAD_REQUEST, why);
    let body = Limited::new(body, MAX_BODY_BYTES).collect().await;
    let body = body.map_err(|why| bad(why.to_string()))?.to_bytes();
    let order = serde_json::from_slice(&body).map_err(|why| bad(why.to_string()))?;
    Ok((order, Sha256::digest(&body).to_vec()))
}

/// A variable of the component, as `spin.toml` sets it.
async fn variable<T: FromStr>(name: &'static str) -> Result<T, Failure> {
    let wrong = |why: String| {
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, format!("variable {name}: {why}"))
    };
    let value = variables::get(name).await.map_err(|error| wrong(error.to_string()))?;
    value.parse().map_err(|_| wrong(format!("`{value}` does not fit")))
}

fn ended(run: Run<String>) -> Ended {
    match run {
        Run::Ran(outcome) => Ok(charged(&outcome.value)),
        Run::Replayed(outcome) => {
            let mut answer = charged(&outcome.value);
            answer.1.insert("idempotent-replayed", HeaderValue::from_static("true"));
            Ok(answer)
        }
        Run::Lost { value, .. } | Run::NotRecorded { value, .. } => {
            let body = json!({ "receipt": value, "recorded": false });
            Ok(json(StatusCode::CREATED, &body))
        }
        Run::Inflight(lease) => {
            let busy = Failure::new(StatusCode::CONFLICT, "a request with this key is at work");
            Err(busy.retry_after(lease.retry_after_ms))
        }
        Run::Mismatch => {
            let why = "the key was used for another request";
            Err(Failure::new(StatusCode::UNPROCESSABLE_ENTITY, why))
        }
    }
}

fn charged(receipt: &str) -> Answer {
    json(StatusCode::CREATED, &json!({ "receipt": receipt }))
}

fn refused(error: Error<bank::Failure>) -> Failure {
    match error {
        Error::Work(bank::Failure::Refused(why)) => Failure::new(StatusCode::PAYMENT_REQUIRED, why),
        Error::Work(bank::Failure::Silent(why)) => Failure::new(StatusCode::BAD_GATEWAY, why),
        Error::InvalidKey(why) => Failure::new(StatusCode::BAD_REQUEST, why),
        Error::Contended { retry_after_ms } => {
            Failure::new(StatusCode::SERVICE_UNAVAILABLE, error).retry_after(retry_after_ms)
        }
        Error::Unavailable(_) | Error::OutcomeUnknown(_) | Error::DeadlineExceeded => {
            Failure::new(StatusCode::SERVICE_UNAVAILABLE, error).retry_after(RETRY_AFTER_MS)
        }
        // A wrong lease, no store, a record that nobody can read: the operator's to mend.
        other => Failure::new(StatusCode::INTERNAL_SERVER_ERROR, other),
    }
}
