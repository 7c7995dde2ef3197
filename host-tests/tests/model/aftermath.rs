//! What must hold after every history, whatever died and whatever failed.

use std::cell::RefCell;
use std::rc::Rc;

use idempotency_ledger::answer::Begin;
use idempotency_ledger::clock::Millis;
use idempotency_ledger::{Error, Instance};

use super::history::{Answer, Call};
use super::world::{ModelBucket, ModelClock, Request, Store};

/// Whatever happened: after leases and quarantines the key can be claimed, and purges leave
/// nothing but constants.
pub(super) fn aftermath(store: &Store, now_ms: Millis) -> Result<(), String> {
    let store = Rc::new(RefCell::new(store.clone()));
    let clock = ModelClock::default();
    let instance = Instance::new();
    let make = |call: Call| {
        let bucket = ModelBucket(|request: Request| store.borrow_mut().apply(&request));
        call.make(bucket, clock.clone(), &instance, None)
    };
    const DAY_MS: Millis = 86_400_000;
    clock.0.set(now_ms + DAY_MS);
    match make(Call::Begin { lease_ms: 10 }) {
        Answer::Begin(Begin::Fresh(_)) => {}
        other => return Err(format!("a day later the key is not free: {other:?}")),
    }
    for hour in 1..=8 {
        clock.0.set(now_ms + DAY_MS + hour * 3_700_000);
        for _ in 0..50 {
            match make(Call::Purge { limit: 10 }) {
                Answer::Purge(report) if !report.more => break,
                Answer::Purge(_) | Answer::Error(Error::Contended(_)) => {}
                other => return Err(format!("a purge failed: {other:?}")),
            }
        }
    }
    let store = store.borrow();
    let left: Vec<_> =
        store.values.keys().filter(|key| !["il.m", "il.p"].contains(&key.as_str())).collect();
    let counters: Vec<_> =
        store.counters.keys().filter(|key| !["il.c"].contains(&key.as_str())).collect();
    if left.is_empty() && counters.is_empty() {
        Ok(())
    } else {
        Err(format!("purges left {left:?} {counters:?}"))
    }
}
