//! Which build a store belongs to: written at `il.m` before the first record, looked at
//! once by each instance. The builds cannot read each other's logs, so the other is refused.

use alloc::string::String;

use core::sync::atomic::{AtomicBool, Ordering};

use crate::bucket::Bucket;
use crate::clock::Op;
use crate::error::Error;
use crate::record::{FORMAT, Strategy};
use crate::text::text;

const STORE_KEY: &str = "il.m";

/// What an instance of the component remembers from one call to the next: that it has seen
/// its own marker, and nothing else.
#[derive(Debug, Default)]
pub struct Instance {
    marked: AtomicBool,
}

impl Instance {
    /// An instance that has seen nothing yet.
    pub const fn new() -> Self {
        Instance { marked: AtomicBool::new(false) }
    }

    /// # Errors
    /// [`Error::Corrupt`] where the store belongs to another build; of the store.
    pub(crate) fn check<B: Bucket>(&self, bucket: &B, strategy: Strategy) -> Result<(), Error> {
        if self.marked.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Some(bytes) = bucket.get(STORE_KEY)? else { return Ok(()) };
        if bytes != marker(strategy).as_bytes() {
            let found = core::str::from_utf8(&bytes).unwrap_or("no text");
            let why = "the store belongs to another build or format of the ledger: its marker";
            let ours = marker(strategy);
            return Err(Error::Corrupt(text!(
                why,
                " ",
                STORE_KEY,
                " is ",
                found,
                ", this build's is ",
                &ours
            )));
        }
        self.marked.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Marks a store that was not marked when [`Instance::check`] looked.
    pub(crate) fn mark<B: Bucket>(
        &self,
        bucket: &B,
        op: &Op,
        strategy: Strategy,
    ) -> Result<(), Error> {
        if self.marked.load(Ordering::Relaxed) {
            return Ok(());
        }
        op.may_write()?;
        bucket.set(STORE_KEY, marker(strategy).as_bytes())?;
        self.check(bucket, strategy)
    }
}

fn marker(strategy: Strategy) -> String {
    text!(r#"{"format":"#, FORMAT, r#","strategy":""#, strategy.name(), r#""}"#)
}
