//! By atomic increment.
//!
//! | call | get | set | delete | exists | increment |
//! | --- | --- | --- | --- | --- | --- |
//! | `begin`: fresh, on an absent key | 3 | 2 | | 3 | 2 |
//! | `begin`: fresh, on a log of one or two entries | 4 | 2 | | 3 | 2 |
//! | either, the first to expire in its minute, hour or day | | +2 | | | +1 |
//! | `begin`: in flight, done or mismatch | 3 | | | 1 | |
//! | `complete`: recorded | 4 | 1 | | 2 | 1 |
//! | the same, with an end before that of the lease | 4 | 2 | | 3 | 2 |
//! | the same, without a claim (upsert) | 3 | 2 | | 3 | 2 |
//! | `renew`: renewed | 4 | 1 | | 2 | 1 |
//! | `renew`: not for longer | 3 | | | 1 | |
//! | `release`: released | 4 | 1 | | 2 | 1 |
//! | `forget`: an outcome | 4 | 2 | | 3 | 2 |
//! | any of these on a key without a log: missing | 1 | | | 1 | |
//! | any of these otherwise: lost | 3 | | | 1 | |
//! | `get` of an absent key | 1 | | | 1 | |
//! | `get` | 3 | | | 1 | |
//! | any of these on a log of three entries, in addition | +1 | | | +2 | |
//! | any call with bad input | | | | | |
//!
//! The first call of an instance and the first claim in a store cost the same in addition as with
//! compare-and-swap; so does a purge with nothing to do.

use host_tests::targets::{Hosted, Native};
use host_tests::{Call, CallName, Strategy, Target};

use crate::{Meter, NO_CALL, Row, plus, token};

const ABSENT: Row = [1, 0, 0, 1, 0, 0, 0];
const LOOK: Row = [3, 0, 0, 1, 0, 0, 0];
const CHANGE: Row = [4, 1, 0, 2, 1, 0, 0];
const FIRST: Row = [3, 2, 0, 3, 2, 0, 0];
const CLAIM: Row = [4, 2, 0, 3, 2, 0, 0];
const FIRST_WITH_NEW_BUCKET: Row = [3, 4, 0, 3, 3, 0, 0];

async fn every_call(target: &dyn Target, imports: bool) {
    let meter = Meter { target, imports };
    target.set_clock(1_000);
    let begin = |key| Call::begin(key, 60_000);
    meter.check("bad input", &begin(""), NO_CALL).await;
    meter.check("first claim", &begin("first"), plus(FIRST_WITH_NEW_BUCKET, 2, 1)).await;
    meter.check("get, absent", &Call::get("k"), ABSENT).await;
    meter.check("release, missing", &Call::release("k", 1), ABSENT).await;
    let claim = token(&meter.check("fresh", &begin("k"), FIRST).await);
    meter.check("fresh, new bucket", &Call::begin("far", 10_000_000), FIRST_WITH_NEW_BUCKET).await;
    meter.check("in flight", &begin("k"), LOOK).await;
    meter.check("get", &Call::get("k"), LOOK).await;
    meter.check("not for longer", &Call::renew("k", claim, 1), LOOK).await;
    meter.check("superseded", &Call::renew("k", claim + 1, 1), LOOK).await;
    meter.check("recorded", &Call::complete("k", claim, "x"), CHANGE).await;
    meter.check("already done", &Call::complete("k", claim, "x"), LOOK).await;
    meter.check("done", &begin("k"), LOOK).await;
    meter.check("get, done", &Call::get("k"), LOOK).await;
    let upsert =
        Call { upsert_on_missing: true, ttl_ms: Some(59_000), ..Call::on(CallName::Complete, "u") };
    meter.check("upsert", &upsert, FIRST).await;
    let claim = token(&meter.check("fresh", &begin("r"), FIRST).await);
    meter.check("renewed", &Call::renew("r", claim, 70_000), CHANGE).await;
    meter.check("released", &Call::release("r", claim), CHANGE).await;
    let claim = token(&meter.check("fresh", &begin("s"), FIRST).await);
    let short = Call { ttl_ms: Some(59_000), ..Call::complete("s", claim, "x") };
    meter.check("recorded for less than the lease", &short, CLAIM).await;
    target.set_clock(200_000);
    meter.check("over an expired claim", &Call::begin("first", 10_000_000), CLAIM).await;
    let third = [LOOK[0] + 1, 0, 0, LOOK[3] + 2, 0, 0, 0];
    meter.check("get, three entries", &Call::get("r"), third).await;
}

#[tokio::test]
async fn at_the_imports_of_the_ledger() {
    every_call(&Native::new(Strategy::Ticket), true).await;
}

#[tokio::test]
async fn at_the_store_of_the_host() {
    every_call(&Hosted::in_memory(Strategy::Ticket).await, false).await;
}
