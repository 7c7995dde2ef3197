//! What the callers of a ledger saw: calls, answers, their order, and the clock meanwhile.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use idempotency_ledger::answer::{
    Begin, BeginOptions, Complete, CompleteOptions, Entry, Forget, PurgeOptions, PurgeReport,
    Release, Renew, RenewOptions,
};
use idempotency_ledger::bucket::Bucket;
use idempotency_ledger::clock::{Clock, Millis};
use idempotency_ledger::slot_log::cas::Cas;
use idempotency_ledger::{Error, Instance, Ledger};

use super::world::{ModelBucket, ModelClock, Request, Response};

/// The one key of a model.
pub(super) const KEY: &str = "k";

/// Which token a call carries.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub(super) enum Token {
    /// None at all.
    None,
    /// Of the caller's own last claim; the call is left out where it has none.
    Own,
    /// This one.
    Is(u64),
}

/// One call of a worker's script.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub(super) enum Call {
    Begin { lease_ms: Millis },
    Complete { token: Token, ttl_ms: Millis, upsert: bool, payload: u8 },
    Renew { token: Token, lease_ms: Millis },
    Release { token: Token },
    Get,
    Forget { token: Token },
    Purge { limit: u32 },
}

/// What it was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Begin(Begin),
    Complete(Complete),
    Renew(Renew),
    Release(Release),
    Get(Option<Entry>),
    Forget(Forget),
    Purge(PurgeReport),
    Error(Error),
}

/// One call, as its caller saw it.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) worker: usize,
    pub(super) call: Call,
    /// The token that it carried.
    pub(super) token: Option<u64>,
    /// Its place in the order of all calls and answers.
    pub(super) called: usize,
    /// The same of its answer; none where its caller died.
    pub(super) answered: Option<(usize, Answer)>,
    /// What the clock showed between both, or since.
    pub(super) clock_ms: Vec<Millis>,
}

impl Call {
    /// Which token the call carries, where it can be made at all.
    pub(super) fn token(self, own: Option<u64>) -> Option<Option<u64>> {
        match self {
            Call::Begin { .. } | Call::Get | Call::Purge { .. } => Some(None),
            Call::Complete { token, .. }
            | Call::Renew { token, .. }
            | Call::Release { token }
            | Call::Forget { token } => match token {
                Token::None => Some(None),
                Token::Is(token) => Some(Some(token)),
                Token::Own => own.map(Some),
            },
        }
    }

    /// Makes the call on the shipped core.
    pub(super) fn make<B: Bucket, C: Clock>(
        self,
        bucket: B,
        clock: C,
        instance: &Instance,
        token: Option<u64>,
    ) -> Answer {
        let ledger: Ledger<B, C, Cas> = Ledger::new(bucket, clock, instance);
        let some = token.unwrap_or_default();
        let answer = match self {
            Call::Begin { lease_ms } => ledger
                .begin(KEY, &BeginOptions { lease_ms: Some(lease_ms), ..Default::default() })
                .map(Answer::Begin),
            Call::Complete { ttl_ms, upsert, payload, .. } => {
                let options = CompleteOptions {
                    token,
                    ttl_ms: Some(ttl_ms),
                    upsert_on_missing: upsert,
                    ..Default::default()
                };
                ledger.complete(KEY, Some(&[payload]), &options).map(Answer::Complete)
            }
            Call::Renew { lease_ms, .. } => {
                let options = RenewOptions { lease_ms: Some(lease_ms), ..Default::default() };
                ledger.renew(KEY, some, &options).map(Answer::Renew)
            }
            Call::Release { .. } => ledger.release(KEY, some, None).map(Answer::Release),
            Call::Get => ledger.get(KEY, None).map(Answer::Get),
            Call::Forget { .. } => ledger.forget(KEY, some, None).map(Answer::Forget),
            Call::Purge { limit } => ledger
                .purge(&PurgeOptions { limit: Some(limit), ..Default::default() })
                .map(Answer::Purge),
        };
        answer.unwrap_or_else(Answer::Error)
    }
}

/// All calls so far, in the order in which they were made.
#[derive(Clone, Default)]
pub(super) struct History {
    operations: Rc<RefCell<Vec<Operation>>>,
    last: Rc<Cell<usize>>,
}

impl History {
    pub(super) fn operations(&self) -> Vec<Operation> {
        self.operations.borrow().clone()
    }

    /// The clock moved while some calls were under way.
    pub(super) fn tick(&self, now_ms: Millis) {
        let mut operations = self.operations.borrow_mut();
        let under_way = operations.iter_mut().filter(|operation| operation.answered.is_none());
        under_way.for_each(|operation| operation.clock_ms.push(now_ms));
    }

    /// Makes a call and notes it; answers the token of the claim that it made.
    pub(super) fn make<F: Fn(Request) -> Response>(
        &self,
        worker: usize,
        call: Call,
        own: Option<u64>,
        (bucket, clock, instance): (ModelBucket<F>, &ModelClock, &Instance),
    ) -> Option<u64> {
        let token = call.token(own)?;
        let at = self.operations.borrow().len();
        let (called, clock_ms) = (self.next(), vec![clock.now_ms()]);
        self.operations.borrow_mut().push(Operation {
            worker,
            call,
            token,
            called,
            answered: None,
            clock_ms,
        });
        let answer = call.make(bucket, clock.clone(), instance, token);
        let claimed = match &answer {
            Answer::Begin(Begin::Fresh(claim)) => Some(claim.token),
            _ => None,
        };
        let answered = self.next();
        self.operations.borrow_mut()[at].answered = Some((answered, answer));
        claimed
    }

    fn next(&self) -> usize {
        self.last.set(self.last.get() + 1);
        self.last.get()
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.operations.borrow().iter().try_for_each(|operation| writeln!(f, "{operation:?}"))
    }
}
