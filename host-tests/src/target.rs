//! A ledger as the tests see it.

use async_trait::async_trait;
use serde_json::Value;

use crate::call::Call;
use crate::probe::Probe;

/// An implementation under test: a ledger, its store, its clock. Calls may come from many
/// tasks at once.
#[async_trait]
pub trait Target: Send + Sync + 'static {
    /// Makes one call and answers in the words of the WIT:
    ///
    /// - records are objects, with the WIT's names of fields; `option` is the value or null;
    /// - a case without a value is a string, one with a value an object of one field;
    /// - a fingerprint is a string of hex, a payload is `{"hex": "..."}` or null;
    /// - the error `e` is `{"error": e}`, without the strings that are for people; so is an
    ///   `unsound` finding.
    async fn call(&self, call: &Call) -> Value;

    /// Sets the ledger's clock, forward or back.
    fn set_clock(&self, now_ms: u64);

    /// What the ledger's clock reads.
    fn now_ms(&self) -> u64;

    /// Writes a key of the store past the ledger.
    async fn store_set(&self, key: &str, value: Vec<u8>);

    /// Reads a key of the store past the ledger.
    async fn store_get(&self, key: &str) -> Option<Vec<u8>>;

    /// Every key of the store, in order.
    async fn store_keys(&self) -> Vec<String>;

    /// Lets a swap that failed as [`Side::Late`](crate::Side::Late) have its effect now.
    async fn land(&self) {}

    /// Counts the ledger's store calls, and makes chosen ones fail. Those past the ledger
    /// are not counted.
    fn probe(&self) -> &Probe;
}
