//! The store calls of each request are those of the table in `docs/spin.md`, to the last one.

use std::collections::BTreeMap;

use host_tests::{Counts, StoreCall};
use hyper::{Method, StatusCode};

use crate::scene::{ENGINES, Served, Setting, Storage, bank};

const TABLE: &str = include_str!("../../../docs/spin.md");

/// The columns of the table.
const COLUMNS: [StoreCall; 5] =
    [StoreCall::Get, StoreCall::Set, StoreCall::Delete, StoreCall::Exists, StoreCall::Increment];

type Row = [u64; 5];

/// Whoever writes may be the first in its minute.
const COLUMN_SET: usize = 1;

/// What the table says of each request.
fn table() -> BTreeMap<&'static str, Row> {
    let lines = TABLE.lines().skip_while(|line| !line.starts_with("| request |"));
    let rows = lines.skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|line| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let name = cells.next().expect("a name");
        let numbers = cells.map(|cell| cell.parse().unwrap_or(0)).take(COLUMNS.len());
        let numbers: Vec<u64> = numbers.collect();
        (name, numbers.try_into().expect("five numbers"))
    })
    .collect()
}

/// Counts the calls of requests.
struct Meter {
    served: Served,
    table: BTreeMap<&'static str, Row>,
}

impl Meter {
    fn row(&self, name: &str) -> Row {
        self.table.get(name).copied().unwrap_or_else(|| panic!("docs/spin.md lacks `{name}`"))
    }

    async fn charge(&self, name: &str, key: &str, cents: u32, status: StatusCode) {
        self.served.probe.start(None);
        let reply = self.served.charge(key, cents).await;
        assert_eq!(reply.status, status, "{name}: {reply:?}");
        self.compare(name);
    }

    /// The calls since the start are those of the row, and of what may come in addition: the pool
    /// may have taken another instance, and a minute may have begun.
    fn compare(&self, name: &str) {
        let counts: Counts = self.served.probe.counts();
        let found = COLUMNS.map(|call| counts.get(&call).copied().unwrap_or_default());
        let row = self.row(name);
        let first = add(row, self.row("the first request of an instance, in addition"));
        let bucket = self.row("the first charge whose lease ends in its minute, in addition");
        let mut allowed = vec![row, first];
        if row[COLUMN_SET] > 0 {
            allowed.extend([add(row, bucket), add(first, bucket)]);
        }
        assert!(allowed.contains(&found), "{name}: {COLUMNS:?}: {found:?}, allowed {allowed:?}");
        let others: u64 = counts.values().sum::<u64>() - found.iter().sum::<u64>();
        assert_eq!(others, 0, "{name}: a swap: {counts:?}");
    }
}

fn add(mut row: Row, more: Row) -> Row {
    row.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    row
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_are_those_of_the_table() {
    for kind in ENGINES {
        let (storage, bank) = (Storage::new(kind), bank(0).await);
        let served = Served::start(&storage, &bank, Setting::default()).await;
        let meter = Meter { served, table: table() };
        // The first claim in a store sets a marker, too.
        meter.served.charge("first", 1999).await;
        meter.charge("charged", "order-1", 1999, StatusCode::CREATED).await;
        meter.charge("replayed", "order-1", 1999, StatusCode::CREATED).await;
        meter
            .charge("another order or amount", "order-1", 1, StatusCode::UNPROCESSABLE_ENTITY)
            .await;
        meter.charge("a bad key", "", 1999, StatusCode::BAD_REQUEST).await;
        meter.served.operator(Method::POST, "/purge").await;
        let routes = [
            ("purge, nothing is due", Method::POST, "/purge"),
            ("check-store", Method::GET, "/check-store"),
        ];
        for (name, method, path) in routes {
            meter.served.probe.start(None);
            let reply = meter.served.operator(method, path).await;
            assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
            meter.compare(name);
        }
    }
}
