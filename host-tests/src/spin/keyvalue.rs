//! `wasi:keyvalue` as Spin's host functions answer it.

use std::sync::Arc;

use tokio::sync::Mutex;
use wasmtime::component::{HasSelf, Linker, Resource};
use wasmtime::{Result, bail};

use super::engine::{Engine, Handle};
use super::state::State;
use bindings::wasi::keyvalue::atomics::{self, CasError, HostCas};
use bindings::wasi::keyvalue::store::{self, Error, HostBucket, KeyResponse};

#[allow(missing_docs, unreachable_pub, clippy::all, reason = "generated")]
mod bindings {
    wasmtime::component::bindgen!({
        inline: "
            package ledger:double;
            world imports {
                import wasi:keyvalue/store@0.2.0-draft2;
                import wasi:keyvalue/atomics@0.2.0-draft2;
            }
        ",
        path: "../wit/deps/keyvalue",
        imports: { default: async | trappable },
        with: {
            "wasi:keyvalue/store.bucket": super::Bucket,
            "wasi:keyvalue/atomics.cas": super::Cas,
        },
    });
}

/// The largest answer of a store: beyond it a value traps its guest, and a listing is an error
/// (measured on Spin 4.1).
const MAX_RESULT_BYTES: usize = 128 * 1024 * 1024;

/// An open store.
#[expect(unreachable_pub, reason = "the bindings re-export it")]
pub struct Bucket(Arc<dyn Engine>);

/// A compare-and-swap, and how to make the next one.
#[expect(unreachable_pub, reason = "the bindings re-export it")]
pub struct Cas {
    engine: Arc<dyn Engine>,
    key: String,
    handle: Arc<Mutex<Box<dyn Handle>>>,
}

pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    store::add_to_linker::<State, HasSelf<State>>(linker, |state| state)?;
    atomics::add_to_linker::<State, HasSelf<State>>(linker, |state| state)
}

impl State {
    fn engine(&self, bucket: &Resource<Bucket>) -> Result<Arc<dyn Engine>> {
        Ok(Arc::clone(&self.table.get(bucket)?.0))
    }

    async fn compare(
        &mut self,
        engine: Arc<dyn Engine>,
        key: String,
    ) -> Result<Result<Resource<Cas>, Error>> {
        Ok(match engine.compare(&key).await {
            Ok(handle) => {
                let handle = Arc::new(Mutex::new(handle));
                Ok(self.table.push(Cas { engine, key, handle })?)
            }
            Err(why) => Err(Error::Other(why)),
        })
    }
}

impl store::Host for State {
    async fn open(&mut self, label: String) -> Result<Result<Resource<Bucket>, Error>> {
        let Some(engine) = self.rights.stores.get(&label).cloned() else {
            return Ok(Err(Error::AccessDenied));
        };
        Ok(match engine.open().await {
            Ok(()) => Ok(self.table.push(Bucket(engine))?),
            Err(why) => Err(Error::Other(why)),
        })
    }
}

impl HostBucket for State {
    async fn get(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
    ) -> Result<Result<Option<Vec<u8>>, Error>> {
        let found = self.engine(&bucket)?.get(&key).await.map_err(Error::Other);
        if matches!(&found, Ok(Some(value)) if value.len() >= MAX_RESULT_BYTES) {
            bail!("the value of {key} is too large for its guest");
        }
        Ok(found)
    }

    async fn set(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
        value: Vec<u8>,
    ) -> Result<Result<(), Error>> {
        Ok(self.engine(&bucket)?.set(&key, value).await.map_err(Error::Other))
    }

    async fn delete(&mut self, bucket: Resource<Bucket>, key: String) -> Result<Result<(), Error>> {
        Ok(self.engine(&bucket)?.delete(&key).await.map_err(Error::Other))
    }

    async fn exists(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
    ) -> Result<Result<bool, Error>> {
        Ok(self.engine(&bucket)?.exists(&key).await.map_err(Error::Other))
    }

    /// All keys, without a cursor; a cursor is refused (measured on Spin 4.1).
    async fn list_keys(
        &mut self,
        bucket: Resource<Bucket>,
        cursor: Option<String>,
    ) -> Result<Result<KeyResponse, Error>> {
        if cursor.is_some() {
            return Ok(Err(Error::Other("a cursor is not supported".to_owned())));
        }
        let keys = self.engine(&bucket)?.keys().await;
        let size_bytes = |keys: &Vec<String>| keys.iter().map(String::len).sum::<usize>();
        Ok(match keys {
            Ok(keys) if size_bytes(&keys) > MAX_RESULT_BYTES => {
                Err(Error::Other("the listing is too large".to_owned()))
            }
            Ok(keys) => Ok(KeyResponse { keys, cursor: None }),
            Err(why) => Err(Error::Other(why)),
        })
    }

    async fn drop(&mut self, bucket: Resource<Bucket>) -> Result<()> {
        self.table.delete(bucket)?;
        Ok(())
    }
}

impl atomics::Host for State {
    async fn increment(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
        delta: i64,
    ) -> Result<Result<i64, Error>> {
        Ok(self.engine(&bucket)?.increment(&key, delta).await.map_err(Error::Other))
    }

    /// A handle that comes with `cas-failed` has been read (by Spin's source).
    async fn swap(&mut self, cas: Resource<Cas>, value: Vec<u8>) -> Result<Result<(), CasError>> {
        let Cas { engine, key, handle } = self.table.delete(cas)?;
        match handle.lock().await.swap(value).await {
            Ok(true) => return Ok(Ok(())),
            Ok(false) => {}
            Err(why) => return Ok(Err(CasError::StoreError(Error::Other(why)))),
        }
        let next = match self.compare(engine, key).await? {
            Ok(next) => next,
            Err(error) => return Ok(Err(CasError::StoreError(error))),
        };
        let handle = Arc::clone(&self.table.get(&next)?.handle);
        Ok(Err(match handle.lock().await.current().await {
            Ok(_) => CasError::CasFailed(next),
            Err(why) => CasError::StoreError(Error::Other(why)),
        }))
    }
}

impl HostCas for State {
    async fn new(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
    ) -> Result<Result<Resource<Cas>, Error>> {
        let engine = self.engine(&bucket)?;
        self.compare(engine, key).await
    }

    async fn current(&mut self, cas: Resource<Cas>) -> Result<Result<Option<Vec<u8>>, Error>> {
        let handle = Arc::clone(&self.table.get(&cas)?.handle);
        let found = handle.lock().await.current().await;
        Ok(found.map_err(Error::Other))
    }

    async fn drop(&mut self, cas: Resource<Cas>) -> Result<()> {
        self.table.delete(cas)?;
        Ok(())
    }
}
