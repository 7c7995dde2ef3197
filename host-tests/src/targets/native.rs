//! The core, compiled for this machine, over a store in memory.

use async_trait::async_trait;
use idempotency_ledger::answer::{BeginOptions, CompleteOptions, PurgeOptions, RenewOptions};
use idempotency_ledger::clock::Clock;
use idempotency_ledger::slot_log::SlotLog;
use idempotency_ledger::slot_log::cas::Cas;
use idempotency_ledger::slot_log::ticket::Ticket;
use idempotency_ledger::{Instance, Ledger};
use idempotency_ledger_host::{Clock as _, ManualClock, Strategy};
use serde_json::Value;

use super::memory_bucket::MemoryBucket;
use super::words::Words;
use crate::call::{Call, CallName};
use crate::probe::Probe;
use crate::target::Target;

/// One instance of the core. Several on one bucket and clock are several processes.
pub struct Native {
    strategy: Strategy,
    bucket: MemoryBucket,
    clock: ManualClock,
    instance: Instance,
}

struct CoreClock(ManualClock);

impl Clock for CoreClock {
    fn now_ms(&self) -> u64 {
        self.0.now_ms()
    }
}

impl Native {
    /// An empty store at time 0.
    pub fn new(strategy: Strategy) -> Self {
        Native {
            strategy,
            bucket: MemoryBucket::default(),
            clock: ManualClock::default(),
            instance: Instance::new(),
        }
    }

    /// A further instance on the same store and clock, under a probe of its own.
    pub fn beside(&self) -> Self {
        let instance = Instance::new();
        let strategy = self.strategy;
        Native { strategy, bucket: self.bucket.beside(), clock: self.clock.clone(), instance }
    }

    /// The store.
    pub fn bucket(&self) -> &MemoryBucket {
        &self.bucket
    }

    /// [`Target::call`], which here never waits.
    pub fn ask(&self, call: &Call) -> Value {
        match self.strategy {
            Strategy::Cas => self.ask_of::<Cas>(call),
            Strategy::Ticket => self.ask_of::<Ticket>(call),
        }
    }

    fn ask_of<L: SlotLog<MemoryBucket>>(&self, call: &Call) -> Value {
        let clock = CoreClock(self.clock.clone());
        let ledger: Ledger<_, _, L> = Ledger::new(self.bucket.clone(), clock, &self.instance);
        let (key, scope) = (call.key.as_str(), call.scope.as_deref());
        let token = call.token.unwrap_or_default();
        match call.name {
            CallName::Begin => ledger.begin(key, &begin_options(call)).words(),
            CallName::Complete => {
                ledger.complete(key, call.payload.as_deref(), &complete_options(call)).words()
            }
            CallName::Renew => {
                let options = RenewOptions { scope: call.scope.clone(), lease_ms: call.lease_ms };
                ledger.renew(key, token, &options).words()
            }
            CallName::Release => ledger.release(key, token, scope).words(),
            CallName::Get => ledger.get(key, scope).words(),
            CallName::Purge => {
                let options = PurgeOptions { before_ms: call.before_ms, limit: call.limit };
                ledger.purge(&options).words()
            }
            CallName::Forget => ledger.forget(key, token, scope).words(),
            CallName::CheckStore => ledger.check_store().words(),
        }
    }
}

fn begin_options(call: &Call) -> BeginOptions {
    BeginOptions {
        scope: call.scope.clone(),
        lease_ms: call.lease_ms,
        fingerprint: call.fingerprint.clone(),
    }
}

fn complete_options(call: &Call) -> CompleteOptions {
    CompleteOptions {
        scope: call.scope.clone(),
        token: call.token,
        ttl_ms: call.ttl_ms,
        upsert_on_missing: call.upsert_on_missing,
    }
}

#[async_trait]
impl Target for Native {
    async fn call(&self, call: &Call) -> Value {
        self.ask(call)
    }

    fn set_clock(&self, now_ms: u64) {
        self.clock.set_ms(now_ms);
    }

    fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    async fn store_set(&self, key: &str, value: Vec<u8>) {
        self.bucket.poke(key, value);
    }

    async fn store_get(&self, key: &str) -> Option<Vec<u8>> {
        self.bucket.peek(key)
    }

    async fn store_keys(&self) -> Vec<String> {
        self.bucket.keys()
    }

    async fn land(&self) {
        self.bucket.land();
    }

    fn probe(&self) -> &Probe {
        self.bucket.probe()
    }
}
