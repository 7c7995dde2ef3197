//! Job control: the command has a process group of its own, and still suspends, resumes and
//! reads from the terminal as if it had ours.

use std::fs::File;

use nix::sys::signal::{SigSet, Signal, killpg, raise};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};

/// Our controlling terminal, if there is one, and the group of the command.
pub(crate) struct Terminal {
    file: Option<File>,
    child: Option<Pid>,
    group: Pid,
    lent: bool,
}

impl Terminal {
    pub(crate) fn new(child: Option<u32>, group: Pid) -> Self {
        let child = child.and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        let file = File::options().read(true).write(true).open("/dev/tty").ok();
        Self { file, child, group, lent: false }
    }

    /// After SIGCHLD: if the command was stopped, because it wanted the terminal it gets it,
    /// else we stop as well, so that the shell sees one job.
    pub(crate) fn child_changed(&mut self) {
        let Some(child) = self.child else { return };
        let flags = WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG;
        match waitid(Id::Pid(child), flags) {
            Ok(WaitStatus::Stopped(_, Signal::SIGTTIN | Signal::SIGTTOU)) if self.is_ours() => {
                self.lent = self.give_to(self.group);
                let _ = killpg(self.group, Signal::SIGCONT);
            }
            // Nobody but its sender can undo a SIGSTOP; the lease goes on being renewed.
            Ok(WaitStatus::Stopped(_, Signal::SIGSTOP)) => {}
            Ok(WaitStatus::Stopped(..)) => self.suspend(),
            _ => {}
        }
    }

    /// Stops the command and us until the shell continues us. The lease may end meanwhile:
    /// the next renewal finds out.
    pub(crate) fn suspend(&mut self) {
        let _ = killpg(self.group, Signal::SIGSTOP);
        let was_lent = self.take_back();
        let _ = raise(Signal::SIGSTOP);
        if was_lent && self.is_ours() {
            self.lent = self.give_to(self.group);
        }
        let _ = killpg(self.group, Signal::SIGCONT);
    }

    /// Gives the terminal back to our own group, if the command had it.
    pub(crate) fn take_back(&mut self) -> bool {
        let had_it = std::mem::take(&mut self.lent);
        if had_it {
            self.give_to(getpgrp());
        }
        had_it
    }

    fn is_ours(&self) -> bool {
        self.file.as_ref().is_some_and(|file| tcgetpgrp(file) == Ok(getpgrp()))
    }

    /// A group in the background is stopped for this unless it blocks SIGTTOU.
    fn give_to(&self, group: Pid) -> bool {
        let Some(file) = &self.file else { return false };
        let mut set = SigSet::empty();
        set.add(Signal::SIGTTOU);
        let blocked = set.thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_BLOCK);
        let given = tcsetpgrp(file, group).is_ok();
        if let Ok(before) = blocked {
            let _ = before.thread_set_mask();
        }
        given
    }
}
