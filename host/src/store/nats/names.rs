//! A key as the subject of a message, and back.
//!
//! A bucket's keys take letters, digits and a few signs. All other bytes, and dots where they
//! would make an empty part, are written `=` and two digits of hex, so a ledger's keys stay
//! readable. The longest key takes 3 072 bytes, within the 4 096 of a server's control line.

use std::fmt::Write;

/// `key` as the end of a subject.
pub(super) fn encode(key: &str) -> String {
    let bytes = key.as_bytes();
    let mut name = String::with_capacity(bytes.len());
    let mut after_dot = true;
    for (at, &byte) in bytes.iter().enumerate() {
        let is_last = at + 1 == bytes.len();
        let plain = match byte {
            b'.' => !after_dot && !is_last,
            // A bucket's own names begin with this.
            b'_' => at > 0,
            _ => byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'/',
        };
        if plain {
            name.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(name, "={byte:02X}");
        }
        after_dot = plain && byte == b'.';
    }
    name
}

/// The key that has this name; `None` for another program's.
pub(super) fn decode(name: &str) -> Option<String> {
    let mut parts = name.split('=');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (hex, plain) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(hex, 16).ok()?);
        bytes.extend_from_slice(plain.as_bytes());
    }
    let key = String::from_utf8(bytes).ok()?;
    (encode(&key) == name).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_keys() {
        for (key, name) in [
            ("il.r.0af", "il.r.0af"),
            ("a/b-C_9", "a/b-C_9"),
            (".", "=2E"),
            ("..", "=2E=2E"),
            ("a..b.", "a.=2Eb=2E"),
            (".a", "=2Ea"),
            ("_kv", "=5Fkv"),
            ("a=2E", "a=3D2E"),
            ("a*>\0 b", "a=2A=3E=00=20b"),
            ("é", "=C3=A9"),
        ] {
            assert_eq!(encode(key), name);
            assert_eq!(decode(name).as_deref(), Some(key));
        }
        for foreign in ["=2e", "a=2", "=41", "a=", "=C3"] {
            assert_eq!(decode(foreign), None, "{foreign}");
        }
        assert_eq!(encode(&"\0".repeat(1024)).len(), 3 * 1024);
    }
}
