//! A prepared ledger, one call on it, and a store that fails at each point in turn.

use std::sync::Arc;

use host_tests::Strategy;
use host_tests::targets::{Hosted, Native};
use host_tests::{Call, Failure, Plan, Side, Target, leftovers};
use serde_json::Value;

/// The token of a first claim at this time, and the time.
pub(crate) const START: u64 = 1_000;
pub(crate) const LEASE_MS: u64 = 60_000;
/// How long a caller between deciding and writing is waited for.
pub(crate) const STALL_MS: u64 = 30_000;

/// Every way in which one call of the store can fail, and all from it on.
fn plans(number: u64) -> Vec<Plan> {
    let kinds = [Failure::AccessDenied, Failure::NoSuchStore];
    let denied = kinds.map(|failure| Plan { failure, ..Plan::one(number, Side::Before) });
    let failed = [Side::Before, Side::After, Side::Late].into_iter().flat_map(|side| {
        // One; that one and one of those after it, the look at what became of it say; all.
        let one = Plan::one(number, side);
        let two = |after| Plan { also: Some(number + after), ..one };
        [one, two(1), two(2), two(3), Plan::from(number, side)]
    });
    failed.chain(denied).collect()
}

/// What an answer is: the case's name, of an error the error's.
pub(crate) fn kind(answer: &Value) -> &str {
    match answer {
        Value::String(name) => name,
        Value::Object(fields) => match fields.iter().next() {
            Some((name, error)) if name == "error" => kind(error),
            Some((name, _)) => name,
            None => "nothing",
        },
        _ => "none",
    }
}

/// Whether the answer says that nothing changed because the store failed.
pub(crate) fn changed_nothing(answer: &Value) -> bool {
    ["unavailable", "access-denied", "no-such-store"].contains(&kind(answer))
}

/// A prepared ledger and a call on it.
pub(crate) struct Scene {
    pub(crate) setup: Vec<(u64, Call)>,
    pub(crate) at_ms: u64,
    pub(crate) call: Call,
}

impl Scene {
    /// Runs the call with every failure on every target; `verify` is given a store that works
    /// again. Nothing of what failed may stay in the store in the end.
    pub(crate) async fn with_each_failure(&self, verify: impl AsyncFn(&dyn Target, &Value)) {
        let native = self
            .on(async || Arc::new(Native::new(Strategy::Cas)) as Arc<dyn Target>, &verify)
            .await;
        let hosted = self
            .on(
                async || Arc::new(Hosted::in_memory(Strategy::Cas).await) as Arc<dyn Target>,
                &verify,
            )
            .await;
        println!(
            "{:?}: {native} failures in the native core, {hosted} on the host",
            self.call.name
        );
    }

    async fn on<F>(&self, make: impl Fn() -> F, verify: &impl AsyncFn(&dyn Target, &Value)) -> u64
    where
        F: Future<Output = Arc<dyn Target>>,
    {
        let mut failures = 0;
        for number in 1.. {
            for plan in plans(number) {
                let target = make().await;
                if !self.fail(&*target, plan, verify).await {
                    return failures;
                }
                failures += 1;
            }
        }
        failures
    }

    /// Answers whether the plan was met.
    async fn fail(
        &self,
        target: &dyn Target,
        plan: Plan,
        verify: &impl AsyncFn(&dyn Target, &Value),
    ) -> bool {
        prepare(target, &self.setup, self.at_ms).await;
        target.probe().start(Some(plan));
        let answer = target.call(&self.call).await;
        let failed = target.probe().has_failed();
        target.probe().start(None);
        println!("{plan:?}: {answer}");
        target.land().await;
        verify(target, &answer).await;
        let left = leftovers(target, 3 * 86_400_000).await;
        assert_eq!(left, [""; 0], "left in the store");
        failed
    }
}

/// Makes these calls at their times, none of which may fail, and then sets the clock.
pub(crate) async fn prepare(target: &dyn Target, setup: &[(u64, Call)], at_ms: u64) {
    for (at_ms, call) in setup {
        target.set_clock(*at_ms);
        let answer = target.call(call).await;
        assert!(answer["error"].is_null(), "the setup's {call:?}: {answer}");
    }
    target.set_clock(at_ms);
}

/// A claim of `k` at [`START`], whose token is [`START`] too.
pub(crate) fn claimed() -> (u64, Call) {
    (START, Call::begin("k", LEASE_MS))
}
