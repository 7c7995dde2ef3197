//! Spin's store on Redis: keys and values as they are, counters as decimal text, no prefix, and
//! the same keys under every label.

use std::time::Duration;

use async_trait::async_trait;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{AsyncCommands, Client, RedisError, cmd, pipe};

use super::engine::{Answer, Engine, Handle};

/// Tries to connect again, and the longest pause between two: they outlast every test, so that a
/// call to a server that is away hangs. On Spin 4.1 it hung for minutes (measured); for how many
/// depends on Spin's client, and may differ here.
const TRIES: usize = 10_000;
const MAX_PAUSE: Duration = Duration::from_millis(200);

/// A server, by one connection that all calls share.
#[derive(Clone)]
pub struct RedisEngine {
    client: Client,
    connection: ConnectionManager,
}

impl RedisEngine {
    /// Connects to `redis://HOST:PORT/DB`.
    ///
    /// # Errors
    /// Those of the client, as text.
    pub async fn connect(url: &str) -> Answer<Self> {
        let client = Client::open(url).map_err(text)?;
        let connection = manage(&client).await?;
        Ok(Self { client, connection })
    }

    fn link(&self) -> ConnectionManager {
        self.connection.clone()
    }
}

/// A connection that is made again when it breaks, without any time-out.
async fn manage(client: &Client) -> Answer<ConnectionManager> {
    let config = ConnectionManagerConfig::new()
        .set_response_timeout(None)
        .set_connection_timeout(None)
        .set_number_of_retries(TRIES)
        .set_max_delay(MAX_PAUSE);
    client.get_connection_manager_with_config(config).await.map_err(text)
}

fn text(error: RedisError) -> String {
    error.to_string()
}

#[async_trait]
impl Engine for RedisEngine {
    /// A ping, whose failure is not told.
    async fn open(&self) -> Answer<()> {
        let _: Result<(), RedisError> = self.link().ping().await;
        Ok(())
    }

    async fn get(&self, key: &str) -> Answer<Option<Vec<u8>>> {
        self.link().get(key).await.map_err(text)
    }

    async fn set(&self, key: &str, value: Vec<u8>) -> Answer<()> {
        self.link().set(key, value).await.map_err(text)
    }

    async fn delete(&self, key: &str) -> Answer<()> {
        self.link().del(key).await.map_err(text)
    }

    async fn exists(&self, key: &str) -> Answer<bool> {
        self.link().exists(key).await.map_err(text)
    }

    async fn keys(&self) -> Answer<Vec<String>> {
        self.link().keys("*").await.map_err(text)
    }

    async fn increment(&self, key: &str, delta: i64) -> Answer<i64> {
        self.link().incr(key, delta).await.map_err(text)
    }

    /// A connection of its own, since Redis keeps what is watched by connection.
    async fn compare(&self, key: &str) -> Answer<Box<dyn Handle>> {
        Ok(Box::new(Compare { connection: manage(&self.client).await?, key: key.to_owned() }))
    }
}

/// Watches the key and writes in a transaction, and then sends an `UNWATCH` that Redis refuses,
/// because it takes no key: that is why Spin answers `cas-failed` always, also when it wrote.
struct Compare {
    connection: ConnectionManager,
    key: String,
}

#[async_trait]
impl Handle for Compare {
    async fn current(&mut self) -> Answer<Option<Vec<u8>>> {
        let watched: Result<(), RedisError> =
            cmd("WATCH").arg(&self.key).query_async(&mut self.connection).await;
        watched.map_err(text)?;
        self.connection.get(&self.key).await.map_err(text)
    }

    async fn swap(&mut self, value: Vec<u8>) -> Answer<bool> {
        let mut transaction = pipe();
        transaction.atomic().set(&self.key, value);
        let written: Result<(), RedisError> = transaction.query_async(&mut self.connection).await;
        let unwatched: Result<(), RedisError> =
            cmd("UNWATCH").arg(&self.key).query_async(&mut self.connection).await;
        Ok(written.is_ok() && unwatched.is_ok())
    }
}
