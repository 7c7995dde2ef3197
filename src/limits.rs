//! Defaults and ranges of lease, ttl, payload and purge. Checked before any store call.

use crate::clock::Millis;
use crate::error::Error;
use crate::text::text;

/// Lease of a `begin` or `renew` that names none: 1 minute.
pub const DEFAULT_LEASE_MS: Millis = 60_000;
/// Longest lease: 30 days.
pub const MAX_LEASE_MS: Millis = 2_592_000_000;
/// Ttl of a `complete` that names none: 24 hours.
pub const DEFAULT_TTL_MS: Millis = 86_400_000;
/// Longest ttl: 10 years.
pub const MAX_TTL_MS: Millis = 315_360_000_000;
/// Largest payload.
pub const MAX_PAYLOAD_BYTES: u32 = 524_288;
/// Limit of a `purge` that names none.
pub const DEFAULT_PURGE_LIMIT: u32 = 200;
/// Largest limit of a `purge`.
pub const MAX_PURGE_LIMIT: u32 = 10_000;

pub(crate) fn lease_ms(given: Option<Millis>) -> Result<Millis, Error> {
    check_ms("lease", given.unwrap_or(DEFAULT_LEASE_MS), MAX_LEASE_MS)
}

pub(crate) fn ttl_ms(given: Option<Millis>) -> Result<Millis, Error> {
    check_ms("ttl", given.unwrap_or(DEFAULT_TTL_MS), MAX_TTL_MS)
}

pub(crate) fn check_payload(payload: Option<&[u8]>) -> Result<(), Error> {
    let bytes = payload.map_or(0, <[u8]>::len);
    let fits = u32::try_from(bytes).is_ok_and(|bytes| bytes <= MAX_PAYLOAD_BYTES);
    if fits { Ok(()) } else { Err(Error::PayloadTooLarge(MAX_PAYLOAD_BYTES)) }
}

pub(crate) fn purge_limit(given: Option<u32>) -> Result<u32, Error> {
    let limit = given.unwrap_or(DEFAULT_PURGE_LIMIT);
    if limit == 0 || limit > MAX_PURGE_LIMIT {
        return Err(Error::InvalidLimit(text!(
            "the limit is ",
            u64::from(limit),
            "; give 1 to ",
            u64::from(MAX_PURGE_LIMIT)
        )));
    }
    Ok(limit)
}

fn check_ms(what: &str, ms: Millis, max_ms: Millis) -> Result<Millis, Error> {
    if ms == 0 || ms > max_ms {
        return Err(Error::InvalidTtl(text!(
            "the ",
            what,
            " is ",
            ms,
            " ms; give 1 to ",
            max_ms,
            " ms"
        )));
    }
    Ok(ms)
}
