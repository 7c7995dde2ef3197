//! The imports of a ledger component, for a linker of your own.
//!
//! `wasi:keyvalue/store` and `atomics` (0.2.0-draft2) over a [`Store`], and
//! `wasi:clocks/wall-clock` over a [`Clock`]: for programs that run components of their own,
//! with a ledger composed into them or beside them. Programs that only want a ledger use
//! [`Ledger`](crate::Ledger).
//!
//! The one store that a component can open is named `default`. A call of the store that takes
//! longer than a bound, 5 s unless set, ends as the error `other`; it may still take effect.
//!
//! ```
//! use idempotency_ledger_host::keyvalue::{self, KeyValueCtx, KeyValueCtxView, KeyValueView};
//! use idempotency_ledger_host::store::MemoryStore;
//! use wasmtime::component::{Linker, ResourceTable};
//!
//! struct State {
//!     keyvalue: KeyValueCtx,
//!     table: ResourceTable,
//! }
//!
//! impl KeyValueView for State {
//!     fn keyvalue(&mut self) -> KeyValueCtxView<'_> {
//!         KeyValueCtxView { ctx: &mut self.keyvalue, table: &mut self.table }
//!     }
//! }
//!
//! # fn main() -> wasmtime::Result<()> {
//! let engine = wasmtime::Engine::default();
//! let mut linker = Linker::<State>::new(&engine);
//! keyvalue::add_to_linker(&mut linker)?;
//! let state = State { keyvalue: KeyValueCtx::new(MemoryStore::new()), table: ResourceTable::new() };
//! let store = wasmtime::Store::new(&engine, state);
//! # drop(store);
//! # Ok(())
//! # }
//! ```

use std::sync::Arc;
use std::time::Duration;

use wasmtime::component::{HasData, Linker, ResourceTable};

use crate::bindings::wasi::clocks::wall_clock;
use crate::bindings::wasi::keyvalue::{atomics, store as buckets};
use crate::clock::{Clock, SystemClock};
use crate::observe::{StoreAnswer, Watch};
use crate::store::{Store, StoreError};

pub(crate) mod atomic;
pub(crate) mod bucket;
mod time;

/// How long a store call may take unless said otherwise.
pub(crate) const STORE_TIMEOUT: Duration = Duration::from_secs(5);

/// The store and the clock that one component instance is given.
pub struct KeyValueCtx {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    store_timeout: Duration,
    calls: u64,
}

/// What the host functions work on: a [`KeyValueCtx`] and the table of the instance's handles.
pub struct KeyValueCtxView<'a> {
    /// The store and the clock.
    pub ctx: &'a mut KeyValueCtx,
    /// Keeps what the handles of the instance stand for.
    pub table: &'a mut ResourceTable,
}

/// State of a `wasmtime::Store` from which the host functions get what they need.
pub trait KeyValueView: Send {
    /// The store, the clock and the table of this instance.
    fn keyvalue(&mut self) -> KeyValueCtxView<'_>;
}

/// Define `wasi:keyvalue/store`, `wasi:keyvalue/atomics` and `wasi:clocks/wall-clock`.
///
/// Errors if one of them is defined already.
pub fn add_to_linker<T: KeyValueView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    add_keyvalue_to_linker(linker)?;
    add_clock_to_linker(linker)
}

/// Define `wasi:keyvalue/store` and `wasi:keyvalue/atomics` only.
///
/// Errors if one of them is defined already.
pub fn add_keyvalue_to_linker<T: KeyValueView + 'static>(
    linker: &mut Linker<T>,
) -> wasmtime::Result<()> {
    buckets::add_to_linker::<T, Views>(linker, T::keyvalue)?;
    atomics::add_to_linker::<T, Views>(linker, T::keyvalue)
}

/// Define `wasi:clocks/wall-clock` only.
///
/// Errors if it is defined already, by `wasmtime-wasi` say: then a ledger reads that clock.
pub fn add_clock_to_linker<T: KeyValueView + 'static>(
    linker: &mut Linker<T>,
) -> wasmtime::Result<()> {
    wall_clock::add_to_linker::<T, Views>(linker, T::keyvalue)
}

struct Views;

impl HasData for Views {
    type Data<'a> = KeyValueCtxView<'a>;
}

impl KeyValueCtx {
    /// `store`, the system's clock, and 5 s for each call of the store.
    pub fn new(store: impl Store) -> Self {
        Self::shared(Arc::new(store), Arc::new(SystemClock), STORE_TIMEOUT)
    }

    pub(crate) fn shared(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        store_timeout: Duration,
    ) -> Self {
        Self { store, clock, store_timeout, calls: 0 }
    }

    /// Read this clock instead.
    #[must_use]
    pub fn clock(self, clock: impl Clock) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// Give up on a call of the store after this long instead.
    #[must_use]
    pub fn store_timeout(self, store_timeout: Duration) -> Self {
        Self { store_timeout, ..self }
    }

    /// How many store calls this instance has made.
    pub(crate) fn calls(&self) -> u64 {
        self.calls
    }

    /// Await one call of the store's `method`, but not for ever.
    async fn bounded<R: StoreAnswer>(
        &mut self,
        method: &'static str,
        call: impl Future<Output = Result<R, StoreError>>,
    ) -> Result<R, buckets::Error> {
        self.calls = self.calls.wrapping_add(1);
        let watch = Watch::store_call(method);
        let call = watch.around(call);
        let error = match tokio::time::timeout(self.store_timeout, call).await {
            Ok(Ok(answer)) => {
                watch.end(answer.name());
                return Ok(answer);
            }
            Ok(Err(error)) => {
                watch.end("error");
                error
            }
            Err(_) => {
                watch.end("timed-out");
                StoreError::Other(format!("timed out after {} ms", self.store_timeout.as_millis()))
            }
        };
        Err(match error {
            StoreError::NoSuchStore => buckets::Error::NoSuchStore,
            StoreError::AccessDenied => buckets::Error::AccessDenied,
            StoreError::Other(message) => buckets::Error::Other(message),
        })
    }
}
