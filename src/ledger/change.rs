//! Read, decide, append: a bounded number of times.

use super::{CONTENDED_HINT_MS, Ledger};
use crate::bucket::Bucket;
use crate::clock::{Clock, Millis, Op, QUARANTINE_MS};
use crate::error::Error;
use crate::expiry::Index;
use crate::key::Address;
use crate::record::{Record, State};
use crate::slot_log::{Append, Deletion, Proof, SlotLog, Tail, check_owner};
use crate::state::{self, Decision, Draft, Step};

/// Decisions that one call takes: each after the first means that another caller got through.
const TRIES: usize = 8;
/// Further looks before a call answers that somebody is about to append.
const PENDING_LOOKS: usize = 1;
/// Why an append that was written cannot be told from one that was skipped.
const UNSETTLED: &str = "others are about to write to the same key";

/// How a call's appends are made.
#[derive(Clone, Copy)]
pub(super) struct Caller {
    pub(super) proof: Proof,
    /// It carries a token: where that fits, it does not wait for others who are between
    /// deciding and writing, lest a holder lose its lease to one who died there.
    pub(super) skips: bool,
}

impl Caller {
    pub(super) const ANYONE: Caller = Caller { proof: Proof::None, skips: false };
    pub(super) const HOLDER: Caller = Caller { proof: Proof::Equal, skips: true };

    fn passes(self, step: &Step) -> bool {
        self.skips && matches!(step, Step::Append(_))
    }
}

/// A decision without its answer, so that one copy of the loop serves all calls.
pub(super) type Decide<'a> = dyn FnMut(Option<&Record>, Millis) -> Result<Step, Error> + 'a;

/// Why a change did not come to an answer.
pub(super) enum Failure {
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

impl<B: Bucket, C: Clock, L: SlotLog<B>> Ledger<'_, B, C, L> {
    fn read(&self, op: &Op, address: &Address) -> Result<L::Tail, Error> {
        L::read(&self.bucket, op, &address.slot)
    }

    /// Decides and appends until it is won, and answers what was decided last.
    pub(super) fn change<A>(
        &self,
        op: &Op,
        address: &Address,
        caller: Caller,
        decide: impl Fn(Option<&Record>, Millis) -> Result<Decision<A>, Error>,
    ) -> Result<A, Failure> {
        let mut last = None;
        self.drive(op, address, caller, &mut |found, now_ms| {
            let (step, answer) = decide(found, now_ms)?.split();
            last = answer;
            Ok(step)
        })?;
        // A drive ends with a decision that has an answer.
        last.ok_or(Failure::Error(Error::Contended(CONTENDED_HINT_MS)))
    }

    pub(super) fn drive(
        &self,
        op: &Op,
        address: &Address,
        caller: Caller,
        decide: &mut Decide,
    ) -> Result<(), Failure> {
        let mut tail = self.read(op, address)?;
        let mut looks = 0..PENDING_LOOKS;
        for _ in 0..TRIES {
            check_owner(tail.record(), address)?;
            let now_ms = op.now_ms();
            let step = decide(tail.record(), now_ms)?;
            // An empty log is one at some time, whoever is about to append to it.
            let is_idle = tail.record().is_none() && step == Step::Nothing;
            let pending_until_ms = tail.pending_until_ms().filter(|_| !is_idle);
            if let Some(until_ms) = pending_until_ms.filter(|until_ms| *until_ms > now_ms) {
                if looks.next().is_some() {
                    tail = self.read(op, address)?;
                    continue;
                }
                if !caller.passes(&step) {
                    L::wait_for(&self.bucket, op, &address.slot, &tail)?;
                    return Err(Failure::Busy(until_ms));
                }
            }
            if step == Step::FinishDeletion {
                self.finish_deletion(op, address, tail)?;
                tail = self.read(op, address)?;
                continue;
            }
            let copies = pending_until_ms.is_some();
            let Some((record, proof)) = self.prepare(op, address, &tail, step, caller, copies)?
            else {
                if L::confirm(&self.bucket, op, &address.slot, &tail)? {
                    return Ok(());
                }
                tail = self.read(op, address)?;
                continue;
            };
            match L::append(&self.bucket, op, &address.slot, tail, &record, proof)? {
                Append::Won => return Ok(()),
                Append::Lost(newer) => tail = newer,
                Append::Unsettled => return Err(Error::OutcomeUnknown(UNSETTLED.into()).into()),
                Append::Unknown(why) => return Err(Error::OutcomeUnknown(why).into()),
            }
        }
        Err(Error::Contended(CONTENDED_HINT_MS).into())
    }

    /// What to append, entered in the index where it has to be; none for an answer. Past those
    /// who died, it takes a copy to show which record stands.
    fn prepare(
        &self,
        op: &Op,
        address: &Address,
        tail: &L::Tail,
        step: Step,
        caller: Caller,
        copies: bool,
    ) -> Result<Option<(Record, Proof)>, Error> {
        Ok(match step {
            Step::Nothing | Step::FinishDeletion => {
                tail.record().filter(|_| copies).map(|record| (record.clone(), Proof::None))
            }
            Step::Append(record) => {
                self.enter_end(op, address, tail.record(), &record)?;
                Some((record, caller.proof))
            }
            Step::Claim(draft) => Some((self.enter_claim(op, address, draft)?, Proof::ClaimId)),
        })
    }

    fn enter_claim(&self, op: &Op, address: &Address, draft: Draft) -> Result<Record, Error> {
        self.instance.mark(&self.bucket, op, L::STRATEGY)?;
        let claim = Index::new(&self.bucket, op).enter(&address.slot, draft.expires_at_ms())?;
        Ok(draft.under(claim))
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

    fn finish_deletion(&self, op: &Op, address: &Address, tail: L::Tail) -> Result<(), Failure> {
        let Some(found) = tail.record() else { return Ok(()) };
        let record = state::deleting(found, op.now_ms());
        match L::delete(&self.bucket, op, &address.slot, tail, &record)? {
            Deletion::Done | Deletion::Lost => Ok(()),
            Deletion::Wait(until_ms) => Err(Failure::Busy(until_ms)),
        }
    }
}
