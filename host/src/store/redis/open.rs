//! Connecting: the URL, the bounds of the connection, and what the server must be like.

use std::time::Duration;

use redis::aio::ConnectionManagerConfig;
use redis::io::tcp::{TcpSettings, socket2::TcpKeepalive};
use redis::{Client, IntoConnectionInfo, TlsCertificates};

use super::layout::Layout;
use super::link::Link;
use super::scripts::Scripts;
use super::{RedisStore, StoreError, failed};
use crate::store::options::Options;
use crate::store::{OpenError, crypto};

/// How long a command may take. Below the 5 s that a ledger waits for a store call by default,
/// so that the caller learns the reason.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(4);

/// How long one attempt to connect may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Attempts to connect before the calls that wait for it fail, and the longest pause between
/// two. The next call starts anew.
const CONNECT_ATTEMPTS: usize = 8;
const MAX_PAUSE: Duration = Duration::from_millis(400);

/// After this long without an acknowledgement from its machine a connection is given up.
const SILENCE: Duration = Duration::from_secs(5);

/// Commands that wait to be sent at most; further ones wait for these.
const PIPELINE: usize = 1_024;

const DEFAULT_PREFIX: &str = "idempotency:";
const MAX_PREFIX_BYTES: usize = 256;
const REPLICAS_MS: u64 = 1_000;
/// So that the answer still comes within [`RESPONSE_TIMEOUT`].
const MAX_REPLICAS_MS: u64 = 3_500;
const MAX_REPLICAS: u64 = 100;

/// How many replicas have to hold a write before it is answered, and how long to wait for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Replicas {
    pub(super) count: u64,
    pub(super) timeout_ms: u64,
}

pub(super) async fn connect(url: &str) -> Result<RedisStore, OpenError> {
    let mut options = Options::parse(url)?;
    let prefix = options.take("prefix").unwrap_or_else(|| DEFAULT_PREFIX.to_owned());
    let layout = Layout::new(&prefix).filter(|_| prefix.len() <= MAX_PREFIX_BYTES);
    let layout = layout.ok_or_else(|| {
        options.invalid(format!("`prefix` has at most {MAX_PREFIX_BYTES} bytes and no braces"))
    })?;
    let fsync = options.take_one_of("fsync", &["always"])?.is_some();
    let count = options.take_number("replicas", 0..=MAX_REPLICAS)?.unwrap_or(0);
    let timeout_ms = options.take_number("replicas_ms", 1..=MAX_REPLICAS_MS)?;
    let timeout_ms = timeout_ms.unwrap_or(REPLICAS_MS);
    let replicas = (count > 0).then_some(Replicas { count, timeout_ms });
    let ca = options.take("tls_ca");
    let info = options.finish()?.into_connection_info();
    let info = info.map_err(|error| options.invalid(error.to_string()))?;
    let info = info.set_tcp_settings(tcp_settings());
    crypto::settle();
    let client = match ca {
        Some(path) => {
            let read = std::fs::read(&path);
            let read = read.map_err(|error| options.invalid(format!("tls_ca: {path}: {error}")));
            Client::build_with_tls(
                info,
                TlsCertificates { client_tls: None, root_cert: Some(read?) },
            )
        }
        None => Client::open(info),
    };
    let client = client.map_err(|error| options.invalid(error.to_string()))?;
    let link = Link::new(client, config()).await.map_err(failed)?;
    check_server(&link, fsync).await?;
    Ok(RedisStore { link, layout, scripts: Scripts::new(), replicas })
}

fn tcp_settings() -> TcpSettings {
    let keepalive = TcpKeepalive::new().with_time(SILENCE).with_interval(Duration::from_secs(1));
    let settings = TcpSettings::default().set_nodelay(true).set_keepalive(keepalive);
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    let settings = settings.set_user_timeout(SILENCE);
    settings
}

fn config() -> ConnectionManagerConfig {
    ConnectionManagerConfig::new()
        .set_response_timeout(Some(RESPONSE_TIMEOUT))
        .set_connection_timeout(Some(CONNECT_TIMEOUT))
        .set_number_of_retries(CONNECT_ATTEMPTS)
        .set_max_delay(MAX_PAUSE)
        .set_pipeline_buffer_size(PIPELINE)
}

/// Refuse a server that cannot keep the contract, or not as durably as was asked for.
async fn check_server(link: &Link, fsync: bool) -> Result<(), StoreError> {
    let info: String = link.command(&redis::cmd("INFO")).await.map_err(failed)?;
    if field(&info, "cluster_enabled") == Some("1") {
        return refuse("is a node of a cluster, for which there is no client here yet");
    }
    if field(&info, "role").is_some_and(|role| role != "master") {
        return refuse("is a replica; name the one that it follows");
    }
    let policy = field(&info, "maxmemory_policy").unwrap_or_default();
    if policy.starts_with("allkeys") {
        return refuse(&format!("evicts keys ({policy}); set maxmemory-policy to noeviction"));
    }
    if !fsync {
        return Ok(());
    }
    for (name, wanted) in [("appendonly", "yes"), ("appendfsync", "always")] {
        let mut command = redis::cmd("CONFIG");
        command.arg("GET").arg(name);
        let (_, set): (String, String) = link.command(&command).await.map_err(failed)?;
        if set != wanted {
            return refuse(&format!("has {name} {set}, and fsync=always needs {name} {wanted}"));
        }
    }
    Ok(())
}

fn refuse(why: &str) -> Result<(), StoreError> {
    Err(StoreError::Other(format!("Redis: the server {why}")))
}

/// The value of a line `name:value` in the answer to `INFO`.
fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}
