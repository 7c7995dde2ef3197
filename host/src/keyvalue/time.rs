//! `wasi:clocks/wall-clock`.

use super::KeyValueCtxView;
use crate::bindings::wasi::clocks::wall_clock::{Datetime, Host};

const MS_PER_SECOND: u64 = 1_000;
const NANOSECONDS_PER_MS: u32 = 1_000_000;

impl Host for KeyValueCtxView<'_> {
    async fn now(&mut self) -> wasmtime::Result<Datetime> {
        Ok(datetime(self.ctx.clock.now_ms()))
    }

    async fn resolution(&mut self) -> wasmtime::Result<Datetime> {
        Ok(datetime(1))
    }
}

fn datetime(ms: u64) -> Datetime {
    // Below 1 000, so it fits.
    let rest_ms = u32::try_from(ms % MS_PER_SECOND).unwrap_or_default();
    Datetime { seconds: ms / MS_PER_SECOND, nanoseconds: rest_ms * NANOSECONDS_PER_MS }
}
