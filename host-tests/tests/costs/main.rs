//! What each call costs: its store calls, counted, to the last one.

mod cas;
mod ticket;

use host_tests::{Call, Counts, StoreCall, Target};
use serde_json::Value;

/// The columns of the tables.
pub(crate) const COLUMNS: [StoreCall; 7] = [
    StoreCall::Get,
    StoreCall::Set,
    StoreCall::Delete,
    StoreCall::Exists,
    StoreCall::Increment,
    StoreCall::CasCurrent,
    StoreCall::Swap,
];

pub(crate) type Row = [u64; 7];

pub(crate) const NO_CALL: Row = [0; 7];

/// Takes what a target is asked, and what it should cost.
pub(crate) struct Meter<'a> {
    pub(crate) target: &'a dyn Target,
    /// Whether the target is seen at the ledger's imports.
    pub(crate) imports: bool,
}

impl Meter<'_> {
    pub(crate) async fn check(&self, what: &str, call: &Call, expected: Row) -> Value {
        self.target.probe().start(None);
        let answer = self.target.call(call).await;
        let counts = self.target.probe().counts();
        if self.imports {
            let opened = counts.get(&StoreCall::CasNew).copied().unwrap_or_default();
            assert_eq!(opened, expected[5], "{what}: opened for a swap");
        }
        assert_eq!(
            self.row(&counts),
            self.seen(expected),
            "{what}: {COLUMNS:?}; it answered {answer}"
        );
        answer
    }

    fn row(&self, counts: &Counts) -> Row {
        COLUMNS.map(|call| counts.get(&call).copied().unwrap_or_default())
    }

    /// The row as it is seen where the calls are counted.
    fn seen(&self, [get, set, delete, exists, increment, current, swap]: Row) -> Row {
        match self.imports {
            true => [get, set, delete, exists, increment, current, swap],
            false => [get + exists + current, set, delete, 0, increment, 0, swap],
        }
    }
}

/// So many more of `get` and `set`.
pub(crate) fn plus(row: Row, get: u64, set: u64) -> Row {
    [row[0] + get, row[1] + set, row[2], row[3], row[4], row[5], row[6]]
}

pub(crate) fn token(answer: &Value) -> u64 {
    answer["fresh"]["token"].as_u64().expect("a claim")
}
