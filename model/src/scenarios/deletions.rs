//! The end of a log: its removal, its deletion, and who dies there.

use idempotency_ledger::clock::Millis;
use idempotency_ledger::record::Strategy;
use idempotency_ledger::slot_log::ticket::STALL_MS;

use super::{BEGIN, COMPLETE, GET, HOUR_MS, LONG, PURGE, RELEASE, RENEW, Table, UPSERT};
use crate::oracle::Call;
use crate::script::Scenario;

/// A first claim has made so many calls when its ticket is taken and nothing is written.
const TICKET_TAKEN: usize = 12;

/// And so many when its entry is what it writes next.
const ABOUT_TO_WRITE: usize = 13;

/// Who was first seen at 101 is waited for no longer.
const GIVEN_UP_MS: Millis = 101 + STALL_MS;

impl Table {
    pub(super) fn a_deletion_among_others(&mut self) {
        let before = [(100, BEGIN), (200, PURGE)];
        let rows = [
            ("deletion | begin", BEGIN),
            ("deletion | upsert", UPSERT),
            ("deletion | get", GET),
            ("deletion | deletion", PURGE),
        ];
        let strays = self.strategy == Strategy::Ticket;
        for (name, other) in rows {
            let workers: [&[Call]; 2] = [&[other], &[PURGE]];
            let deletion = self.scenario(name, &before, &workers, (200 + HOUR_MS, &[]));
            self.add_with_faults(&Scenario { strays, ..deletion });
        }
        if self.strategy == Strategy::Cas || self.is_full() {
            // For tickets without the outcome and without the index, which two purgers alone are
            // explored with: it is more than a hundred million states so.
            let cas = self.strategy == Strategy::Cas;
            let claims: &[Call] = if cas { &[LONG, COMPLETE] } else { &[LONG] };
            let workers: [&[Call]; 3] = [claims, &[PURGE], &[PURGE]];
            let name = "deletion | deletion | begin";
            let mut three = self.scenario(name, &before, &workers, (200 + HOUR_MS, &[]));
            three.index = cas;
            self.add(&Scenario { strays, ..three }, 0, 0);
        }
        let workers: [&[Call]; 2] = [&[LONG], &[PURGE, PURGE]];
        let late = [200 + HOUR_MS + STALL_MS + 200];
        let slow = self.scenario(
            "deletion, twice | slow begin",
            &before,
            &workers,
            (200 + HOUR_MS, &late),
        );
        if self.strategy == Strategy::Cas || self.is_full() {
            self.add(&Scenario { strays, ..slow }, 0, 0);
        }
        for dies_after in 6..14 {
            let name = "deletion | begin, past a dead ticket";
            let workers: [&[Call]; 2] = [&[BEGIN], &[PURGE]];
            let mut past = self.scenario(name, &before, &workers, (1_000 + HOUR_MS, &[]));
            past.before.push((300, BEGIN, Some(dies_after)));
            past.before.push((301, BEGIN, None));
            self.add(&Scenario { strays, ..past }, 0, 0);
        }
    }

    /// The purger died at any of its calls: an hour later, two, and three.
    pub(super) fn a_dead_deletion(&mut self) {
        let before = [(100, BEGIN), (200, PURGE)];
        let strays = self.strategy == Strategy::Ticket;
        let rows: [(&str, [&[Call]; 2]); 2] = [
            ("a dead deletion | begin", [&[BEGIN], &[PURGE]]),
            ("a dead deletion | deletion", [&[PURGE], &[PURGE]]),
        ];
        let takers: [&[Call]; 3] = [&[LONG, COMPLETE], &[PURGE], &[PURGE]];
        for dies_after in [22, 24, 26] {
            let name = "a dead deletion | deletion | begin";
            let mut dead = self.scenario(name, &before, &takers, (201 + 3 * HOUR_MS, &[]));
            dead.before.push((200 + HOUR_MS, PURGE, Some(dies_after)));
            // The purgers' work on the index is that of two.
            dead.index = false;
            self.add(&Scenario { strays, ..dead }, 0, 0);
        }
        for (name, workers) in rows {
            for dies_after in 8..30 {
                for hours in [1, 2, 3] {
                    let start_ms = 201 + (1 + hours) * HOUR_MS;
                    let mut dead = self.scenario(name, &before, &workers, (start_ms, &[]));
                    dead.before.push((200 + HOUR_MS, PURGE, Some(dies_after)));
                    self.add(&Scenario { strays, ..dead.clone() }, 0, 0);
                    if self.is_full() {
                        self.add(&Scenario { strays, ..dead }, 0, 1);
                    }
                }
            }
        }
    }

    /// Whoever claimed first died at any of its calls and was given up; then the log, perhaps
    /// without its first entry, is used, removed and deleted.
    pub(super) fn a_dead_first_claim(&mut self) {
        for dies_after in 0..16 {
            let dead = (100, BEGIN, Some(dies_after));
            let noted = (101, BEGIN, None);
            let workers: [&[Call]; 2] = [&[LONG, COMPLETE], &[LONG]];
            let name = "a dead first claim, given up";
            let mut used = self.scenario(name, &[], &workers, (GIVEN_UP_MS, &[]));
            used.before = vec![dead, noted];
            self.add(&used, 0, 0);
            let name = "a dead first claim, removed";
            let workers: [&[Call]; 2] = [&[PURGE], &[BEGIN]];
            let mut removed = self.scenario(name, &[], &workers, (GIVEN_UP_MS + 20, &[]));
            removed.before = vec![dead, noted, (GIVEN_UP_MS, BEGIN, None)];
            self.add(&removed, 0, 1);
            let name = "a dead first claim, deleted";
            let mut deleted = self.scenario(name, &[], &workers, (GIVEN_UP_MS + 30 + HOUR_MS, &[]));
            deleted.before =
                vec![dead, noted, (GIVEN_UP_MS, BEGIN, None), (GIVEN_UP_MS + 20, PURGE, None)];
            deleted.strays = self.strategy == Strategy::Ticket;
            self.add(&deleted, 0, 1);
            // A reader who sleeps for an hour between entry 1, which is missing, and the others.
            if !self.is_full() && dies_after != TICKET_TAKEN {
                continue;
            }
            let name = "a dead first claim, renewed, deleted | slow get";
            let workers: [&[Call]; 2] = [&[RELEASE, PURGE], &[GET]];
            let later = [GIVEN_UP_MS + 10 + HOUR_MS];
            let mut read = self.scenario(name, &[], &workers, (GIVEN_UP_MS + 5, &later));
            read.before =
                vec![dead, noted, (GIVEN_UP_MS, BEGIN, None), (GIVEN_UP_MS + 2, RENEW, None)];
            read.index = false;
            read.strays = self.strategy == Strategy::Ticket;
            self.add(&read, 0, 0);
        }
    }

    /// Whoever claimed first died and was given up; the write that it died at lands when another
    /// has the key.
    pub(super) fn a_first_claim_written_late(&mut self) {
        let add = |table: &mut Table, workers: [&[Call]; 2]| {
            let name = "a dead first claim, written late";
            let later = [GIVEN_UP_MS + 10 + STALL_MS];
            let mut late = table.scenario(name, &[], &workers, (GIVEN_UP_MS + 5, &later));
            let dead = (100, BEGIN, Some(ABOUT_TO_WRITE));
            late.before = vec![dead, (101, BEGIN, None), (GIVEN_UP_MS, LONG, None)];
            late.late = true;
            table.add(&late, 0, 0);
        };
        add(self, [&[GET], &[GET, GET]]);
        if self.is_full() {
            add(self, [&[COMPLETE], &[GET]]);
        }
    }
}
