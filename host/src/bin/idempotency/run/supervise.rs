//! From the command's start to its end: its output, the signals, a lease that gets lost.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use idempotency_ledger_host::LostReason;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::process::Child;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::args::OnLost;
use super::capture::{Capture, End, Phase, tee};
use super::guard::Guard;
use super::lease::Keeper;
use super::outcome::Outcome;
use super::signals::Signals;
use super::terminal::Terminal;
use crate::exit::{self, Exit};
use crate::failure::Failure;

/// From TERM to KILL, where the lease was lost.
const GRACE: Duration = Duration::from_secs(5);

/// How it ended.
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    /// The lease was lost while it ran.
    pub(crate) lost: Option<LostReason>,
    /// Processes that it left behind still held its output.
    pub(crate) left_behind: bool,
}

/// One running command and what watches it.
pub(crate) struct Supervisor<'a> {
    pub(crate) child: Child,
    pub(crate) guard: Guard,
    pub(crate) keeper: &'a mut Keeper,
    pub(crate) signals: &'a mut Signals,
    pub(crate) on_lost: OnLost,
}

struct Output {
    phase: watch::Sender<Phase>,
    tees: [Option<JoinHandle<End>>; 2],
    stdout: Capture,
    stderr: Capture,
}

impl Supervisor<'_> {
    /// Returns when the command is over and all that it wrote is passed on.
    pub(crate) async fn until_end(mut self) -> Result<Ended, Failure> {
        let mut output = Output::of(&mut self.child);
        let mut terminal = Terminal::new(self.child.id(), self.guard.group());
        let (status, lost) = self.until_exit(&mut terminal).await?;
        terminal.take_back();
        let left_behind = output.until_passed_on(self.signals).await;
        // Where the command had to go, what it started goes with it.
        match (lost, self.on_lost) {
            (Some(_), OnLost::Stop) => drop(self.guard),
            _ => self.guard.dismiss(),
        }
        let outcome = Outcome {
            exit_code: exit_code(status),
            signal: status.signal(),
            stdout: output.stdout.stream(),
            stderr: output.stderr.stream(),
        };
        Ok(Ended { outcome, lost, left_behind })
    }

    async fn until_exit(
        &mut self,
        terminal: &mut Terminal,
    ) -> Result<(ExitStatus, Option<LostReason>), Failure> {
        let group = self.guard.group();
        let mut lost = None;
        let mut kill_at: Option<Instant> = None;
        loop {
            tokio::select! {
                status = self.child.wait() => return Ok((status.map_err(unknown)?, lost)),
                signal = self.signals.next() => handle(signal, group, terminal),
                reason = self.keeper.lost(), if lost.is_none() => {
                    lost = Some(reason);
                    if self.on_lost == OnLost::Stop {
                        send(group, Signal::SIGTERM);
                        send(group, Signal::SIGCONT);
                        kill_at = Some(Instant::now() + GRACE);
                    }
                }
                () = until(kill_at) => {
                    send(group, Signal::SIGKILL);
                    kill_at = None;
                }
            }
        }
    }
}

impl Output {
    fn of(child: &mut Child) -> Self {
        let (phase, phases) = watch::channel(Phase::Running);
        let (stdout, stderr) = (Capture::default(), Capture::default());
        let out = child
            .stdout
            .take()
            .map(|from| tee(from, tokio::io::stdout(), stdout.clone(), phases.clone()));
        let err =
            child.stderr.take().map(|from| tee(from, tokio::io::stderr(), stderr.clone(), phases));
        Self { phase, tees: [out.map(tokio::spawn), err.map(tokio::spawn)], stdout, stderr }
    }

    /// Waits for a slow reader of ours unless a signal says not to; answers whether a stream
    /// was held open by a process left behind.
    async fn until_passed_on(&mut self, signals: &mut Signals) -> bool {
        let exited = Instant::now();
        let _ = self.phase.send(Phase::Exited(exited));
        let mut held_open = false;
        for tee in self.tees.iter_mut().filter_map(Option::as_mut) {
            let end = loop {
                tokio::select! {
                    end = &mut *tee => break end,
                    _ = signals.next_ending() => {
                        let _ = self.phase.send(Phase::Hurry(exited));
                    }
                }
            };
            held_open |= matches!(end, Ok(End::HeldOpen));
        }
        held_open
    }
}

fn handle(signal: Signal, group: Pid, terminal: &mut Terminal) {
    match signal {
        Signal::SIGCHLD => terminal.child_changed(),
        Signal::SIGTSTP => terminal.suspend(),
        _ => send(group, signal),
    }
}

/// A group that is gone needs no signal.
fn send(group: Pid, signal: Signal) {
    let _ = killpg(group, signal);
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

fn exit_code(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        (Some(code), _) => u8::try_from(code).unwrap_or(u8::MAX),
        (None, Some(signal)) => exit::of_signal(signal),
        (None, None) => u8::MAX,
    }
}

fn unknown(error: std::io::Error) -> Failure {
    Failure::new(
        Exit::OutcomeUnknown,
        format!("how the command ended could not be learned: {error}"),
        "Nothing was recorded. Look at what the command did before it runs again.",
    )
}
