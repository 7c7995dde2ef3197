//! The connection: made again when it was given up, and waited for while it is away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::Context;
use async_nats::jetstream::context::ContextBuilder;
use async_nats::{Client, ClientError, ConnectOptions, Event, ServerAddr};
use tokio::sync::Mutex;
use tokio::time::sleep;

use super::StoreError;

/// How long a request may take. Below the 5 s that a ledger waits for a store call by default,
/// so that the caller learns the reason.
const REQUEST_TIMEOUT: Duration = Duration::from_millis(3_500);

/// How long one attempt to connect may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// How often the server is asked whether it is there; the second silence in a row ends the
/// connection.
const PING_INTERVAL: Duration = Duration::from_secs(1);

/// Attempts to connect again before the connection is given up, with all that waits in it: what
/// was sent while the server was away takes effect within minutes or never. The next call makes
/// a new connection.
const MAX_RECONNECTS: usize = 120;
const RECONNECT_PAUSE_MS: u64 = 20;
const MAX_RECONNECT_PAUSE_MS: u64 = 400;

/// Requests under way at once; further ones wait.
const MAX_INFLIGHT: usize = 4_096;

/// How long a call waits for a connection that is away, in looks and the pause between two.
const LOOKS: u32 = 150;
const PAUSE: Duration = Duration::from_millis(20);

/// The servers, and the connection to one of them.
pub(super) struct Connection {
    servers: Vec<ServerAddr>,
    options: ConnectOptions,
    session: Mutex<Session>,
}

/// One connection.
#[derive(Clone)]
struct Session {
    client: Client,
    jetstream: Context,
    is_closed: Arc<AtomicBool>,
}

impl Connection {
    pub(super) async fn new(
        servers: Vec<ServerAddr>,
        options: ConnectOptions,
    ) -> Result<Self, StoreError> {
        let session = Session::start(&servers, &options).await?;
        Ok(Self { servers, options, session: Mutex::new(session) })
    }

    /// The connection, once it is there. Nothing is sent into one that is away: it would take
    /// effect later, when its caller has given up.
    pub(super) async fn jetstream(&self) -> Result<Context, StoreError> {
        for _ in 0..LOOKS {
            let session = self.session().await?;
            if session.client.connection_state() == State::Connected {
                return Ok(session.jetstream);
            }
            sleep(PAUSE).await;
        }
        Err(StoreError::Other("NATS: no server can be reached".to_owned()))
    }

    /// A subject that nobody else listens to.
    pub(super) async fn new_inbox(&self) -> Result<String, StoreError> {
        Ok(self.session().await?.client.new_inbox())
    }

    /// Whether the server is of this version, or a later one.
    pub(super) async fn is_at_least(&self, (major, minor): (i64, i64)) -> Result<bool, StoreError> {
        Ok(self.session().await?.client.is_server_compatible(major, minor, 0))
    }

    async fn session(&self) -> Result<Session, StoreError> {
        let mut session = self.session.lock().await;
        if session.is_closed.load(Ordering::Relaxed) {
            *session = Session::start(&self.servers, &self.options).await?;
        }
        Ok(session.clone())
    }
}

impl Session {
    async fn start(servers: &[ServerAddr], options: &ConnectOptions) -> Result<Self, StoreError> {
        let is_closed = Arc::new(AtomicBool::new(false));
        let closed = Arc::clone(&is_closed);
        let client = options
            .clone()
            .name("idempotency-ledger")
            .connection_timeout(CONNECT_TIMEOUT)
            .request_timeout(Some(REQUEST_TIMEOUT))
            .ping_interval(PING_INTERVAL)
            .max_reconnects(MAX_RECONNECTS)
            .reconnect_delay_callback(|attempts| {
                let attempts = u64::try_from(attempts).unwrap_or(u64::MAX);
                let pause_ms = attempts.saturating_mul(RECONNECT_PAUSE_MS);
                Duration::from_millis(pause_ms.min(MAX_RECONNECT_PAUSE_MS))
            })
            .event_callback(move |event| {
                let closed = Arc::clone(&closed);
                async move {
                    let ended = Event::ClientError(ClientError::MaxReconnects);
                    if event == Event::Closed || event == ended {
                        closed.store(true, Ordering::Relaxed);
                    }
                }
            })
            .connect(servers)
            .await
            .map_err(failed)?;
        let jetstream = ContextBuilder::new()
            .timeout(REQUEST_TIMEOUT)
            .max_ack_inflight(MAX_INFLIGHT)
            .backpressure_on_inflight(true)
            .build(client.clone());
        Ok(Self { client, jetstream, is_closed })
    }
}

fn failed(error: async_nats::ConnectError) -> StoreError {
    use async_nats::ConnectErrorKind::{Authentication, AuthorizationViolation};

    match error.kind() {
        Authentication | AuthorizationViolation => StoreError::AccessDenied,
        _ => StoreError::Other(format!("NATS: {error}")),
    }
}
