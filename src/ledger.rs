//! The calls: read the slot, decide in `state.rs`, append; a bounded number of times.

use core::marker::PhantomData;

use crate::answer::{
    Begin, BeginOptions, Complete, CompleteOptions, Entry, Forget, Lease, PurgeOptions,
    PurgeReport, Release, Renew, RenewOptions, StoreReport,
};
use crate::bucket::Bucket;
use crate::check;
use crate::clock::{Clock, Millis, Op, QUARANTINE_MS};
use crate::error::Error;
use crate::expiry::{self, Index, Limits};
use crate::key::{Address, check_fingerprint};
use crate::limits;
use crate::marker::Instance;
use crate::record::{Record, State};
use crate::slot_log::{Append, Proof, Read, SlotLog, Tail, check_owner};
use crate::state::{self, BeginAsk, CompleteAsk, Decision, Step};

/// Appends that one call tries: each lost one means that another caller got through.
const APPEND_TRIES: usize = 8;
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

/// A decision without its answer, so that one copy of the loop serves all calls.
type Decide<'a> = dyn FnMut(Option<&Record>, Millis) -> Result<Step, Error> + 'a;

/// Why a change did not come to an answer.
enum Failure {
    Busy(Millis),
    Error(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Busy(_) => Error::Contended(CONTENDED_HINT_MS),
            Failure::Error(error) => error,
        }
    }
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
        match self.change(&op, &address, Proof::ClaimId, |found, now_ms| {
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
        let op = self.start()?;
        Ok(self.change(&op, &address, Proof::None, |found, now_ms| {
            state::complete(found, now_ms, &ask)
        })?)
    }

    /// Extends a live claim.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn renew(&self, key: &str, token: u64, options: &RenewOptions) -> Result<Renew, Error> {
        let address = Address::new(options.scope.as_deref(), key)?;
        let lease_ms = limits::lease_ms(options.lease_ms)?;
        let op = self.start()?;
        Ok(self.change(&op, &address, Proof::Equal, |found, now_ms| {
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
        Ok(self.change(&op, &address, Proof::Equal, |found, now_ms| {
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
        let tail = self.read(&op, &address)?;
        Ok(state::get(tail.record(), op.now_ms()))
    }

    /// Removes one outcome or expired claim before its time.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn forget(&self, key: &str, token: u64, scope: Option<&str>) -> Result<Forget, Error> {
        let address = Address::new(scope, key)?;
        let op = self.start()?;
        Ok(self.change(&op, &address, Proof::Equal, |found, now_ms| {
            Ok(state::forget(found, now_ms, token))
        })?)
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

    fn read(&self, op: &Op, address: &Address) -> Result<L::Tail, Failure> {
        match L::read(&self.bucket, op, &address.slot)? {
            Read::Settled(tail) => {
                check_owner(tail.record(), address)?;
                Ok(tail)
            }
            Read::Busy(until_ms) => Err(Failure::Busy(until_ms)),
        }
    }

    /// Decides and appends until it is won, and answers what was decided last.
    fn change<A>(
        &self,
        op: &Op,
        address: &Address,
        proof: Proof,
        decide: impl Fn(Option<&Record>, Millis) -> Result<Decision<A>, Error>,
    ) -> Result<A, Failure> {
        let mut last = None;
        self.drive(op, address, proof, &mut |found, now_ms| {
            let (step, answer) = decide(found, now_ms)?.split();
            last = answer;
            Ok(step)
        })?;
        // A drive ends with a decision that has an answer.
        last.ok_or(Failure::Error(Error::Contended(CONTENDED_HINT_MS)))
    }

    fn drive(
        &self,
        op: &Op,
        address: &Address,
        proof: Proof,
        decide: &mut Decide,
    ) -> Result<(), Failure> {
        let mut tail = self.read(op, address)?;
        for _ in 0..APPEND_TRIES {
            let (record, proof) = match decide(tail.record(), op.now_ms())? {
                Step::Nothing => return Ok(()),
                Step::Append(record) => {
                    self.enter_end(op, address, tail.record(), &record)?;
                    (record, proof)
                }
                Step::Claim(draft) => {
                    self.instance.mark(&self.bucket, op, L::STRATEGY)?;
                    let claim =
                        Index::new(&self.bucket, op).enter(&address.slot, draft.expires_at_ms())?;
                    (draft.under(claim), Proof::ClaimId)
                }
                Step::FinishDeletion => {
                    self.finish_deletion(op, address, tail)?;
                    tail = self.read(op, address)?;
                    continue;
                }
            };
            match L::append(&self.bucket, op, &address.slot, tail, &record, proof)? {
                Append::Won => return Ok(()),
                Append::Lost(newer) => tail = newer,
                Append::Busy(until_ms) => return Err(Failure::Busy(until_ms)),
                Append::Unknown(why) => return Err(Error::OutcomeUnknown(why).into()),
            }
            check_owner(tail.record(), address)?;
        }
        Err(Error::Contended(CONTENDED_HINT_MS).into())
    }

    /// Enters an end that lies before the one that the index knows, so that a purge finds it
    /// in time: an outcome kept for less than its lease, a forgotten key.
    fn enter_end(
        &self,
        op: &Op,
        address: &Address,
        found: Option<&Record>,
        record: &Record,
    ) -> Result<(), Error> {
        let known_ms = found.map_or(0, |found| found.expires_at_ms);
        let at_ms = match (record.state, found.map(|found| found.state)) {
            (State::Done, _) => record.expires_at_ms,
            (State::Tombstone, Some(State::Done)) => {
                record.changed_at_ms.saturating_add(QUARANTINE_MS)
            }
            _ => return Ok(()),
        };
        if at_ms >= known_ms {
            return Ok(());
        }
        Index::new(&self.bucket, op).enter_again(&address.slot, record.claim, at_ms)
    }

    /// One caller at a time takes over: the one whose record is appended.
    fn finish_deletion(&self, op: &Op, address: &Address, tail: L::Tail) -> Result<(), Failure> {
        let Some(found) = tail.record() else { return Ok(()) };
        let record = state::deleting(found, op.now_ms());
        match L::append(&self.bucket, op, &address.slot, tail, &record, Proof::None)? {
            Append::Won => Ok(L::remove(&self.bucket, op, &address.slot)?),
            Append::Lost(_) => Ok(()),
            Append::Busy(until_ms) => Err(Failure::Busy(until_ms)),
            Append::Unknown(why) => Err(Error::Unavailable(why).into()),
        }
    }
}
