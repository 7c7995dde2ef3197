//! How the command fails: one line what happened, one line what to do, one exit code.

use std::fmt;

use idempotency_ledger_host::Error;

use crate::exit::Exit;

/// An ending that is not the one asked for.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) what: String,
    pub(crate) advice: String,
}

impl Failure {
    pub(crate) fn new(exit: Exit, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { exit, what: what.into(), advice: advice.into() }
    }

    /// Wrong arguments that the parser could not see.
    pub(crate) fn usage(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::new(Exit::Usage, what, advice)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "idempotency: {}\n  {}", self.what, self.advice)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(exit_of(&error), error.to_string(), advice_for(&error))
    }
}

fn exit_of(error: &Error) -> Exit {
    match error {
        Error::InvalidKey(_)
        | Error::InvalidTtl(_)
        | Error::InvalidLimit(_)
        | Error::PayloadTooLarge { .. } => Exit::Usage,
        Error::OutcomeUnknown(_) => Exit::OutcomeUnknown,
        Error::Corrupt(_) => Exit::Unreadable,
        _ => Exit::LedgerFailed,
    }
}

fn advice_for(error: &Error) -> String {
    let advice = match error {
        Error::InvalidKey(_) => {
            "A key is 1 to 1024 bytes, a scope 1 to 256, a fingerprint 1 to 64."
        }
        Error::InvalidTtl(_) => "A lease is 1ms to 30d; an outcome is kept for 1ms to 3650d.",
        Error::InvalidLimit(_) => "A limit is 1 to 10000.",
        Error::PayloadTooLarge { .. } => {
            "Record less: a reference to the result, say. The claim is still yours."
        }
        Error::NoSuchStore | Error::AccessDenied => {
            "Name a store that you may write with --store or IDEMPOTENCY_STORE."
        }
        Error::Unavailable(_) | Error::DeadlineExceeded => {
            "Nothing was changed: try again, or ask `idempotency doctor`."
        }
        Error::Contended { retry_after_ms } => {
            return format!("Nothing was changed: try again in {retry_after_ms} ms.");
        }
        Error::OutcomeUnknown(_) => {
            "It may have happened: repeat the call, or compare the token in `idempotency get`."
        }
        Error::Corrupt(_) => {
            "The record is left as it is, and other keys are unharmed: an operator must look."
        }
        _ => "Try again, or ask `idempotency doctor`.",
    };
    advice.into()
}
