//! The store and the clock of a model: all of them a value, so that it can be compared.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use idempotency_ledger::bucket::{Bucket, StoreError, SwapError};
use idempotency_ledger::clock::{Clock, Millis};

/// A store call on its way.
#[derive(Clone, Debug, Hash, PartialEq, Eq)]
pub(super) enum Request {
    Get(String),
    Set(String, Vec<u8>),
    Delete(String),
    Exists(String),
    Increment(String, i64),
    Swap(String, u64, Vec<u8>),
}

impl Request {
    /// A read has no effect that could come late.
    pub(super) fn is_read(&self) -> bool {
        matches!(self, Request::Get(_) | Request::Exists(_) | Request::Increment(_, 0))
    }
}

/// What the store answers.
#[derive(Clone, Debug, Hash, PartialEq, Eq)]
pub(super) enum Response {
    /// Value and version; version 0 is absent.
    Value(Option<Vec<u8>>, u64),
    Written,
    Number(i64),
    Conflict,
    Failed,
}

/// Values with versions that never recur, and counters.
#[derive(Clone, Debug, Default, Hash, PartialEq, Eq)]
pub(super) struct Store {
    pub(super) values: BTreeMap<String, (Vec<u8>, u64)>,
    pub(super) counters: BTreeMap<String, i64>,
    /// How often each key was written: versions of different keys have nothing to do with each other.
    versions: BTreeMap<String, u64>,
}

impl Store {
    /// Carries out a call.
    pub(super) fn apply(&mut self, request: &Request) -> Response {
        match request {
            Request::Get(key) | Request::Exists(key) => match self.values.get(key) {
                Some((value, version)) => Response::Value(Some(value.clone()), *version),
                None => Response::Value(None, 0),
            },
            Request::Set(key, value) => self.write(key, value),
            Request::Delete(key) => {
                self.values.remove(key);
                self.counters.remove(key);
                Response::Written
            }
            Request::Increment(key, delta) => {
                let counter = self.counters.entry(key.clone()).or_default();
                *counter += delta;
                Response::Number(*counter)
            }
            Request::Swap(key, version, value) => {
                if self.values.get(key).map_or(0, |(_, version)| *version) == *version {
                    self.write(key, value)
                } else {
                    Response::Conflict
                }
            }
        }
    }

    fn write(&mut self, key: &str, value: &[u8]) -> Response {
        let version = self.versions.entry(key.into()).or_default();
        *version += 1;
        self.values.insert(key.into(), (value.into(), *version));
        Response::Written
    }
}

/// The core's store: each call goes through `call`, which may switch to another worker.
pub(super) struct ModelBucket<F>(pub(super) F);

/// A key, and the version that was read.
#[derive(Debug)]
pub(super) struct ModelCas(String, Cell<u64>);

impl<F: Fn(Request) -> Response> ModelBucket<F> {
    fn ask(&self, request: Request) -> Result<Response, StoreError> {
        match (self.0)(request) {
            Response::Failed => Err(StoreError::Other("injected".into())),
            response => Ok(response),
        }
    }

    fn read(&self, request: Request) -> Result<(Option<Vec<u8>>, u64), StoreError> {
        match self.ask(request)? {
            Response::Value(value, version) => Ok((value, version)),
            other => unreachable!("{other:?}"),
        }
    }
}

impl<F: Fn(Request) -> Response> Bucket for ModelBucket<F> {
    type Cas = ModelCas;

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.read(Request::Get(key.into()))?.0)
    }

    fn set(&self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        self.ask(Request::Set(key.into(), value.into())).map(drop)
    }

    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.ask(Request::Delete(key.into())).map(drop)
    }

    fn exists(&self, key: &str) -> Result<bool, StoreError> {
        Ok(self.read(Request::Exists(key.into()))?.0.is_some())
    }

    fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        match self.ask(Request::Increment(key.into(), delta))? {
            Response::Number(number) => Ok(number),
            other => unreachable!("{other:?}"),
        }
    }

    fn cas(&self, key: &str) -> Result<ModelCas, StoreError> {
        Ok(ModelCas(key.into(), Cell::new(0)))
    }

    fn current(&self, cas: &ModelCas) -> Result<Option<Vec<u8>>, StoreError> {
        let (value, version) = self.read(Request::Get(cas.0.clone()))?;
        cas.1.set(version);
        Ok(value)
    }

    fn swap(&self, cas: ModelCas, value: &[u8]) -> Result<(), SwapError<ModelCas>> {
        match self.ask(Request::Swap(cas.0.clone(), cas.1.get(), value.into())) {
            Ok(Response::Conflict) => Err(SwapError::Failed(cas)),
            Ok(_) => Ok(()),
            Err(error) => Err(SwapError::Store(error)),
        }
    }
}

/// A clock that the explorer moves.
#[derive(Clone, Default)]
pub(super) struct ModelClock(pub(super) Rc<Cell<Millis>>);

impl Clock for ModelClock {
    fn now_ms(&self) -> Millis {
        self.0.get()
    }
}
