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

/// Operations per second of so many callers, for about `time`.
async fn rate(ledger: &Ledger, callers: usize, time: Duration, next: &Arc<AtomicUsize>) -> f64 {
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
    (next.load(Ordering::SeqCst) - before) as f64 / start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Both in turn, in many short rounds, of which the median counts: what else the machine does
/// comes and goes. All callers are on one thread, so that the figure does not depend on how
/// many there are.
#[tokio::test]
async fn many_callers_get_far_more_done_than_one() {
    let (rounds, time, at_least) = Size::from_env()
        .pick((5, Duration::from_millis(300), 3.0), (15, Duration::from_secs(1), 10.0));
    let folder = tempfile::tempdir().expect("a folder for the store");
    let store = SqliteStore::open(folder.path().join("ledger.db")).await.expect("a new store");
    let ledger = Ledger::new(store).await.expect("the component");
    let next = Arc::new(AtomicUsize::new(0));
    rate(&ledger, CALLERS, time / 4, &next).await;

    let (mut ones, mut manies, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let one = rate(&ledger, 1, time, &next).await;
        let many = rate(&ledger, CALLERS, time, &next).await;
        ones.push(one);
        manies.push(many);
        ratios.push(many / one);
    }
    let (one, many, ratio) = (median(ones), median(manies), median(ratios));
    println!(
        "begin and complete per second: 1 caller {one:.0}, {CALLERS} callers {many:.0}, \
         ratio {ratio:.1} (medians of {rounds} rounds)"
    );
    assert!(ratio >= at_least, "the ratio is {ratio:.1}, not {at_least}");
}
