//! A ledger with a clock, bounds or a component of its own.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Clock, SystemClock};
use crate::engine;
use crate::error::Error;
use crate::instance::Supplies;
use crate::keyvalue::STORE_TIMEOUT;
use crate::ledger::Ledger;
use crate::pool::Pool;
use crate::store::Store;
use crate::types::Strategy;

/// Most calls at once, unless said otherwise.
const MAX_INSTANCES: usize = 1_000;

/// How long a call may take unless said otherwise: longer than the 60 s after which the
/// component itself stops.
const CALL_TIMEOUT: Duration = Duration::from_secs(75);

/// From [`Ledger::builder`].
#[must_use]
pub struct LedgerBuilder {
    supplies: Supplies,
    max_instances: usize,
    call_timeout: Duration,
    component: Option<Vec<u8>>,
    strategy: Strategy,
}

impl LedgerBuilder {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let supplies =
            Supplies { store, clock: Arc::new(SystemClock), store_timeout: STORE_TIMEOUT };
        Self {
            supplies,
            max_instances: MAX_INSTANCES,
            call_timeout: CALL_TIMEOUT,
            component: None,
            strategy: Strategy::Cas,
        }
    }

    /// Read this clock instead of the system's. Bounds on calls stay in real time.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.supplies.clock = Arc::new(clock);
        self
    }

    /// Most calls at once, 1 000 unless set; further ones wait. Each uses about 2 MiB.
    pub fn max_instances(mut self, max_instances: usize) -> Self {
        self.max_instances = max_instances;
        self
    }

    /// Give up on a call after this long, 75 s unless set.
    pub fn call_timeout(mut self, call_timeout: Duration) -> Self {
        self.call_timeout = call_timeout;
        self
    }

    /// Give up on a single call of the store after this long, 5 s unless set.
    pub fn store_timeout(mut self, store_timeout: Duration) -> Self {
        self.supplies.store_timeout = store_timeout;
        self
    }

    /// Who decides which of two callers won: [`Strategy::Cas`] unless set. For a store without a
    /// sound compare-and-swap, or one that a host without one shares, [`Strategy::Ticket`]. One
    /// store is served by one strategy only; the other is refused as corrupt.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Run this component instead of those that the crate carries: the bytes of a component
    /// of the world `provider` in `idempotency:ledger`.
    pub fn component(mut self, component: impl Into<Vec<u8>>) -> Self {
        self.component = Some(component.into());
        self
    }

    /// The ledger.
    ///
    /// # Errors
    ///
    /// [`Error::Component`] if the component cannot be compiled or is no ledger.
    pub async fn build(self) -> Result<Ledger, Error> {
        let Self { supplies, max_instances, call_timeout, component, strategy } = self;
        let compile = move || match component {
            Some(component) => engine::compile(&component),
            None => engine::carried(strategy),
        };
        let compiled = tokio::task::spawn_blocking(compile).await;
        let component = compiled.map_err(|error| Error::Component(error.to_string()))??;
        Ok(Ledger::over(Pool::new(
            engine::runtime()?,
            component,
            supplies,
            max_instances,
            call_timeout,
        )))
    }
}
