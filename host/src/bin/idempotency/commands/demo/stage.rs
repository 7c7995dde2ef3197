//! Where the demo's calls and answers are shown, and checked.

use std::io::IsTerminal;

use idempotency_ledger_host::{
    Begin, Clock, Complete, Entry, EntryState, ManualClock, PurgeReport,
};

use crate::duration::{human, moment};
use crate::output::{name_of_reason, print};

/// Shows each step in 80 columns; counts what is not as it should be.
pub(super) struct Stage {
    clock: ManualClock,
    coloured: bool,
    pub(super) steps: u32,
    pub(super) wrong: u32,
}

/// One call: who makes it, how it reads, what it should answer, and what that means.
pub(super) struct Step {
    who: &'static str,
    call: &'static str,
    expected: &'static str,
    meaning: &'static str,
}

pub(super) const fn step(
    who: &'static str,
    call: &'static str,
    expected: &'static str,
    meaning: &'static str,
) -> Step {
    Step { who, call, expected, meaning }
}

impl Step {
    /// The key that the call names.
    pub(super) fn key(&self) -> &str {
        self.call.split(' ').nth(1).unwrap_or_default()
    }
}

impl Stage {
    pub(super) fn new(clock: ManualClock) -> Self {
        let coloured = std::io::stdout().is_terminal()
            && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_some_and(|term| term != "dumb");
        Self { clock, coloured, steps: 0, wrong: 0 }
    }

    pub(super) fn chapter(&self, title: &str) {
        print(&format!("\n{}", self.style("1", title)));
    }

    /// Lets the host's clock go on.
    pub(super) fn wait_ms(&self, duration_ms: u64) {
        self.clock.advance_ms(duration_ms);
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// A second line of meaning.
    pub(super) fn note(&self, text: &str) {
        print(&format!("{:26}{}", "", self.style("2", text)));
    }

    pub(super) fn show(&mut self, step: &Step, answer: &str) {
        self.steps += 1;
        let right = answer == step.expected;
        let colour = if right { "32" } else { "31;1" };
        let clock = moment(self.clock.now_ms());
        let clock = clock.get(5..19).unwrap_or(&clock).replace('T', " ");
        print(&format!("{clock}  {:<10}{:<22}{}", step.who, step.call, self.style(colour, answer)));
        if !right {
            self.wrong += 1;
            print(&format!("{:26}expected: {}", "", step.expected));
        }
        self.note(step.meaning);
    }

    fn style(&self, code: &str, text: &str) -> String {
        if self.coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into() }
    }
}

pub(super) fn of_begin(begin: &Begin, now_ms: u64) -> String {
    match begin {
        Begin::Fresh(claim) => {
            format!(
                "fresh: attempt {}, for {}",
                claim.attempt,
                human(claim.expires_at_ms.saturating_sub(now_ms))
            )
        }
        Begin::Inflight(lease) => format!("inflight: retry in {}", human(lease.retry_after_ms)),
        Begin::Done(outcome) => format!("done: {}", text(outcome.payload.as_deref())),
        Begin::Mismatch => "mismatch".into(),
    }
}

pub(super) fn of_complete(complete: &Complete, now_ms: u64) -> String {
    match complete {
        Complete::Recorded(recorded) => {
            format!("recorded: for {}", human(recorded.expires_at_ms.saturating_sub(now_ms)))
        }
        Complete::Lost(reason) => format!("lost: {}", name_of_reason(*reason)),
    }
}

pub(super) fn of_get(entry: Option<&Entry>) -> String {
    match entry {
        None => "none".into(),
        Some(Entry { state: EntryState::Inflight, .. }) => "inflight".into(),
        Some(Entry { state: EntryState::Done(payload), .. }) => {
            format!("done: {}", text(payload.as_deref()))
        }
    }
}

pub(super) fn of_purge(report: &PurgeReport) -> String {
    format!("removed: {}, more: {}", report.removed, if report.more { "yes" } else { "no" })
}

fn text(payload: Option<&[u8]>) -> String {
    payload.map_or_else(|| "no payload".into(), |bytes| String::from_utf8_lossy(bytes).into_owned())
}
