//! Record <-> bytes, versioned. Pure.
//!
//! One line of JSON, a newline, then the payload's bytes as given: readable with any
//! store's own tools.

use alloc::string::String;
use alloc::vec::Vec;

use crate::clock::Millis;
use crate::expiry::{ClaimId, TimeBucket};
use crate::json::{Reader, Writer};
use crate::key::{check_fingerprint, from_hex, to_hex};
use crate::text::text;

/// The format that this release writes, and the only one that it reads.
pub const FORMAT: u64 = 1;

/// No claim gets a greater token, so that the next one can always be greater than the last.
pub const MAX_TOKEN: u64 = i64::MAX as u64;

/// How a build decides who won. One store is served by one strategy only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// By compare-and-swap.
    Cas,
    /// By atomic increment.
    Ticket,
}

impl Strategy {
    /// As it stands in records and in the store's marker.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Cas => "cas",
            Strategy::Ticket => "ticket",
        }
    }
}

/// What the tail of a slot's log says of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Claimed until `expires_at_ms`.
    Inflight,
    /// Its outcome is recorded, and replays until `expires_at_ms`.
    Done,
    /// Released, purged or forgotten: absent for everyone, kept for its token.
    Tombstone,
    /// Somebody is removing the log.
    Deleting,
}

impl State {
    const ALL: [State; 4] = [State::Inflight, State::Done, State::Tombstone, State::Deleting];

    fn name(self) -> &'static str {
        match self {
            State::Inflight => "inflight",
            State::Done => "done",
            State::Tombstone => "tombstone",
            State::Deleting => "deleting",
        }
    }
}

/// One record of a slot's log. The last one is what the key is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What it says.
    pub state: State,
    /// Fencing token of the claim.
    pub token: u64,
    /// Which try of the work this claim is, from 1. In a tombstone: the tries that failed.
    pub attempt: u32,
    /// When the claim was made.
    pub claimed_at_ms: Millis,
    /// When the outcome was recorded; of `Done` only.
    pub completed_at_ms: Option<Millis>,
    /// When it stops counting.
    pub expires_at_ms: Millis,
    /// When this record was made: the ledger's time is never less on this key.
    pub changed_at_ms: Millis,
    /// Identifies the request.
    pub fingerprint: Option<Vec<u8>>,
    /// The scope, compared on read.
    pub scope: String,
    /// The key, compared on read.
    pub key: String,
    /// The claim that this record belongs to.
    pub claim: ClaimId,
    /// The outcome's bytes; of `Done` only.
    pub payload: Option<Vec<u8>>,
}

impl Record {
    /// No one's record: it stands in for a key's that was never written.
    pub fn blank(claim: ClaimId, now_ms: Millis) -> Record {
        Record {
            state: State::Tombstone,
            token: 0,
            attempt: 0,
            claimed_at_ms: now_ms,
            completed_at_ms: None,
            expires_at_ms: now_ms,
            changed_at_ms: now_ms,
            fingerprint: None,
            scope: String::new(),
            key: String::new(),
            claim,
            payload: None,
        }
    }

    /// Whether it is no one's.
    pub fn is_blank(&self) -> bool {
        self.key.is_empty() && matches!(self.state, State::Tombstone | State::Deleting)
    }
}

/// Where a record stands in its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// From 1.
    pub position: u64,
    /// The position that it was decided on; 0 for none.
    pub parent: u64,
    /// The log that it belongs to: the claim that the log began with. None where that was not
    /// known, and where one store key holds the whole log.
    pub log: Option<ClaimId>,
}

/// The bytes of a record.
pub fn encode(record: &Record, place: Place, strategy: Strategy) -> Vec<u8> {
    let payload = record.payload.as_deref().unwrap_or_default();
    let mut line = Writer::new(
        payload.len().saturating_add(record.key.len()).saturating_add(record.scope.len()),
    );
    line.number("format", FORMAT);
    line.word("strategy", strategy.name());
    line.word("state", record.state.name());
    line.number("position", place.position);
    line.number("parent", place.parent);
    if let Some(log) = place.log {
        line.word("log", &log.text());
    }
    line.number("token", record.token);
    line.number("attempt", u64::from(record.attempt));
    line.number("claimed_at_ms", record.claimed_at_ms);
    if let Some(completed_at_ms) = record.completed_at_ms {
        line.number("completed_at_ms", completed_at_ms);
    }
    line.number("expires_at_ms", record.expires_at_ms);
    line.number("changed_at_ms", record.changed_at_ms);
    if let Some(fingerprint) = &record.fingerprint {
        line.word("fingerprint", &to_hex(fingerprint));
    }
    line.text("scope", &record.scope);
    line.text("key", &record.key);
    line.word("bucket", &record.claim.bucket.name());
    line.number("number", record.claim.number);
    if record.payload.is_some() {
        line.number("payload_bytes", payload.len() as u64);
    }
    line.end(payload)
}

/// The record that the bytes hold.
///
/// # Errors
/// Why it cannot be read, for an operator. Such a record is never taken for absent.
pub fn decode(bytes: &[u8], strategy: Strategy) -> Result<(Place, Record), String> {
    let line_bytes = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let (line, rest) = bytes.split_at_checked(line_bytes).unwrap_or_default();
    let mut line = Reader::new(line);
    // The format stands first in every format: a later one may have other fields.
    let format = line
        .number("format")
        .map_err(|_| String::from("its first line does not begin with its format"))?;
    if format != FORMAT {
        return Err(text!("its format is ", format, "; this build reads ", FORMAT));
    }
    read(line, strategy, rest).map_err(|field| text!("its ", field, " is missing or impossible"))
}

/// The error names what is wrong.
fn read(
    mut line: Reader,
    strategy: Strategy,
    rest: &[u8],
) -> Result<(Place, Record), &'static str> {
    let payload = rest.strip_prefix(b"\n").ok_or("end of line")?;
    let written_by = line.word("strategy")?;
    let state = line.word("state")?;
    let place = Place {
        position: line.number("position")?,
        parent: line.number("parent")?,
        log: line.word_if_any("log")?.map(|text| ClaimId::parse(text).ok_or("log")).transpose()?,
    };
    let record = Record {
        state: State::ALL.into_iter().find(|known| known.name() == state).ok_or("state")?,
        token: line.number("token")?,
        attempt: u32::try_from(line.number("attempt")?).map_err(|_| "attempt")?,
        claimed_at_ms: line.number("claimed_at_ms")?,
        completed_at_ms: line.number_if_any("completed_at_ms")?,
        expires_at_ms: line.number("expires_at_ms")?,
        changed_at_ms: line.number("changed_at_ms")?,
        fingerprint: line.word_if_any("fingerprint")?.map(read_fingerprint).transpose()?,
        scope: line.text("scope")?,
        key: line.text("key")?,
        claim: ClaimId {
            bucket: TimeBucket::parse(line.word("bucket")?).ok_or("bucket")?,
            number: line.number("number")?,
        },
        payload: None,
    };
    let payload_bytes = line.number_if_any("payload_bytes")?;
    line.end()?;
    let record = Record { payload: payload_bytes.map(|_| payload.to_vec()), ..record };
    let done = record.state == State::Done;
    let wrong = [
        (written_by != strategy.name(), "strategy (of this build)"),
        (payload_bytes.unwrap_or(0) != payload.len() as u64, "payload's size"),
        (done != record.completed_at_ms.is_some(), "outcome (in this state)"),
        (!done && record.payload.is_some(), "outcome (in this state)"),
        (record.token > MAX_TOKEN, "token"),
        (place.position == 0 || place.parent >= place.position, "position"),
    ];
    match wrong.into_iter().find(|(wrong, _)| *wrong) {
        Some((_, what)) => Err(what),
        None => Ok((place, record)),
    }
}

fn read_fingerprint(hex: &str) -> Result<Vec<u8>, &'static str> {
    from_hex(hex).filter(|bytes| check_fingerprint(Some(bytes)).is_ok()).ok_or("fingerprint")
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
