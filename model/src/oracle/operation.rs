//! Calls and answers as an oracle sees them.

use idempotency_ledger::Error;
use idempotency_ledger::answer::{Begin, Complete, Entry, Forget, PurgeReport, Release, Renew};
use idempotency_ledger::clock::Millis;

/// Which token a call carries.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub enum Token {
    /// None at all.
    None,
    /// Of the caller's own last claim; the call is left out where it has none.
    Own,
    /// This one.
    Is(u64),
}

/// One call of a worker's script.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
#[expect(missing_docs, reason = "the WIT documents them")]
pub enum Call {
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
#[expect(missing_docs, reason = "the WIT documents them")]
pub enum Answer {
    Begin(Begin),
    Complete(Complete),
    Renew(Renew),
    Release(Release),
    Get(Option<Entry>),
    Forget(Forget),
    Purge(PurgeReport),
    /// Of a purge that met other keys too: this one may or may not be among those that it counts.
    Swept(PurgeReport),
    Error(Error),
}

/// One call, as its caller saw it.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Who made it.
    pub worker: usize,
    /// What it asked for.
    pub call: Call,
    /// The token that it carried.
    pub token: Option<u64>,
    /// Its place in the order of all calls and answers.
    pub called: usize,
    /// The same of its answer; none where its caller died.
    pub answered: Option<(usize, Answer)>,
    /// What the clock showed between both, or since.
    pub clock_ms: Vec<Millis>,
}

impl Call {
    /// Which token the call carries, where it can be made at all.
    pub fn token(self, own: Option<u64>) -> Option<Option<u64>> {
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
}
