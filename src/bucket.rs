//! The port to the host's key-value store: exactly the calls that the ledger makes.

use alloc::string::String;
use alloc::vec::Vec;

/// The store named `default`.
///
/// Reads are linearizable and a written value is never evicted: a store that may answer
/// old values, or forget, is not for a ledger. A counter is only ever incremented and
/// deleted, a value never incremented: hosts disagree about a counter's bytes.
///
/// After an error the call's effect may have happened, may happen later, or never.
pub trait Bucket {
    /// A key as it was when it was read, to be swapped if it is so still.
    type Cas;

    /// The value of `key`.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError>;
    /// Writes `key`, whatever it held.
    fn set(&self, key: &str, value: &[u8]) -> Result<(), StoreError>;
    /// Removes `key`; not an error where it is absent.
    fn delete(&self, key: &str) -> Result<(), StoreError>;
    /// Whether `key` holds a value.
    fn exists(&self, key: &str) -> Result<bool, StoreError>;
    /// Adds to the counter `key`, which begins at 0, and answers its new value.
    fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError>;
    /// Opens `key` for a swap. Not a read.
    fn cas(&self, key: &str) -> Result<Self::Cas, StoreError>;
    /// The value that a swap through `cas` would replace: the read of a compare-and-swap.
    fn current(&self, cas: &Self::Cas) -> Result<Option<Vec<u8>>, StoreError>;
    /// Writes if nobody wrote since `cas` was read.
    fn swap(&self, cas: Self::Cas, value: &[u8]) -> Result<(), SwapError<Self::Cas>>;
}

/// Why a store call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The host knows no store of that name.
    NoSuchStore,
    /// The host denies access to it.
    AccessDenied,
    /// Anything else, in the host's words.
    Other(String),
}

impl StoreError {
    /// The host's words, or ours for what the host has a name for.
    pub(crate) fn text(&self) -> &str {
        match self {
            StoreError::NoSuchStore => "no such store",
            StoreError::AccessDenied => "access denied",
            StoreError::Other(message) => message,
        }
    }
}

/// Why a swap did not answer success.
#[derive(Debug)]
pub enum SwapError<Cas> {
    /// Somebody wrote first; here is the key as it is now.
    Failed(Cas),
    /// It may or may not have written.
    Store(StoreError),
}
