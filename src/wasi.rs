//! The ports over the host's imports: wasi:keyvalue and wasi:clocks. Generated types are
//! named here and in `component.rs` only.

use alloc::vec::Vec;

use core::cell::OnceCell;

use crate::bucket::{Bucket, StoreError, SwapError};
use crate::clock::{Clock, Millis};
use crate::component::bindings::wasi::keyvalue::{atomics, store};
use swap::Swappable;

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
    type Cas = Swappable;

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

    fn cas(&self, key: &str) -> Result<Swappable, StoreError> {
        swap::open(self.open()?, key)
    }

    fn current(&self, cas: &Swappable) -> Result<Option<Vec<u8>>, StoreError> {
        swap::current(cas)
    }

    fn swap(&self, cas: Swappable, value: &[u8]) -> Result<(), SwapError<Swappable>> {
        swap::swap(cas, value)
    }
}

/// The host's compare-and-swap.
#[cfg(not(feature = "ticket"))]
mod swap {
    use alloc::vec::Vec;

    use crate::bucket::{StoreError, SwapError};
    use crate::component::bindings::wasi::keyvalue::{atomics, store};

    pub(crate) type Swappable = atomics::Cas;

    pub(super) fn open(bucket: &store::Bucket, key: &str) -> Result<Swappable, StoreError> {
        Ok(atomics::Cas::new(bucket, key)?)
    }

    pub(super) fn current(cas: &Swappable) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(cas.current()?)
    }

    pub(super) fn swap(cas: Swappable, value: &[u8]) -> Result<(), SwapError<Swappable>> {
        atomics::swap(cas, value).map_err(|error| match error {
            atomics::CasError::CasFailed(newer) => SwapError::Failed(newer),
            atomics::CasError::StoreError(error) => SwapError::Store(error.into()),
        })
    }
}

/// A build that needs no compare-and-swap does not import it either.
#[cfg(feature = "ticket")]
mod swap {
    use alloc::vec::Vec;

    use crate::bucket::{StoreError, SwapError};
    use crate::component::bindings::wasi::keyvalue::store;

    /// There is none.
    pub(crate) enum Swappable {}

    pub(super) fn open(_: &store::Bucket, _: &str) -> Result<Swappable, StoreError> {
        Err(StoreError::Other("this build does not swap".into()))
    }

    pub(super) fn current(cas: &Swappable) -> Result<Option<Vec<u8>>, StoreError> {
        match *cas {}
    }

    pub(super) fn swap(cas: Swappable, _: &[u8]) -> Result<(), SwapError<Swappable>> {
        match cas {}
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
