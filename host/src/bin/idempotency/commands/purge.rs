//! `idempotency purge`.

use std::io::{IsTerminal, Write};

use clap::Args;
use idempotency_ledger_host::{Ledger, PurgeOptions, PurgeReport};
use serde_json::json;

use crate::cli::JsonArgs;
use crate::duration::parse_moment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;

/// Passes of one call; each removes something, so this ends only a store gone wild.
const PASSES_MAX: u32 = 1_000_000;

/// Remove expired keys, oldest expiry first. A live key survives whatever is asked.
///
/// Run it daily at least, from cron say, or leave it to `idempotency sweep`. Stopping it
/// anywhere and running several at once does no harm.
#[derive(Args, Debug)]
pub(crate) struct PurgeArgs {
    /// Only what expired before this moment (UTC), as in 2026-01-31T12:00:00Z; never later
    /// than now
    #[arg(long, value_name = "MOMENT", value_parser = parse_moment)]
    before: Option<u64>,

    /// Most keys that one pass removes, and most that it reclaims: 1 to 10000
    #[arg(long, value_name = "N", default_value_t = 200)]
    limit: u32,

    /// Go on pass after pass until nothing is due
    #[arg(long)]
    until_clean: bool,

    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

/// What the passes of one call did together.
#[derive(Default)]
struct Total {
    removed: u64,
    reclaimed: u64,
    passes: u32,
    more: bool,
}

pub(crate) async fn purge(args: &PurgeArgs, ledger: &Ledger) -> Result<Answer, Failure> {
    let options = PurgeOptions { before_ms: args.before, limit: Some(args.limit) };
    let mut total = Total::default();
    let mut progress = Progress::new();
    for _ in 0..PASSES_MAX {
        let report = ledger.purge(&options).await?;
        let idle = total.add(&report);
        progress.show(&total);
        if !args.until_clean || !report.more || idle {
            break;
        }
    }
    progress.clear();
    Ok(total.answer())
}

impl Total {
    /// Whether the pass did nothing, so that another would do nothing either.
    fn add(&mut self, report: &PurgeReport) -> bool {
        self.removed += u64::from(report.removed);
        self.reclaimed += u64::from(report.reclaimed);
        self.passes += 1;
        self.more = report.more;
        report.removed == 0 && report.reclaimed == 0
    }

    fn answer(&self) -> Answer {
        let json = json!({
            "answer": "purged",
            "removed": self.removed,
            "reclaimed": self.reclaimed,
            "passes": self.passes,
            "more": self.more,
        });
        let more =
            if self.more { "\n  more is due: run it again, or with --until-clean" } else { "" };
        let human = format!(
            "purged: {} expired keys removed, {} reclaimed{more}",
            self.removed, self.reclaimed
        );
        Answer::new(Exit::Success, json, human)
    }
}

/// One line on standard error that grows, where a person looks at it.
struct Progress {
    visible: bool,
    shown: bool,
}

impl Progress {
    fn new() -> Self {
        Self { visible: std::io::stderr().is_terminal(), shown: false }
    }

    fn show(&mut self, total: &Total) {
        if self.visible && total.more {
            eprint!(
                "\rpass {}: {} removed, {} reclaimed",
                total.passes, total.removed, total.reclaimed
            );
            let _ = std::io::stderr().flush();
            self.shown = true;
        }
    }

    fn clear(&self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}
