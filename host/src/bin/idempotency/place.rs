//! Where the ledger is kept, and how it is opened.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use idempotency_ledger_host::Ledger;
use idempotency_ledger_host::store::{OpenError, open_url, redact};

use crate::cli::StoreArgs;
use crate::exit::Exit;
use crate::failure::Failure;

impl StoreArgs {
    /// The store's URL: given, else the file in the user's state folder.
    pub(crate) fn url(&self) -> Result<String, Failure> {
        if let Some(url) = self.store.as_deref().filter(|url| !url.is_empty()) {
            return Ok(url.into());
        }
        let path = default_path(std::env::var_os("XDG_STATE_HOME"), std::env::var_os("HOME"))
            .ok_or_else(|| {
                Failure::usage(
                    "no place for the ledger: neither XDG_STATE_HOME nor HOME is set",
                    "Name one with --store sqlite:PATH or IDEMPOTENCY_STORE.",
                )
            })?;
        let path = path.to_str().ok_or_else(|| {
            Failure::usage(
                "the state folder's name is not UTF-8",
                "Name another with --store sqlite:PATH.",
            )
        })?;
        Ok(format!("sqlite:{path}"))
    }

    /// Opens it. The default file's folder is made for the user alone.
    pub(crate) async fn ledger(&self) -> Result<Ledger, Failure> {
        let url = self.url()?;
        if self.store.as_deref().is_none_or(str::is_empty) {
            make_folder(&url)?;
        }
        let store = open_url(&url).await.map_err(|error| match error {
            OpenError::InvalidUrl(_) => Failure::usage(
                error.to_string(),
                "Write --store sqlite:PATH, redis://HOST, nats://HOST or postgres://HOST/DATABASE.",
            ),
            _ => unusable(&url, &error),
        })?;
        Ok(Ledger::new(store).await?)
    }
}

/// By the XDG base directory rules: a relative XDG_STATE_HOME counts as not set.
fn default_path(state_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let set = |value: Option<OsString>| value.filter(|value| !value.is_empty()).map(PathBuf::from);
    set(state_home)
        .filter(|path| path.is_absolute())
        .or_else(|| set(home).map(|home| home.join(".local/state")))
        .map(|state| state.join("idempotency/ledger.db"))
}

fn make_folder(url: &str) -> Result<(), Failure> {
    let Some(folder) = url.strip_prefix("sqlite:").and_then(|path| Path::new(path).parent()) else {
        return Ok(());
    };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| unusable(url, &error))
}

fn unusable(url: &str, error: &dyn std::error::Error) -> Failure {
    Failure::new(
        Exit::LedgerFailed,
        format!("the store {} cannot be opened: {error}", redact(url)),
        "Nothing was changed. Name one that you may write with --store or IDEMPOTENCY_STORE.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_folder_comes_before_the_home_folder() {
        let path = |state: Option<&str>, home: Option<&str>| {
            default_path(state.map(Into::into), home.map(Into::into))
        };
        let state = Some("/state/idempotency/ledger.db".into());
        let home = Some("/home/me/.local/state/idempotency/ledger.db".into());
        assert_eq!(path(Some("/state"), Some("/home/me")), state);
        assert_eq!(path(Some(""), Some("/home/me")), home);
        assert_eq!(path(Some("relative"), Some("/home/me")), home);
        assert_eq!(path(None, Some("/home/me")), home);
        assert_eq!(path(None, None), None);
    }
}
