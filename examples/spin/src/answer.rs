//! What the function answers: JSON, and the headers that a client of payments looks for.

use serde_json::{Value, json};
use spin_sdk::http::{HeaderMap, HeaderValue, StatusCode};

/// A whole response.
pub(crate) type Answer = (StatusCode, HeaderMap, String);

/// The answer, or why there is none.
pub(crate) type Ended = Result<Answer, Failure>;

/// Why a request was not served.
pub(crate) struct Failure {
    status: StatusCode,
    why: String,
    retry_after_ms: Option<u64>,
}

impl Failure {
    /// `why` is for people.
    pub(crate) fn new(status: StatusCode, why: impl ToString) -> Self {
        Self { status, why: why.to_string(), retry_after_ms: None }
    }

    /// It asks for a retry.
    pub(crate) fn retry_after(self, retry_after_ms: u64) -> Self {
        Self { retry_after_ms: Some(retry_after_ms), ..self }
    }

    /// As a response; `retry-after` is in whole seconds, rounded up.
    pub(crate) fn answer(self) -> Answer {
        let mut answer = json(self.status, &json!({ "error": self.why }));
        if let Some(retry_after_ms) = self.retry_after_ms {
            let seconds = HeaderValue::from(retry_after_ms.div_ceil(1_000));
            answer.1.insert("retry-after", seconds);
        }
        answer
    }
}

/// `value` as JSON.
pub(crate) fn json(status: StatusCode, value: &Value) -> Answer {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    (status, headers, value.to_string())
}
