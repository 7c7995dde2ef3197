//! The ledger that a client works on, wherever its calls go.

use std::fmt;
use std::sync::Arc;

use crate::error::Error;
use crate::types::{Begin, Complete, Entry, Release, Renew, Token};

#[cfg(target_family = "wasm")]
mod imported;
#[cfg(not(target_family = "wasm"))]
mod missing;
#[cfg(all(feature = "host", not(target_family = "wasm")))]
mod native;

/// What is recorded, as the ledger keeps it.
pub(crate) type Payload = Option<Vec<u8>>;

/// A ledger. Cheap to clone.
#[derive(Clone)]
pub struct Ledger(Arc<dyn Calls>);

/// What goes with every call of one client. What is `None` has the ledger's default.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) scope: Option<String>,
    pub(crate) lease_ms: Option<u64>,
    pub(crate) ttl_ms: Option<u64>,
    pub(crate) fingerprint: Option<Vec<u8>>,
    pub(crate) upsert_on_missing: bool,
}

/// The calls of the WIT interface `ledger`.
pub(crate) trait Calls: Send + Sync {
    fn begin(&self, key: &str, options: &Options) -> Result<Begin<Payload>, Error>;

    fn complete(
        &self,
        key: &str,
        token: Option<Token>,
        payload: &[u8],
        options: &Options,
    ) -> Result<Complete, Error>;

    fn renew(&self, key: &str, token: Token, options: &Options) -> Result<Renew, Error>;

    fn release(&self, key: &str, token: Token, options: &Options) -> Result<Release, Error>;

    fn get(&self, key: &str, options: &Options) -> Result<Option<Entry<Payload>>, Error>;
}

impl Ledger {
    /// The ledger that this component imports.
    ///
    /// Native code imports none: there each call answers [`Error::NoLedger`].
    pub fn imported() -> Self {
        #[cfg(target_family = "wasm")]
        let calls = imported::Imported;
        #[cfg(not(target_family = "wasm"))]
        let calls = missing::Missing;
        Self(Arc::new(calls))
    }

    /// The ledger that `builder` makes, for native code: the same component, in this process.
    ///
    /// It brings a runtime of its own, so it can be called from anywhere; each call blocks its
    /// thread until the ledger has answered.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] if the component cannot be compiled or no thread be started.
    #[cfg(all(feature = "host", not(target_family = "wasm")))]
    pub fn on_host(builder: idempotency_ledger_host::LedgerBuilder) -> Result<Self, Error> {
        Ok(Self(Arc::new(native::Native::new(builder)?)))
    }

    pub(crate) fn calls(&self) -> &dyn Calls {
        &*self.0
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Ledger")
    }
}
