//! What one instance of an app works on.

use std::sync::Arc;

use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use super::app::Rights;
use super::outbound::Outbound;

pub(crate) struct State {
    wasi: WasiCtx,
    http: WasiHttpCtx,
    outbound: Outbound,
    pub(crate) table: ResourceTable,
    pub(crate) rights: Arc<Rights>,
}

impl State {
    pub(crate) fn new(rights: Arc<Rights>) -> Self {
        Self {
            wasi: WasiCtx::builder().inherit_stderr().build(),
            http: WasiHttpCtx::new(),
            outbound: Outbound::new(Arc::clone(&rights)),
            table: ResourceTable::new(),
            rights,
        }
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl WasiHttpView for State {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        let Self { http, outbound, table, .. } = self;
        WasiHttpCtxView { hooks: outbound, table, ctx: http }
    }
}
