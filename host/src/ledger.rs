//! The ledger as a Rust value: each method is one call of the component.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::JoinError;

use crate::bindings::exports::idempotency::ledger::ledger::Error as WitError;
use crate::builder::LedgerBuilder;
use crate::error::Error;
use crate::instance::Instance;
use crate::observe::{self, Answer, Watch};
use crate::pool::{Calling, Failure, Pool};
use crate::store::Store;
use crate::types::{
    Begin, BeginOptions, Complete, CompleteOptions, Entry, Forget, PurgeOptions, PurgeReport,
    Release, Renew, RenewOptions, StoreReport, Token,
};

/// A ledger of idempotency keys over one store.
///
/// Cheap to clone; clones share the store and the instances. Use it inside a tokio runtime with
/// its timer enabled. Any number of ledgers, in any number of processes, may work on one store.
///
/// Every call runs to its end in a task of its own, so dropping its future (a client that went
/// away) cancels nothing: a `complete` under way is recorded. A call that traps or takes too
/// long ends as [`Error::OutcomeUnknown`] if it may have changed something.
#[derive(Clone)]
pub struct Ledger {
    pool: Arc<Pool>,
}

/// Whether a call that ends half-way may have changed something.
#[derive(Clone, Copy)]
enum Effect {
    Reads,
    Writes,
}

impl Ledger {
    /// A ledger over `store`, with the system's clock and the default bounds.
    ///
    /// The first one of a process takes some hundred milliseconds, the others microseconds.
    ///
    /// # Errors
    ///
    /// [`Error::Component`] if the machine cannot run the component.
    pub async fn new(store: impl Store) -> Result<Self, Error> {
        Self::builder(store).build().await
    }

    /// A ledger with a clock or bounds of your own.
    pub fn builder(store: impl Store) -> LedgerBuilder {
        LedgerBuilder::new(Arc::new(store))
    }

    pub(crate) fn over(pool: Pool) -> Self {
        observe::describe();
        Self { pool: Arc::new(pool) }
    }

    /// Claim `key` (1 to 1 024 bytes). While a claim lives nobody else is answered `Fresh`; who
    /// loses a race is answered `Inflight`. A failing store never leads to `Fresh`.
    ///
    /// If the future is dropped, the claim may be made all the same and then blocks the key for
    /// its lease.
    pub async fn begin(&self, key: &str, options: &BeginOptions) -> Result<Begin, Error> {
        let watch = Watch::call("begin", Some((options.scope.as_deref(), key)));
        let (key, options) = (key.to_owned(), options.into());
        let answer = self.call(watch, Effect::Writes, move |instance| {
            Box::pin(async move {
                let (ledger, store) = instance.ledger();
                ledger.call_begin(store, &key, &options).await
            })
        });
        answer.await.map(Into::into)
    }

    /// Record the outcome of a claim: at most 524 288 bytes, returned as given. Of two racing
    /// calls one is answered `Lost(AlreadyDone)`. Safe to repeat: `AlreadyDone` with your token
    /// in `get` means that it had landed.
    pub async fn complete(
        &self,
        key: &str,
        payload: Option<Vec<u8>>,
        options: &CompleteOptions,
    ) -> Result<Complete, Error> {
        let watch = Watch::call("complete", Some((options.scope.as_deref(), key)));
        let (key, options) = (key.to_owned(), options.into());
        let answer = self.call(watch, Effect::Writes, move |instance| {
            Box::pin(async move {
                let (ledger, store) = instance.ledger();
                ledger.call_complete(store, &key, payload.as_deref(), &options).await
            })
        });
        answer.await.map(Into::into)
    }

    /// Extend a live claim, at a third of its lease say. An expired claim cannot be renewed,
    /// even if nobody has taken the key. `Lost` is for good: stop the work.
    pub async fn renew(
        &self,
        key: &str,
        token: Token,
        options: &RenewOptions,
    ) -> Result<Renew, Error> {
        let watch = Watch::call("renew", Some((options.scope.as_deref(), key)));
        let (key, options) = (key.to_owned(), options.into());
        let answer = self.call(watch, Effect::Writes, move |instance| {
            Box::pin(async move {
                let (ledger, store) = instance.ledger();
                ledger.call_renew(store, &key, token, &options).await
            })
        });
        answer.await.map(Into::into)
    }

    /// Give a live claim back without an outcome, so that a retry need not wait.
    pub async fn release(
        &self,
        key: &str,
        token: Token,
        scope: Option<&str>,
    ) -> Result<Release, Error> {
        let watch = Watch::call("release", Some((scope, key)));
        let (key, scope) = (key.to_owned(), scope.map(str::to_owned));
        let answer = self.call(watch, Effect::Writes, move |instance| {
            Box::pin(async move {
                let (ledger, store) = instance.ledger();
                ledger.call_release(store, &key, token, scope.as_deref()).await
            })
        });
        answer.await.map(Into::into)
    }

    /// Look without claiming. `None`: never claimed, released, or purged. No substitute for
    /// `begin`: the answer may be out of date when you read it.
    pub async fn get(&self, key: &str, scope: Option<&str>) -> Result<Option<Entry>, Error> {
        let watch = Watch::call("get", Some((scope, key)));
        let (key, scope) = (key.to_owned(), scope.map(str::to_owned));
        let answer = self.call(watch, Effect::Reads, move |instance| {
            Box::pin(async move {
                let (ledger, store) = instance.ledger();
                ledger.call_get(store, &key, scope.as_deref()).await
            })
        });
        answer.await.map(|found| found.map(Into::into))
    }

    /// Remove expired keys, oldest expiry first. A live key survives any `before_ms`. Costs what
    /// is due, not what is stored; [`Purger`](crate::Purger) does it daily.
    pub async fn purge(&self, options: &PurgeOptions) -> Result<PurgeReport, Error> {
        let options = options.into();
        let answer = self.call(Watch::call("purge", None), Effect::Writes, move |instance| {
            Box::pin(async move {
                let (maintenance, store) = instance.maintenance();
                maintenance.call_purge(store, options).await
            })
        });
        answer.await.map(Into::into)
    }

    /// Remove one recorded outcome or expired claim before its time. `token` is the one that
    /// `get` showed, so that nothing newer is removed.
    pub async fn forget(
        &self,
        key: &str,
        token: Token,
        scope: Option<&str>,
    ) -> Result<Forget, Error> {
        let watch = Watch::call("forget", Some((scope, key)));
        let (key, scope) = (key.to_owned(), scope.map(str::to_owned));
        let answer = self.call(watch, Effect::Writes, move |instance| {
            Box::pin(async move {
                let (maintenance, store) = instance.maintenance();
                maintenance.call_forget(store, &key, token, scope.as_deref()).await
            })
        });
        answer.await.map(Into::into)
    }

    /// Try what the ledger needs of the store, in a bounded number of calls, on keys of its own
    /// that it deletes again.
    pub async fn check_store(&self) -> Result<StoreReport, Error> {
        let answer = self.call(Watch::call("check-store", None), Effect::Reads, move |instance| {
            Box::pin(async move {
                let (maintenance, store) = instance.maintenance();
                maintenance.call_check_store(store).await
            })
        });
        answer.await.map(Into::into)
    }

    /// In a task of its own: it goes on to its end if the answer's future is dropped.
    async fn call<R: Answer + Send + 'static>(
        &self,
        watch: Watch,
        effect: Effect,
        call: impl for<'a> FnOnce(&'a mut Instance) -> Calling<'a, Result<R, WitError>> + Send + 'static,
    ) -> Result<R, Error> {
        let runtime =
            Handle::try_current().map_err(|error| Error::Unavailable(error.to_string()))?;
        let pool = Arc::clone(&self.pool);
        let task = runtime.spawn(async move {
            let served = watch.around(pool.serve(call)).await;
            let answer = match served {
                Ok(answer) => answer.map_err(Error::from),
                Err(failure) => Err(effect.error(failure)),
            };
            answer.count();
            watch.end(answer.name());
            answer
        });
        let cut_short = |error: JoinError| effect.error(Failure::CutShort(error.to_string()));
        task.await.unwrap_or_else(|error| Err(cut_short(error)))
    }
}

impl Effect {
    /// What a caller can do about a call that has no answer.
    fn error(self, failure: Failure) -> Error {
        match (failure, self) {
            (Failure::NotStarted(message), _) | (Failure::CutShort(message), Self::Reads) => {
                Error::Unavailable(message)
            }
            (Failure::CutShort(message), Self::Writes) => Error::OutcomeUnknown(message),
        }
    }
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Ledger").finish_non_exhaustive()
    }
}
