//! Record bytes: what is written is read, and what is read is exactly what was written.

use bolero::{TypeGenerator, check};
use idempotency_ledger::expiry::{ClaimId, TimeBucket};
use idempotency_ledger::record::{MAX_TOKEN, Place, Record, State, Strategy, decode, encode};

use crate::choices::time;

/// The fields of a record, whether they make sense together or not.
#[derive(Clone, Debug, TypeGenerator)]
struct Fields {
    state: u8,
    numbers: [u64; 8],
    attempt: u32,
    log: bool,
    fingerprint: Vec<u8>,
    scope: String,
    key: String,
    payload: Option<Vec<u8>>,
}

impl Fields {
    /// A record that a ledger could have made.
    fn record(&self) -> (Place, Record) {
        let [token, claimed, completed, expires, changed, number, position, parent] = self.numbers;
        let states = [State::Inflight, State::Done, State::Tombstone, State::Deleting];
        let state = states[usize::from(self.state) % states.len()];
        let claim = ClaimId { bucket: TimeBucket::of(expires, claimed.min(expires)), number };
        let mut fingerprint = self.fingerprint.clone();
        fingerprint.truncate(64);
        let position = position.max(1);
        let place = Place { position, parent: parent % position, log: self.log.then_some(claim) };
        let record = Record {
            state,
            token: token.min(MAX_TOKEN),
            attempt: self.attempt,
            claimed_at_ms: claimed,
            completed_at_ms: (state == State::Done).then_some(completed),
            expires_at_ms: expires,
            changed_at_ms: changed,
            fingerprint: (!fingerprint.is_empty()).then_some(fingerprint),
            scope: self.scope.clone(),
            key: self.key.clone(),
            claim,
            payload: self.payload.clone().filter(|_| state == State::Done),
        };
        (place, record)
    }
}

/// Reads the bytes; what can be read is written again as the same bytes.
fn read(bytes: &[u8]) {
    for strategy in [Strategy::Cas, Strategy::Ticket] {
        match decode(bytes, strategy) {
            Ok((place, record)) => {
                assert_eq!(encode(&record, place, strategy), bytes);
            }
            Err(why) => assert!(!why.is_empty()),
        }
    }
}

#[test]
fn any_bytes_are_a_record_or_an_error() {
    check!().with_test_time(time()).for_each(read);
}

#[test]
fn what_is_written_is_read() {
    check!().with_test_time(time()).with_type::<Fields>().for_each(|fields| {
        let (place, record) = fields.record();
        for (strategy, other) in
            [(Strategy::Cas, Strategy::Ticket), (Strategy::Ticket, Strategy::Cas)]
        {
            let bytes = encode(&record, place, strategy);
            assert_eq!(decode(&bytes, strategy).as_ref(), Ok(&(place, record.clone())));
            assert!(decode(&bytes, other).is_err());
            let line = bytes.split(|byte| *byte == b'\n').next().unwrap();
            let line: serde_json::Value = serde_json::from_slice(line).expect("a line of JSON");
            assert_eq!(
                (&line["scope"], &line["key"]),
                (&record.scope.clone().into(), &record.key.clone().into())
            );
            assert_eq!(line["expires_at_ms"], record.expires_at_ms);
        }
    });
}

/// A record of which any bytes were cut out, and others put there.
#[test]
fn a_damaged_record_is_a_record_or_an_error() {
    check!().with_test_time(time()).with_type::<(Fields, (u16, u16), Vec<u8>)>().for_each(
        |(fields, (at, length), instead)| {
            let (place, record) = fields.record();
            let mut bytes = encode(&record, place, Strategy::Cas);
            let at = usize::from(*at) % (bytes.len() + 1);
            let end = (at + usize::from(*length)).min(bytes.len());
            bytes.splice(at..end, instead.iter().copied());
            read(&bytes);
        },
    );
}
