//! Spans, by the facade `tracing`.

use std::time::Duration;

/// A span, or nothing without the feature.
#[cfg(feature = "tracing")]
pub(super) struct Span(tracing::Span);

#[cfg(not(feature = "tracing"))]
pub(super) struct Span;

/// How much of a slot's name stands in a span: enough to tell keys apart, and to find the
/// record in the store, where the whole name stands.
#[cfg(feature = "tracing")]
const SLOT_CHARACTERS: usize = 12;

#[cfg(feature = "tracing")]
impl Span {
    pub(super) fn of_call(call: &str, scope_and_key: Option<(Option<&str>, &str)>) -> Self {
        use tracing::field::Empty;
        let span = tracing::info_span!(
            target: "idempotency_ledger",
            "ledger_call",
            call,
            slot = Empty,
            answer = Empty,
            duration_us = Empty
        );
        if let Some((scope, key)) = scope_and_key.filter(|_| !span.is_disabled()) {
            span.record("slot", slot_prefix(scope, key));
        }
        Self(span)
    }

    pub(super) fn of_store_call(method: &str) -> Self {
        use tracing::field::Empty;
        Self(tracing::debug_span!(
            target: "idempotency_ledger",
            "store_call",
            method,
            answer = Empty,
            duration_us = Empty
        ))
    }

    pub(super) fn around<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        tracing::Instrument::instrument(work, self.0.clone())
    }

    pub(super) fn end(&self, answer: &str, took: Duration) {
        self.0.record("answer", answer);
        self.0.record("duration_us", u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }
}

#[cfg(not(feature = "tracing"))]
impl Span {
    pub(super) fn of_call(_call: &str, _scope_and_key: Option<(Option<&str>, &str)>) -> Self {
        Self
    }

    pub(super) fn of_store_call(_method: &str) -> Self {
        Self
    }

    pub(super) fn around<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        work
    }

    pub(super) fn end(&self, _answer: &str, _took: Duration) {}
}

/// The beginning of the name under which the ledger keeps this key. The component makes it the
/// same way: SHA-256 over scope and key, each with its length before it, in hex.
#[cfg(feature = "tracing")]
fn slot_prefix(scope: Option<&str>, key: &str) -> String {
    use sha2::{Digest, Sha256};
    let mut hash = Sha256::new();
    for part in [scope.unwrap_or("global"), key] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut hex: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    hex.truncate(SLOT_CHARACTERS);
    hex
}
