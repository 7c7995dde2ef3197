//! The names of answers, as the WIT has them.

use super::numbers;
use crate::bindings::exports::idempotency::ledger::{ledger, maintenance};
use crate::error::Error;
use crate::store::{Page, Swap, Versioned};

/// What a call of the ledger is answered.
pub(crate) trait Answer {
    fn name(&self) -> &'static str;

    /// Count what else there is to count.
    fn count(&self) {}
}

/// What a call of the store is answered.
pub(crate) trait StoreAnswer {
    fn name(&self) -> &'static str {
        "ok"
    }
}

impl<A: Answer> Answer for Result<A, Error> {
    fn name(&self) -> &'static str {
        match self {
            Ok(answer) => answer.name(),
            Err(error) => name_of_error(error),
        }
    }

    fn count(&self) {
        if let Ok(answer) = self {
            answer.count();
        }
    }
}

fn name_of_error(error: &Error) -> &'static str {
    match error {
        Error::InvalidKey(_) => "invalid-key",
        Error::InvalidTtl(_) => "invalid-ttl",
        Error::InvalidLimit(_) => "invalid-limit",
        Error::PayloadTooLarge { .. } => "payload-too-large",
        Error::NoSuchStore => "no-such-store",
        Error::AccessDenied => "access-denied",
        Error::Unavailable(_) => "unavailable",
        Error::OutcomeUnknown(_) => "outcome-unknown",
        Error::Contended { .. } => "contended",
        Error::DeadlineExceeded => "deadline-exceeded",
        Error::Corrupt(_) => "corrupt",
        Error::Component(_) => "component",
    }
}

impl Answer for ledger::BeginResult {
    fn name(&self) -> &'static str {
        match self {
            Self::Fresh(_) => "fresh",
            Self::Inflight(_) => "inflight",
            Self::Done(_) => "done",
            Self::Mismatch => "mismatch",
        }
    }
}

impl Answer for ledger::LostReason {
    fn name(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Expired => "expired",
            Self::Superseded => "superseded",
            Self::AlreadyDone => "already-done",
        }
    }
}

impl Answer for ledger::CompleteResult {
    fn name(&self) -> &'static str {
        match self {
            Self::Recorded(_) => "recorded",
            Self::Lost(reason) => reason.name(),
        }
    }
}

impl Answer for ledger::RenewResult {
    fn name(&self) -> &'static str {
        match self {
            Self::Renewed(_) => "renewed",
            Self::Lost(reason) => reason.name(),
        }
    }
}

impl Answer for ledger::ReleaseResult {
    fn name(&self) -> &'static str {
        match self {
            Self::Released => "released",
            Self::Lost(reason) => reason.name(),
        }
    }
}

impl Answer for Option<ledger::Entry> {
    fn name(&self) -> &'static str {
        match self.as_ref().map(|entry| &entry.state) {
            None => "none",
            Some(ledger::EntryState::Inflight) => "inflight",
            Some(ledger::EntryState::Done(_)) => "done",
        }
    }
}

impl Answer for maintenance::ForgetResult {
    fn name(&self) -> &'static str {
        match self {
            Self::Forgotten => "forgotten",
            Self::Missing => "missing",
            Self::Superseded => "superseded",
            Self::Inflight(_) => "inflight",
        }
    }
}

impl Answer for maintenance::PurgeReport {
    fn name(&self) -> &'static str {
        if self.more { "more" } else { "clean" }
    }

    fn count(&self) {
        numbers::purged(self.removed, self.reclaimed);
    }
}

impl Answer for maintenance::StoreReport {
    fn name(&self) -> &'static str {
        if self.sound { "sound" } else { "unsound" }
    }
}

impl StoreAnswer for Swap {
    fn name(&self) -> &'static str {
        match self {
            Self::Swapped => "ok",
            Self::Conflict => "conflict",
        }
    }
}

impl StoreAnswer for () {}
impl StoreAnswer for i64 {}
impl StoreAnswer for Option<Versioned> {}
impl StoreAnswer for Page {}
