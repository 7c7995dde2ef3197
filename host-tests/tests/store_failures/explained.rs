//! Histories on real servers, for the oracle of the model.

use host_tests::CallName;
use host_tests::oracle::{self, Answer, Call, Operation, Token};
use idempotency_ledger::Error;
use idempotency_ledger::answer::{Begin, Claim, Complete, Lease, LostReason, Outcome, Recorded};
use idempotency_ledger::record::Strategy;
use serde_json::Value;
use tokio::time::Instant;

use crate::check::payload;
use crate::load::{Answered, NOW_MS};

/// Some order of the calls on one key, each within its own time, explains every answer.
pub(crate) fn explain<'a>(name: &str, history: impl Iterator<Item = &'a Answered>) {
    // Calls that say that they changed nothing need no explanation.
    let calls: Vec<&Answered> =
        history.filter(|one| one.answer["error"].is_null() || is_unknown(&one.answer)).collect();
    let mut times: Vec<Instant> = calls.iter().flat_map(|one| [one.started, one.ended]).collect();
    times.sort_unstable();
    let mut outcomes = Vec::new();
    let operations: Vec<Operation> =
        calls.iter().map(|one| operation(one, &times, &mut outcomes)).collect();
    let explained = oracle::explains(&operations, Strategy::Cas);
    assert!(explained, "no order explains the answers on {name}: {operations:#?}");
}

fn is_unknown(answer: &Value) -> bool {
    answer["error"] == "outcome-unknown"
}

fn operation(one: &Answered, times: &[Instant], outcomes: &mut Vec<Vec<u8>>) -> Operation {
    let at = |time: Instant| times.partition_point(|other| *other < time);
    let call = match one.call.name {
        CallName::Begin => Call::Begin { lease_ms: one.call.lease_ms.expect("a lease") },
        CallName::Complete => {
            let bytes = one.call.payload.clone().expect("a payload");
            let payload = number(bytes, outcomes);
            let token = Token::Is(one.call.token.expect("a token"));
            Call::Complete { token, ttl_ms: DAY_MS, upsert: false, payload }
        }
        other => unreachable!("the load makes no {other:?}"),
    };
    let answer = match one.call.name {
        _ if is_unknown(&one.answer) => Answer::Error(Error::OutcomeUnknown(String::new())),
        CallName::Begin => Answer::Begin(begin(&one.answer, outcomes)),
        _ => Answer::Complete(complete(&one.answer)),
    };
    // A call that ended when another began may have come before or after it.
    let (called, answered) = (2 * at(one.started), 2 * at(one.ended) + 1);
    let (worker, token) = (usize::try_from(one.worker).expect("few workers"), one.call.token);
    Operation {
        worker,
        call,
        token,
        called,
        answered: Some((answered, answer)),
        clock_ms: vec![NOW_MS],
    }
}

/// The ttl of a `complete` that names none.
const DAY_MS: u64 = 86_400_000;

fn begin(answer: &Value, outcomes: &mut Vec<Vec<u8>>) -> Begin {
    let (fresh, inflight, done) = (&answer["fresh"], &answer["inflight"], &answer["done"]);
    if fresh.is_object() {
        let attempt = u32::try_from(field(fresh, "attempt")).expect("few attempts");
        let (token, expires_at_ms) = (field(fresh, "token"), field(fresh, "expires-at-ms"));
        return Begin::Fresh(Claim { token, expires_at_ms, attempt });
    }
    if inflight.is_object() {
        let expires_at_ms = field(inflight, "expires-at-ms");
        return Begin::Inflight(Lease {
            expires_at_ms,
            retry_after_ms: field(inflight, "retry-after-ms"),
        });
    }
    let payload = payload(done).map(|bytes| vec![number(bytes, outcomes)]);
    Begin::Done(Outcome {
        payload,
        token: field(done, "token"),
        completed_at_ms: field(done, "completed-at-ms"),
        expires_at_ms: field(done, "expires-at-ms"),
    })
}

fn complete(answer: &Value) -> Complete {
    let recorded = &answer["recorded"];
    if recorded.is_object() {
        return Complete::Recorded(Recorded {
            token: field(recorded, "token"),
            completed_at_ms: field(recorded, "completed-at-ms"),
            expires_at_ms: field(recorded, "expires-at-ms"),
        });
    }
    Complete::Lost(match answer["lost"].as_str() {
        Some("already-done") => LostReason::AlreadyDone,
        Some("superseded") => LostReason::Superseded,
        Some("expired") => LostReason::Expired,
        Some("missing") => LostReason::Missing,
        other => unreachable!("what is {other:?}?"),
    })
}

fn field(answer: &Value, name: &str) -> u64 {
    answer[name].as_u64().unwrap_or_else(|| panic!("no {name} in {answer}"))
}

/// The oracle's outcomes are single bytes: which one of the key's.
fn number(bytes: Vec<u8>, outcomes: &mut Vec<Vec<u8>>) -> u8 {
    let at = outcomes.iter().position(|known| *known == bytes).unwrap_or_else(|| {
        outcomes.push(bytes);
        outcomes.len() - 1
    });
    u8::try_from(at).expect("few outcomes of one key")
}
