//! The expiry index over long times and many keys: purge finds everything that is due, costs
//! what is due, and leaves nothing behind.

mod bounds;
mod early;
mod steps;

use host_tests::targets::{Hosted, Intruder, Native};
use host_tests::{
    Call, CallName, Plan, STRATEGIES, Side, Size, Strategy, Target, leftovers, purge_until_clean,
};
use serde_json::Value;
use steps::{DAY_MS, HOUR_MS, MINUTE_MS, begin, complete, is_there, pass, start, traces};

/// Lives from less than a minute to ten years, none the same.
fn lives_ms(count: u64) -> impl Iterator<Item = u64> {
    let spans =
        [1, MINUTE_MS, 3 * MINUTE_MS, HOUR_MS, 5 * HOUR_MS, DAY_MS, 20 * DAY_MS, 3_600 * DAY_MS];
    (0..count).map(move |number| spans[number as usize % spans.len()] + 7 * number * number)
}

/// After the purges exactly those keys are there whose expiry is not before now.
async fn exact(target: &dyn Target, ends_at_ms: &[(String, u64)]) {
    let due = purge_until_clean(target, 64).await;
    println!("at {} ms: removed and reclaimed {due:?}", target.now_ms());
    for (key, ends_at_ms) in ends_at_ms {
        let there = is_there(target, key).await;
        assert_eq!(there, *ends_at_ms >= target.now_ms(), "{key}, which ends at {ends_at_ms}");
    }
}

#[tokio::test]
async fn purge_is_exact_at_any_time_also_after_400_idle_days() {
    for strategy in STRATEGIES {
        exact_after_pauses(strategy).await;
    }
}

async fn exact_after_pauses(strategy: Strategy) {
    for pauses in
        [vec![400 * DAY_MS], vec![0, 1, MINUTE_MS, HOUR_MS, DAY_MS - 1, 9 * DAY_MS, 4_000 * DAY_MS]]
    {
        let target = Native::new(strategy);
        let mut keys = Vec::new();
        for (number, life_ms) in lives_ms(Size::from_env().pick(400, 4_000)).enumerate() {
            target.set_clock(1_000_000_000 + 977 * number as u64);
            let key = format!("key {number}");
            complete(&target, &key, life_ms).await;
            keys.push((key, target.now_ms() + life_ms));
        }
        for pause_ms in pauses {
            pass(&target, pause_ms);
            exact(&target, &keys).await;
        }
        assert_eq!(leftovers(&target, 4_000 * DAY_MS).await, [""; 0]);
    }
}

#[tokio::test]
async fn purge_is_exact_on_sqlite_too() {
    for strategy in STRATEGIES {
        exact_on_sqlite(&Hosted::on_sqlite(strategy).await).await;
    }
}

async fn exact_on_sqlite(target: &dyn Target) {
    let mut keys = Vec::new();
    for (number, life_ms) in lives_ms(16).enumerate() {
        target.set_clock(1_000_000_000 + 977 * number as u64);
        let key = format!("key {number}");
        complete(target, &key, life_ms).await;
        keys.push((key, target.now_ms() + life_ms));
    }
    for pause_ms in [MINUTE_MS, 400 * DAY_MS] {
        pass(target, pause_ms);
        exact(target, &keys).await;
    }
    assert_eq!(leftovers(target, 4_000 * DAY_MS).await, [""; 0]);
}

/// Removed one day, nothing is left of a key an hour later; an hour after its end nothing is
/// left of a bucket of the index.
#[tokio::test]
async fn thousands_of_cycles_leave_nothing_but_constants() {
    for strategy in STRATEGIES {
        for keys in [1, 7, 10_000] {
            cycle(strategy, keys).await;
        }
    }
}

async fn cycle(strategy: Strategy, keys: u64) {
    let cycles: u64 = Size::from_env().pick(300, 10_000);
    let target = start(strategy);
    let mut most = 0;
    for cycle in 0..cycles {
        let key = format!("key {}", cycle % keys);
        complete(&target, &key, 10 * MINUTE_MS).await;
        pass(&target, 11 * MINUTE_MS);
        purge_until_clean(&target, 200).await;
        most = most.max(target.store_keys().await.len());
    }
    println!("{strategy:?}: {cycles} cycles on {keys} keys, at most {most} keys in the store");
    // With tickets a log is deleted as a whole, once its key has rested for an hour.
    let rests = strategy == Strategy::Cas || keys > 7;
    assert!(!rests || most < 200, "{most} keys: what was removed piles up");
    pass(&target, HOUR_MS);
    purge_until_clean(&target, 200).await;
    assert_eq!(traces(&target).await, [""; 0], "an hour later");
    assert_eq!(leftovers(&target, 0).await, [""; 0]);
    let constants = target.store_keys().await;
    let bytes: usize = bytes_of(&target, &constants).await;
    println!("{constants:?}, {bytes} bytes");
    assert_eq!(constants, ["il.c", "il.m", "il.p"]);
    let name = if strategy == Strategy::Cas { "cas" } else { "ticket" };
    let marker = format!(r#"{{"format":1,"strategy":"{name}"}}"#);
    assert_eq!(target.store_get("il.m").await, Some(marker.into_bytes()));
    assert!(bytes < 300, "the constants have grown to {bytes} bytes");
}

async fn bytes_of(target: &dyn Target, keys: &[String]) -> usize {
    let mut bytes = 0;
    for key in keys {
        bytes += target.store_get(key).await.map_or(0, |value| value.len());
    }
    bytes
}

/// The store calls of removing `expired` keys beside so many live ones.
async fn purge_cost(strategy: Strategy, live: u64, expired: u64) -> u64 {
    let target = start(strategy);
    for number in 0..live {
        // Half of them still run, half are done; they live for hours to weeks.
        let key = format!("live {number}");
        let life_ms = 5 * HOUR_MS + 1_000 * (number % 1_000_000);
        match number % 2 {
            0 => drop(begin(&target, &key, life_ms).await),
            _ => drop(complete(&target, &key, life_ms).await),
        }
    }
    pass(&target, 5 * MINUTE_MS);
    purge_until_clean(&target, 10_000).await;
    for number in 0..expired {
        begin(&target, &format!("expired {number}"), 1).await;
    }
    pass(&target, MINUTE_MS);
    target.probe().start(None);
    assert_eq!(purge_until_clean(&target, 200).await.0, expired);
    target.probe().calls()
}

#[tokio::test]
async fn a_purge_costs_what_is_due_not_what_is_stored() {
    let (expired, lives): (u64, &[u64]) =
        Size::from_env().pick((100, &[1_000, 20_000]), (1_000, &[1_000, 100_000, 1_000_000]));
    for strategy in STRATEGIES {
        let mut least = u64::MAX;
        for live in lives {
            let calls = purge_cost(strategy, *live, expired).await;
            println!("{strategy:?}: {expired} expired beside {live} live: {calls} store calls");
            least = least.min(calls);
            assert!((calls - least) * 10 < least, "{calls} store calls, and {least} beside fewer");
        }
    }
}

#[tokio::test]
async fn the_limit_is_200_where_none_is_given() {
    let target = Native::new(Strategy::Cas);
    for number in 0..201 {
        begin(&target, &format!("key {number}"), 1).await;
    }
    target.set_clock(10);
    let purge = Call::on(CallName::Purge, "");
    let first = target.call(&purge).await;
    assert_eq!((&first["removed"], &first["more"]), (&200.into(), &true.into()));
    let second = target.call(&purge).await;
    assert_eq!((&second["removed"], &second["more"]), (&1.into(), &false.into()));
}

/// A begin that died at each of its store calls: a number without an entry, an entry without
/// a record. Its retry under the same key, and all else, goes its way.
#[tokio::test]
async fn dead_begins_are_cleaned_up() {
    for strategy in STRATEGIES {
        for number in 1..20 {
            for side in [Side::Before, Side::After] {
                dead_begin_is_cleaned_up(strategy, number, side).await;
            }
        }
    }
}

async fn dead_begin_is_cleaned_up(strategy: Strategy, number: u64, side: Side) {
    let target = start(strategy);
    target.probe().start(Some(Plan::from(number, side)));
    target.call(&Call::begin("dead", 20 * MINUTE_MS)).await;
    target.probe().start(None);
    begin(&target, "other", 10).await;
    pass(&target, 21 * MINUTE_MS);
    purge_until_clean(&target, 200).await;
    assert!(!is_there(&target, "dead").await);
    assert_eq!(leftovers(&target, 0).await, [""; 0], "{strategy:?} died {side:?} call {number}");
    let progress = target.store_get("il.p").await.unwrap_or_default();
    assert!(!String::from_utf8_lossy(&progress).contains("hole"), "{side:?} call {number}");
}

/// A claim whose last store call takes effect late: `purges` are made before it lands.
async fn land_late(strategy: Strategy, purges_at_ms: &'static [u64]) -> Native {
    let dry_run = Native::new(strategy);
    begin(&dry_run, "k", 10).await;
    // With tickets two looks follow, which make the verdict.
    let last = dry_run.probe().calls() - if strategy == Strategy::Cas { 0 } else { 2 };

    let target = Native::new(strategy);
    let purger = target.beside();
    let act = Box::new(move || {
        for now_ms in purges_at_ms {
            purger.set_clock(*now_ms);
            assert_eq!(purger.ask(&Call::purge(200))["removed"], 0);
        }
    });
    target.bucket().intrude(Intruder { number: last, side: Side::Before, act });
    begin(&target, "k", 10).await;
    assert_eq!(target.now_ms(), purges_at_ms[purges_at_ms.len() - 1], "the purger was there");
    target
}

#[tokio::test]
async fn a_claim_that_lands_late_is_purged_at_once() {
    let target = land_late(Strategy::Cas, &[11, 2_000]).await;
    assert_eq!(purge_until_clean(&target, 200).await.0, 1);
    assert!(!is_there(&target, "k").await);
}

/// Almost an hour late: until then a purge may not take its entry away.
#[tokio::test]
async fn a_claim_that_lands_late_leaves_nothing() {
    for strategy in STRATEGIES {
        let target = land_late(strategy, &[11 * MINUTE_MS, 22 * MINUTE_MS, 55 * MINUTE_MS]).await;
        assert_eq!(leftovers(&target, 0).await, [""; 0], "{strategy:?}");
    }
}

/// What nobody can read is said, kept, and keeps nothing else from being removed.
#[tokio::test]
async fn an_unreadable_record_keeps_no_other_key_from_being_purged() {
    let target = Native::new(Strategy::Cas);
    let keys: Vec<String> = (0..10).map(|number| format!("key {number}")).collect();
    for key in &keys {
        begin(&target, key, 10).await;
    }
    let store_keys = target.store_keys().await;
    let record = store_keys.iter().find(|key| key.starts_with("il.r.")).expect("a record");
    target.store_set(record, b"garbage".to_vec()).await;
    target.set_clock(1_000);
    let first = target.call(&Call::purge(200)).await;
    println!("{first}");
    purge_until_clean(&target, 200).await;
    let mut unreadable = 0;
    for key in &keys {
        match target.call(&Call::get(key)).await {
            Value::Null => {}
            answer => {
                assert_eq!(answer["error"], "corrupt", "{key}");
                unreadable += 1;
            }
        }
    }
    assert_eq!(unreadable, 1);
    assert_eq!(target.store_get(record).await.as_deref(), Some(&b"garbage"[..]));
}
