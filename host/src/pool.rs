//! The instances of one ledger: made on demand, reused, and replaced after a trap.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::bindings::ProviderPre;
use crate::engine::Runtime;
use crate::instance::{Instance, State, Supplies};

/// Most instances that are kept while nobody needs them.
const MAX_IDLE: usize = 64;

/// A call under way on an instance.
pub(crate) type Calling<'a, R> = Pin<Box<dyn Future<Output = wasmtime::Result<R>> + Send + 'a>>;

/// The instances of one ledger.
pub(crate) struct Pool {
    runtime: &'static Runtime,
    component: ProviderPre<State>,
    supplies: Supplies,
    idle: Mutex<Vec<Instance>>,
    max_instances: usize,
    permits: Semaphore,
    call_timeout: Duration,
}

/// Why a call has no answer.
pub(crate) enum Failure {
    /// It did not start, so nothing has changed.
    NotStarted(String),
    /// It ended half-way: what it wrote stays, and a store call may still be under way.
    CutShort(String),
}

impl Pool {
    pub(crate) fn new(
        runtime: &'static Runtime,
        component: ProviderPre<State>,
        supplies: Supplies,
        max_instances: usize,
        call_timeout: Duration,
    ) -> Self {
        let max_instances = max_instances.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            runtime,
            component,
            supplies,
            idle: Mutex::default(),
            max_instances,
            permits: Semaphore::new(max_instances),
            call_timeout,
        }
    }

    /// Run `call` on an instance of its own. To be awaited in a task of its own, so that nobody
    /// who goes away cuts it short.
    pub(crate) async fn serve<R>(
        &self,
        call: impl for<'a> FnOnce(&'a mut Instance) -> Calling<'a, R>,
    ) -> Result<R, Failure> {
        let Ok(Ok(_permit)) = timeout(self.call_timeout, self.permits.acquire()).await else {
            return Err(Failure::NotStarted(format!(
                "all {} instances are busy",
                self.max_instances
            )));
        };
        let _active = self.runtime.activate();
        let mut instance = self.take().await?;
        instance.prepare();
        match timeout(self.call_timeout, call(&mut instance)).await {
            Ok(Ok(answer)) => {
                self.put_back(instance);
                Ok(answer)
            }
            Ok(Err(trap)) => Err(Failure::CutShort(format!("the component trapped: {trap:#}"))),
            Err(_) => Err(Failure::CutShort(format!(
                "no answer within {} ms",
                self.call_timeout.as_millis()
            ))),
        }
    }

    async fn take(&self) -> Result<Instance, Failure> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(instance) = idle {
            return Ok(instance);
        }
        let made = Instance::new(self.runtime, &self.component, self.supplies.clone()).await;
        made.map_err(|error| Failure::NotStarted(format!("no instance: {error:#}")))
    }

    fn put_back(&self, instance: Instance) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE {
            idle.push(instance);
        }
    }
}
