//! The regular removal of what has expired.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::error::Error;
use crate::ledger::Ledger;
use crate::types::PurgeOptions;

/// The pause between two passes of a sweep, so that other calls get their turn.
const PASS_PAUSE: Duration = Duration::from_millis(20);

/// Most passes of one sweep, and most attempts at one that is answered `Contended`.
const MAX_PASSES: u32 = 100_000;
const CONTENDED_ATTEMPTS: u32 = 20;

/// The longest pause before a pass that was answered `Contended`.
const CONTENDED_PAUSE: Duration = Duration::from_secs(5);

/// After a sweep that failed or was not finished, the next one starts this soon.
const RETRY_PAUSE: Duration = Duration::from_secs(300);

/// When and how much a [`Purger`] removes.
#[derive(Clone, Debug)]
pub struct PurgerOptions {
    /// Before the first sweep: 10 s unless set.
    pub first_after: Duration,
    /// From the end of a sweep to the start of the next: 24 h unless set.
    pub interval: Duration,
    /// Most keys that one pass removes: 200 unless set, 1 to 10 000.
    pub limit: u32,
}

/// What one sweep did: pass after pass, until nothing was due.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sweep {
    /// Expired keys removed.
    pub removed: u64,
    /// Keys removed earlier whose last traces are now deleted too.
    pub reclaimed: u64,
    /// How many passes that took.
    pub passes: u32,
    /// Why it ended early; the next one starts within five minutes.
    pub error: Option<Error>,
}

/// Sweeps a ledger in the background, daily unless set otherwise. Several at once on one store,
/// in as many processes, do no harm.
///
/// Dropping it stops it; the pass under way runs to its end.
#[derive(Debug)]
pub struct Purger {
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Default for PurgerOptions {
    fn default() -> Self {
        Self {
            first_after: Duration::from_secs(10),
            interval: Duration::from_secs(24 * 60 * 60),
            limit: 200,
        }
    }
}

impl Purger {
    /// Start sweeping; `report` is told of each sweep. Call it inside a tokio runtime.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn start(
        ledger: Ledger,
        options: PurgerOptions,
        report: impl FnMut(Sweep) + Send + 'static,
    ) -> Self {
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(go_on(ledger, options, report, stopped));
        Self { stop: Some(stop), task }
    }

    /// Stop, after the pass under way.
    pub async fn stop(mut self) {
        self.stop = None;
        // It ends by itself now; that it panicked in `report` is no news for who stops it.
        let _ = (&mut self.task).await;
    }
}

impl Ledger {
    /// Purge pass after pass of `limit` keys until nothing is due, as a [`Purger`] does
    /// regularly. An error ends the sweep and stands in the answer.
    pub async fn sweep(&self, limit: u32) -> Sweep {
        let options = PurgeOptions { before_ms: None, limit: Some(limit) };
        let mut sweep = Sweep::default();
        let mut contended = 0;
        while sweep.passes < MAX_PASSES {
            match self.purge(&options).await {
                Ok(report) => {
                    contended = 0;
                    sweep.passes += 1;
                    sweep.removed += u64::from(report.removed);
                    sweep.reclaimed += u64::from(report.reclaimed);
                    if !report.more {
                        return sweep;
                    }
                    sleep(PASS_PAUSE).await;
                }
                Err(Error::Contended { retry_after_ms }) if contended < CONTENDED_ATTEMPTS => {
                    contended += 1;
                    sleep(Duration::from_millis(retry_after_ms).min(CONTENDED_PAUSE)).await;
                }
                Err(error) => {
                    sweep.error = Some(error);
                    return sweep;
                }
            }
        }
        sweep
    }
}

async fn go_on(
    ledger: Ledger,
    options: PurgerOptions,
    mut report: impl FnMut(Sweep) + Send,
    mut stopped: oneshot::Receiver<()>,
) {
    let mut pause = options.first_after;
    loop {
        tokio::select! {
            biased;
            _ = &mut stopped => return,
            () = sleep(pause) => {}
        }
        let sweep = tokio::select! {
            biased;
            _ = &mut stopped => return,
            sweep = ledger.sweep(options.limit) => sweep,
        };
        let unfinished = sweep.error.is_some() || sweep.passes == MAX_PASSES;
        pause = if unfinished { options.interval.min(RETRY_PAUSE) } else { options.interval };
        report(sweep);
    }
}
