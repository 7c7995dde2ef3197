//! `idempotency demo`: the main job in one breath.

mod stage;
mod story;

use clap::Args;
use idempotency_ledger_host::Ledger;
use idempotency_ledger_host::ManualClock;
use idempotency_ledger_host::store::SqliteStore;
use serde_json::Value;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Answer, print};
use stage::Stage;

/// 2026-01-01T12:00:00Z; the demo's clock is set by hand.
const START_MS: u64 = 1_767_268_800_000;

/// Show in a few seconds what a ledger does: claim, replay, crash, fencing, expiry.
///
/// It works on a file of its own in a temporary folder. Exit codes: 0; 219 an answer was not
/// what it should be.
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {}

pub(crate) async fn demo(_args: &DemoArgs) -> Result<Answer, Failure> {
    let folder = tempfile::Builder::new()
        .prefix("idempotency-demo-")
        .tempdir()
        .map_err(|error| no_folder(&error))?;
    let clock = ManualClock::new(START_MS);
    let store = SqliteStore::open(folder.path().join("ledger.db"))
        .await
        .map_err(|error| no_folder(&error))?;
    let ledger = Ledger::builder(store).clock(clock.clone()).build().await?;
    print("The real component over an SQLite file; the host's clock is set by hand.");
    let mut stage = Stage::new(clock);
    story::tell(&ledger, &mut stage).await?;
    if stage.wrong > 0 {
        return Err(Failure::new(
            Exit::DemoFailed,
            format!("{} of {} answers were not what they should be", stage.wrong, stage.steps),
            "This is a mistake in the program or its store: please report it with the lines above.",
        ));
    }
    let human = format!(
        "\nAll {} answers are as they should be. Now with a command of your own, twice:\n\n  \
         idempotency run --key nightly -- sh -c 'date; echo done'\n\n\
         The second call replays the first. `idempotency --help` shows the rest.",
        stage.steps
    );
    Ok(Answer::new(Exit::Success, Value::Null, human))
}

fn no_folder(error: &dyn std::error::Error) -> Failure {
    Failure::new(
        Exit::LedgerFailed,
        format!("no file for the demo: {error}"),
        "Check that TMPDIR names a folder that you may write.",
    )
}
