//! The connection, and a new one in place of one that will not heal.

use std::sync::{Arc, Mutex, PoisonError};

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, Cmd, ErrorKind, FromRedisValue, Pipeline, RedisError, ServerErrorKind};

/// Makes one connection for all clones, and makes it again when it breaks.
#[derive(Clone)]
pub(super) struct Link {
    client: Client,
    config: ConnectionManagerConfig,
    manager: Arc<Mutex<ConnectionManager>>,
}

impl Link {
    pub(super) async fn new(
        client: Client,
        config: ConnectionManagerConfig,
    ) -> Result<Self, RedisError> {
        let manager = ConnectionManager::new_with_config(client.clone(), config.clone()).await?;
        Ok(Self { client, config, manager: Arc::new(Mutex::new(manager)) })
    }

    /// One command: one round trip.
    pub(super) async fn command<R: FromRedisValue>(&self, command: &Cmd) -> Result<R, RedisError> {
        let answered = command.query_async(&mut self.manager()).await;
        self.heal(answered)
    }

    /// Several commands that are sent together: one round trip.
    pub(super) async fn pipeline<R: FromRedisValue>(
        &self,
        pipeline: &Pipeline,
    ) -> Result<R, RedisError> {
        let answered = pipeline.query_async(&mut self.manager()).await;
        self.heal(answered)
    }

    fn manager(&self) -> ConnectionManager {
        self.manager.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The manager connects again when a connection breaks, but not when the server refuses one:
    /// while it loads its data, has too many clients, or has become a replica.
    fn heal<R>(&self, answered: Result<R, RedisError>) -> Result<R, RedisError> {
        let Err(error) = &answered else { return answered };
        let is_known = error.is_io_error()
            || error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
            || error.code() == Some("WRONGTYPE");
        if !is_known {
            let (client, config) = (self.client.clone(), self.config.clone());
            if let Ok(manager) = ConnectionManager::new_lazy_with_config(client, config) {
                *self.manager.lock().unwrap_or_else(PoisonError::into_inner) = manager;
            }
        }
        answered
    }
}
