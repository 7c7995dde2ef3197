//! The host of the example components: it gives them a bank, and their ledger a store and a
//! clock. Each call has an instance of its own, as on a serverless host.

use std::sync::Arc;

use async_trait::async_trait;
use idempotency_ledger_host::Clock;
use idempotency_ledger_host::keyvalue::{self, KeyValueCtx, KeyValueCtxView, KeyValueView};
use idempotency_ledger_host::store::Store;
use wasmtime::component::{Component, HasSelf, Linker, ResourceTable};
use wasmtime::{Config, Engine, OptLevel, Result};

#[allow(missing_docs, unreachable_pub, clippy::all, reason = "generated")]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "shop",
        imports: { default: async },
        exports: { default: async },
    });
}

pub use bindings::exports::example::shop::charging::Answer;

/// What must not happen twice.
#[async_trait]
pub trait Bank: Send + Sync + 'static {
    /// Charge a card for an order under the claim's token; answer the receipt's number.
    async fn charge(&self, order: &str, cents: u32, token: u64) -> Result<String, String>;
}

/// A composed component of the world `shop`, ready to be called.
#[derive(Clone)]
pub struct Shop {
    app: bindings::ShopPre<State>,
    engine: Engine,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    bank: Arc<dyn Bank>,
}

/// What one instance works on.
struct State {
    keyvalue: KeyValueCtx,
    table: ResourceTable,
    bank: Arc<dyn Bank>,
}

impl KeyValueView for State {
    fn keyvalue(&mut self) -> KeyValueCtxView<'_> {
        KeyValueCtxView { ctx: &mut self.keyvalue, table: &mut self.table }
    }
}

impl bindings::example::shop::bank::Host for State {
    async fn charge(&mut self, order: String, cents: u32, token: u64) -> Result<String, String> {
        self.bank.charge(&order, cents, token).await
    }
}

impl Shop {
    /// Compiles the component and links it: a bank, a key-value store and a clock are all that
    /// it may import.
    ///
    /// # Errors
    ///
    /// Where it is no component, imports anything else, or does not export `charging`.
    pub fn load(
        component: &[u8],
        store: impl Store,
        clock: impl Clock,
        bank: impl Bank,
    ) -> Result<Self> {
        let mut config = Config::new();
        // An interpreter of some megabytes is compiled at each start, and runs a few calls.
        config.cranelift_opt_level(OptLevel::None);
        let engine = Engine::new(&config)?;
        let mut linker = Linker::<State>::new(&engine);
        keyvalue::add_to_linker(&mut linker)?;
        bindings::Shop::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
        let component = Component::new(&engine, component)?;
        let app = bindings::ShopPre::new(linker.instantiate_pre(&component)?)?;
        let (store, clock, bank) = (Arc::new(store), Arc::new(clock), Arc::new(bank));
        Ok(Self { app, engine, store, clock, bank })
    }

    /// One call of the component's `charge`, in a new instance.
    ///
    /// # Errors
    ///
    /// The outer where the component trapped; the inner is what it answered.
    pub async fn charge(&self, order: &str, cents: u32) -> Result<Result<Answer, String>> {
        let keyvalue = KeyValueCtx::new(self.store.clone()).clock(self.clock.clone());
        let state = State { keyvalue, table: ResourceTable::new(), bank: self.bank.clone() };
        let mut store = wasmtime::Store::new(&self.engine, state);
        let instance = self.app.instantiate_async(&mut store).await?;
        let charging = instance.example_shop_charging();
        charging.call_charge(&mut store, order, cents).await
    }
}
