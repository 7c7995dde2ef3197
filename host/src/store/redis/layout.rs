//! How the store's keys are named on the server.
//!
//! `<prefix>{<part>}:k:<key>` is a hash: `version`, and `value` or `counter`.
//! `<prefix>{<part>}:version` is the greatest version that was given in this part. The part is a
//! hash tag, so a key and the versions it takes lie in one slot of a cluster; there are
//! 256 of them, to spread the load, and they outlast the keys, so that a key made again
//! gets a greater version.

/// The names of one store.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    prefix: String,
}

/// The names that one call needs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Keys {
    pub(super) entry: Vec<u8>,
    pub(super) version: Vec<u8>,
}

impl Layout {
    /// `None` for a prefix with a brace, which would be taken for the hash tag.
    pub(super) fn new(prefix: &str) -> Option<Self> {
        let fits = !prefix.contains(['{', '}']);
        fits.then(|| Self { prefix: prefix.to_owned() })
    }

    pub(super) fn keys(&self, key: &str) -> Keys {
        // Any hash does that stays what it is for ever.
        let part = key.bytes().fold(0u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte));
        let prefix = &self.prefix;
        Keys {
            entry: format!("{prefix}{{{part:02x}}}:k:{key}").into_bytes(),
            version: format!("{prefix}{{{part:02x}}}:version").into_bytes(),
        }
    }

    /// A pattern of `SCAN` that holds every entry, and perhaps other keys.
    pub(super) fn pattern(&self) -> String {
        let mut pattern = String::new();
        for letter in self.prefix.chars() {
            if "*?[]^\\-".contains(letter) {
                pattern.push('\\');
            }
            pattern.push(letter);
        }
        pattern + "{??}:k:*"
    }

    /// The key whose entry has this name.
    pub(super) fn key<'a>(&self, entry: &'a [u8]) -> Option<&'a str> {
        let entry = str::from_utf8(entry).ok()?;
        let rest = entry.strip_prefix(self.prefix.as_str())?.strip_prefix('{')?;
        rest.split_once("}:k:").map(|(_, key)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_keys() {
        let layout = Layout::new("a*[b]:").unwrap();
        for key in ["il.m", "}:k:", "{x}", "a\0b", "é"] {
            let keys = layout.keys(key);
            assert_eq!(layout.key(&keys.entry), Some(key));
            assert_eq!(layout.key(&keys.version), None);
        }
        assert_eq!(layout.pattern(), "a\\*\\[b\\]:{??}:k:*");
        assert_eq!(layout.key(b"b:{00}:k:x"), None);
        assert!(Layout::new("a{b").is_none());
    }

    #[test]
    fn a_key_and_its_versions_share_a_hash_tag() {
        let keys = Layout::new("p:").unwrap().keys("il.m");
        let tag = |name: &[u8]| {
            let name = String::from_utf8(name.to_vec()).unwrap();
            name.split(['{', '}']).nth(1).unwrap().to_owned()
        };
        assert_eq!(tag(&keys.entry), tag(&keys.version));
    }
}
