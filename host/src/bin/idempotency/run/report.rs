//! What `run --json` says: one line of JSON a call, never on the command's own streams.

use std::fs::File;
use std::io::Write;
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::str::FromStr;

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use serde::Serialize;

use crate::failure::Failure;

/// Where the line goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    File(PathBuf),
    Descriptor(i32),
}

impl FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(number) = text.strip_prefix("fd:") else {
            return Ok(Self::File(text.into()));
        };
        match number.parse() {
            Ok(number @ 3..) => Ok(Self::Descriptor(number)),
            _ => Err("a descriptor is fd:3 or higher: 0 to 2 are the command's".into()),
        }
    }
}

/// Everything known at the end of a call.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Report {
    pub(crate) status: &'static str,
    pub(crate) key: String,
    pub(crate) scope: String,
    pub(crate) exit_code: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command_exit_code: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command_signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stdout_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stderr_bytes: Option<u64>,
    /// Of those, what is not recorded because it was too much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) missing_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) completed_at_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retry_after_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lost_reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
}

/// Opened before anything runs, so that a path that does not work is known then.
pub(crate) struct Reporter(Option<File>);

impl Reporter {
    pub(crate) fn open(destination: Option<&Destination>) -> Result<Self, Failure> {
        let file = match destination {
            None => return Ok(Self(None)),
            Some(Destination::File(path)) => File::options().append(true).create(true).open(path),
            Some(Destination::Descriptor(number)) => adopt(*number),
        };
        file.map(|file| Self(Some(file))).map_err(|error| {
            Failure::usage(
                format!("--json cannot be written to: {error}"),
                "Name a file that you may write, or a descriptor that is open as in 3>>log.",
            )
        })
    }

    /// Writes the line. The call's own ending counts for more than a full disk here.
    pub(crate) fn write(&mut self, report: &Report) {
        let Some(file) = &mut self.0 else { return };
        let written =
            serde_json::to_vec(report).map_err(std::io::Error::other).and_then(|mut line| {
                line.push(b'\n');
                file.write_all(&line)
            });
        if let Err(error) = written {
            eprintln!("idempotency: --json could not be written: {error}");
        }
    }
}

/// Takes over a descriptor that our parent opened for us, and keeps it from the command.
#[allow(unsafe_code)]
fn adopt(number: i32) -> std::io::Result<File> {
    // SAFETY: called once, first of all, when nothing in this process has opened a descriptor
    // for good that could be this one; a number that is not open fails in `fcntl` below.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
    let flags = match fcntl(&descriptor, FcntlArg::F_GETFL) {
        Ok(flags) => OFlag::from_bits_truncate(flags),
        Err(error) => {
            // It is not ours to close.
            std::mem::forget(descriptor);
            return Err(error.into());
        }
    };
    if flags & OFlag::O_ACCMODE == OFlag::O_RDONLY {
        return Err(std::io::Error::other("it is open for reading only"));
    }
    fcntl(&descriptor, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    Ok(File::from(descriptor))
}
