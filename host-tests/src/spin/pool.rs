//! How long an instance lives and how many requests it serves.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::time::{Sleep, sleep};
use wasmtime::component::GuestTaskId;
use wasmtime::{Result, Store, StoreContextMut};
use wasmtime_wasi_http::WasiHttpView;
use wasmtime_wasi_http::handler::{
    HandlerState, Instance, ProxyPre, ShouldAccept, WorkerExpiration, WorkerState, WorkerStatus,
};

use super::app::App;
use super::state::State;

/// Spin's own numbers for WASI 0.3. For 0.2 it has an instance per request.
const MAX_AT_ONCE: usize = 16;
const MAX_REQUESTS: usize = 128;

/// An instance with nothing to do goes after so long, as Spin's does unless told otherwise.
const IDLE: Duration = Duration::from_secs(1);

/// What happened in a pool so far.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) instances: AtomicUsize,
    pub(crate) most_at_once: AtomicUsize,
}

/// The instances of an app.
pub(crate) struct Pool {
    pub(crate) app: App,
    pub(crate) counts: Arc<Counts>,
}

impl HandlerState for Pool {
    type StoreData = State;
    type WorkerExpiration = Expiration;
    type WorkerState = Worker;

    async fn instantiate(&self) -> Result<Instance<State, Expiration, Worker>> {
        self.counts.instances.fetch_add(1, Ordering::Relaxed);
        let state = State::new(Arc::clone(&self.app.rights));
        let mut store = Store::new(&self.app.engine, state);
        let proxy = self.app.pre.instantiate_async(&mut store).await?;
        let is_reused = matches!(*self.app.pre, ProxyPre::P3(_));
        let state = Worker { is_reused, counts: Arc::clone(&self.counts) };
        Ok(Instance { store, proxy, view: State::http, expiration: Expiration::new(), state })
    }
}

/// One instance's limits.
pub(crate) struct Worker {
    is_reused: bool,
    counts: Arc<Counts>,
}

impl WorkerState for Worker {
    type StoreData = State;
    type RequestData = ();

    fn should_accept_request(&self, at_once: usize, total: usize) -> ShouldAccept {
        self.counts.most_at_once.fetch_max(at_once, Ordering::Relaxed);
        let (max_at_once, max_requests) =
            if self.is_reused { (MAX_AT_ONCE, MAX_REQUESTS) } else { (1, 1) };
        match (at_once, total) {
            (_, total) if total >= max_requests => ShouldAccept::Never,
            (at_once, _) if at_once >= max_at_once => ShouldAccept::No,
            _ => ShouldAccept::Yes,
        }
    }

    /// No request times out: Spin has no such limit unless told otherwise.
    fn on_request_start(
        &self,
        _store: StoreContextMut<'_, State>,
        (): (),
        _task: GuestTaskId,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + Sync>> {
        Box::pin(std::future::pending())
    }

    /// How it ended, whoever asked was told.
    fn drop(&self, _store: Store<State>, _result: Result<()>) {}
}

/// Ends an instance that has nothing to do.
pub(crate) struct Expiration(Pin<Box<Sleep>>);

impl Expiration {
    fn new() -> Self {
        Self(Box::pin(sleep(IDLE)))
    }
}

impl WorkerExpiration for Expiration {
    fn poll(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        status: WorkerStatus,
        start: Instant,
    ) -> Poll<()> {
        if status != WorkerStatus::Idle {
            return Poll::Pending;
        }
        let end = tokio::time::Instant::from_std(start) + IDLE;
        if self.0.deadline() != end {
            self.0.as_mut().reset(end);
        }
        self.0.as_mut().poll(context)
    }
}
