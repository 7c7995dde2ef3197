//! A value with its hash: states share most of what they hold, and each is hashed.

use std::cell::Cell;
use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::quality::FixedState;

/// The hash of a value, the same in every run.
pub(crate) fn hash_of(value: &impl Hash) -> u64 {
    FixedState::default().hash_one(value)
}

/// Remembers its hash until it changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hashed<T> {
    value: T,
    hash: Cell<Option<u64>>,
}

impl<T: Hash> Hashed<T> {
    pub(crate) fn value(&self) -> &T {
        &self.value
    }

    /// For a change.
    pub(crate) fn value_mut(&mut self) -> &mut T {
        self.hash.set(None);
        &mut self.value
    }
}

impl<T: Hash> Hash for Hashed<T> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let hash = self.hash.get().unwrap_or_else(|| hash_of(&self.value));
        self.hash.set(Some(hash));
        hasher.write_u64(hash);
    }
}
