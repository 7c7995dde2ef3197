//! The histories that are explored.

mod deletions;

use idempotency_ledger::clock::Millis;
use idempotency_ledger::record::Strategy;
use idempotency_ledger::slot_log::ticket::STALL_MS;

use crate::oracle::{Call, Token};
use crate::script::Scenario;

/// How many are explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// With every change of the code.
    Small,
    /// Before a release.
    Full,
}

const BEGIN: Call = Call::Begin { lease_ms: 10 };
const COMPLETE: Call = Call::Complete { token: Token::Own, ttl_ms: 20, upsert: false, payload: 1 };
const BLIND: Call = Call::Complete { token: Token::None, ttl_ms: 20, upsert: false, payload: 2 };
const UPSERT: Call = Call::Complete { token: Token::Own, ttl_ms: 5, upsert: true, payload: 3 };
const RENEW: Call = Call::Renew { token: Token::Own, lease_ms: 15 };
const RELEASE: Call = Call::Release { token: Token::Own };
const FORGET: Call = Call::Forget { token: Token::Own };
const PURGE: Call = Call::Purge { limit: 10 };
const GET: Call = Call::Get;

const LONG: Call = Call::Begin { lease_ms: 100_000 };

const HOUR_MS: Millis = 3_600_000;

/// Every scenario of a size, for one strategy.
pub fn scenarios(strategy: Strategy, size: Size) -> Vec<Scenario> {
    let mut table = Table { strategy, size, all: Vec::new() };
    table.first_claims();
    table.over_a_standing_claim();
    table.a_stale_worker();
    table.three_workers();
    table.stalls();
    table.a_purge_among_others();
    table.a_deletion_among_others();
    table.a_dead_deletion();
    table.a_dead_first_claim();
    table.a_first_claim_written_late();
    table.all
}

struct Table {
    strategy: Strategy,
    size: Size,
    all: Vec<Scenario>,
}

/// The same with a clock that stands still.
fn still(scenario: &Scenario) -> Scenario {
    Scenario { ticks_ms: Vec::new(), ..scenario.clone() }
}

/// When a scenario starts, and where its clock goes.
type Times<'a> = (Millis, &'a [Millis]);

impl Table {
    fn is_full(&self) -> bool {
        self.size == Size::Full
    }

    fn scenario(
        &self,
        name: &'static str,
        before: &[(Millis, Call)],
        workers: &[&[Call]],
        (start_ms, ticks_ms): Times,
    ) -> Scenario {
        Scenario {
            name,
            strategy: self.strategy,
            before: before.iter().map(|(at_ms, call)| (*at_ms, *call, None)).collect(),
            late: false,
            workers: workers.iter().map(|script| script.to_vec()).collect(),
            start_ms,
            ticks_ms: ticks_ms.to_vec(),
            failures: 0,
            crashes: 0,
            strays: false,
            index: workers.iter().any(|script| script.contains(&PURGE)),
        }
    }

    fn add(&mut self, scenario: &Scenario, failures: usize, crashes: usize) {
        self.all.push(Scenario { failures, crashes, ..scenario.clone() });
    }

    /// With one failing store call, and with one crash.
    fn add_with_faults(&mut self, scenario: &Scenario) {
        let stands_still = self.strategy == Strategy::Ticket && !self.is_full();
        self.add_one_fault_each(scenario, stands_still);
    }

    fn add_one_fault_each(&mut self, scenario: &Scenario, failing_stands_still: bool) {
        let failing = if failing_stands_still { still(scenario) } else { scenario.clone() };
        self.add(&failing, 1, 0);
        self.add(scenario, 0, 1);
    }

    fn first_claims(&mut self) {
        let two = self.scenario("begin | begin", &[], &[&[BEGIN], &[BEGIN]], (100, &[]));
        // The index among the calls that may fail and after which one may die.
        self.add_with_faults(&Scenario { index: true, ..two.clone() });
        self.add_with_faults(&Scenario { ticks_ms: vec![110], ..two });
        let workers: [&[Call]; 2] = [&[BEGIN, COMPLETE], &[BEGIN, COMPLETE]];
        let pair = self.scenario("begin, complete | same", &[], &workers, (100, &[]));
        self.add_with_faults(&pair);
        if self.is_full() {
            self.add(&pair, 1, 1);
            self.add(&pair, 2, 0);
        }
    }

    fn over_a_standing_claim(&mut self) {
        let pairs: [(&'static str, &[Call], &[Call]); 12] = [
            ("complete | complete", &[COMPLETE], &[COMPLETE]),
            ("complete | complete without a token", &[COMPLETE], &[BLIND]),
            ("complete | begin", &[COMPLETE], &[BEGIN]),
            ("renew, complete | begin", &[RENEW, COMPLETE], &[BEGIN]),
            ("renew | renew", &[RENEW], &[RENEW]),
            ("release | begin, complete", &[RELEASE], &[BEGIN, COMPLETE]),
            ("release | complete", &[RELEASE], &[COMPLETE]),
            ("release | release", &[RELEASE], &[RELEASE]),
            ("upsert | begin", &[UPSERT], &[BEGIN]),
            ("upsert | upsert", &[UPSERT], &[UPSERT]),
            ("complete, get | forget", &[COMPLETE, GET], &[FORGET]),
            ("upsert | forget", &[UPSERT], &[FORGET]),
        ];
        for (name, first, second) in pairs {
            // To the lease's end and to the millisecond after it; past it; a clock that steps back.
            let times: [Times; 3] = match self.strategy {
                Strategy::Cas => [(105, &[109, 110]), (110, &[]), (105, &[90, 110])],
                Strategy::Ticket => [(105, &[110]), (110, &[]), (105, &[90])],
            };
            for times in times {
                let pair = self.scenario(name, &[(100, BEGIN)], &[first, second], times);
                match self.strategy {
                    _ if !self.is_full() => self.add_with_faults(&pair),
                    Strategy::Cas => self.add(&pair, 2, 1),
                    Strategy::Ticket => {
                        self.add(&pair, 0, 1);
                        self.add(&still(&pair), 1, 1);
                        // With two calls after the release it is a hundred million states.
                        if times.1 == [110] && second.len() == 1 {
                            self.add(&pair, 1, 0);
                        }
                    }
                }
            }
        }
    }

    fn a_stale_worker(&mut self) {
        let stale = Token::Is(100);
        for call in [
            Call::Complete { token: stale, ttl_ms: 20, upsert: true, payload: 4 },
            Call::Renew { token: stale, lease_ms: 15 },
            Call::Release { token: stale },
            Call::Forget { token: stale },
        ] {
            let before = [(100, BEGIN), (110, BEGIN)];
            let workers: [&[Call]; 2] = [&[call], &[COMPLETE]];
            let stale = self.scenario("a stale call | complete", &before, &workers, (115, &[120]));
            self.add_with_faults(&stale);
        }
    }

    fn three_workers(&mut self) {
        let crowds: [(&'static str, [&[Call]; 3]); 4] = [
            ("begin | begin | begin, over an expired claim", [&[BEGIN], &[BEGIN], &[BEGIN]]),
            (
                "complete | begin | upsert, over an expired claim",
                [&[COMPLETE], &[BEGIN], &[UPSERT]],
            ),
            ("complete | begin | get, over an expired claim", [&[COMPLETE], &[BEGIN], &[GET]]),
            ("complete | begin | purge, over an expired claim", [&[COMPLETE], &[BEGIN], &[PURGE]]),
        ];
        for (name, workers) in crowds {
            let crowd = self.scenario(name, &[(100, BEGIN)], &workers, (111, &[]));
            self.add(&crowd, 0, 0);
            if self.is_full() {
                self.add_with_faults(&crowd);
            }
        }
        let first = self.scenario("three first claims", &[], &[&[BEGIN][..]; 3], (100, &[]));
        self.add(&first, 0, 0);
        // All carry the token, so none waits for another.
        let same = [&[COMPLETE][..]; 3];
        let same = self.scenario("three completes", &[(100, BEGIN)], &same, (105, &[]));
        if self.is_full() {
            self.add(&same, 0, 0);
        }
        let live: [&[Call]; 3] = [&[COMPLETE], &[RENEW], &[BEGIN]];
        let live = self.scenario("complete | renew | begin", &[(100, BEGIN)], &live, (105, &[]));
        self.add(&live, 0, 0);
        if self.is_full() {
            self.add_with_faults(&first);
            self.add_with_faults(&live);
            let four = self.scenario("four first claims", &[], &[&[BEGIN][..]; 4], (100, &[]));
            self.add(&four, 0, 0);
        }
    }

    /// Callers that sleep, or died, between deciding and writing, and are given up.
    fn stalls(&mut self) {
        let late = STALL_MS + 200;
        let two: [&[Call]; 2] = [&[LONG], &[LONG, LONG]];
        let slow = self.scenario("a slow begin is given up", &[], &two, (100, &[late]));
        self.add(&slow, 0, usize::from(self.is_full()));
        let over: [(&'static str, [&[Call]; 2]); 3] = [
            ("a slow begin is given up, over an expired claim", [&[LONG], &[LONG, LONG]]),
            ("a slow upsert is given up", [&[UPSERT], &[LONG, LONG]]),
            ("a slow renew is given up", [&[RENEW, COMPLETE], &[GET, LONG, LONG]]),
        ];
        for (name, workers) in over {
            let slow = self.scenario(name, &[(100, BEGIN)], &workers, (115, &[late]));
            // With a moving clock one failure more makes tens of millions of states.
            self.add_one_fault_each(&slow, self.strategy == Strategy::Ticket);
        }
        let twice: [&[Call]; 2] = [&[LONG], &[LONG, LONG, GET, GET]];
        let twice = self.scenario("a slow begin, twice", &[], &twice, (100, &[late, 2 * late]));
        if self.is_full() {
            self.add(&twice, 0, 0);
        }
    }

    fn a_purge_among_others(&mut self) {
        type Row = (&'static str, &'static [(u64, Call)], &'static [Call]);
        let rows: [Row; 6] = [
            ("purge | begin", &[(100, BEGIN)], &[BEGIN]),
            ("purge | complete", &[(100, BEGIN)], &[COMPLETE]),
            ("purge | upsert", &[(100, BEGIN)], &[UPSERT]),
            ("purge | purge", &[(100, BEGIN)], &[PURGE]),
            ("purge of an outcome | begin", &[(100, BEGIN), (101, UPSERT)], &[BEGIN]),
            ("purge of nothing | begin", &[], &[BEGIN]),
        ];
        for (name, before, other) in rows {
            let purge = self.scenario(name, before, &[other, &[PURGE]], (111, &[]));
            self.add_with_faults(&purge);
            let earlier = self.scenario(name, before, &[other, &[PURGE]], (109, &[111]));
            self.add(&earlier, usize::from(self.is_full()), 0);
        }
        // A claim that outlives its entry; one that ends while its begin is under way.
        let renewed = [(100, BEGIN), (105, RENEW)];
        let workers: [&[Call]; 2] = [&[GET, COMPLETE], &[PURGE]];
        let purge = self.scenario("purge | get, complete, renewed", &renewed, &workers, (111, &[]));
        self.add(&purge, 0, 0);
        let workers: [&[Call]; 2] = [&[BEGIN], &[GET, PURGE]];
        let purge = self.scenario("purge of nothing | slow begin", &[], &workers, (100, &[200]));
        self.add(&purge, 0, 0);
    }
}
