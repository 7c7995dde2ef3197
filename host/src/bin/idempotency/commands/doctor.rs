//! `idempotency doctor`.

use clap::Args;
use idempotency_ledger_host::store::redact;
use idempotency_ledger_host::{Finding, StoreReport, Strategy};
use serde_json::{Map, Value, json};

use crate::cli::{JsonArgs, StoreArgs};
use crate::duration::moment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Answer;

/// Say where the ledger is, and try whether its store does what a ledger needs.
///
/// It uses keys of its own and deletes them again. Exit codes: 0 sound; 216 not sound, do not
/// use this store; 205 the store failed.
#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

pub(crate) async fn doctor(_args: &DoctorArgs, store: &StoreArgs) -> Result<Answer, Failure> {
    let url = redact(&store.url()?);
    let report = store.ledger().await?.check_store().await?;
    let exit = if report.sound { Exit::Success } else { Exit::Unsound };
    Ok(Answer::new(exit, as_json(&url, &report), as_table(&url, &report)))
}

/// What was looked at, as programs and as people name it.
fn findings(report: &StoreReport) -> [(&'static str, &'static str, &Finding); 5] {
    [
        ("read_your_writes", "writes are read back", &report.read_your_writes),
        ("increment", "each increment is answered once", &report.increment),
        ("swap_absent", "of two swaps on no value one fails", &report.swap_absent),
        ("swap_present", "of two swaps on one value one fails", &report.swap_present),
        ("swap_answer", "a swap that failed did not write", &report.swap_answer),
    ]
}

fn strategy(report: &StoreReport) -> &'static str {
    match report.strategy {
        Strategy::Cas => "cas",
        Strategy::Ticket => "ticket",
    }
}

fn as_json(url: &str, report: &StoreReport) -> Value {
    let tried = findings(report).map(|(name, _, finding)| {
        let finding = match finding {
            Finding::Sound => json!({"finding": "sound"}),
            Finding::Unsound(message) => json!({"finding": "unsound", "message": message}),
            Finding::Untested => json!({"finding": "untested"}),
        };
        (name.to_string(), finding)
    });
    json!({
        "answer": if report.sound { "sound" } else { "unsound" },
        "store": url,
        "strategy": strategy(report),
        "now_ms": report.now_ms,
        "findings": Map::from_iter(tried),
    })
}

fn as_table(url: &str, report: &StoreReport) -> String {
    let mut lines = vec![
        format!("store     {url}"),
        format!("strategy  {}", strategy(report)),
        format!("clock     {}", moment(report.now_ms)),
        String::new(),
    ];
    for (_, title, finding) in findings(report) {
        lines.push(match finding {
            Finding::Sound => format!("  {title:<37} sound"),
            Finding::Unsound(message) => format!("  {title:<37} NOT SOUND: {message}"),
            Finding::Untested => format!("  {title:<37} not used, not tried"),
        });
    }
    lines.push(String::new());
    lines.push(match (report.sound, url.starts_with("memory:")) {
        (true, false) => "sound: a ledger works here".into(),
        (true, true) => {
            "sound, but gone when this process ends: take sqlite:PATH for more than a try".into()
        }
        (false, _) => "NOT SOUND: do not keep a ledger here".into(),
    });
    lines.join("\n")
}
