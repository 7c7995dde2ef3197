//! Seeded mistakes: each looks like a simplification, and each must be found by the model.

/// One mistake: what is changed in the core, and which scenarios are to find it.
pub(crate) struct Mistake {
    pub(crate) name: &'static str,
    /// Part of the titles of the scenarios.
    pub(crate) only: &'static str,
    /// File, text, and what stands there instead.
    pub(crate) edits: &'static [(&'static str, &'static str, &'static str)],
}

const CAS: &str = "src/slot_log/cas.rs";
const TICKET: &str = "src/slot_log/ticket.rs";
const DELETE: &str = "src/slot_log/ticket/delete.rs";
const PLACE: &str = "src/slot_log/ticket/place.rs";
const PROBE: &str = "src/slot_log/ticket/probe.rs";
const VERDICT: &str = "src/slot_log/ticket/verdict.rs";
const LEDGER: &str = "src/ledger.rs";
const CHANGE: &str = "src/ledger/change.rs";
const SWEEP: &str = "src/state/sweep.rs";

pub(crate) const MISTAKES: &[Mistake] = &[
    Mistake {
        name: "a blind first claim",
        only: "cas: begin | begin",
        edits: &[(
            CAS,
            "        match bucket.swap(tail.handle, &bytes) {",
            "        if parent == 0 {
            bucket.set(&store_key, &bytes)?;
            return Ok(Append::Won);
        }
        match bucket.swap(tail.handle, &bytes) {",
        )],
    },
    Mistake {
        name: "position and token taken as proof after an ambiguous swap",
        only: "cas: begin | begin",
        edits: &[(
            "src/slot_log.rs",
            "found.claim == record.claim\n                    && found.token",
            "found.token",
        )],
    },
    Mistake {
        name: "fresh although the store failed",
        only: "cas: begin",
        edits: &[(
            CHANGE,
            "Append::Unknown(why) => return Err(Error::OutcomeUnknown(why).into()),",
            "Append::Unknown(_) => return Ok(()),",
        )],
    },
    Mistake {
        name: "an unclamped purge",
        only: "cas: purge | get, complete, renewed",
        edits: &[
            (LEDGER, "before_ms.min(now_ms)", "before_ms"),
            (SWEEP, "if record.expires_at_ms > now_ms", "if record.expires_at_ms > cutoff_ms"),
        ],
    },
    Mistake {
        name: "an index entry compared by bucket instead of claim id",
        only: "cas: purge",
        edits: &[(
            "src/expiry/purge/entry.rs",
            "match state::sweep(tail.record(), entry.claim, ",
            "let claim = crate::expiry::ClaimId { bucket, number };
        match state::sweep(tail.record(), claim, ",
        )],
    },
    Mistake {
        name: "an index entry dropped while its begin is under way",
        only: "cas: purge of nothing",
        edits: &[(SWEEP, "if claim.settles_at_ms() <= now_ms", "if claim.settles_at_ms() > 0")],
    },
    Mistake {
        name: "two helpers that finish one deletion, by compare-and-swap",
        only: "cas: deletion",
        edits: &[(CAS, "Append::Lost(_) => return Ok(Deletion::Lost),", "Append::Lost(_) => {}")],
    },
    Mistake {
        name: "a record that counts before its own time",
        only: "cas: ",
        edits: &[(
            "src/state.rs",
            "now_ms.max(record.changed_at_ms)",
            "now_ms.max(record.token.min(0))",
        )],
    },
    Mistake {
        name: "no look at the entries below after the ticket",
        only: "ticket: ",
        edits: &[(TICKET, "match self.recheck(tail)? {", "match Recheck::Clear {")],
    },
    Mistake {
        name: "no verdict",
        only: "ticket: ",
        edits: &[(TICKET, "Ok(()) => self.verdict(place, record),", "Ok(()) => Append::Won,")],
    },
    Mistake {
        name: "answers from an unsettled tail",
        only: "ticket: ",
        edits: &[(CHANGE, ".filter(|_| !is_idle)", ".filter(|_| step != Step::Nothing)")],
    },
    Mistake {
        name: "a settled tail without the second look at entry 1",
        only: "ticket: deletion",
        edits: &[(
            TICKET,
            "let unchanged = Slot::new(bucket, op, slot).head()? == head;",
            "let unchanged = head == tail.head;",
        )],
    },
    Mistake {
        name: "an answer from what was read an hour ago",
        only: "ticket: a dead first claim, renewed, deleted | slow get",
        edits: &[(TICKET, "op.may_answer().map(|()| unchanged)", "Ok(unchanged)")],
    },
    Mistake {
        name: "an append that compares nothing but the ticket",
        only: "ticket: deletion",
        edits: &[
            (TICKET, "(before, now) => before == now,", "_ => true,"),
            (
                TICKET,
                "(Head::Gate(_), _) | (_, Head::Gate(_)) => false,",
                "(Head::Gate(_), _) => false,",
            ),
        ],
    },
    Mistake {
        name: "a deletion without its gate",
        only: "ticket: deletion",
        edits: &[(
            DELETE,
            "        self.write_gate(deleting)?;\n        self.delete_all(tail.ticket)",
            "        self.delete_all(tail.ticket)",
        )],
    },
    Mistake {
        name: "a log without entry 1 deleted without a placeholder",
        only: "ticket: a dead first claim, ",
        edits: &[(
            TICKET,
            "if ends && tail.head == Head::Missing",
            "if ends && ticket == 0 && tail.head == Head::Missing",
        )],
    },
    Mistake {
        name: "two helpers that finish one deletion, by tickets",
        only: "ticket: a dead deletion",
        edits: &[(
            DELETE,
            "if !self.take_key(&succession)? {",
            "if !self.take_key(&succession)? && period == 0 {",
        )],
    },
    Mistake {
        name: "one note for all tickets",
        only: "ticket: deletion | begin, past",
        edits: &[(
            PLACE,
            "text!(\"il.s.\", self.slot, \".\", position)",
            "text!(\"il.s.\", self.slot, \".\", position.min(1))",
        )],
    },
    Mistake {
        name: "a verdict by the next entry's parent",
        only: "ticket: three completes",
        edits: &[(
            VERDICT,
            "        if tail.position < position || matches!(tail.head, Head::Gate(_)) {",
            "        for next in position.saturating_add(1)..=tail.position {
            if let Some((place, _)) = self.entry(next)? {
                return Ok(Some(place.parent == position));
            }
        }
        if tail.position < position || matches!(tail.head, Head::Gate(_)) {",
        )],
    },
    Mistake {
        name: "an appender that removes its own ticket",
        only: "ticket: three completes",
        edits: &[(
            TICKET,
            "Recheck::Entry(newer) => return Ok(Append::Lost(newer)),",
            "Recheck::Entry(_) => {
                self.delete_position(ticket)?;
                return Ok(Append::Lost(self.read()?));
            }",
        )],
    },
    Mistake {
        name: "an entry from before entry 1 compared by its log like any other",
        only: "ticket: a dead first claim, written late",
        edits: &[(PROBE, "(Head::Log(_), Some(_)) => false,", "(Head::Log(_), _) => false,")],
    },
    Mistake {
        name: "a deletion that skips a young ticket",
        only: "ticket: deletion, twice",
        edits: &[(
            DELETE,
            "since_ms.saturating_add(QUARANTINE_MS)",
            "since_ms.saturating_add(STALL_MS)",
        )],
    },
];
