//! The ports over the host's imports: wasi:keyvalue and wasi:clocks. Generated types are
//! named here and in `component.rs` only.

use alloc::vec::Vec;

use core::cell::OnceCell;

use crate::bucket::{Bucket, StoreError, SwapError};
use crate::clock::{Clock, Millis};
use crate::component::bindings::wasi::keyvalue::{atomics, store};

/// The store that the host names so.
const STORE: &str = "default";

/// The host's bucket, opened at its first use: bad input is refused before.
#[derive(Default)]
pub(crate) struct HostBucket(OnceCell<store::Bucket>);

impl HostBucket {
    fn open(&self) -> Result<&store::Bucket, StoreError> {
        match self.0.get() {
            Some(bucket) => Ok(bucket),
            None => {
                let bucket = store::open(STORE)?;
                Ok(self.0.get_or_init(|| bucket))
            }
        }
    }
}

impl Bucket for HostBucket {
    type Cas = atomics::Cas;

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.open()?.get(key)?)
    }

    fn set(&self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        Ok(self.open()?.set(key, value)?)
    }

    fn delete(&self, key: &str) -> Result<(), StoreError> {
        Ok(self.open()?.delete(key)?)
    }

    fn exists(&self, key: &str) -> Result<bool, StoreError> {
        Ok(self.open()?.exists(key)?)
    }

    fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        Ok(atomics::increment(self.open()?, key, delta)?)
    }

    fn cas(&self, key: &str) -> Result<Self::Cas, StoreError> {
        Ok(atomics::Cas::new(self.open()?, key)?)
    }

    fn current(&self, cas: &Self::Cas) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(cas.current()?)
    }

    fn swap(&self, cas: Self::Cas, value: &[u8]) -> Result<(), SwapError<Self::Cas>> {
        atomics::swap(cas, value).map_err(|error| match error {
            atomics::CasError::CasFailed(newer) => SwapError::Failed(newer),
            atomics::CasError::StoreError(error) => SwapError::Store(error.into()),
        })
    }
}

impl From<store::Error> for StoreError {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::NoSuchStore => StoreError::NoSuchStore,
            store::Error::AccessDenied => StoreError::AccessDenied,
            store::Error::Other(message) => StoreError::Other(message),
        }
    }
}

/// The host's wall clock. A time before the epoch cannot be told, one too great is the
/// greatest there is.
pub(crate) struct HostClock;

impl Clock for HostClock {
    fn now_ms(&self) -> Millis {
        let now = wasi::clocks::wall_clock::now();
        now.seconds.saturating_mul(1_000).saturating_add(u64::from(now.nanoseconds / 1_000_000))
    }
}
