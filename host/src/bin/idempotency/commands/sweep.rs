//! `idempotency sweep`.

use std::time::Duration;

use clap::Args;
use idempotency_ledger_host::{Clock, Ledger, Purger, PurgerOptions, Sweep, SystemClock};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::JsonArgs;
use crate::duration::{human, moment, parse};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, print};

/// Purge now and then every day, until told to stop by INT or TERM.
///
/// One line for each sweep. `run` does the same while its command runs for long; this is for
/// ledgers that nothing else sweeps. Several at once do no harm.
#[derive(Args, Debug)]
pub(crate) struct SweepArgs {
    /// From the end of a sweep to the start of the next
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = parse)]
    every: Duration,

    /// Most keys that one pass removes; a sweep goes on until nothing is due: 1 to 10000
    #[arg(long, value_name = "N", default_value_t = 200)]
    limit: u32,

    #[command(flatten)]
    json: JsonArgs,
}

pub(crate) async fn sweep(args: &SweepArgs, ledger: &Ledger) -> Result<Answer, Failure> {
    // The purger would try again and again what can only be refused.
    if args.every.is_zero() || !(1..=10_000).contains(&args.limit) {
        return Err(Failure::usage(
            "--every or --limit is outside its range",
            "Sweep every 1ms or more, with a limit of 1 to 10000.",
        ));
    }
    let mut ends = [SignalKind::interrupt(), SignalKind::terminate()].map(signal).into_iter();
    let (Some(Ok(mut interrupt)), Some(Ok(mut terminate))) = (ends.next(), ends.next()) else {
        return Err(Failure::new(
            Exit::LedgerFailed,
            "signals cannot be watched",
            "Nothing was changed. Try again.",
        ));
    };
    let options =
        PurgerOptions { first_after: Duration::ZERO, interval: args.every, limit: args.limit };
    let json = args.json.json;
    let purger = Purger::start(ledger.clone(), options, move |sweep| report(&sweep, json));
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    // The pass under way goes on to its end.
    purger.stop().await;
    Ok(Answer::new(Exit::Success, Value::Null, ""))
}

fn report(sweep: &Sweep, json: bool) {
    let at_ms = SystemClock.now_ms();
    let error = sweep.error.as_ref().map(ToString::to_string);
    if json {
        print(
            &json!({
                "answer": "swept",
                "at_ms": at_ms,
                "removed": sweep.removed,
                "reclaimed": sweep.reclaimed,
                "passes": sweep.passes,
                "error": error,
            })
            .to_string(),
        );
        return;
    }
    let end = error.map_or_else(String::new, |error| {
        format!("; ended early, to be tried again within {}: {error}", human(RETRY_MS))
    });
    print(&format!(
        "{}  {} removed, {} reclaimed, {} passes{end}",
        moment(at_ms),
        sweep.removed,
        sweep.reclaimed,
        sweep.passes
    ));
}

/// How soon the purger tries again after a sweep that failed.
const RETRY_MS: u64 = 300_000;
