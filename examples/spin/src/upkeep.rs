//! For the operator: `POST /purge`, `GET /check-store`, each with the header
//! `authorization: Bearer TOKEN`, where TOKEN is the variable `operator_token`.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use spin_sdk::http::{HeaderMap, StatusCode};
use spin_sdk::variables;

use crate::answer::{Ended, Failure, json};
use bindings::idempotency::ledger::ledger::Error;
use bindings::idempotency::ledger::maintenance::{self, Finding, PurgeOptions, Strategy};

mod bindings {
    wit_bindgen::generate!({ path: "../../wit", world: "operator", generate_all });
}

/// Purges in one request; who has more to remove is told to call again.
const MAX_PURGES: usize = 10;

/// Removes keys that expired, and reclaims the space of those removed earlier.
pub(crate) async fn purge(headers: &HeaderMap) -> Ended {
    check_token(headers).await?;
    let (mut removed, mut reclaimed, mut more) = (0_u64, 0_u64, true);
    for _ in 0..MAX_PURGES {
        let options = PurgeOptions { before_ms: None, limit: None };
        let report = maintenance::purge(options).map_err(refused)?;
        removed += u64::from(report.removed);
        reclaimed += u64::from(report.reclaimed);
        more = report.more;
        if !more {
            break;
        }
    }
    let report = json!({ "removed": removed, "reclaimed": reclaimed, "more": more });
    Ok(json(StatusCode::OK, &report))
}

/// Tries what the ledger needs of the store.
pub(crate) async fn check_store(headers: &HeaderMap) -> Ended {
    check_token(headers).await?;
    let report = maintenance::check_store().map_err(refused)?;
    let strategy = match report.strategy {
        Strategy::Cas => "cas",
        Strategy::Ticket => "ticket",
    };
    let body = json!({
        "strategy": strategy,
        "sound": report.sound,
        "read-your-writes": finding(report.read_your_writes),
        "increment": finding(report.increment),
        "swap-absent": finding(report.swap_absent),
        "swap-present": finding(report.swap_present),
        "swap-answer": finding(report.swap_answer),
        "now-ms": report.now_ms,
    });
    Ok(json(StatusCode::OK, &body))
}

fn finding(finding: Finding) -> Value {
    match finding {
        Finding::Sound => json!("sound"),
        Finding::Untested => json!("untested"),
        Finding::Unsound(why) => json!({ "unsound": why }),
    }
}

/// Refuses whoever does not know the operator's token; everybody where none is set.
async fn check_token(headers: &HeaderMap) -> Result<(), Failure> {
    let denied = || Failure::new(StatusCode::FORBIDDEN, "this route is for the operator");
    let token = variables::get("operator_token").await.map_err(|_| denied())?;
    let given = headers.get("authorization").and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer ")).ok_or_else(denied)?;
    // Hashes are compared, so that the time it takes tells nothing of the token.
    let same = Sha256::digest(given) == Sha256::digest(&token);
    if token.is_empty() || !same { Err(denied()) } else { Ok(()) }
}

fn refused(error: Error) -> Failure {
    match error {
        Error::Contended(retry_after_ms) => {
            let busy = Failure::new(StatusCode::CONFLICT, "another purge is at work");
            busy.retry_after(retry_after_ms)
        }
        other => Failure::new(StatusCode::SERVICE_UNAVAILABLE, other),
    }
}
