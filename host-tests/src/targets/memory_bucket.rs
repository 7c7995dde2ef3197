//! A store in memory behind the core's own port, seen at each of the ledger's imports.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use idempotency_ledger::bucket::{Bucket, StoreError, SwapError};

use crate::probe::{Failure, Probe, Side, StoreCall};

/// Something that happens just before or after one store call of somebody else.
pub struct Intruder {
    /// Which store call, counted from 1 since the probe was started.
    pub number: u64,
    /// Before or after its effect.
    pub side: Side,
    /// What happens. Its own store calls are to go through another probe.
    pub act: Box<dyn FnOnce() + Send>,
}

/// A sound store. Clones share its keys, and each has the probe that it was made with.
#[derive(Clone, Default)]
pub struct MemoryBucket {
    data: Arc<Mutex<Data>>,
    probe: Arc<Probe>,
    intruder: Arc<Mutex<Option<Intruder>>>,
    late: Arc<Mutex<Option<LateSwap>>>,
}

/// A swap that was answered with an error and has its effect yet to come.
struct LateSwap {
    key: String,
    expected: Option<u64>,
    value: Vec<u8>,
}

#[derive(Default)]
struct Data {
    entries: BTreeMap<String, Versioned>,
    last_version: u64,
}

#[derive(Clone)]
struct Versioned {
    content: Content,
    version: u64,
}

#[derive(Clone)]
enum Content {
    Value(Vec<u8>),
    Counter(i64),
}

/// A key, and what a swap expects there; read where it is opened, or first used where it comes
/// with a lost swap.
pub struct Handle {
    key: String,
    seen: RefCell<Option<Option<Versioned>>>,
}

impl MemoryBucket {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same keys, under a probe of its own.
    pub fn beside(&self) -> Self {
        MemoryBucket { data: Arc::clone(&self.data), ..Self::default() }
    }

    /// What counts the calls.
    pub fn probe(&self) -> &Probe {
        &self.probe
    }

    /// Lets something happen at a store call to come.
    pub fn intrude(&self, intruder: Intruder) {
        *self.intruder.lock().unwrap_or_else(PoisonError::into_inner) = Some(intruder);
    }

    /// Lets a late swap have its effect.
    pub fn land(&self) {
        let late = self.late.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(LateSwap { key, expected, value }) = late {
            // Too late: nobody waits for the answer.
            let _ = self.lock().swap(&key, expected, &value);
        }
    }

    /// Every key.
    pub(super) fn keys(&self) -> Vec<String> {
        self.lock().entries.keys().cloned().collect()
    }

    /// A value past the probe.
    pub(super) fn peek(&self, key: &str) -> Option<Vec<u8>> {
        self.lock().entries.get(key).map(Versioned::bytes)
    }

    /// Writes a value past the probe.
    pub(super) fn poke(&self, key: &str, value: Vec<u8>) {
        self.lock().put(key, Content::Value(value));
    }

    fn lock(&self) -> MutexGuard<'_, Data> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn intrusion(&self, side: Side) {
        let mut intruder = self.intruder.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = self.probe.calls();
        let due = intruder.take_if(|due| due.number == calls && due.side == side);
        drop(intruder);
        if let Some(due) = due {
            (due.act)();
        }
    }

    /// One store call: counted, perhaps failing, perhaps with an intruder beside it.
    fn run<R>(
        &self,
        call: StoreCall,
        effect: impl FnOnce(&mut Data) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        let fails = self.probe.next(call);
        self.act(fails, effect)
    }

    fn act<R>(
        &self,
        fails: Option<(Side, Failure)>,
        effect: impl FnOnce(&mut Data) -> Result<R, StoreError>,
    ) -> Result<R, StoreError> {
        self.intrusion(Side::Before);
        let answer = match fails {
            None => effect(&mut self.lock()),
            Some((Side::Before | Side::Late, failure)) => Err(store_error(failure)),
            Some((Side::After, failure)) => {
                effect(&mut self.lock()).and_then(|_| Err(store_error(failure)))
            }
        };
        self.intrusion(Side::After);
        answer
    }
}

fn store_error(failure: Failure) -> StoreError {
    match failure {
        Failure::NoSuchStore => StoreError::NoSuchStore,
        Failure::AccessDenied => StoreError::AccessDenied,
        Failure::Other => StoreError::Other("injected".into()),
    }
}

impl Versioned {
    fn bytes(&self) -> Vec<u8> {
        match &self.content {
            Content::Value(value) => value.clone(),
            Content::Counter(count) => count.to_le_bytes().to_vec(),
        }
    }
}

impl Data {
    fn put(&mut self, key: &str, content: Content) {
        self.last_version += 1;
        let entry = Versioned { content, version: self.last_version };
        self.entries.insert(key.into(), entry);
    }

    fn put_value(&mut self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        if let Some(Versioned { content: Content::Counter(_), .. }) = self.entries.get(key) {
            return Err(StoreError::Other(format!("{key} is a counter")));
        }
        self.put(key, Content::Value(value.into()));
        Ok(())
    }

    fn swap(&mut self, key: &str, expected: Option<u64>, value: &[u8]) -> Result<bool, StoreError> {
        if self.version(key) != expected {
            return Ok(false);
        }
        self.put_value(key, value).map(|()| true)
    }

    fn version(&self, key: &str) -> Option<u64> {
        self.entries.get(key).map(|entry| entry.version)
    }

    fn add(&mut self, key: &str, delta: i64) -> Result<i64, StoreError> {
        let before = match self.entries.get(key).map(|entry| &entry.content) {
            None => 0,
            Some(Content::Counter(count)) => *count,
            Some(Content::Value(_)) => {
                return Err(StoreError::Other(format!("{key} is a value")));
            }
        };
        let sum = before.checked_add(delta).ok_or(StoreError::Other("overflow".into()))?;
        self.put(key, Content::Counter(sum));
        Ok(sum)
    }
}

impl Bucket for MemoryBucket {
    type Cas = Handle;

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.run(StoreCall::Get, |data| Ok(data.entries.get(key).map(Versioned::bytes)))
    }

    fn set(&self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        self.run(StoreCall::Set, |data| data.put_value(key, value))
    }

    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.run(StoreCall::Delete, |data| {
            data.entries.remove(key);
            Ok(())
        })
    }

    fn exists(&self, key: &str) -> Result<bool, StoreError> {
        self.run(StoreCall::Exists, |data| Ok(data.entries.contains_key(key)))
    }

    fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        self.run(StoreCall::Increment, |data| data.add(key, delta))
    }

    fn cas(&self, key: &str) -> Result<Handle, StoreError> {
        self.run(StoreCall::CasNew, |data| {
            let seen = RefCell::new(Some(data.entries.get(key).cloned()));
            Ok(Handle { key: key.into(), seen })
        })
    }

    fn current(&self, cas: &Handle) -> Result<Option<Vec<u8>>, StoreError> {
        self.run(StoreCall::CasCurrent, |data| {
            let mut seen = cas.seen.borrow_mut();
            let seen = seen.get_or_insert_with(|| data.entries.get(&cas.key).cloned());
            Ok(seen.as_ref().map(Versioned::bytes))
        })
    }

    fn swap(&self, cas: Handle, value: &[u8]) -> Result<(), SwapError<Handle>> {
        let fails = self.probe.next(StoreCall::Swap);
        self.land();
        let expected = match cas.seen.borrow().as_ref() {
            Some(seen) => seen.as_ref().map(|entry| entry.version),
            None => self.lock().version(&cas.key),
        };
        if let Some((Side::Late, _)) = fails {
            let late = LateSwap { key: cas.key.clone(), expected, value: value.into() };
            *self.late.lock().unwrap_or_else(PoisonError::into_inner) = Some(late);
        }
        let swapped = self.act(fails, |data| data.swap(&cas.key, expected, value));
        match swapped {
            Ok(true) => Ok(()),
            Ok(false) => Err(SwapError::Failed(Handle { key: cas.key, seen: RefCell::default() })),
            Err(error) => Err(SwapError::Store(error)),
        }
    }
}
