//! The bank, which must not be asked twice.

use http_body_util::{BodyExt, Limited};
use serde::Deserialize;
use serde_json::json;
use spin_sdk::http::{StatusCode, post};

use crate::charge::Order;

/// A receipt is small.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// Why there is no receipt.
pub(crate) enum Failure {
    /// The bank says that it did not charge.
    Refused(String),
    /// It did not answer as it should: it may have charged.
    Silent(String),
}

#[derive(Deserialize)]
struct Receipt {
    receipt: String,
}

/// Asks the bank at `url` to charge, under the claim's token: a bank that remembers the greatest
/// token of an order refuses those who come late. Answers the receipt.
pub(crate) async fn charge(url: &str, order: &Order, token: u64) -> Result<String, Failure> {
    let asked = json!({ "order": order.order, "cents": order.cents, "token": token });
    let answer = post(url, asked.to_string()).await.map_err(silent)?;
    let status = answer.status();
    let body = Limited::new(answer.into_body(), MAX_BODY_BYTES).collect().await.map_err(silent)?;
    match status {
        StatusCode::OK => {
            let Receipt { receipt } = serde_json::from_slice(&body.to_bytes()).map_err(silent)?;
            Ok(receipt)
        }
        StatusCode::PAYMENT_REQUIRED => {
            Err(Failure::Refused(String::from_utf8_lossy(&body.to_bytes()).into_owned()))
        }
        other => Err(silent(format!("the bank answered {other}"))),
    }
}

fn silent(why: impl ToString) -> Failure {
    Failure::Silent(why.to_string())
}
