//! The client: the ledger's calls, with typed values and settings of its own.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::codec::{Validator, decode, encode};
use crate::error::{BoxError, Error};
use crate::ledger::{Ledger, Options, Payload};
use crate::types::{Begin, Complete, Entry, Outcome, Release, Renew, State, Token};

/// Records one outcome of type `T` per key.
///
/// The settings hold for every call of this client. For one call that differs, change a copy:
/// `charges.clone().lease(long).run(..)`. A duration that is no whole number of milliseconds
/// is rounded up.
///
/// Values are kept as JSON. A `T` whose numbers or nesting go beyond what `serde_json` reads
/// can be `Box<serde_json::value::RawValue>`: it is kept as the text that it is.
pub struct Idempotency<T> {
    ledger: Ledger,
    options: Options,
    validator: Option<Validator<T>>,
}

/// Settings.
impl<T> Idempotency<T> {
    /// A client of the ledger that this component imports: [`Ledger::imported`].
    #[must_use]
    pub fn imported() -> Self {
        Self::new(&Ledger::imported())
    }

    /// A client of `ledger`.
    #[must_use]
    pub fn new(ledger: &Ledger) -> Self {
        Self { ledger: ledger.clone(), options: Options::default(), validator: None }
    }

    /// Keys are unique within this scope of 1 to 256 bytes; `global` unless set.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.options.scope = Some(scope.into());
        self
    }

    /// How long a claim lives unless renewed: 1 ms to 30 days, 60 s unless set. Longer than the
    /// work normally takes, as short as a crash may delay a retry.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.options.lease_ms = Some(whole_ms(lease));
        self
    }

    /// How long an outcome replays: 1 ms to 10 years, 24 h unless set. At least as long as
    /// callers may retry.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.options.ttl_ms = Some(whole_ms(ttl));
        self
    }

    /// 1 to 64 bytes that identify the request, a hash of its body say. A key that is in use
    /// for a request with others is answered `Mismatch`.
    #[must_use]
    pub fn fingerprint(mut self, fingerprint: impl Into<Vec<u8>>) -> Self {
        self.options.fingerprint = Some(fingerprint.into());
        self
    }

    /// Whether `complete` records also where the claim is missing or expired and nobody holds
    /// the key. It never replaces an outcome or another token's claim.
    #[must_use]
    pub fn upsert_on_missing(mut self, upsert: bool) -> Self {
        self.options.upsert_on_missing = upsert;
        self
    }

    /// Refuse values, with the reason: on the way in, before anything is stored
    /// ([`Error::Refused`]), and on the way out, whoever stored them ([`Error::Unfit`]).
    #[must_use]
    pub fn validate<F, E>(mut self, validator: F) -> Self
    where
        F: Fn(&T) -> Result<(), E> + Send + Sync + 'static,
        E: Into<BoxError>,
    {
        self.validator = Some(Arc::new(move |value| validator(value).map_err(Into::into)));
        self
    }

    /// Extend a live claim from now, by the client's lease; never shortens it. `Lost` is for
    /// good. Work that is longer than its lease calls this, at a third of the lease say.
    ///
    /// # Errors
    ///
    /// Those of the ledger.
    pub fn renew(&self, key: &str, token: Token) -> Result<Renew, Error> {
        self.ledger.calls().renew(key, token, &self.options)
    }

    /// Give a live claim back without an outcome, so that a retry need not wait.
    ///
    /// # Errors
    ///
    /// Those of the ledger.
    pub fn release(&self, key: &str, token: Token) -> Result<Release, Error> {
        self.ledger.calls().release(key, token, &self.options)
    }

    /// A `complete` whose value is encoded already.
    pub(crate) fn complete_json(
        &self,
        key: &str,
        token: Option<Token>,
        json: &[u8],
    ) -> Result<Complete, Error> {
        self.ledger.calls().complete(key, token, json, &self.options)
    }

    /// A `get` whose value is not decoded.
    pub(crate) fn get_json(&self, key: &str) -> Result<Option<Entry<Payload>>, Error> {
        self.ledger.calls().get(key, &self.options)
    }
}

/// The calls of the ledger; [`run`](Self::run) makes them in their order.
impl<T: Serialize + DeserializeOwned> Idempotency<T> {
    /// Claim `key` (1 to 1 024 bytes). While a claim lives nobody else is answered `Fresh`; who
    /// loses a race is answered `Inflight`.
    ///
    /// # Errors
    ///
    /// [`Error::Unfit`] where the outcome that is recorded is no `T`, and those of the ledger.
    /// None means that the key is yours.
    pub fn begin(&self, key: &str) -> Result<Begin<T>, Error> {
        Ok(match self.ledger.calls().begin(key, &self.options)? {
            Begin::Fresh(claim) => Begin::Fresh(claim),
            Begin::Inflight(lease) => Begin::Inflight(lease),
            Begin::Done(outcome) => Begin::Done(self.read(outcome)?),
            Begin::Mismatch => Begin::Mismatch,
        })
    }

    /// Record the outcome of the claim `token`. Without a token (`None`) a late worker can
    /// complete a successor's claim: only for upserts. Safe to repeat: `AlreadyDone` with your
    /// token in `get` means that it had landed.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] where the value cannot be recorded; no store call was made then, and
    /// the claim stays with its holder. And those of the ledger.
    pub fn complete(
        &self,
        key: &str,
        token: impl Into<Option<Token>>,
        value: &T,
    ) -> Result<Complete, Error> {
        self.complete_json(key, token.into(), &self.encode(value)?)
    }

    /// Look without claiming. `None`: never claimed, released, or purged. No substitute for
    /// `begin`: the answer may be out of date when you read it.
    ///
    /// # Errors
    ///
    /// [`Error::Unfit`] where the outcome that is recorded is no `T`, and those of the ledger.
    pub fn get(&self, key: &str) -> Result<Option<Entry<T>>, Error> {
        let Some(entry) = self.get_json(key)? else {
            return Ok(None);
        };
        let state = match entry.state {
            State::Inflight => State::Inflight,
            State::Done(value) => {
                let Entry { token, expires_at_ms, .. } = entry;
                let completed_at_ms = entry.completed_at_ms.unwrap_or_default();
                let outcome = Outcome { value, token, completed_at_ms, expires_at_ms };
                State::Done(self.read(outcome)?.value)
            }
        };
        Ok(Some(Entry {
            state,
            token: entry.token,
            attempt: entry.attempt,
            fingerprint: entry.fingerprint,
            claimed_at_ms: entry.claimed_at_ms,
            completed_at_ms: entry.completed_at_ms,
            expires_at_ms: entry.expires_at_ms,
            expired: entry.expired,
        }))
    }

    pub(crate) fn encode(&self, value: &T) -> Result<Vec<u8>, Error> {
        encode(value, self.validator.as_ref()).map_err(Error::Refused)
    }

    fn read(&self, outcome: Outcome<Payload>) -> Result<Outcome<T>, Error> {
        match decode(outcome.value.as_deref(), self.validator.as_ref()) {
            Ok(value) => {
                let Outcome { token, completed_at_ms, expires_at_ms, .. } = outcome;
                Ok(Outcome { value, token, completed_at_ms, expires_at_ms })
            }
            Err(source) => Err(Error::Unfit { outcome: Box::new(outcome), source }),
        }
    }
}

/// Rounded up, so that nothing ends early; `u64::MAX`, which the ledger refuses, if it does
/// not fit.
fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// Whatever `T` is.
impl<T> Clone for Idempotency<T> {
    fn clone(&self) -> Self {
        Self {
            ledger: self.ledger.clone(),
            options: self.options.clone(),
            validator: self.validator.clone(),
        }
    }
}

impl<T> fmt::Debug for Idempotency<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Idempotency")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
