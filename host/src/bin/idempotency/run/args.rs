//! What `idempotency run` is told.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, ValueEnum};
use sha2::{Digest, Sha256};

use super::report::Destination;
use crate::cli::KeyArgs;
use crate::duration;

/// Run a command at most once per key, and replay its outcome afterwards.
///
/// The first call runs COMMAND: its output streams through, and where it exits 0 its standard
/// output, standard error and exit code are recorded. Later calls with the key replay them
/// without running anything. A command that fails is not recorded, so that the next call tries
/// again, unless --keep-failures. At most one outcome is recorded per key; after a crash the
/// work itself can run again, so give the command's own calls IDEMPOTENCY_KEY or
/// IDEMPOTENCY_TOKEN, which it finds in its environment along with IDEMPOTENCY_SCOPE and
/// IDEMPOTENCY_ATTEMPT.
///
/// If this program dies, `kill -9` included, its command and the command's process group are
/// killed. Linux does that by a parent-death signal and by a guard process, other systems by
/// the guard alone.
#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) key: KeyArgs,

    /// How long a crash here may block the key. Renewed while the command runs; each renewal
    /// doubles it, up to 10m
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration::parse)]
    pub(crate) lease: Duration,

    /// How long the outcome is replayed
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = duration::parse)]
    pub(crate) keep: Duration,

    /// Where another call holds the key, wait for its outcome or for its end
    #[arg(long)]
    pub(crate) wait: bool,

    /// How long to wait at most
    #[arg(long, value_name = "TIME", default_value = "10m", requires = "wait")]
    #[arg(value_parser = duration::parse)]
    pub(crate) wait_timeout: Duration,

    /// Record also what fails: a replay fails the same way
    #[arg(long)]
    pub(crate) keep_failures: bool,

    /// What identifies the request, 1 to 64 bytes; the same key with another one is refused.
    /// `auto` takes a hash of the command line
    #[arg(long, value_name = "TEXT|auto")]
    pub(crate) fingerprint: Option<String>,

    /// If the lease is lost while the command runs: stop it (TERM, after 5s KILL), or let it
    /// finish. Either way nothing is recorded and the exit code is 204
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = OnLost::Stop)]
    pub(crate) on_lost: OnLost,

    /// Append one line of JSON about this call to a file, or to descriptor N (3 or higher)
    #[arg(long, value_name = "FILE|fd:N")]
    pub(crate) json: Option<Destination>,

    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// What happens to a command whose lease is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnLost {
    /// End it
    Stop,
    /// Let it finish
    Continue,
}

impl RunArgs {
    pub(crate) fn fingerprint_bytes(&self) -> Option<Vec<u8>> {
        match self.fingerprint.as_deref() {
            Some("auto") => Some(self.command_hash()),
            other => other.map(|text| text.as_bytes().to_vec()),
        }
    }

    /// Each argument with its length before it: `a b` and `'a b'` are two commands.
    fn command_hash(&self) -> Vec<u8> {
        let mut hash = Sha256::new();
        for argument in &self.command {
            let bytes = argument.as_encoded_bytes();
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        }
        hash.finalize().to_vec()
    }
}
