//! No ledger: code that is made for a component, built natively.

use super::{Calls, Options, Payload};
use crate::error::Error;
use crate::types::{Begin, Complete, Entry, Release, Renew, Token};

/// Answers each call with [`Error::NoLedger`].
pub(super) struct Missing;

impl Calls for Missing {
    fn begin(&self, _: &str, _: &Options) -> Result<Begin<Payload>, Error> {
        Err(Error::NoLedger)
    }

    fn complete(
        &self,
        _: &str,
        _: Option<Token>,
        _: &[u8],
        _: &Options,
    ) -> Result<Complete, Error> {
        Err(Error::NoLedger)
    }

    fn renew(&self, _: &str, _: Token, _: &Options) -> Result<Renew, Error> {
        Err(Error::NoLedger)
    }

    fn release(&self, _: &str, _: Token, _: &Options) -> Result<Release, Error> {
        Err(Error::NoLedger)
    }

    fn get(&self, _: &str, _: &Options) -> Result<Option<Entry<Payload>>, Error> {
        Err(Error::NoLedger)
    }
}
