//! Stores by URL, for command lines and configuration.

use std::sync::Arc;

use super::{MemoryStore, Store, StoreError};

/// Why a store could not be opened by its URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Not one of the forms that [`open_url`] knows.
    #[error("no store URL: {0}; expected `sqlite:PATH` or `memory:`")]
    InvalidUrl(String),
    /// The store itself failed.
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// Open a store by its URL: `sqlite:PATH` (also `sqlite://PATH`; a relative path is one of the
/// working folder, file and folders are made where missing) or `memory:` (empty, gone with the
/// process).
pub async fn open_url(url: &str) -> Result<Arc<dyn Store>, OpenError> {
    let invalid = || OpenError::InvalidUrl(url.to_owned());
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
        _ => Err(invalid()),
    }
}
