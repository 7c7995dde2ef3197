//! The store in a key-value bucket of NATS JetStream.

use std::sync::Arc;

use async_trait::async_trait;

use super::{OpenError, Page, Store, StoreError, Swap, Version, Versioned, check_key, wrong_kind};

mod bucket;
mod combine;
mod connection;
mod entry;
mod listing;
mod names;
mod open;

use bucket::Bucket;
use combine::Counters;
use entry::{Content, Entry};

/// Most attempts of a write that has to look first, and lost against another one.
const ATTEMPTS: u32 = 64;

/// A store in a key-value bucket of NATS JetStream, version 2.9 or later; a bucket with replicas
/// needs 2.11, since before that two writers can succeed on one revision of it.
///
/// A write is a message that the stream accepts only at the revision that was seen, and that is
/// answered once the majority of the bucket's replicas has it: no failover loses it, and no two
/// writers succeed on one revision. A read asks the stream's leader. While a leader is cut off
/// from the majority, and until it notices after some seconds, clients that are cut off with it
/// may read old values; a ledger then answers an old `inflight` or `done`, never `fresh`.
///
/// One server alone keeps what it answered through `kill -9`. It flushes its files to the disk
/// every two minutes only, so a loss of power can lose what is younger: have three replicas, on
/// machines that do not lose power together, or set `sync_interval: always` (version 2.10).
///
/// Get and delete are one round trip, and so is a swap that succeeds, and a set of a key that
/// does not exist. An increment looks first: two, shared by all that wait for the same counter
/// in this process. Versions are the stream's sequence numbers, twice, plus one for a counter.
///
/// A value has to fit into a message: 1 MiB less some hundred bytes for headers where the
/// server's `max_payload` is left as it is. That is more than a ledger writes; a larger value is
/// refused. Clones share the connection, which is made again when it breaks; a call that was
/// under way then fails and is not sent again.
#[derive(Clone, Debug)]
pub struct NatsStore {
    bucket: Arc<Bucket>,
    counters: Arc<Counters>,
}

impl NatsStore {
    /// Connect to `url`: `nats://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]]/BUCKET[?OPTIONS]`, or
    /// `tls://` where the server has to have TLS, checked against the system's root
    /// certificates. The bucket is made where it is missing.
    ///
    /// | option | |
    /// | --- | --- |
    /// | `replicas=N` | how many servers keep the bucket, 1 unless set; one that has fewer is refused |
    /// | `credentials=PATH` | log in with this file of credentials |
    /// | `tls_ca=PATH` | trust the certificates of this PEM file, and not the system's |
    ///
    /// # Errors
    ///
    /// [`OpenError::InvalidUrl`] for a URL or an option that is none of these, and
    /// [`OpenError::Store`] for servers that cannot be reached, deny access or are too old, and for
    /// a bucket that drops or expires keys. None of them tells the password.
    pub async fn connect(url: &str) -> Result<Self, OpenError> {
        let bucket = Arc::new(open::open(url).await?);
        let counters = Arc::new(Counters::new(Arc::clone(&bucket)));
        Ok(Self { bucket, counters })
    }
}

#[async_trait]
impl Store for NatsStore {
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let entry = self.bucket.last(check_key(key)?).await?;
        let version = entry.version();
        let value = match entry.content {
            Content::Absent => return Ok(None),
            Content::Value(value) => value,
            Content::Counter(count) => count.to_le_bytes().to_vec(),
        };
        Ok(Some(Versioned { value, version }))
    }

    async fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        let key = check_key(key)?;
        let content = Content::Value(value);
        // As a rule the key is new; otherwise what is there has to be looked at.
        let mut sequence = 0;
        for _ in 0..ATTEMPTS {
            if self.bucket.write(key, &content, sequence).await? == Swap::Swapped {
                return Ok(());
            }
            let found = self.bucket.last(key).await?;
            if matches!(found.content, Content::Counter(_)) {
                return Err(wrong_kind("counter"));
            }
            sequence = found.sequence;
        }
        Err(crowded())
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.bucket.delete(check_key(key)?).await
    }

    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        self.counters.increment(check_key(key)?, delta).await
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError> {
        let key = check_key(key)?;
        let content = Content::Value(value);
        // A version of a counter is not written on, whatever is there now.
        let mut sequence = expected.map_or(Some(0), Entry::sequence_of_value);
        for _ in 0..ATTEMPTS {
            let swap = match sequence {
                Some(sequence) => self.bucket.write(key, &content, sequence).await?,
                None => Swap::Conflict,
            };
            if swap == Swap::Swapped {
                return Ok(Swap::Swapped);
            }
            let found = self.bucket.last(key).await?;
            match found.content {
                Content::Counter(_) => return Err(wrong_kind("counter")),
                // Another program's deletion leaves a mark, which is what has to be replaced.
                Content::Absent if expected.is_none() => sequence = Some(found.sequence),
                _ => return Ok(Swap::Conflict),
            }
        }
        Err(crowded())
    }

    async fn list(&self, cursor: Option<String>) -> Result<Page, StoreError> {
        listing::page(&self.bucket, cursor).await
    }
}

/// A write lost against others again and again, and changed nothing.
fn crowded() -> StoreError {
    StoreError::Other(format!("NATS: {ATTEMPTS} writes in a row lost against others"))
}
