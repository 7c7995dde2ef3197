//! The store on a Redis or Valkey server.

use async_trait::async_trait;
use redis::{FromRedisValue, RedisError};

use super::{
    OpenError, Page, Store, StoreError, Swap, Version, Versioned, check_key, counter_overflow,
    wrong_kind,
};

mod layout;
mod link;
mod listing;
mod open;
mod scripts;

use layout::Layout;
use link::Link;
use open::Replicas;
use scripts::Scripts;

/// A store on a Redis server, version 6.2 or later, or a Valkey server.
///
/// Every call is one round trip and touches one hash slot. A write is a script, so it looks and
/// writes at one instant. Versions are the server's time in microseconds, and greater than any
/// before in the same part of the store: they do not recur after a failover either that loses
/// writes.
///
/// What an answered write survives is a matter of the server. With `appendonly yes` and
/// `appendfsync always` it survives `kill -9` and a loss of power; the option `fsync=always`
/// refuses a server that is set otherwise. A failover to a replica can lose the last writes, and
/// with them an outcome that was answered already: with `replicas=N` a write is answered only
/// when N replicas hold it, which makes that unlikely and is no consensus. Where machines fail
/// over by themselves, take NATS or PostgreSQL.
///
/// A server that is set to evict keys is refused. Clones share the connection, which is made
/// again when it breaks; a call that was under way then fails and is not sent again.
#[derive(Clone)]
pub struct RedisStore {
    link: Link,
    layout: Layout,
    scripts: Scripts,
    replicas: Option<Replicas>,
}

impl RedisStore {
    /// Connect to `url`: `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE][?OPTIONS]`, or
    /// `rediss://` for TLS, checked against the system's root certificates.
    ///
    /// | option | |
    /// | --- | --- |
    /// | `prefix=TEXT` | of every key; `idempotency:` unless set; stores with different ones never meet |
    /// | `fsync=always` | refuse a server that does not write each change to its disk before it answers |
    /// | `replicas=N` | answer a write once N replicas hold it; where fewer do within `replicas_ms`, it fails |
    /// | `tls_ca=PATH` | trust the certificates of this PEM file, and not the system's |
    /// | `replicas_ms=MS` | how long to wait for them, 1 000 unless set, at most 3 500 |
    ///
    /// # Errors
    ///
    /// [`OpenError::InvalidUrl`] for a URL or an option that is none of these, and
    /// [`OpenError::Store`] for a server that cannot be reached, denies access, may evict keys, is
    /// a replica, or is not set as `fsync` demands. None of them tells the password.
    pub async fn connect(url: &str) -> Result<Self, OpenError> {
        open::connect(url).await
    }

    /// Run a script on `key` and answer what it answers.
    async fn write<R: FromRedisValue>(
        &self,
        script: &scripts::Script,
        key: &str,
        arguments: &[&[u8]],
    ) -> Result<R, StoreError> {
        let keys = self.layout.keys(check_key(key)?);
        let call = scripts::Call { script, keys: &keys, arguments, replicas: self.replicas };
        scripts::run(&self.link, &call).await
    }
}

impl std::fmt::Debug for RedisStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The connection would show the password.
        formatter.debug_struct("RedisStore").field("layout", &self.layout).finish_non_exhaustive()
    }
}

/// A value and a version, or a counter and a version, or nothing.
type Fields = (Option<u64>, Option<Vec<u8>>, Option<i64>);

#[async_trait]
impl Store for RedisStore {
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let entry = self.layout.keys(check_key(key)?).entry;
        let mut command = redis::cmd("HMGET");
        command.arg(entry).arg(&["version", "value", "counter"]);
        let found: Fields = self.link.command(&command).await.map_err(failed)?;
        match found {
            (None, None, None) => Ok(None),
            (Some(version), Some(value), None) => {
                Ok(Some(Versioned { value, version: Version(version) }))
            }
            (Some(version), None, Some(count)) => {
                let value = count.to_le_bytes().to_vec();
                Ok(Some(Versioned { value, version: Version(version) }))
            }
            _ => Err(StoreError::Other("Redis: an entry lacks its fields".to_owned())),
        }
    }

    async fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        let answer: String = self.write(&self.scripts.set, key, &[&value]).await?;
        match answer.as_str() {
            "done" => Ok(()),
            _ => Err(unexpected(&answer)),
        }
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        let answer: String = self.write(&self.scripts.delete, key, &[]).await?;
        match answer.as_str() {
            "done" => Ok(()),
            _ => Err(unexpected(&answer)),
        }
    }

    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        let delta = delta.to_string();
        let answer: String = self.write(&self.scripts.increment, key, &[delta.as_bytes()]).await?;
        answer.parse().map_err(|_| unexpected(&answer))
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError> {
        let expected = expected.map_or_else(String::new, |version| version.0.to_string());
        let arguments: [&[u8]; 2] = [expected.as_bytes(), &value];
        let answer: String = self.write(&self.scripts.swap, key, &arguments).await?;
        match answer.as_str() {
            "done" => Ok(Swap::Swapped),
            "conflict" => Ok(Swap::Conflict),
            _ => Err(unexpected(&answer)),
        }
    }

    async fn list(&self, cursor: Option<String>) -> Result<Page, StoreError> {
        listing::page(&self.link, &self.layout, cursor).await
    }
}

/// The other answers of the scripts.
fn unexpected(answer: &str) -> StoreError {
    match answer {
        "counter" | "value" => wrong_kind(answer),
        "overflow" => counter_overflow(),
        _ => StoreError::Other(format!("Redis: a script answered {answer:?}")),
    }
}

/// An error of the client or the server as the store's.
fn failed(error: RedisError) -> StoreError {
    use redis::{ErrorKind, ServerErrorKind};

    match error.kind() {
        ErrorKind::AuthenticationFailed | ErrorKind::Server(ServerErrorKind::NoPerm) => {
            StoreError::AccessDenied
        }
        _ if matches!(error.code(), Some("NOAUTH" | "WRONGPASS" | "NOPERM")) => {
            StoreError::AccessDenied
        }
        _ => StoreError::Other(format!("Redis: {error}")),
    }
}
