//! Counters and histograms, by the facade `metrics`.

use std::time::Duration;

#[cfg(feature = "metrics")]
mod names {
    pub(super) const CALLS: &str = "idempotency_ledger_calls_total";
    pub(super) const CALL_SECONDS: &str = "idempotency_ledger_call_duration_seconds";
    pub(super) const STORE_CALL_SECONDS: &str = "idempotency_ledger_store_call_duration_seconds";
    pub(super) const REMOVED: &str = "idempotency_ledger_purge_removed_total";
    pub(super) const RECLAIMED: &str = "idempotency_ledger_purge_reclaimed_total";
}

/// Tell the recorder, if there is one by now, what the names mean.
#[cfg(feature = "metrics")]
pub(crate) fn describe() {
    use metrics::{Unit, describe_counter, describe_histogram};
    use names::*;
    describe_counter!(CALLS, "Calls of the ledger, by what they were answered.");
    describe_histogram!(CALL_SECONDS, Unit::Seconds, "How long calls of the ledger took.");
    describe_histogram!(STORE_CALL_SECONDS, Unit::Seconds, "How long calls of the store took.");
    describe_counter!(REMOVED, "Expired keys that purges removed.");
    describe_counter!(RECLAIMED, "Removed keys whose last traces purges deleted.");
}

#[cfg(feature = "metrics")]
pub(super) fn call(call: &'static str, answer: &'static str, took: Duration) {
    metrics::counter!(names::CALLS, "call" => call, "answer" => answer).increment(1);
    metrics::histogram!(names::CALL_SECONDS, "call" => call).record(took);
}

#[cfg(feature = "metrics")]
pub(super) fn store_call(method: &'static str, answer: &'static str, took: Duration) {
    metrics::histogram!(names::STORE_CALL_SECONDS, "method" => method, "answer" => answer)
        .record(took);
}

#[cfg(feature = "metrics")]
pub(super) fn purged(removed: u32, reclaimed: u32) {
    metrics::counter!(names::REMOVED).increment(removed.into());
    metrics::counter!(names::RECLAIMED).increment(reclaimed.into());
}

#[cfg(not(feature = "metrics"))]
pub(crate) fn describe() {}

#[cfg(not(feature = "metrics"))]
pub(super) fn call(_call: &'static str, _answer: &'static str, _took: Duration) {}

#[cfg(not(feature = "metrics"))]
pub(super) fn store_call(_method: &'static str, _answer: &'static str, _took: Duration) {}

#[cfg(not(feature = "metrics"))]
pub(super) fn purged(_removed: u32, _reclaimed: u32) {}
