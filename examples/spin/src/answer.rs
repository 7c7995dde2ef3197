//! What the function answers: JSON, and the headers that a client of payments looks for.

use serde_json::{Value, json};
use spin_sdk::http::{HeaderMap, HeaderValue, StatusCode};

/// A whole response.
pub(crate) type Answer = (StatusCode, HeaderMap, String);

/// The answer, or one that ends the request earlier.
pub(crate) type Ended = Result<Answer, Answer>;

/// `value` as JSON.
pub(crate) fn json(status: StatusCode, value: &Value) -> Answer {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    (status, headers, value.to_string())
}

/// Why the request was not served, for people.
pub(crate) fn failure(status: StatusCode, why: impl ToString) -> Answer {
    json(status, &json!({ "error": why.to_string() }))
}

/// The same answer with a header.
pub(crate) fn with(
    mut answer: Answer,
    name: &'static str,
    value: impl Into<HeaderValue>,
) -> Answer {
    answer.1.insert(name, value.into());
    answer
}

/// The same answer, which asks for a retry: whole seconds, rounded up.
pub(crate) fn retry_after(answer: Answer, retry_after_ms: u64) -> Answer {
    with(answer, "retry-after", retry_after_ms.div_ceil(1_000))
}
