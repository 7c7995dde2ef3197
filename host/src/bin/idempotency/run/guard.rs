//! The guard: a second process that ends the command's process group if we die.
//!
//! It leads the group, so the group's number cannot be reused while it watches. It holds the
//! reading end of a pipe that only we hold open: however we end, `kill -9` included, the pipe
//! closes and the guard kills the group, itself with it. Works wherever there are process
//! groups; on Linux the command has a parent-death signal besides.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode, Stdio};

use nix::sys::signal::{SigSet, Signal, killpg};
use nix::unistd::{Pid, getpgrp, getpid};

/// The hidden first argument that makes this program a guard.
pub(crate) const ARGUMENT: &str = "__guard";
const READY: u8 = b'r';
const DISMISSED: u8 = b'd';

/// Our side of it. Dropped without [`Guard::dismiss`] it kills what is left of the group.
pub(crate) struct Guard {
    process: Child,
    group: Pid,
}

impl Guard {
    /// Starts a guard and waits until it watches.
    pub(crate) fn start() -> io::Result<Self> {
        let mut process = Command::new(own_program()?)
            .arg(ARGUMENT)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let mut ready = [0; 1];
        if let Some(mut stdout) = process.stdout.take() {
            stdout.read_exact(&mut ready)?;
        }
        if ready != [READY] {
            return Err(io::Error::other("it did not start"));
        }
        let group = i32::try_from(process.id()).map_err(io::Error::other)?;
        Ok(Self { process, group: Pid::from_raw(group) })
    }

    /// The process group that it watches, for the command to join.
    pub(crate) fn group(&self) -> Pid {
        self.group
    }

    /// The command ended by itself: what it left behind may go on.
    pub(crate) fn dismiss(mut self) {
        if let Some(stdin) = &mut self.process.stdin {
            // A guard that is gone needs no dismissal.
            let _ = stdin.write_all(&[DISMISSED]);
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// The program that runs now, also when its file has been replaced since.
fn own_program() -> io::Result<std::path::PathBuf> {
    if cfg!(target_os = "linux") {
        return Ok("/proc/self/exe".into());
    }
    std::env::current_exe()
}

/// The guard's own life. Every signal that can be blocked is: those meant for the command
/// reach the whole group.
pub(crate) fn watch() -> ExitCode {
    let leads_a_group = getpgrp() == getpid();
    if !leads_a_group || SigSet::all().thread_block().is_err() {
        return ExitCode::FAILURE;
    }
    let mut out = io::stdout();
    if out.write_all(&[READY]).and_then(|()| out.flush()).is_err() {
        return ExitCode::FAILURE;
    }
    let mut byte = [0; 1];
    if io::stdin().read_exact(&mut byte).is_err() {
        // Ends this process too.
        let _ = killpg(getpgrp(), Signal::SIGKILL);
    }
    ExitCode::SUCCESS
}
