//! What the store and the clock do to the processes of a history.

use idempotency_ledger::clock::Millis;
use idempotency_ledger_host::Clock;
use idempotency_ledger_host::store::StoreError;

use super::{Late, Process, Run, Stage};
use crate::chaos::plan::{Fate, Move};

/// A call that was issued takes effect within this time or never: half of what the ledger
/// needs of a store.
const MAX_LATE_MS: Millis = 1_800_000;

impl Run {
    pub(super) async fn serve(&mut self, number: usize) {
        let Stage::Asked(request, at_ms, reply) = self.take(number) else { return };
        let fate = self.plan.fate(request.is_read());
        let happens = !matches!(
            fate,
            Fate::FailsBefore | Fate::DiesBefore | Fate::FailsLate | Fate::DiesLate
        );
        let response = if happens {
            request.apply(&*self.store).await
        } else {
            Err(StoreError::Other("injected".to_owned()))
        };
        let shown = match &response {
            Ok(response) => response.to_string(),
            Err(error) => error.to_string(),
        };
        self.notes.line(number, format!("{request}: {fate:?}, {shown}"));
        match fate {
            Fate::Answered => self.reply(number, response, reply).await,
            Fate::Slow => self.processes[number].stage = Stage::Served(response, reply),
            Fate::FailsBefore | Fate::FailsAfter | Fate::FailsLate => {
                self.totals.failures += 1;
                if fate == Fate::FailsLate {
                    self.late.push(Late(request, at_ms));
                }
                let error = StoreError::Other("injected".to_owned());
                self.reply(number, Err(error), reply).await;
            }
            Fate::DiesBefore | Fate::DiesAfter | Fate::DiesLate => {
                self.totals.crashes += 1;
                if fate == Fate::DiesLate {
                    self.late.push(Late(request, at_ms));
                }
                self.graves.push(reply);
                // Another takes its place, and knows nothing of what it did.
                self.processes[number] = self.process().await;
            }
        }
    }

    pub(super) async fn answer(&mut self, number: usize) {
        let Stage::Served(response, reply) = self.take(number) else { return };
        self.notes.line(number, "its store call is answered");
        self.reply(number, response, reply).await;
    }

    /// A late effect comes, or turns out never to come.
    pub(super) async fn land(&mut self, at: usize) {
        let Late(request, _) = self.late.remove(at);
        self.totals.late_effects += 1;
        if self.plan.rng.u8(0..4) == 0 {
            self.notes.world(format!("never comes: {request}"));
            return;
        }
        let response = request.apply(&*self.store).await;
        self.notes.world(format!("comes late: {request}: {response:?}"));
    }

    /// Decides what was issued too long before the clock's next reading.
    pub(super) async fn decide_late(&mut self, next_ms: Millis) {
        let overdue = |at_ms: Millis| next_ms > at_ms.saturating_add(MAX_LATE_MS);
        while let Some(at) = self.late.iter().position(|Late(_, at_ms)| overdue(*at_ms)) {
            self.land(at).await;
        }
        for number in 0..self.processes.len() {
            match self.take(number) {
                Stage::Asked(request, at_ms, reply) if overdue(at_ms) => {
                    let response = request.apply(&*self.store).await;
                    self.notes.line(number, format!("{request}: before the clock moves"));
                    self.processes[number].stage = Stage::Served(response, reply);
                }
                stage => self.processes[number].stage = stage,
            }
        }
    }

    pub(super) async fn tick(&mut self) {
        let next_ms = match self.plan.next_move(self.clock.now_ms(), self.max_ms, self.is_busy()) {
            Move::To(next_ms) => {
                self.decide_late(next_ms).await;
                next_ms
            }
            Move::Far(next_ms) => {
                self.decide_late(Millis::MAX).await;
                next_ms
            }
        };
        self.clock.set_ms(next_ms);
        self.max_ms = self.max_ms.max(next_ms);
        self.totals.clock_moves += 1;
        self.notes.world(format!("at {next_ms}"));
        let busy = |process: &&Process| !matches!(process.stage, Stage::Idle);
        let under_way: Vec<usize> =
            self.processes.iter().filter(busy).map(|process| process.operation).collect();
        self.notes.tick(under_way.into_iter(), next_ms);
    }
}
