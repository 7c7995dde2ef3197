//! One call of the ledger, with whatever arguments it takes.

use serde::Deserialize;

/// The functions of the WIT interfaces `ledger` and `maintenance`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the WIT documents them")]
pub enum CallName {
    #[default]
    Begin,
    Complete,
    Renew,
    Release,
    Get,
    Purge,
    Forget,
    CheckStore,
}

/// A call. Arguments that it does not take are ignored; those that are none are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the WIT documents them")]
pub struct Call {
    pub name: CallName,
    pub key: String,
    pub scope: Option<String>,
    pub lease_ms: Option<u64>,
    pub ttl_ms: Option<u64>,
    pub fingerprint: Option<Vec<u8>>,
    pub payload: Option<Vec<u8>>,
    pub token: Option<u64>,
    pub upsert_on_missing: bool,
    pub before_ms: Option<u64>,
    pub limit: Option<u32>,
}

impl Call {
    /// `begin` with this lease.
    pub fn begin(key: &str, lease_ms: u64) -> Self {
        Call { lease_ms: Some(lease_ms), ..Self::on(CallName::Begin, key) }
    }

    /// `complete` with a token.
    pub fn complete(key: &str, token: u64, payload: &str) -> Self {
        let payload = Some(payload.into());
        Call { token: Some(token), payload, ..Self::on(CallName::Complete, key) }
    }

    /// `renew` with this lease.
    pub fn renew(key: &str, token: u64, lease_ms: u64) -> Self {
        let lease_ms = Some(lease_ms);
        Call { token: Some(token), lease_ms, ..Self::on(CallName::Renew, key) }
    }

    /// `release`.
    pub fn release(key: &str, token: u64) -> Self {
        Call { token: Some(token), ..Self::on(CallName::Release, key) }
    }

    /// `forget`.
    pub fn forget(key: &str, token: u64) -> Self {
        Call { token: Some(token), ..Self::on(CallName::Forget, key) }
    }

    /// `get`.
    pub fn get(key: &str) -> Self {
        Self::on(CallName::Get, key)
    }

    /// `purge` with this limit.
    pub fn purge(limit: u32) -> Self {
        Call { limit: Some(limit), ..Self::on(CallName::Purge, "") }
    }

    /// The call with no arguments but the key.
    pub fn on(name: CallName, key: &str) -> Self {
        Call { name, key: key.into(), ..Call::default() }
    }
}
