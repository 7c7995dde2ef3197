//! A store whose every call waits for the scheduler.

use std::fmt;

use async_trait::async_trait;
use idempotency_ledger_host::store::{Page, Store, StoreError, Swap, Version, Versioned};
use tokio::sync::{mpsc, oneshot};

use super::notes::brief;
use crate::oracle::Answer;

/// A store call on its way.
#[derive(Clone, Debug)]
pub(super) enum Request {
    Get(String),
    Set(String, Vec<u8>),
    Delete(String),
    Increment(String, i64),
    Swap(String, Option<Version>, Vec<u8>),
}

/// What the store answers.
#[derive(Debug)]
pub(super) enum Response {
    Found(Option<Versioned>),
    Written,
    Sum(i64),
    Swapped(Swap),
}

pub(super) type Reply = oneshot::Sender<Result<Response, StoreError>>;

/// What happens after somebody was let go on: one of these, and then nothing.
pub(super) enum Event {
    /// A store call waits.
    Asked(Request, Reply),
    /// A call of the ledger has its answer.
    Answered(Answer),
}

/// The store of one process.
#[derive(Clone)]
pub(super) struct GatedStore(pub(super) mpsc::UnboundedSender<Event>);

impl Request {
    /// A read has no effect that could come late.
    pub(super) fn is_read(&self) -> bool {
        matches!(self, Request::Get(_) | Request::Increment(_, 0))
    }

    /// Carries the call out.
    pub(super) async fn apply(&self, store: &dyn Store) -> Result<Response, StoreError> {
        match self {
            Request::Get(key) => store.get(key).await.map(Response::Found),
            Request::Set(key, value) => {
                store.set(key, value.clone()).await.map(|()| Response::Written)
            }
            Request::Delete(key) => store.delete(key).await.map(|()| Response::Written),
            Request::Increment(key, delta) => store.increment(key, *delta).await.map(Response::Sum),
            Request::Swap(key, expected, value) => {
                let swap = store.compare_and_swap(key, *expected, value.clone()).await;
                swap.map(Response::Swapped)
            }
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Get(key) => write!(f, "get {key}"),
            Request::Set(key, value) => write!(f, "set {key} = {}", brief(value)),
            Request::Delete(key) => write!(f, "delete {key}"),
            Request::Increment(key, delta) => write!(f, "increment {key} by {delta}"),
            Request::Swap(key, expected, value) => {
                let version = expected.map_or(0, |version| version.0);
                write!(f, "swap {key} at version {version} = {}", brief(value))
            }
        }
    }
}

impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Response::Found(None) => write!(f, "absent"),
            Response::Found(Some(found)) => {
                write!(f, "version {}: {}", found.version.0, brief(&found.value))
            }
            Response::Written => write!(f, "written"),
            Response::Sum(sum) => write!(f, "{sum}"),
            Response::Swapped(swap) => write!(f, "{swap:?}"),
        }
    }
}

impl GatedStore {
    async fn ask(&self, request: Request) -> Result<Response, StoreError> {
        let gone = || StoreError::Other("the history is over".to_owned());
        let (reply, answer) = oneshot::channel();
        self.0.send(Event::Asked(request, reply)).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

/// The scheduler answered another kind of call: cannot happen.
fn mixed_up<R>(response: &Response) -> Result<R, StoreError> {
    Err(StoreError::Other(format!("mixed up answers: {response}")))
}

#[async_trait]
impl Store for GatedStore {
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        match self.ask(Request::Get(key.into())).await? {
            Response::Found(found) => Ok(found),
            other => mixed_up(&other),
        }
    }

    async fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        self.ask(Request::Set(key.into(), value)).await.map(drop)
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.ask(Request::Delete(key.into())).await.map(drop)
    }

    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        match self.ask(Request::Increment(key.into(), delta)).await? {
            Response::Sum(sum) => Ok(sum),
            other => mixed_up(&other),
        }
    }

    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError> {
        match self.ask(Request::Swap(key.into(), expected, value)).await? {
            Response::Swapped(swap) => Ok(swap),
            other => mixed_up(&other),
        }
    }

    /// The ledger never lists.
    async fn list(&self, _cursor: Option<String>) -> Result<Page, StoreError> {
        Err(StoreError::Other("a ledger does not list its store".to_owned()))
    }
}
