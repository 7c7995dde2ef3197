//! By compare-and-swap.
//!
//! As the ledger makes the calls, through its imports. Opening a compare-and-swap (`cas.new`)
//! goes with each `current`, and reads nothing.
//!
//! | call | get | set | delete | exists | increment | current | swap |
//! | --- | --- | --- | --- | --- | --- | --- | --- |
//! | `begin`: fresh | | 1 | | 1 | 1 | 1 | 1 |
//! | the same, the first to expire in its minute, hour or day | | 3 | | 1 | 2 | 1 | 1 |
//! | `begin`: in flight, done or mismatch | | | | | | 1 | |
//! | `complete`: recorded | | | | | | 1 | 1 |
//! | the same, with an end before that of the lease | | 1 | | 1 | 1 | 1 | 1 |
//! | the same, without a claim (upsert) | | 1 | | 1 | 1 | 1 | 1 |
//! | `renew`: renewed | | | | | | 1 | 1 |
//! | `renew`: not for longer | | | | | | 1 | |
//! | `release`: released | | | | | | 1 | 1 |
//! | `forget`: an outcome | | 1 | | 1 | 1 | 1 | 1 |
//! | any of these: lost or missing | | | | | | 1 | |
//! | `get` | | | | | | 1 | |
//! | `purge`: nothing is due | 1 | | | | 1 | | |
//! | `purge`: nothing new in an open minute, hour or day | 1 | 2 | | | 2 | | |
//! | any call with bad input | | | | | | | |
//! | the first call of an instance, in addition | 1 | | | | | | |
//! | the first claim in a store, in addition | 1 | 1 | | | | | |
//!
//! As the store of the host crate gets them, `get` stands for `exists` and `current` too.

use host_tests::targets::{Hosted, Native};
use host_tests::{Call, CallName, Strategy, Target};

use crate::{Meter, NO_CALL, Row, plus, token};

const ONE_LOOK: Row = [0, 0, 0, 0, 0, 1, 0];
const ONE_CHANGE: Row = [0, 0, 0, 0, 0, 1, 1];
const WITH_ENTRY: Row = [0, 1, 0, 1, 1, 1, 1];
const WITH_NEW_BUCKET: Row = [0, 3, 0, 1, 2, 1, 1];
const IDLE_PURGE: Row = [1, 0, 0, 0, 1, 0, 0];
/// A bucket of the index is being worked through: the lease, and how far the purge came.
const PURGE_WITHOUT_NEWS: Row = [1, 2, 0, 0, 2, 0, 0];

async fn every_call(target: &dyn Target, imports: bool) {
    let meter = Meter { target, imports };
    target.set_clock(1_000);
    let begin = |key| Call::begin(key, 60_000);
    meter.check("bad input", &begin(""), NO_CALL).await;
    meter.check("first claim", &begin("first"), plus(WITH_NEW_BUCKET, 2, 1)).await;
    meter.check("get, absent", &Call::get("k"), ONE_LOOK).await;
    let claim = token(&meter.check("fresh", &begin("k"), WITH_ENTRY).await);
    meter.check("fresh, new bucket", &Call::begin("far", 10_000_000), WITH_NEW_BUCKET).await;
    meter.check("in flight", &begin("k"), ONE_LOOK).await;
    meter.check("get", &Call::get("k"), ONE_LOOK).await;
    meter.check("renewed", &Call::renew("k", claim, 70_000), ONE_CHANGE).await;
    meter.check("not for longer", &Call::renew("k", claim, 1), ONE_LOOK).await;
    meter.check("superseded", &Call::renew("k", claim + 1, 1), ONE_LOOK).await;
    meter.check("recorded", &Call::complete("k", claim, "x"), ONE_CHANGE).await;
    meter.check("already done", &Call::complete("k", claim, "x"), ONE_LOOK).await;
    meter.check("done", &begin("k"), ONE_LOOK).await;
    meter.check("forgotten, new bucket", &Call::forget("k", claim), WITH_NEW_BUCKET).await;
    meter.check("missing", &Call::forget("k", claim), ONE_LOOK).await;
    let claim = token(&meter.check("over a tombstone", &begin("k"), WITH_ENTRY).await);
    meter.check("released", &Call::release("k", claim), ONE_CHANGE).await;
    let claim = token(&meter.check("fresh", &begin("k"), WITH_ENTRY).await);
    let short = Call { ttl_ms: Some(59_000), ..Call::complete("k", claim, "x") };
    meter.check("recorded for less than the lease", &short, WITH_ENTRY).await;
    let upsert =
        Call { upsert_on_missing: true, ttl_ms: Some(59_000), ..Call::on(CallName::Complete, "u") };
    meter.check("upsert", &upsert, WITH_ENTRY).await;
}

async fn purges(target: &dyn Target, imports: bool) {
    let meter = Meter { target, imports };
    target.set_clock(1_000);
    meter.check("purge, empty", &Call::purge(200), plus(IDLE_PURGE, 1, 0)).await;
    target.call(&Call::begin("k", 10_000_000)).await;
    target.call(&Call::purge(200)).await;
    meter.check("purge, nothing due", &Call::purge(200), IDLE_PURGE).await;
    target.call(&Call::begin("l", 60_000)).await;
    target.set_clock(62_000);
    target.call(&Call::purge(200)).await;
    target.call(&Call::purge(200)).await; // Reads the listing that the removal made.
    meter.check("purge, nothing new", &Call::purge(200), PURGE_WITHOUT_NEWS).await;
}

#[tokio::test]
async fn at_the_imports_of_the_ledger() {
    every_call(&Native::new(Strategy::Cas), true).await;
    purges(&Native::new(Strategy::Cas), true).await;
}

#[tokio::test]
async fn at_the_store_of_the_host() {
    every_call(&Hosted::in_memory(Strategy::Cas).await, false).await;
    purges(&Hosted::in_memory(Strategy::Cas).await, false).await;
}
