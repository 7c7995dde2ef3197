//! Stores by URL, for command lines and configuration.

use std::sync::Arc;

use super::{MemoryStore, Store, StoreError};

/// The forms of URLs that this build knows.
const FORMS: &[&str] = &[
    "`memory:`",
    #[cfg(feature = "sqlite")]
    "`sqlite:PATH`",
    #[cfg(feature = "redis")]
    "`redis://HOST` or `rediss://HOST`",
    #[cfg(feature = "nats")]
    "`nats://HOST/BUCKET` or `tls://HOST/BUCKET`",
    #[cfg(feature = "postgres")]
    "`postgres://HOST/DATABASE`",
];

/// Why a store could not be opened by its URL. No message tells a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Not one of the forms that [`open_url`] knows, or with an option that it does not know.
    #[error("no store URL: {0}")]
    InvalidUrl(String),
    /// The store itself failed.
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// Open a store by its URL:
///
/// - `memory:` is empty, and gone with the process;
/// - `sqlite:PATH`, also `sqlite://PATH`; a relative path is one of the working folder, file
///   and folders are made where missing;
/// - `redis://` and `rediss://` (feature `redis`): see `RedisStore::connect`;
/// - `nats://` and `tls://` (feature `nats`): see `NatsStore::connect`;
/// - `postgres://` and `postgresql://` (feature `postgres`): see `PostgresStore::connect`.
pub async fn open_url(url: &str) -> Result<Arc<dyn Store>, OpenError> {
    let invalid =
        || OpenError::InvalidUrl(format!("{}; expected one of {}", redact(url), FORMS.join(", ")));
    let (scheme, rest) = url.split_once(':').ok_or_else(invalid)?;
    match scheme {
        "memory" if rest.is_empty() => Ok(Arc::new(MemoryStore::new())),
        #[cfg(feature = "sqlite")]
        "sqlite" => {
            let path = rest.strip_prefix("//").unwrap_or(rest);
            if path.is_empty() {
                return Err(invalid());
            }
            Ok(Arc::new(super::SqliteStore::open(path).await?))
        }
        #[cfg(feature = "redis")]
        "redis" | "rediss" if rest.starts_with("//") => {
            Ok(Arc::new(super::RedisStore::connect(url).await?))
        }
        #[cfg(feature = "nats")]
        "nats" | "tls" if rest.starts_with("//") => {
            Ok(Arc::new(super::NatsStore::connect(url).await?))
        }
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" if rest.starts_with("//") => {
            Ok(Arc::new(super::PostgresStore::connect(url).await?))
        }
        _ => Err(invalid()),
    }
}

/// The URL as it may be shown: who logs in and with what, and what the options say, is left
/// out. The path of an SQLite file is shown as it is.
pub fn redact(url: &str) -> String {
    if url.starts_with("sqlite:") {
        return url.to_owned();
    }
    let (url, options) = match url.split_once('?') {
        Some((url, options)) => (url, Some(options)),
        None => (url, None),
    };
    // A secret may hold an unescaped sign of any kind, so everything up to the last @ goes.
    let mut shown = match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://***@{host}"),
        (None, Some((_, rest))) => format!("***@{rest}"),
        (_, None) => url.to_owned(),
    };
    if options.is_some_and(|options| options.contains('@')) {
        // The question mark itself may have been part of a secret.
        let scheme = shown.split("://").next().unwrap_or_default();
        return format!("{scheme}://***");
    }
    for (at, option) in options.into_iter().flat_map(|options| options.split('&')).enumerate() {
        shown.push(if at == 0 { '?' } else { '&' });
        shown.push_str(option.split('=').next().unwrap_or_default());
        shown.push_str("=***");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn secrets_are_not_shown() {
        for (url, shown) in [
            ("memory:", "memory:"),
            ("sqlite:/a@b/c.db", "sqlite:/a@b/c.db"),
            ("redis://host:1/2", "redis://host:1/2"),
            ("redis://u:secret@host/2?prefix=secret&x", "redis://***@host/2?prefix=***&x=***"),
            ("nats://u:sec/ret@h1,h2/b", "nats://***@h1,h2/b"),
            ("postgres://u:se@cret@host/db", "postgres://***@host/db"),
            ("postgres://u:se?cr@host/db", "postgres://***"),
            ("u:secret@host", "***@host"),
        ] {
            assert_eq!(redact(url), shown);
        }
    }
}
