//! What the demo tells: one payment that goes well, one whose worker crashes, and the end of
//! both.

use idempotency_ledger_host::{
    Begin, BeginOptions, CompleteOptions, Error, Ledger, PurgeOptions, Token,
};

use super::stage::{Stage, Step, of_begin, of_complete, of_get, of_purge, step};

const SECOND_MS: u64 = 1_000;
const DAY_MS: u64 = 86_400_000;

const ONCE: [Step; 4] = [
    step(
        "worker 1",
        "begin pay-17",
        "fresh: attempt 1, for 1m",
        "The key was free: worker 1 may do the work.",
    ),
    step(
        "worker 2",
        "begin pay-17",
        "inflight: retry in 59s",
        "Somebody works on it: worker 2 backs off.",
    ),
    step("worker 1", "complete pay-17", "recorded: for 1d", "The outcome stands, byte for byte."),
    step(
        "worker 2",
        "begin pay-17",
        "done: charged 42 EUR",
        "A replay: worker 2 answers this and charges nothing.",
    ),
];

const CRASH: [Step; 5] = [
    step(
        "worker 1",
        "begin pay-18",
        "fresh: attempt 1, for 1m",
        "Then its machine stalls, with the work half done.",
    ),
    step(
        "worker 2",
        "begin pay-18",
        "inflight: retry in 59s",
        "The lease protects the key, dead or alive.",
    ),
    step(
        "worker 2",
        "begin pay-18",
        "fresh: attempt 2, for 1m",
        "The lease ended, the key healed. Attempt 2 means:",
    ),
    step(
        "worker 1",
        "complete pay-18",
        "lost: superseded",
        "Back too late: its token is old, it changes nothing.",
    ),
    step(
        "worker 2",
        "complete pay-18",
        "recorded: for 1d",
        "One outcome, that of the claim that lives.",
    ),
];

const EXPIRY: [Step; 4] = [
    step(
        "worker 3",
        "begin pay-17",
        "done: charged 42 EUR",
        "The last millisecond of the 24 hours: still a replay.",
    ),
    step(
        "worker 3",
        "begin pay-17",
        "fresh: attempt 1, for 1m",
        "One millisecond on: expired, the key is new again.",
    ),
    step(
        "operator",
        "purge",
        "removed: 2, more: no",
        "Both keys are over by now, and their room is freed.",
    ),
    step("operator", "get pay-18", "none", "Nothing is left to replay."),
];

pub(super) async fn tell(ledger: &Ledger, stage: &mut Stage) -> Result<(), Error> {
    once(ledger, stage).await?;
    crash(ledger, stage).await?;
    expiry(ledger, stage).await
}

async fn once(ledger: &Ledger, stage: &mut Stage) -> Result<(), Error> {
    let [first, busy, recorded, replay] = &ONCE;
    stage.chapter("Once: two workers, one payment");
    let token = begin(ledger, stage, first).await?;
    stage.wait_ms(SECOND_MS);
    begin(ledger, stage, busy).await?;
    stage.wait_ms(SECOND_MS);
    complete(ledger, stage, token, "charged 42 EUR", recorded).await?;
    stage.wait_ms(SECOND_MS);
    begin(ledger, stage, replay).await?;
    Ok(())
}

async fn crash(ledger: &Ledger, stage: &mut Stage) -> Result<(), Error> {
    let [first, busy, healed, late_worker, recorded] = &CRASH;
    stage.chapter("Crash: worker 1 begins and vanishes");
    let late = begin(ledger, stage, first).await?;
    stage.wait_ms(SECOND_MS);
    begin(ledger, stage, busy).await?;
    stage.wait_ms(59 * SECOND_MS);
    let token = begin(ledger, stage, healed).await?;
    stage.note("ask the bank before you charge again.");
    stage.wait_ms(SECOND_MS);
    complete(ledger, stage, late, "charged twice?", late_worker).await?;
    complete(ledger, stage, token, "charged once", recorded).await
}

async fn expiry(ledger: &Ledger, stage: &mut Stage) -> Result<(), Error> {
    let [last_moment, expired, purged, gone] = &EXPIRY;
    stage.chapter("Expiry: the clock goes on by a day");
    // To the last millisecond of the outcome of pay-17, which was recorded 62 s ago.
    stage.wait_ms(DAY_MS - 62 * SECOND_MS - 1);
    begin(ledger, stage, last_moment).await?;
    stage.wait_ms(1);
    begin(ledger, stage, expired).await?;
    stage.wait_ms(DAY_MS);
    purge(ledger, stage, purged).await?;
    let entry = ledger.get("pay-18", None).await?;
    stage.show(gone, &of_get(entry.as_ref()));
    Ok(())
}

/// Begins the key that the step's call names; answers the token where the claim is fresh.
async fn begin(ledger: &Ledger, stage: &mut Stage, step: &Step) -> Result<Token, Error> {
    let answer = ledger.begin(step.key(), &BeginOptions::default()).await?;
    stage.show(step, &of_begin(&answer, stage.now_ms()));
    Ok(match answer {
        Begin::Fresh(claim) => claim.token,
        _ => 0,
    })
}

async fn complete(
    ledger: &Ledger,
    stage: &mut Stage,
    token: Token,
    payload: &str,
    step: &Step,
) -> Result<(), Error> {
    let options = CompleteOptions { token: Some(token), ..CompleteOptions::default() };
    let answer = ledger.complete(step.key(), Some(payload.into()), &options).await?;
    stage.show(step, &of_complete(&answer, stage.now_ms()));
    Ok(())
}

async fn purge(ledger: &Ledger, stage: &mut Stage, step: &Step) -> Result<(), Error> {
    let report = ledger.purge(&PurgeOptions::default()).await?;
    stage.show(step, &of_purge(&report));
    Ok(())
}
