//! What a call answers where none of its ordinary answers fits.

use alloc::string::String;

use crate::bucket::StoreError;

/// One kind per action that a caller would take; the strings are for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Key, scope or fingerprint outside its size. No store call was made.
    InvalidKey(String),
    /// Lease or ttl outside its range. No store call was made.
    InvalidTtl(String),
    /// `limit` outside its range. No store call was made.
    InvalidLimit(String),
    /// Payload over this many bytes. No store call was made; the claim stays.
    PayloadTooLarge(u32),
    /// The host gives no store named `default`.
    NoSuchStore,
    /// The host denies access to that store.
    AccessDenied,
    /// The store failed; this call changed nothing. Retry.
    Unavailable(String),
    /// The store failed and the change may have happened, now or later.
    OutcomeUnknown(String),
    /// Others kept changing the key; retry after this many milliseconds.
    Contended(u64),
    /// The call grew older than its deadline, or the clock stepped back under it, and it
    /// stopped before recording anything. Retry.
    DeadlineExceeded,
    /// The stored bytes are unreadable, of an unknown format, or of another key.
    Corrupt(String),
}

/// A failed read, or a failed write that nobody can see yet: nothing changed.
impl From<StoreError> for Error {
    #[inline(never)]
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoSuchStore => Error::NoSuchStore,
            StoreError::AccessDenied => Error::AccessDenied,
            StoreError::Other(message) => Error::Unavailable(message),
        }
    }
}
