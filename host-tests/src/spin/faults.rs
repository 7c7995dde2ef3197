//! What goes wrong between a guest and its store, and how many calls there are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use nix::sys::signal::{Signal, raise};
use tokio::time::sleep;

use super::engine::{Answer, Engine, Handle};
use crate::doubles::Pace;
use crate::probe::{Probe, StoreCall};

/// The faults of one double.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// Before each call.
    pub delay: Duration,
    /// So many of a thousand calls fail as `database is locked`, without effect.
    pub locked_per_mille: u32,
    /// The process dies by `SIGKILL` at this call: an odd number before its effect, an even one
    /// after it.
    pub dies_at: Option<u64>,
}

/// A store with faults. Every call of a guest is counted by its probe.
pub struct Faulty {
    inner: Arc<dyn Engine>,
    shared: Arc<Shared>,
}

struct Shared {
    faults: Faults,
    pace: Pace,
    calls: AtomicU64,
    probe: Arc<Probe>,
}

impl Faulty {
    /// `inner` with `faults`, which fall by `seed`.
    pub fn new(inner: Arc<dyn Engine>, faults: Faults, seed: u64) -> Self {
        let (pace, probe) = (Pace::new(seed), Arc::new(Probe::new()));
        let shared = Shared { faults, pace, calls: AtomicU64::new(0), probe };
        Self { inner, shared: Arc::new(shared) }
    }

    /// What counts the calls.
    pub fn probe(&self) -> Arc<Probe> {
        Arc::clone(&self.shared.probe)
    }
}

impl Shared {
    async fn run<R>(
        &self,
        name: StoreCall,
        call: impl Future<Output = Answer<R>> + Send,
    ) -> Answer<R> {
        self.probe.next(name);
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if !self.faults.delay.is_zero() {
            sleep(self.faults.delay).await;
        }
        if self.pace.happens(self.faults.locked_per_mille) {
            return Err("database is locked".to_owned());
        }
        let dies = self.faults.dies_at == Some(number);
        if dies && number % 2 == 1 {
            die();
        }
        let answer = call.await;
        if dies {
            die();
        }
        answer
    }
}

fn die() {
    raise(Signal::SIGKILL).expect("a signal to this process");
}

#[async_trait]
impl Engine for Faulty {
    async fn open(&self) -> Answer<()> {
        self.inner.open().await
    }

    async fn get(&self, key: &str) -> Answer<Option<Vec<u8>>> {
        self.shared.run(StoreCall::Get, self.inner.get(key)).await
    }

    async fn set(&self, key: &str, value: Vec<u8>) -> Answer<()> {
        self.shared.run(StoreCall::Set, self.inner.set(key, value)).await
    }

    async fn delete(&self, key: &str) -> Answer<()> {
        self.shared.run(StoreCall::Delete, self.inner.delete(key)).await
    }

    async fn exists(&self, key: &str) -> Answer<bool> {
        self.shared.run(StoreCall::Exists, self.inner.exists(key)).await
    }

    async fn keys(&self) -> Answer<Vec<String>> {
        self.inner.keys().await
    }

    async fn increment(&self, key: &str, delta: i64) -> Answer<i64> {
        self.shared.run(StoreCall::Increment, self.inner.increment(key, delta)).await
    }

    async fn compare(&self, key: &str) -> Answer<Box<dyn Handle>> {
        let inner = self.shared.run(StoreCall::CasNew, self.inner.compare(key)).await?;
        Ok(Box::new(FaultyHandle { inner, shared: Arc::clone(&self.shared) }))
    }
}

struct FaultyHandle {
    inner: Box<dyn Handle>,
    shared: Arc<Shared>,
}

#[async_trait]
impl Handle for FaultyHandle {
    async fn current(&mut self) -> Answer<Option<Vec<u8>>> {
        self.shared.run(StoreCall::CasCurrent, self.inner.current()).await
    }

    async fn swap(&mut self, value: Vec<u8>) -> Answer<bool> {
        self.shared.run(StoreCall::Swap, self.inner.swap(value)).await
    }
}
