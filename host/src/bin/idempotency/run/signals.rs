//! The signals that are the command's business, as one stream.

use std::io;

use nix::sys::signal::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// What is passed on to the command as it is.
const PASSED_ON: [Signal; 6] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
];
/// What suspends us and then the command; what tells that the command was suspended.
const WATCHED: [Signal; 2] = [Signal::SIGTSTP, Signal::SIGCHLD];
/// Signals that wait to be looked at; more of them at once say nothing new.
const QUEUED_MAX: usize = 64;

/// From the moment it listens, these signals no longer end this process.
pub(crate) struct Signals {
    received: mpsc::Receiver<Signal>,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        let (sender, received) = mpsc::channel(QUEUED_MAX);
        let ignored = ignored_signals();
        for kind in PASSED_ON.into_iter().chain(WATCHED) {
            // Under `nohup`, and in the background of a shell, what is ignored stays ignored.
            if ignored & mask(kind) != 0 {
                continue;
            }
            let mut stream = signal(SignalKind::from_raw(kind as i32))?;
            let sender = sender.clone();
            tokio::spawn(async move {
                while stream.recv().await.is_some() {
                    if sender.send(kind).await.is_err() {
                        break;
                    }
                }
            });
        }
        Ok(Self { received })
    }

    /// The next signal; never ends. Cancel safe.
    pub(crate) async fn next(&mut self) -> Signal {
        match self.received.recv().await {
            Some(signal) => signal,
            None => std::future::pending().await,
        }
    }

    /// The next one that would have ended this process.
    pub(crate) async fn next_ending(&mut self) -> Signal {
        loop {
            let signal = self.next().await;
            if PASSED_ON.contains(&signal) {
                return signal;
            }
        }
    }

    /// One that has come already and would have ended this process.
    pub(crate) async fn pending_ending(&mut self) -> Option<Signal> {
        // The tasks that carry signals have their turn first.
        tokio::task::yield_now().await;
        tokio::select! {
            biased;
            signal = self.next_ending() => Some(signal),
            () = std::future::ready(()) => None,
        }
    }
}

fn mask(signal: Signal) -> u64 {
    1_u64 << (signal as u32 - 1)
}

/// The signals that our parent had us ignore; only Linux tells.
fn ignored_signals() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
            u64::from_str_radix(line.trim(), 16).ok()
        })
        .unwrap_or(0)
}
