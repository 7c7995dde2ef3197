//! Connecting: the URL, the pool and its bounds.

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use tokio_postgres::config::{SslMode, TargetSessionAttrs};
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failure::no_connection;
use super::statements::Statements;
use super::{CALL_TIMEOUT, PostgresStore, StoreError, schema};
use crate::store::options::Options;
use crate::store::{OpenError, tls};

const DEFAULT_SCHEMA: &str = "idempotency_ledger";
const MAX_SCHEMA_BYTES: usize = 63;

const CONNECTIONS: usize = 8;
const MAX_CONNECTIONS: usize = 1_000;

/// How long making one connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// After this long without an acknowledgement from its machine a connection is given up.
const SILENCE: Duration = Duration::from_secs(5);

/// What the store's transactions need, whatever the server's defaults are. The server gives up a
/// statement when the store does, so no write takes effect long after its call.
const SETTINGS: &str = "-c default_transaction_isolation=read\\ committed \
    -c default_transaction_read_only=off -c statement_timeout=4000";

pub(super) async fn connect(url: &str) -> Result<PostgresStore, OpenError> {
    let mut options = Options::parse(url)?;
    let schema = options.take("schema").unwrap_or_else(|| DEFAULT_SCHEMA.to_owned());
    if !is_plain(&schema) {
        return Err(options.invalid(
            "`schema` has 1 to 63 letters a to z, digits and underscores, and begins with no digit",
        ));
    }
    let connections = options.take_number("connections", 1..=MAX_CONNECTIONS)?;
    let config = config(&mut options)?;
    let ca = options.take("tls_ca");
    let url = options.finish()?;
    let named: Config = url.as_str().parse().map_err(|error: tokio_postgres::Error| {
        options.invalid(
            std::error::Error::source(&error)
                .map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}")),
        )
    })?;
    let config = with_place(config, &named);
    let manager_config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = if config.get_ssl_mode() == SslMode::Disable {
        Manager::from_config(config, NoTls, manager_config)
    } else {
        let tls = tls::client_config(ca.as_deref()).map_err(|why| options.invalid(why))?;
        Manager::from_config(config, MakeRustlsConnect::new(tls), manager_config)
    };
    let pool = Pool::builder(manager)
        .max_size(connections.unwrap_or(CONNECTIONS))
        .runtime(Runtime::Tokio1)
        .timeouts(Timeouts {
            wait: Some(CALL_TIMEOUT),
            create: Some(CONNECT_TIMEOUT),
            recycle: Some(CONNECT_TIMEOUT),
        })
        .build()
        .map_err(|error| StoreError::Other(error.to_string()))?;
    let mut connection = pool.get().await.map_err(no_connection)?;
    schema::ensure(&mut connection, &schema).await?;
    drop(connection);
    Ok(PostgresStore { pool, statements: Statements::new(&schema) })
}

/// Whether a name needs no quotes in SQL, and means itself.
fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=MAX_SCHEMA_BYTES).contains(&name.len())
        && name.bytes().all(plain)
        && !name.starts_with(|first: char| first.is_ascii_digit())
}

/// The settings of the options.
fn config(options: &mut Options) -> Result<Config, OpenError> {
    let commit = options.take_one_of("synchronous_commit", &["on", "remote_apply"])?;
    let commit = commit.unwrap_or_else(|| "on".to_owned());
    let mode = match options.take_one_of("sslmode", &["disable", "prefer", "require"])?.as_deref() {
        Some("disable") => SslMode::Disable,
        Some("require") => SslMode::Require,
        _ => SslMode::Prefer,
    };
    let name = options.take("application_name");
    let mut config = Config::new();
    config
        .options(format!("{SETTINGS} -c synchronous_commit={commit}"))
        .ssl_mode(mode)
        .application_name(name.unwrap_or_else(|| "idempotency-ledger".to_owned()))
        .target_session_attrs(TargetSessionAttrs::ReadWrite)
        .connect_timeout(CONNECT_TIMEOUT)
        .keepalives_idle(SILENCE)
        .keepalives_interval(Duration::from_secs(1))
        .tcp_user_timeout(SILENCE);
    Ok(config)
}

/// The settings, with who logs in and where from the URL.
fn with_place(mut config: Config, named: &Config) -> Config {
    for host in named.get_hosts() {
        match host {
            tokio_postgres::config::Host::Tcp(host) => config.host(host),
            #[cfg(unix)]
            tokio_postgres::config::Host::Unix(path) => config.host_path(path),
        };
    }
    for port in named.get_ports() {
        config.port(*port);
    }
    if let Some(user) = named.get_user() {
        config.user(user);
    }
    if let Some(password) = named.get_password() {
        config.password(password);
    }
    if let Some(database) = named.get_dbname() {
        config.dbname(database);
    }
    config
}
