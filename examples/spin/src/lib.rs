//! A Spin function that charges a card once per `Idempotency-Key`, however often it is asked to.
//!
//! | request | answer |
//! | --- | --- |
//! | `POST /charge` | see [`charge`] |
//! | `POST /purge` | removes what expired; for the operator |
//! | `GET /check-store` | whether the ledger can rely on this host's store; for the operator |
//!
//! Spin serves many requests in one instance, also at once: nothing here is kept in globals.

mod answer;
mod bank;
mod charge;
mod upkeep;

use answer::{Answer, Failure};
use spin_sdk::http::{Request, StatusCode};
use spin_sdk::http_service;

#[http_service]
async fn handle(request: Request) -> Answer {
    let (head, body) = request.into_parts();
    let answer = match (head.method.as_str(), head.uri.path()) {
        ("POST", "/charge") => charge::charge(&head.headers, body).await,
        ("POST", "/purge") => upkeep::purge(&head.headers).await,
        ("GET", "/check-store") => upkeep::check_store(&head.headers).await,
        _ => Err(Failure::new(StatusCode::NOT_FOUND, "there is no such route")),
    };
    answer.unwrap_or_else(Failure::answer)
}
