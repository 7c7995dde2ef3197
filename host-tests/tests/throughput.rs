//! What concurrent callers gain by sharing commits: the same ledger, on the same disk, in the
//! same run, first with one caller and then with 64.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use host_tests::Size;
use idempotency_ledger_host::store::SqliteStore;
use idempotency_ledger_host::{Begin, BeginOptions, Complete, CompleteOptions, Ledger};
use tokio::task::JoinSet;
use tokio::time::Instant;

const CALLERS: usize = 64;

/// What `complete` records: about a small answer of an HTTP service.
const PAYLOAD_BYTES: usize = 200;

/// One operation: a key that nobody used before is begun and completed.
async fn operate(ledger: &Ledger, number: usize) {
    let key = format!("key {number}");
    let begin = ledger.begin(&key, &BeginOptions::default()).await;
    let Ok(Begin::Fresh(claim)) = begin else { panic!("{key}: {begin:?}") };
    let options = CompleteOptions { token: Some(claim.token), ..CompleteOptions::default() };
    let complete = ledger.complete(&key, Some(vec![b'x'; PAYLOAD_BYTES]), &options).await;
    assert!(matches!(complete, Ok(Complete::Recorded(_))), "{key}: {complete:?}");
}

/// Operations that so many callers finish within `time`, and how long that really took.
async fn operations(
    ledger: &Ledger,
    callers: usize,
    time: Duration,
    next: &Arc<AtomicUsize>,
) -> (usize, Duration) {
    let (before, start) = (next.load(Ordering::SeqCst), Instant::now());
    let mut tasks = JoinSet::new();
    for _ in 0..callers {
        let (ledger, next) = (ledger.clone(), Arc::clone(next));
        tasks.spawn(async move {
            while start.elapsed() < time {
                operate(&ledger, next.fetch_add(1, Ordering::SeqCst)).await;
            }
        });
    }
    tasks.join_all().await;
    (next.load(Ordering::SeqCst) - before, start.elapsed())
}

/// Both in turn, several times, so that whatever else the machine does hits both. All callers are
/// on one thread, so that the figure does not depend on how many there are.
#[tokio::test]
async fn many_callers_get_far_more_done_than_one() {
    let (rounds, time, at_least) = Size::from_env()
        .pick((3, Duration::from_millis(500), 3.0), (5, Duration::from_secs(3), 10.0));
    let folder = tempfile::tempdir().expect("a folder for the store");
    let store = SqliteStore::open(folder.path().join("ledger.db")).await.expect("a new store");
    let ledger = Ledger::new(store).await.expect("the component");
    let next = Arc::new(AtomicUsize::new(0));
    operations(&ledger, CALLERS, time / 10, &next).await;

    let mut sums = [(0, Duration::ZERO); 2];
    for _ in 0..rounds {
        for (sum, callers) in sums.iter_mut().zip([1, CALLERS]) {
            let (count, took) = operations(&ledger, callers, time, &next).await;
            *sum = (sum.0 + count, sum.1 + took);
        }
    }
    let [one, many] = sums.map(|(count, took)| count as f64 / took.as_secs_f64());
    let ratio = many / one;
    println!(
        "begin and complete per second: 1 caller {one:.0}, {CALLERS} callers {many:.0}, \
         ratio {ratio:.1}"
    );
    assert!(ratio >= at_least, "the ratio is {ratio:.1}, not {at_least}");
}
