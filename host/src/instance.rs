//! One instance of the component, with its bounds on computing and memory.

use std::sync::Arc;
use std::time::Duration;

use wasmtime::component::ResourceTable;
use wasmtime::{StoreContextMut, StoreLimits, StoreLimitsBuilder, UpdateDeadline};

use crate::bindings::exports::idempotency::ledger::{ledger, maintenance};
use crate::bindings::{Provider, ProviderPre};
use crate::clock::Clock;
use crate::engine::{EPOCH, MEMORY_LIMIT_BYTES, Runtime};
use crate::keyvalue::{KeyValueCtx, KeyValueCtxView, KeyValueView};
use crate::store::Store;

/// How many epochs an instance may compute without a store call in between: 2 s, where every
/// call of the ledger needs milliseconds.
const COMPUTING_EPOCHS: u32 = 200;

/// What every instance of a ledger is given.
#[derive(Clone)]
pub(crate) struct Supplies {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) store_timeout: Duration,
}

/// An instance, ready for one call after the other. After a trap it must not be used again.
pub(crate) struct Instance {
    store: wasmtime::Store<State>,
    provider: Provider,
}

/// What the host functions and the limits of an instance work on.
pub(crate) struct State {
    keyvalue: KeyValueCtx,
    table: ResourceTable,
    limits: StoreLimits,
    /// Epochs that ended while the instance was computing, since the last store call.
    epochs: u32,
    /// The number of store calls at that time.
    calls: u64,
}

impl KeyValueView for State {
    fn keyvalue(&mut self) -> KeyValueCtxView<'_> {
        KeyValueCtxView { ctx: &mut self.keyvalue, table: &mut self.table }
    }
}

impl Instance {
    /// Takes some ten microseconds.
    pub(crate) async fn new(
        runtime: &Runtime,
        component: &ProviderPre<State>,
        supplies: Supplies,
    ) -> wasmtime::Result<Self> {
        let state = State {
            keyvalue: KeyValueCtx::shared(supplies.store, supplies.clock, supplies.store_timeout),
            table: ResourceTable::new(),
            limits: StoreLimitsBuilder::new().memory_size(MEMORY_LIMIT_BYTES).build(),
            epochs: 0,
            calls: 0,
        };
        let mut store = wasmtime::Store::new(runtime.engine(), state);
        store.limiter(|state| &mut state.limits);
        store.epoch_deadline_callback(end_of_epoch);
        store.set_epoch_deadline(1);
        let provider = component.instantiate_async(&mut store).await?;
        Ok(Self { store, provider })
    }

    /// To be called before each call.
    pub(crate) fn prepare(&mut self) {
        self.store.set_epoch_deadline(1);
        self.store.data_mut().epochs = 0;
    }

    /// The interface for applications, and the store to call it with.
    pub(crate) fn ledger(&mut self) -> (&ledger::Guest, &mut wasmtime::Store<State>) {
        (self.provider.idempotency_ledger_ledger(), &mut self.store)
    }

    /// The interface for operators, and the store to call it with.
    pub(crate) fn maintenance(&mut self) -> (&maintenance::Guest, &mut wasmtime::Store<State>) {
        (self.provider.idempotency_ledger_maintenance(), &mut self.store)
    }
}

/// Let other tasks run; end a call that only computes.
fn end_of_epoch(mut context: StoreContextMut<'_, State>) -> wasmtime::Result<UpdateDeadline> {
    let state = context.data_mut();
    let calls = state.keyvalue.calls();
    if state.calls == calls {
        state.epochs += 1;
    } else {
        state.calls = calls;
        state.epochs = 0;
    }
    if state.epochs > COMPUTING_EPOCHS {
        let limit_ms = u128::from(COMPUTING_EPOCHS) * EPOCH.as_millis();
        return Err(wasmtime::Error::msg(format!(
            "computed for {limit_ms} ms without a store call"
        )));
    }
    // Of tokio itself, so that its timers and sockets get their turn too.
    Ok(UpdateDeadline::YieldCustom(1, Box::pin(tokio::task::yield_now())))
}
