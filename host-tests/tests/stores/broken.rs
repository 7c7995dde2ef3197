//! The suite refuses stores with the faults that stores have been seen with, each by the check
//! that is there for it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use idempotency_ledger_host::store::conformance::{CHECKS, Outage, check, check_outage};
use idempotency_ledger_host::store::{
    MemoryStore, Page, Store, StoreError, Swap, Version, Versioned,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    EmptyIsAbsent,
    LongValuesAreCut,
    KeysFoldCase,
    AnyKeyGoes,
    VersionsRestart,
    ConflictsWrite,
    BlindUpsert,
    CountersReadAsText,
    OverflowWraps,
    ValuesAreIncremented,
    KeysAreListedTwice,
    SwapsLookFirst,
    IncrementsLookFirst,
    ReadsAreOld,
    ClosedIsAbsent,
}

/// Every fault, and the check that has to find it.
const FAULTS: [(Fault, &str); 15] = [
    (Fault::EmptyIsAbsent, "values"),
    (Fault::LongValuesAreCut, "value-limits"),
    (Fault::KeysFoldCase, "keys"),
    (Fault::AnyKeyGoes, "key-limits"),
    (Fault::VersionsRestart, "versions"),
    (Fault::ConflictsWrite, "swaps"),
    (Fault::BlindUpsert, "swaps"),
    (Fault::CountersReadAsText, "counters"),
    (Fault::OverflowWraps, "counters"),
    (Fault::ValuesAreIncremented, "kinds"),
    (Fault::KeysAreListedTwice, "listing"),
    (Fault::SwapsLookFirst, "swap-races"),
    (Fault::IncrementsLookFirst, "increment-races"),
    (Fault::ReadsAreOld, "read-races"),
    (Fault::ClosedIsAbsent, "outage"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_fault_is_found_by_the_check_for_it() {
    let mut used: Vec<&str> = Vec::new();
    for (fault, name) in FAULTS {
        let broken = Arc::new(Broken::new(fault));
        let outage = Closing(Arc::clone(&broken));
        let store: Arc<dyn Store> = broken;
        let mut verdict = check(Arc::clone(&store)).await;
        if name == "outage" {
            assert_eq!(verdict, Ok(()), "{fault:?}");
            verdict = check_outage(store, &outage).await;
        }
        let found_by = verdict.expect_err(&format!("{fault:?} is a fault")).check;
        assert_eq!(found_by, name, "{fault:?}");
        used.push(name);
    }
    let unused: Vec<_> = CHECKS.iter().filter(|check| !used.contains(check)).collect();
    assert!(unused.is_empty(), "no fault for {unused:?}");
}

struct Broken {
    store: MemoryStore,
    fault: Fault,
    closed: AtomicBool,
    /// What was read last.
    seen: Mutex<BTreeMap<String, Versioned>>,
}

struct Closing(Arc<Broken>);

#[async_trait]
impl Outage for Closing {
    async fn begin(&self) {
        self.0.closed.store(true, Ordering::SeqCst);
    }
    async fn end(&self) {
        self.0.closed.store(false, Ordering::SeqCst);
    }
}

impl Broken {
    fn new(fault: Fault) -> Self {
        let (closed, seen) = (AtomicBool::new(false), Mutex::default());
        Self { store: MemoryStore::new(), fault, closed, seen }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn open(&self) -> Result<(), StoreError> {
        match self.closed.load(Ordering::SeqCst) {
            true => Err(StoreError::Other("closed".into())),
            false => Ok(()),
        }
    }

    /// The key as the store takes it.
    fn key(&self, key: &str) -> String {
        match self.fault {
            Fault::KeysFoldCase => key.to_lowercase(),
            Fault::AnyKeyGoes if key.is_empty() => "empty".into(),
            Fault::AnyKeyGoes if key.len() > 1024 => "long".into(),
            _ => key.to_owned(),
        }
    }

    async fn old(&self, key: &str, found: Option<Versioned>) -> Option<Versioned> {
        let mut seen = self.seen.lock().expect("a lock");
        let old = seen.get(key).cloned();
        if let Some(found) = &found {
            seen.insert(key.to_owned(), found.clone());
        }
        old.or(found)
    }
}

#[async_trait]
impl Store for Broken {
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        if self.has(Fault::ClosedIsAbsent) && self.open().is_err() {
            return Ok(None);
        }
        self.open()?;
        let key = self.key(key);
        let mut found = self.store.get(&key).await?;
        if self.has(Fault::ReadsAreOld) && key.ends_with("races/reads") {
            found = self.old(&key, found).await;
        }
        Ok(found.map(|mut found| {
            match self.fault {
                Fault::VersionsRestart => found.version = Version(found.value.len() as u64),
                Fault::CountersReadAsText if key.ends_with("counters") => {
                    found.value = b"5".to_vec();
                }
                _ => {}
            }
            found
        }))
    }

    async fn set(&self, key: &str, mut value: Vec<u8>) -> Result<(), StoreError> {
        self.open()?;
        let key = self.key(key);
        if self.has(Fault::EmptyIsAbsent) && value.is_empty() {
            return self.store.delete(&key).await;
        }
        if self.has(Fault::LongValuesAreCut) {
            value.truncate((1 << 20) - 1);
        }
        self.store.set(&key, value).await
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.open()?;
        self.store.delete(&self.key(key)).await
    }

    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        self.open()?;
        let key = self.key(key);
        let before = self.store.get(&key).await?;
        if self.has(Fault::IncrementsLookFirst) {
            tokio::time::sleep(Duration::from_millis(1)).await;
            let count = before.and_then(|found| found.value.try_into().ok());
            let count = i64::from_le_bytes(count.unwrap_or_default());
            self.store.increment(&key, delta).await?;
            return Ok(count + delta);
        }
        match self.store.increment(&key, delta).await {
            Err(_) if self.has(Fault::ValuesAreIncremented) && key.ends_with("kinds") => Ok(delta),
            Err(_) if self.has(Fault::OverflowWraps) && key.ends_with("counters") => {
                Ok(i64::MAX.wrapping_add(delta))
            }
            answered => answered,
        }
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError> {
        self.open()?;
        let key = self.key(key);
        match self.fault {
            Fault::BlindUpsert if expected.is_none() && key.ends_with("swaps") => {
                self.store.set(&key, value).await.map(|()| Swap::Swapped)
            }
            Fault::ConflictsWrite if key.ends_with("swaps") => {
                let swap = self.store.compare_and_swap(&key, expected, value.clone()).await?;
                if swap == Swap::Conflict {
                    self.store.set(&key, value).await?;
                }
                Ok(swap)
            }
            Fault::SwapsLookFirst if key.contains("races") => {
                let version = self.store.get(&key).await?.map(|found| found.version);
                tokio::time::sleep(Duration::from_millis(1)).await;
                if version != expected {
                    return Ok(Swap::Conflict);
                }
                self.store.set(&key, value).await.map(|()| Swap::Swapped)
            }
            _ => self.store.compare_and_swap(&key, expected, value).await,
        }
    }

    async fn list(&self, cursor: Option<String>) -> Result<Page, StoreError> {
        self.open()?;
        let mut page = self.store.list(cursor).await?;
        if self.has(Fault::KeysAreListedTwice) {
            page.keys.extend(page.keys.last().cloned());
        }
        Ok(page)
    }
}
