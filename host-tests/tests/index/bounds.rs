//! What bounds one purge; the next goes on where it stopped.

use host_tests::targets::{Intruder, Native};
use host_tests::{Call, Plan, STRATEGIES, Side, Strategy, Target, purged};

use super::steps::{self, DAY_MS, HOUR_MS, MINUTE_MS, begin, complete, pass};

/// At the beginning of a minute, and of a bucket of the index.
fn start(strategy: Strategy) -> Native {
    let target = steps::start(strategy);
    target.set_clock(target.now_ms().next_multiple_of(MINUTE_MS));
    target
}

/// Purges once; what was removed, what was reclaimed, and whether there is more.
async fn purge(target: &dyn Target, limit: u32) -> (u64, u64, bool) {
    purged(&target.call(&Call::purge(limit)).await)
}

async fn expired(target: &Native, keys: usize) {
    for number in 0..keys {
        begin(target, &format!("key {number}"), 1).await;
    }
    pass(target, MINUTE_MS);
}

async fn entries_in(target: &Native, unit: &str) -> usize {
    let start = format!("il.e.{unit}");
    target.store_keys().await.iter().filter(|key| key.starts_with(&start)).count()
}

#[tokio::test]
async fn no_more_keys_are_removed_or_reclaimed_than_asked_for() {
    for strategy in STRATEGIES {
        let target = start(strategy);
        expired(&target, 5).await;
        for purged in [(2, 0, true), (2, 0, true), (1, 0, false), (0, 0, false)] {
            assert_eq!(purge(&target, 2).await, purged, "{strategy:?}");
        }
        pass(&target, HOUR_MS);
        for purged in [(0, 2, true), (0, 2, true), (0, 1, false), (0, 0, false)] {
            assert_eq!(purge(&target, 2).await, purged, "{strategy:?}");
        }
    }
}

#[tokio::test]
async fn ten_entries_are_moved_for_each_key_that_may_be_removed_and_a_hundred() {
    for strategy in STRATEGIES {
        // Their bucket can be entered still, and not any more.
        for pause_ms in [2 * MINUTE_MS, 2 * HOUR_MS] {
            let target = start(strategy);
            for number in 0..120 {
                complete(&target, &format!("key {number}"), 30 * DAY_MS).await;
            }
            assert_eq!(entries_in(&target, "m").await, 120, "by their leases");
            pass(&target, pause_ms);
            assert_eq!(purge(&target, 1).await, (0, 0, true), "{strategy:?}");
            assert_eq!((entries_in(&target, "m").await, entries_in(&target, "d").await), (10, 110));
            assert_eq!(purge(&target, 1).await, (0, 0, false), "{strategy:?}");
            assert_eq!((entries_in(&target, "m").await, entries_in(&target, "d").await), (0, 120));
        }
    }
}

#[tokio::test]
async fn a_purge_stops_after_ten_seconds() {
    for strategy in STRATEGIES {
        for (spent_ms, stops) in [(10_000, false), (10_001, true)] {
            let target = start(strategy);
            expired(&target, 10).await;
            let clock = target.beside();
            let act = Box::new(move || pass(&clock, spent_ms));
            target.probe().start(None);
            target.bucket().intrude(Intruder { number: 30, side: Side::After, act });
            let (removed, _, more) = purge(&target, 200).await;
            assert_eq!((removed < 10, more), (stops, stops), "{strategy:?}: {removed} removed");
            let (rest, _, more) = purge(&target, 200).await;
            assert_eq!((removed + rest, more), (10, false), "{strategy:?}");
        }
    }
}

#[tokio::test]
async fn a_purge_reads_a_thousand_listings() {
    for strategy in STRATEGIES {
        for minutes in [1_000, 1_001] {
            let target = start(strategy);
            for minute in 0..minutes {
                begin(&target, &format!("key {minute}"), 1).await;
                pass(&target, MINUTE_MS);
            }
            let beyond = minutes - 1_000;
            assert_eq!(purge(&target, 5_000).await, (1_000, 0, beyond > 0), "{strategy:?}");
            assert_eq!(purge(&target, 5_000).await, (beyond, 0, false), "{strategy:?}");
        }
    }
}

/// Until it has ended, or a minute after it died.
#[tokio::test]
async fn one_purges_at_a_time() {
    for strategy in STRATEGIES {
        let target = start(strategy);
        expired(&target, 3).await;
        let other = target.beside();
        let act = Box::new(move || {
            let answer = other.ask(&Call::purge(200));
            assert_eq!(answer["error"]["contended"], 1_000, "{answer}");
        });
        target.probe().start(None);
        target.bucket().intrude(Intruder { number: 12, side: Side::Before, act });
        assert_eq!(purge(&target, 200).await, (3, 0, false), "{strategy:?}");

        expired(&target, 3).await;
        target.probe().start(Some(Plan::from(12, Side::Before)));
        target.call(&Call::purge(200)).await;
        target.probe().start(None);
        for (pause_ms, hint_ms) in [(0, 1_000), (59_500, 500), (499, 1)] {
            pass(&target, pause_ms);
            let answer = target.call(&Call::purge(200)).await;
            assert_eq!(answer["error"]["contended"], hint_ms, "{strategy:?}: {answer}");
        }
        pass(&target, 1);
        assert!(!purge(&target, 200).await.2, "{strategy:?}");
    }
}

/// The bucket of a minute begins before most of what it holds expires.
#[tokio::test]
async fn what_is_not_due_yet_is_looked_at_again() {
    for strategy in STRATEGIES {
        let target = start(strategy);
        for number in [3, 1, 2, 4] {
            begin(&target, &format!("key {number}"), 10_000 * number).await;
        }
        pass(&target, 5_000);
        for removed in [0, 1, 1, 1, 1, 0] {
            assert_eq!(purge(&target, 200).await, (removed, 0, false), "{strategy:?}");
            pass(&target, 10_000);
        }
    }
}

/// An entry that nobody can read is said once a day, and stays as it is.
#[tokio::test]
async fn an_unreadable_entry_is_kept() {
    for strategy in STRATEGIES {
        let target = start(strategy);
        expired(&target, 3).await;
        let keys = target.store_keys().await;
        let entry = keys.iter().find(|key| key.starts_with("il.e.")).expect("an entry");
        target.store_set(entry, b"garbage".to_vec()).await;
        for day in 0..3 {
            let answer = target.call(&Call::purge(200)).await;
            assert_eq!(answer["error"], "corrupt", "{strategy:?}, day {day}: {answer}");
            assert!(!purge(&target, 200).await.2, "{strategy:?}, day {day}");
            let mut kept = 0;
            for key in target.store_keys().await {
                let value = target.store_get(&key).await;
                kept += usize::from(value.as_deref() == Some(b"garbage"));
            }
            assert_eq!(kept, 1, "{strategy:?}, day {day}");
            pass(&target, 25 * HOUR_MS);
        }
    }
}
