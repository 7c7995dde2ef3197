//! A caller that died between its ticket and its entry: whoever holds the key goes on past it at
//! once, everybody else waits until it is given up.

use host_tests::targets::Native;
use host_tests::{Call, Plan, Side, Strategy, Target};

use crate::scene::{LEASE_MS, STALL_MS, START, claimed, kind, prepare};

fn done() -> Call {
    Call::complete("k", START, "one")
}

fn upsert() -> Call {
    Call { token: None, upsert_on_missing: true, ..done() }
}

fn expired() -> Vec<(u64, Call)> {
    vec![(START, Call::begin("k", 10))]
}

/// A ledger on which a call has died with a ticket in hand, a second after [`START`].
async fn dead_with_a_ticket(before: &[(u64, Call)], dies: &Call) -> Native {
    for number in 1..100 {
        let target = Native::new(Strategy::Ticket);
        prepare(&target, before, START + 1_000).await;
        let entries = count(&target, "il.r.").await;
        target.probe().start(Some(Plan::from(number, Side::Before)));
        target.call(dies).await;
        target.probe().start(None);
        assert_eq!(count(&target, "il.r.").await, entries, "{dies:?} wrote its entry");
        if count(&target, "il.t.").await > entries {
            return target;
        }
    }
    panic!("{dies:?} never has a ticket and no entry");
}

async fn count(target: &Native, start: &str) -> usize {
    target.store_keys().await.iter().filter(|key| key.starts_with(start)).count()
}

#[tokio::test]
async fn a_holder_does_not_wait() {
    let renew = Call::renew("k", START, LEASE_MS);
    let calls =
        [(done(), "recorded"), (renew.clone(), "renewed"), (Call::release("k", START), "released")];
    for (call, answer) in calls {
        let target = dead_with_a_ticket(&[claimed()], &renew).await;
        let answered = target.call(&call).await;
        assert_eq!(kind(&answered), answer, "{call:?}: {answered}");
    }
}

#[tokio::test]
async fn all_others_wait_until_it_is_given_up() {
    let (begin, forget) = (Call::begin("k", LEASE_MS), Call::forget("k", START));
    let outcome = vec![claimed(), (START, done())];
    for (before, call, waits, answer) in [
        (expired(), begin, "inflight", "fresh"),
        (expired(), upsert(), "contended", "recorded"),
        (outcome, forget, "contended", "forgotten"),
    ] {
        let target = dead_with_a_ticket(&before, &call).await;
        let (tickets, died_ms) = (count(&target, "il.t.").await, target.now_ms());
        // The first who sees the ticket notes when that was.
        for after_ms in [0, 1, STALL_MS - 1] {
            target.set_clock(died_ms + after_ms);
            let answered = target.call(&call).await;
            assert_eq!(kind(&answered), waits, "{call:?} {after_ms} ms later: {answered}");
            assert_eq!(count(&target, "il.t.").await, tickets, "{call:?} took a ticket");
        }
        target.set_clock(died_ms + STALL_MS);
        let answered = target.call(&call).await;
        assert_eq!(kind(&answered), answer, "{call:?}: {answered}");
    }
}
