//! `wasi:keyvalue/atomics`.

use std::sync::Arc;

use wasmtime::component::Resource;

use super::KeyValueCtxView;
use super::bucket::Bucket;
use crate::bindings::wasi::keyvalue::atomics::{CasError, Host, HostCas};
use crate::bindings::wasi::keyvalue::store::Error;
use crate::store::{Swap, Versioned};

/// A handle of a compare-and-swap: the key, and what it is compared with.
///
/// A handle made by `new` is read there, once, so that `current` and `swap` speak of the same
/// state, also where the caller never asks for `current`. A handle that comes with
/// `cas-failed` is read when it is first used: it may never be, and a failing read must not
/// hide that the swap was lost.
#[expect(unreachable_pub, reason = "the bindings re-export it")]
pub struct Cas {
    key: String,
    seen: Option<Seen>,
}

/// A state of the key.
struct Seen(Option<Versioned>);

impl KeyValueCtxView<'_> {
    async fn look(&mut self, key: &str) -> Result<Seen, Error> {
        let store = Arc::clone(&self.ctx.store);
        self.ctx.bounded("get", store.get(key)).await.map(Seen)
    }

    async fn try_swap(&mut self, cas: Cas, value: Vec<u8>) -> Result<(Swap, String), Error> {
        let Seen(found) = match cas.seen {
            Some(seen) => seen,
            None => self.look(&cas.key).await?,
        };
        let store = Arc::clone(&self.ctx.store);
        let expected = found.map(|versioned| versioned.version);
        let swap = self
            .ctx
            .bounded("compare_and_swap", store.compare_and_swap(&cas.key, expected, value))
            .await?;
        Ok((swap, cas.key))
    }
}

impl Host for KeyValueCtxView<'_> {
    async fn increment(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
        delta: i64,
    ) -> wasmtime::Result<Result<i64, Error>> {
        self.table.get(&bucket)?;
        let store = Arc::clone(&self.ctx.store);
        Ok(self.ctx.bounded("increment", store.increment(&key, delta)).await)
    }

    async fn swap(
        &mut self,
        cas: Resource<Cas>,
        value: Vec<u8>,
    ) -> wasmtime::Result<Result<(), CasError>> {
        let cas = self.table.delete(cas)?;
        Ok(match self.try_swap(cas, value).await {
            Ok((Swap::Swapped, _)) => Ok(()),
            Ok((Swap::Conflict, key)) => {
                Err(CasError::CasFailed(self.table.push(Cas { key, seen: None })?))
            }
            Err(error) => Err(CasError::StoreError(error)),
        })
    }
}

impl HostCas for KeyValueCtxView<'_> {
    async fn new(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
    ) -> wasmtime::Result<Result<Resource<Cas>, Error>> {
        self.table.get(&bucket)?;
        Ok(match self.look(&key).await {
            Ok(seen) => Ok(self.table.push(Cas { key, seen: Some(seen) })?),
            Err(error) => Err(error),
        })
    }

    async fn current(
        &mut self,
        cas: Resource<Cas>,
    ) -> wasmtime::Result<Result<Option<Vec<u8>>, Error>> {
        let handle = self.table.get(&cas)?;
        if let Some(Seen(found)) = &handle.seen {
            return Ok(Ok(found.as_ref().map(|versioned| versioned.value.clone())));
        }
        let key = handle.key.clone();
        let seen = match self.look(&key).await {
            Ok(seen) => seen,
            Err(error) => return Ok(Err(error)),
        };
        let value = seen.0.as_ref().map(|versioned| versioned.value.clone());
        self.table.get_mut(&cas)?.seen = Some(seen);
        Ok(Ok(value))
    }

    async fn drop(&mut self, cas: Resource<Cas>) -> wasmtime::Result<()> {
        self.table.delete(cas)?;
        Ok(())
    }
}
