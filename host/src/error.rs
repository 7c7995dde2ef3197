//! The one error of the ledger's calls, named by what the caller can do about it.

/// What needs another action than the answers do. The strings are for people; programs must
/// not parse them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Key, scope or fingerprint outside its size. No store call was made.
    #[error("invalid key: {0}")]
    InvalidKey(String),
    /// Lease or ttl outside its range. No store call was made.
    #[error("invalid duration: {0}")]
    InvalidTtl(String),
    /// `limit` outside its range. No store call was made.
    #[error("invalid limit: {0}")]
    InvalidLimit(String),
    /// Payload over the limit. No store call was made; the claim stays with its holder.
    #[error("payload too large: the limit is {limit_bytes} bytes")]
    PayloadTooLarge {
        /// The limit.
        limit_bytes: u32,
    },
    /// The ledger is given no store.
    #[error("no such store")]
    NoSuchStore,
    /// The store denies access.
    #[error("access to the store was denied")]
    AccessDenied,
    /// The store or the instance failed; this call changed nothing. Retry.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// The change may have happened, now or later. Do not start the work. `get` and compare
    /// the token, or repeat the call.
    #[error("outcome unknown: {0}")]
    OutcomeUnknown(String),
    /// Others kept changing the key, or stopped half-way; this call changed nothing. Retry.
    #[error("contended: retry after {retry_after_ms} ms")]
    Contended {
        /// How long to wait before the retry.
        retry_after_ms: u64,
    },
    /// The call ran for too long and stopped before recording anything. Retry.
    #[error("the call ran for too long and stopped before recording anything")]
    DeadlineExceeded,
    /// The stored record is unreadable; never treated as absent. Needs an operator.
    #[error("corrupt record: {0}")]
    Corrupt(String),
    /// The component cannot be compiled, or is no ledger. Only from building a `Ledger`.
    #[error("unusable component: {0}")]
    Component(String),
}
