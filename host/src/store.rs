//! The store that keeps a ledger's records: the contract, and the stores that come with it.

use std::sync::Arc;

use async_trait::async_trait;

#[cfg(feature = "conformance")]
pub mod conformance;
#[cfg(any(feature = "nats", feature = "redis"))]
mod crypto;
#[cfg(any(feature = "nats", feature = "redis"))]
mod listing;
mod memory;
#[cfg(feature = "nats")]
mod nats;
#[cfg(any(feature = "nats", feature = "postgres", feature = "redis"))]
mod options;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(any(feature = "nats", feature = "postgres"))]
mod tls;
mod url;

pub use memory::MemoryStore;
#[cfg(feature = "nats")]
pub use nats::NatsStore;
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
#[cfg(feature = "redis")]
pub use redis::RedisStore;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
pub use url::{OpenError, open_url, redact};

/// Longest key of a store in bytes; the shortest is 1.
pub const MAX_KEY_BYTES: usize = 1024;

/// Most keys that the stores of this crate answer in one [`Page`].
pub const PAGE_KEYS: usize = 1000;

/// A key-value store fit for a ledger. Whoever implements it promises:
///
/// - **Linearizable.** Each call takes effect at one instant between its start and its answer,
///   for all callers together: those in other processes and on other machines too, where the
///   store can be shared. A read never answers a value that was overwritten before it started.
/// - **An answer is durable** in the sense of the store: what was answered survives whatever
///   the store says that it survives.
/// - **An error leaves it open** whether the call took effect or will do so shortly. The same
///   holds for a call whose future is dropped, which must be possible at any time. A call
///   takes effect within minutes or never.
/// - **Nothing is evicted** and nothing expires. A full store is an error.
/// - **A key holds a value or a counter**, and stays what it is until it is deleted: a value is
///   what `set` or `compare_and_swap` made, a counter what `increment` made. Each of these on
///   the other kind changes nothing and is [`StoreError::Other`]. `get` of a counter answers
///   its eight bytes, little-endian, in two's complement; `delete` and `list` take both kinds.
/// - **Versions never recur** for a key. Every write of the key gives it a greater one, also
///   after it was deleted and made again.
/// - **Any key** of 1 to [`MAX_KEY_BYTES`] bytes of UTF-8 works, NUL included, compared byte by
///   byte; others are [`StoreError::Other`]. Any value of 0 to 1 MiB works; a store whose engine
///   takes less says so, and refuses more as [`StoreError::Other`]. A ledger needs 640 KiB.
///
/// Calls may come from many tasks at once. They must not block the executor, and a slow call
/// should delay no other.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// The value of `key` and its version, or `None` where it does not exist.
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError>;

    /// Write `key`, whether it exists or not.
    async fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError>;

    /// Remove `key`. Nothing happens where it does not exist.
    async fn delete(&self, key: &str) -> Result<(), StoreError>;

    /// Add `delta` to the counter `key` and answer the sum; a counter that does not exist is
    /// made with the value `delta`. A sum that does not fit is an error and changes nothing.
    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError>;

    /// Write `key` if its version is `expected`, where `None` means that it does not exist.
    /// Otherwise nothing changes and the answer is [`Swap::Conflict`]: that is no error.
    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError>;

    /// A page of the keys, in any order. `cursor` is that of the page before, `None` for the
    /// first. A key that exists throughout the listing comes exactly once; one that is made or
    /// deleted meanwhile may come or not.
    async fn list(&self, cursor: Option<String>) -> Result<Page, StoreError>;
}

/// A value and the version that its last write gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned {
    /// The bytes.
    pub value: Vec<u8>,
    /// For `compare_and_swap`.
    pub version: Version,
}

/// Grows with every write of a key and never recurs for it. Compare versions of one key only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

/// Answer to `compare_and_swap`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swap {
    /// Written.
    Swapped,
    /// Not written: the key has another version, or exists where it should not, or the reverse.
    Conflict,
}

/// Answer to `list`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Some keys.
    pub keys: Vec<String>,
    /// For the next page; `None` where this was the last.
    pub cursor: Option<String>,
}

/// Why a store call failed. It may have taken effect, or may do so yet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is no such store.
    #[error("no such store")]
    NoSuchStore,
    /// The store denies access.
    #[error("access denied")]
    AccessDenied,
    /// Anything else, for people.
    #[error("{0}")]
    Other(String),
}

#[async_trait]
impl<S: Store + ?Sized> Store for Arc<S> {
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        (**self).get(key).await
    }

    async fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        (**self).set(key, value).await
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        (**self).delete(key).await
    }

    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        (**self).increment(key, delta).await
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError> {
        (**self).compare_and_swap(key, expected, value).await
    }

    async fn list(&self, cursor: Option<String>) -> Result<Page, StoreError> {
        (**self).list(cursor).await
    }
}

/// `key` if it is one, by the contract of [`Store`].
fn check_key(key: &str) -> Result<&str, StoreError> {
    if (1..=MAX_KEY_BYTES).contains(&key.len()) {
        return Ok(key);
    }
    Err(StoreError::Other(format!("a key has 1 to {MAX_KEY_BYTES} bytes, not {}", key.len())))
}

/// The error of a call on a key of the other kind.
fn wrong_kind(found: &str) -> StoreError {
    StoreError::Other(format!("the key holds a {found}"))
}

/// The error of an `increment` beyond what a counter can hold.
fn counter_overflow() -> StoreError {
    StoreError::Other("the counter would overflow".to_owned())
}
