//! Starts the command so that it cannot outlive us.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nix::unistd::Pid;
use tokio::process::Child;

use crate::exit::Exit;
use crate::failure::Failure;

/// Starts `command` in process group `group`, with our standard input and with pipes for the
/// rest. Call it on the main thread: a parent-death signal comes when the thread ends that
/// started the child.
pub(crate) fn spawn(
    command: &[OsString],
    group: Pid,
    environment: &[(&str, String)],
) -> Result<Child, Failure> {
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| Failure::usage("no command was given", "Write it after --."))?;
    let mut prepared = Command::new(program);
    prepared
        .args(arguments)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::inherit())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(group.as_raw());
    die_with_us(&mut prepared);
    tokio::process::Command::from(prepared).spawn().map_err(|error| not_started(program, &error))
}

/// Has Linux kill the child when we die; elsewhere the guard alone does it.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn die_with_us(command: &mut Command) {
    use nix::sys::{prctl, signal::Signal};
    use nix::unistd::{getpid, getppid};

    let parent = getpid();
    let in_the_child = move || {
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        // We may have died before that; then the signal never comes.
        if getppid() != parent {
            return Err(io::Error::from_raw_os_error(nix::libc::ESRCH));
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes two system calls, both async-signal
    // safe, and neither allocates nor takes a lock.
    unsafe { command.pre_exec(in_the_child) };
}

#[cfg(not(target_os = "linux"))]
fn die_with_us(_command: &mut Command) {}

fn not_started(program: &OsString, error: &io::Error) -> Failure {
    let program = program.to_string_lossy();
    match error.kind() {
        io::ErrorKind::NotFound => Failure::new(
            Exit::NotFound,
            format!("{program}: command not found"),
            "Nothing ran, the key is free again. Check the name, PATH, and a script's first line.",
        ),
        _ => Failure::new(
            Exit::NotExecutable,
            format!("{program}: cannot be executed: {error}"),
            "Nothing ran, and the key is free again. Check the file's mode and format.",
        ),
    }
}
