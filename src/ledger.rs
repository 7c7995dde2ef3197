//! The calls: check what was given, then read the slot, decide in `state.rs`, append.

mod change;

use core::marker::PhantomData;

use crate::answer::{
    Begin, BeginOptions, Complete, CompleteOptions, Entry, Forget, Lease, PurgeOptions,
    PurgeReport, Release, Renew, RenewOptions, StoreReport,
};
use crate::bucket::Bucket;
use crate::check;
use crate::clock::{Clock, Millis, Op};
use crate::error::Error;
use crate::expiry::{self, Limits};
use crate::key::{Address, check_fingerprint};
use crate::limits;
use crate::marker::Instance;
use crate::slot_log::{Proof, SlotLog};
use crate::state::{self, BeginAsk, CompleteAsk, Step};
use change::{Caller, Failure};

/// What a call that lost them all, or met an undecided append, is told to wait.
const CONTENDED_HINT_MS: Millis = 50;
/// The longest hint while somebody is between deciding and writing.
const MAX_BUSY_HINT_MS: Millis = 1_000;

/// The ledger over a store and a clock. `L` decides who won.
pub struct Ledger<'a, B, C, L> {
    bucket: B,
    clock: C,
    instance: &'a Instance,
    log: PhantomData<L>,
}

impl<'a, B: Bucket, C: Clock, L: SlotLog<B>> Ledger<'a, B, C, L> {
    /// A ledger for the calls of one instance.
    pub fn new(bucket: B, clock: C, instance: &'a Instance) -> Self {
        Ledger { bucket, clock, instance, log: PhantomData }
    }

    /// Claims a key.
    ///
    /// # Errors
    /// See [`Error`]. A failing store never leads to `Fresh`, unless a later read shows the
    /// claim in the log.
    pub fn begin(&self, key: &str, options: &BeginOptions) -> Result<Begin, Error> {
        let address = Address::new(options.scope.as_deref(), key)?;
        let fingerprint = options.fingerprint.as_deref();
        check_fingerprint(fingerprint)?;
        let lease_ms = limits::lease_ms(options.lease_ms)?;
        let ask = BeginAsk { address: &address, lease_ms, fingerprint };
        let op = self.start()?;
        match self.change(&op, &address, Caller::ANYONE, |found, now_ms| {
            state::begin(found, now_ms, &ask)
        }) {
            Err(Failure::Busy(until_ms)) => {
                let left_ms = until_ms.saturating_sub(op.now_ms());
                let retry_after_ms = left_ms.clamp(1, MAX_BUSY_HINT_MS);
                Ok(Begin::Inflight(Lease { expires_at_ms: until_ms, retry_after_ms }))
            }
            answer => Ok(answer?),
        }
    }

    /// Records an outcome.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn complete(
        &self,
        key: &str,
        payload: Option<&[u8]>,
        options: &CompleteOptions,
    ) -> Result<Complete, Error> {
        let address = Address::new(options.scope.as_deref(), key)?;
        let ttl_ms = limits::ttl_ms(options.ttl_ms)?;
        limits::check_payload(payload)?;
        let upsert = options.upsert_on_missing;
        let ask = CompleteAsk { address: &address, token: options.token, ttl_ms, upsert, payload };
        let caller = Caller { proof: Proof::None, skips: options.token.is_some() };
        let op = self.start()?;
        Ok(self
            .change(&op, &address, caller, |found, now_ms| state::complete(found, now_ms, &ask))?)
    }

    /// Extends a live claim.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn renew(&self, key: &str, token: u64, options: &RenewOptions) -> Result<Renew, Error> {
        let address = Address::new(options.scope.as_deref(), key)?;
        let lease_ms = limits::lease_ms(options.lease_ms)?;
        let op = self.start()?;
        Ok(self.change(&op, &address, Caller::HOLDER, |found, now_ms| {
            Ok(state::renew(found, now_ms, token, lease_ms))
        })?)
    }

    /// Gives a live claim back.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn release(&self, key: &str, token: u64, scope: Option<&str>) -> Result<Release, Error> {
        let address = Address::new(scope, key)?;
        let op = self.start()?;
        Ok(self.change(&op, &address, Caller::HOLDER, |found, now_ms| {
            Ok(state::release(found, now_ms, token))
        })?)
    }

    /// Looks without claiming.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn get(&self, key: &str, scope: Option<&str>) -> Result<Option<Entry>, Error> {
        let address = Address::new(scope, key)?;
        let op = self.start()?;
        let mut entry = None;
        self.drive(&op, &address, Caller::ANYONE, &mut |found, now_ms| {
            entry = state::get(found, now_ms);
            Ok(Step::Nothing)
        })?;
        Ok(entry)
    }

    /// Removes one outcome or expired claim before its time.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn forget(&self, key: &str, token: u64, scope: Option<&str>) -> Result<Forget, Error> {
        let address = Address::new(scope, key)?;
        let op = self.start()?;
        Ok(self.change(
            &op,
            &address,
            Caller { skips: false, ..Caller::HOLDER },
            |found, now_ms| Ok(state::forget(found, now_ms, token)),
        )?)
    }

    /// Removes expired keys, and reclaims those removed earlier.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn purge(&self, options: &PurgeOptions) -> Result<PurgeReport, Error> {
        let limit = limits::purge_limit(options.limit)?;
        let op = self.start()?;
        let now_ms = op.started_at_ms();
        let cutoff_ms = options.before_ms.map_or(now_ms, |before_ms| before_ms.min(now_ms));
        expiry::purge::<B, L>(&self.bucket, &op, Limits { cutoff_ms, limit })
    }

    /// Tries what the ledger needs of the store.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn check_store(&self) -> Result<StoreReport, Error> {
        let op = self.start()?;
        check::check_store(&self.bucket, &op, L::STRATEGY)
    }

    fn start(&self) -> Result<Op<'_>, Error> {
        let op = Op::start(&self.clock);
        self.instance.check(&self.bucket, L::STRATEGY)?;
        Ok(op)
    }
}
