//! `wasi:keyvalue/store`.

use std::sync::Arc;

use wasmtime::component::Resource;

use super::KeyValueCtxView;
use crate::bindings::wasi::keyvalue::store::{Error, Host, HostBucket, KeyResponse};

/// The name of the only store.
const DEFAULT: &str = "default";

/// An open bucket. All stand for the same store, so there is nothing to keep.
#[expect(unreachable_pub, reason = "the bindings re-export it")]
pub struct Bucket;

impl Host for KeyValueCtxView<'_> {
    async fn open(
        &mut self,
        identifier: String,
    ) -> wasmtime::Result<Result<Resource<Bucket>, Error>> {
        if identifier != DEFAULT {
            return Ok(Err(Error::NoSuchStore));
        }
        Ok(Ok(self.table.push(Bucket)?))
    }
}

impl HostBucket for KeyValueCtxView<'_> {
    async fn get(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
    ) -> wasmtime::Result<Result<Option<Vec<u8>>, Error>> {
        self.table.get(&bucket)?;
        let store = Arc::clone(&self.ctx.store);
        let found = self.ctx.bounded("get", store.get(&key)).await;
        Ok(found.map(|found| found.map(|versioned| versioned.value)))
    }

    async fn set(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
        value: Vec<u8>,
    ) -> wasmtime::Result<Result<(), Error>> {
        self.table.get(&bucket)?;
        let store = Arc::clone(&self.ctx.store);
        Ok(self.ctx.bounded("set", store.set(&key, value)).await)
    }

    async fn delete(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
    ) -> wasmtime::Result<Result<(), Error>> {
        self.table.get(&bucket)?;
        let store = Arc::clone(&self.ctx.store);
        Ok(self.ctx.bounded("delete", store.delete(&key)).await)
    }

    async fn exists(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
    ) -> wasmtime::Result<Result<bool, Error>> {
        self.table.get(&bucket)?;
        let store = Arc::clone(&self.ctx.store);
        Ok(self.ctx.bounded("get", store.get(&key)).await.map(|found| found.is_some()))
    }

    async fn list_keys(
        &mut self,
        bucket: Resource<Bucket>,
        cursor: Option<String>,
    ) -> wasmtime::Result<Result<KeyResponse, Error>> {
        self.table.get(&bucket)?;
        let store = Arc::clone(&self.ctx.store);
        let page = self.ctx.bounded("list", store.list(cursor)).await;
        Ok(page.map(|page| KeyResponse { keys: page.keys, cursor: page.cursor }))
    }

    async fn drop(&mut self, bucket: Resource<Bucket>) -> wasmtime::Result<()> {
        self.table.delete(bucket)?;
        Ok(())
    }
}
