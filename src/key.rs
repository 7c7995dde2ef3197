//! Scope and key -> slot: the place in the store. Pure.

use alloc::string::String;
use alloc::vec::Vec;

use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::text::text;

/// Longest key, in bytes of UTF-8.
pub const MAX_KEY_BYTES: usize = 1024;
/// Longest scope, in bytes of UTF-8.
pub const MAX_SCOPE_BYTES: usize = 256;
/// Longest fingerprint, in bytes.
pub const MAX_FINGERPRINT_BYTES: usize = 64;
/// The scope of a call that names none.
pub const DEFAULT_SCOPE: &str = "global";

/// Bytes of the hash that name a slot: 160 bits, 40 characters of hex.
const SLOT_BYTES: usize = 20;

/// A key within a scope, checked, and the slot that holds its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The tenant; keys of two scopes never meet.
    pub scope: String,
    /// The caller's key.
    pub key: String,
    /// Lower-case hex of the hash of both: every store's key rules allow it, and no text
    /// of a key leaves the record.
    pub slot: String,
}

impl Address {
    /// Checks the sizes and names the slot.
    ///
    /// # Errors
    /// [`Error::InvalidKey`] where the key has not 1 to [`MAX_KEY_BYTES`] bytes or the scope
    /// not 1 to [`MAX_SCOPE_BYTES`].
    pub fn new(scope: Option<&str>, key: &str) -> Result<Address, Error> {
        let scope = scope.unwrap_or(DEFAULT_SCOPE);
        check_size("key", key.len(), MAX_KEY_BYTES)?;
        check_size("scope", scope.len(), MAX_SCOPE_BYTES)?;
        Ok(Address { scope: scope.into(), key: key.into(), slot: slot(scope, key) })
    }
}

/// # Errors
/// [`Error::InvalidKey`] for a fingerprint that has not 1 to [`MAX_FINGERPRINT_BYTES`] bytes.
pub fn check_fingerprint(fingerprint: Option<&[u8]>) -> Result<(), Error> {
    match fingerprint {
        Some(bytes) => check_size("fingerprint", bytes.len(), MAX_FINGERPRINT_BYTES),
        None => Ok(()),
    }
}

fn check_size(what: &str, bytes: usize, max_bytes: usize) -> Result<(), Error> {
    let (bytes, max_bytes) = (bytes as u64, max_bytes as u64);
    if bytes == 0 || bytes > max_bytes {
        return Err(Error::InvalidKey(text!(
            "the ",
            what,
            " has ",
            bytes,
            " bytes; give it 1 to ",
            max_bytes
        )));
    }
    Ok(())
}

/// Each part is preceded by its length, so that no two pairs spell the same input.
fn slot(scope: &str, key: &str) -> String {
    let mut hash = Sha256::new();
    for part in [scope, key] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    to_hex(hash.finalize().get(..SLOT_BYTES).unwrap_or_default())
}

/// Lower-case hexadecimal.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        for nibble in [byte >> 4, byte & 15] {
            hex.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
    }
    hex
}

/// Reads it back.
pub(crate) fn from_hex(hex: &str) -> Option<Vec<u8>> {
    let digit =
        |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some((digit(high)? << 4) | digit(low)?),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = hex.as_bytes().chunks(2).map(pair).collect();
    bytes.filter(|bytes| to_hex(bytes) == hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot_of(scope: &str, key: &str) -> String {
        Address::new(Some(scope), key).unwrap().slot
    }

    #[test]
    fn no_two_pairs_share_a_slot() {
        let pairs =
            [("a:b", "c"), ("a", "b:c"), ("ab", "c"), ("a", "bc"), ("c", "a:b"), ("A", "bc")];
        for (i, a) in pairs.iter().enumerate() {
            for b in pairs.iter().skip(i + 1) {
                assert_ne!(slot_of(a.0, a.1), slot_of(b.0, b.1), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn a_slot_is_40_lower_case_hex_digits() {
        let slot = slot_of("global", "\u{0}\n\u{1f600}");
        assert_eq!(slot.len(), 40);
        assert!(slot.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)));
    }

    #[test]
    fn a_slot_is_the_same_in_every_release() {
        assert_eq!(
            Address::new(None, "nightly").unwrap(),
            Address::new(Some("global"), "nightly").unwrap()
        );
        assert_eq!(slot_of("global", "nightly"), "8c3b3614a8b2a34a574425c74b27fcf3affee6ba");
    }

    #[test]
    fn sizes_are_counted_in_bytes() {
        let key = |n: usize| Address::new(None, &"k".repeat(n)).is_ok();
        assert_eq!([key(0), key(1), key(1024), key(1025)], [false, true, true, false]);
        let emoji = |n: usize| Address::new(None, &"\u{1f600}".repeat(n)).is_ok();
        assert_eq!([emoji(256), emoji(257)], [true, false]);
        let scope = |n: usize| Address::new(Some(&"s".repeat(n)), "k").is_ok();
        assert_eq!([scope(0), scope(1), scope(256), scope(257)], [false, true, true, false]);
        let print = |n: usize| check_fingerprint(Some(&[7].repeat(n))).is_ok();
        assert_eq!([print(0), print(1), print(64), print(65)], [false, true, true, false]);
        assert!(check_fingerprint(None).is_ok());
    }
}
