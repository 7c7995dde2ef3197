//! The exit codes of the command, in one place: what a script may build on.

/// Our own endings lie in 200 to 219, where the codes of ordinary commands rarely do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    Success = 0,
    NotExecutable = 126,
    NotFound = 127,
    Usage = 200,
    Inflight = 201,
    WaitTimeout = 202,
    Mismatch = 203,
    LeaseLost = 204,
    LedgerFailed = 205,
    OutcomeUnknown = 206,
    Unreadable = 207,
    Done = 210,
    Missing = 211,
    Expired = 212,
    Superseded = 213,
    AlreadyDone = 214,
    Unsound = 216,
    DemoFailed = 219,
}

impl Exit {
    pub(crate) fn code(self) -> u8 {
        self as u8
    }
}

/// What a shell answers for a command that a signal ended.
pub(crate) fn of_signal(signal: i32) -> u8 {
    u8::try_from(128_i32.saturating_add(signal)).unwrap_or(u8::MAX)
}

/// Shown below the help of `idempotency`.
pub(crate) const TABLE: &str = "\
Exit codes:
  0    done as asked; `begin`: fresh; `get`: found; `doctor`: sound
  126  run: the command cannot be executed (the claim was released)
  127  run: the command was not found (the claim was released)
  200  wrong usage: an argument, a key, a duration outside its range
  201  in flight: somebody else holds the key; the answer says how long to back off
  202  run: still in flight when --wait-timeout ended
  203  mismatch: the key is in use with another fingerprint
  204  run: the lease was lost while the command ran; its outcome was not recorded
  205  the store or the ledger failed; run: the command was not started
  206  the store failed half-way: not known what was recorded; run: the command did run
  207  the record or the outcome cannot be read, or belongs to another program
  210  begin: done, the outcome was printed
  211  missing: no such claim or key
  212  complete, renew, release: the lease had expired
  213  superseded: the key has another token by now
  214  complete, renew, release: an outcome is recorded already and stays
  216  doctor: the store is not sound for a ledger
  219  demo: an answer was not what it should be
  `run` else exits as its command did; 128 + n where signal n ended it";
