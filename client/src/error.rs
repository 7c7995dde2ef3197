//! The one error, named by what the caller can do about it.

use std::convert::Infallible;

use crate::types::Outcome;

/// An error of any kind: a validator's, or why a value cannot be read.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What needs another action than the answers do. `E` is the work's own error: only
/// [`run`](crate::Idempotency::run) has one. The strings are for people; programs must not
/// parse them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error<E = Infallible> {
    /// Key, scope or fingerprint outside its size. No store call was made.
    #[error("invalid key: {0}")]
    InvalidKey(String),
    /// Lease or ttl outside its range. No store call was made.
    #[error("invalid duration: {0}")]
    InvalidTtl(String),
    /// The value's JSON is over the limit. No store call was made; the claim stays with its
    /// holder.
    #[error("the value is too large: its JSON may have {limit_bytes} bytes")]
    PayloadTooLarge {
        /// The limit.
        limit_bytes: u32,
    },
    /// The host gives the ledger no store.
    #[error("the host gives the ledger no store")]
    NoSuchStore,
    /// The host denies the ledger access to its store.
    #[error("the host denies the ledger access to its store")]
    AccessDenied,
    /// The store failed; this call changed nothing. Retry.
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
    /// The value cannot be recorded: the validator refused it, it has no JSON, or its JSON
    /// could not be read again. No store call was made; the claim stays with its holder.
    #[error("the value was refused, nothing is stored")]
    Refused(#[source] BoxError),
    /// The recorded outcome cannot be read as `T`: other JSON, none at all, or the validator
    /// refused it. It stays as it is, and the work did not run.
    #[error("the recorded outcome does not fit")]
    Unfit {
        /// As it is recorded: the bytes, or `None` where somebody recorded none.
        outcome: Box<Outcome<Option<Vec<u8>>>>,
        /// What does not fit.
        source: BoxError,
    },
    /// The work failed, and its claim was released, so that a retry runs it again at once. If
    /// the release failed too, the key is free when the lease ends.
    #[error("the work failed")]
    Work(#[source] E),
    /// This code runs natively, outside any component, so that it imports no ledger. In tests
    /// give the client one by `Idempotency::new(&Ledger::on_host(..)?)`, feature `host`.
    #[error(
        "no ledger is imported by native code: use `Ledger::on_host` of the feature `host` in tests"
    )]
    NoLedger,
}

impl Error {
    /// The same error for a `run` whose work has an error of its own.
    pub(crate) fn beside_work<E>(self) -> Error<E> {
        match self {
            Self::InvalidKey(why) => Error::InvalidKey(why),
            Self::InvalidTtl(why) => Error::InvalidTtl(why),
            Self::PayloadTooLarge { limit_bytes } => Error::PayloadTooLarge { limit_bytes },
            Self::NoSuchStore => Error::NoSuchStore,
            Self::AccessDenied => Error::AccessDenied,
            Self::Unavailable(why) => Error::Unavailable(why),
            Self::OutcomeUnknown(why) => Error::OutcomeUnknown(why),
            Self::Contended { retry_after_ms } => Error::Contended { retry_after_ms },
            Self::DeadlineExceeded => Error::DeadlineExceeded,
            Self::Corrupt(why) => Error::Corrupt(why),
            Self::Refused(source) => Error::Refused(source),
            Self::Unfit { outcome, source } => Error::Unfit { outcome, source },
            Self::Work(never) => match never {},
            Self::NoLedger => Error::NoLedger,
        }
    }

    /// Whether the same call may succeed if it is made again at once.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Unavailable(_)
                | Self::OutcomeUnknown(_)
                | Self::Contended { .. }
                | Self::DeadlineExceeded
        )
    }
}
