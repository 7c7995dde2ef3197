//! Does the host's store do what a ledger needs? Tried on keys of the check's own.

use alloc::string::String;

use crate::answer::{Finding, StoreReport};
use crate::bucket::{Bucket, SwapError};
use crate::clock::Op;
use crate::error::Error;
use crate::record::Strategy;
use crate::text::text;

/// Numbers the checks, so that two at once do not meet. Stays in the store.
const RUNS: &str = "il.k";

struct Check<'a, B> {
    bucket: &'a B,
    op: &'a Op<'a>,
    run: u64,
}

/// Tries each property in a fixed number of calls.
///
/// # Errors
/// Where the store fails; a store that works but wrongly is a finding, not an error.
pub(crate) fn check_store<B: Bucket>(
    bucket: &B,
    op: &Op,
    strategy: Strategy,
) -> Result<StoreReport, Error> {
    op.may_write()?;
    let run = bucket.increment(RUNS, 1)?.cast_unsigned();
    let check = Check { bucket, op, run };
    let swaps = strategy == Strategy::Cas;
    let read_your_writes = check.read_your_writes()?;
    let increment = check.increment()?;
    let (swap_absent, absent_answer) = if swaps { check.swaps("a", None)? } else { untested() };
    let (swap_present, present_answer) =
        if swaps { check.swaps("p", Some(b"0"))? } else { untested() };
    let swap_answer =
        if matches!(absent_answer, Finding::Unsound(_)) { absent_answer } else { present_answer };
    let findings = [&read_your_writes, &increment, &swap_absent, &swap_present, &swap_answer];
    Ok(StoreReport {
        strategy,
        sound: !findings.iter().any(|finding| matches!(finding, Finding::Unsound(_))),
        read_your_writes,
        increment,
        swap_absent,
        swap_present,
        swap_answer,
        now_ms: op.now_ms(),
    })
}

fn untested() -> (Finding, Finding) {
    (Finding::Untested, Finding::Untested)
}

fn finding(sound: bool, otherwise: &str) -> Finding {
    if sound { Finding::Sound } else { Finding::Unsound(otherwise.into()) }
}

impl<B: Bucket> Check<'_, B> {
    fn store_key(&self, name: &str) -> String {
        text!(RUNS, ".", self.run, ".", name)
    }

    fn read_your_writes(&self) -> Result<Finding, Error> {
        let store_key = self.store_key("r");
        let mut sound = true;
        for value in [&b"1"[..], b"", b"22\n\0"] {
            self.set(&store_key, value)?;
            sound &= self.bucket.get(&store_key)?.as_deref() == Some(value);
        }
        sound &= self.bucket.exists(&store_key)?;
        self.delete(&store_key)?;
        sound &= self.bucket.get(&store_key)?.is_none() && !self.bucket.exists(&store_key)?;
        Ok(finding(sound, "a value that was written, or deleted, is not what is read"))
    }

    fn increment(&self) -> Result<Finding, Error> {
        let store_key = self.store_key("i");
        let mut sound = true;
        for (delta, total) in [(0, 0), (1, 1), (1, 2), (0, 2), (40, 42)] {
            self.op.may_write()?;
            sound &= self.bucket.increment(&store_key, delta)? == total;
        }
        self.delete(&store_key)?;
        Ok(finding(sound, "increments are not answered with the sum so far"))
    }

    /// Two swaps that read the same state: whether one failed, and whether the answers are true.
    fn swaps(&self, name: &str, before: Option<&[u8]>) -> Result<(Finding, Finding), Error> {
        let store_key = self.store_key(name);
        if let Some(value) = before {
            self.set(&store_key, value)?;
        }
        let (first, second) = (self.bucket.cas(&store_key)?, self.bucket.cas(&store_key)?);
        let read = (self.bucket.current(&first)?, self.bucket.current(&second)?);
        let won = (self.swap(first, b"1")?, self.swap(second, b"2")?);
        let after = self.bucket.get(&store_key)?;
        self.delete(&store_key)?;
        let reads = read.0.as_deref() == before && read.1.as_deref() == before;
        let one_fails = reads && won != (true, true);
        // What the key must hold, told by the answers; after both it is the later one's.
        let answers = match won {
            (true, false) => after.as_deref() == Some(b"1"),
            (_, true) => after.as_deref() == Some(b"2"),
            (false, false) => false,
        };
        Ok((
            finding(
                one_fails,
                "two swaps that read the same state both succeeded, or read something else",
            ),
            finding(
                answers,
                "a swap that answered failure has written, or nobody's swap succeeded",
            ),
        ))
    }

    fn swap(&self, handle: B::Cas, value: &[u8]) -> Result<bool, Error> {
        self.op.may_write()?;
        match self.bucket.swap(handle, value) {
            Ok(()) => Ok(true),
            Err(SwapError::Failed(_)) => Ok(false),
            Err(SwapError::Store(error)) => Err(error.into()),
        }
    }

    fn set(&self, store_key: &str, value: &[u8]) -> Result<(), Error> {
        self.op.may_write()?;
        Ok(self.bucket.set(store_key, value)?)
    }

    fn delete(&self, store_key: &str) -> Result<(), Error> {
        self.op.may_write()?;
        Ok(self.bucket.delete(store_key)?)
    }
}
