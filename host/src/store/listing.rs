//! Pages of keys for stores whose engine lists in no order.

use std::collections::BTreeSet;

use super::{PAGE_KEYS, Page};

/// The first keys after a cursor, out of all that are offered in any order and any number of
/// times. Pages that follow each other in order answer a key once, and never miss one that is
/// there all the time.
pub(super) struct NextKeys {
    cursor: Option<String>,
    /// One more than a page at most, to see whether there is a next one.
    keys: BTreeSet<String>,
}

impl NextKeys {
    pub(super) fn after(cursor: Option<String>) -> Self {
        Self { cursor, keys: BTreeSet::new() }
    }

    pub(super) fn offer(&mut self, key: &str) {
        let listed = self.cursor.as_deref().is_some_and(|cursor| key <= cursor);
        let full = self.keys.len() > PAGE_KEYS;
        if listed || full && self.keys.last().is_some_and(|last| key > last.as_str()) {
            return;
        }
        if self.keys.insert(key.to_owned()) && full {
            self.keys.pop_last();
        }
    }

    pub(super) fn page(mut self) -> Page {
        let more = self.keys.len() > PAGE_KEYS;
        if more {
            self.keys.pop_last();
        }
        let cursor = if more { self.keys.last().cloned() } else { None };
        Page { keys: self.keys.into_iter().collect(), cursor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_comes_once_whatever_the_order() {
        let names: Vec<String> = (0..2 * PAGE_KEYS + 1).map(|i| format!("{:04}", i)).collect();
        let mut listed = Vec::new();
        let mut cursor = None;
        for _ in 0..4 {
            let mut next = NextKeys::after(cursor);
            names.iter().rev().chain(&names).for_each(|name| next.offer(name));
            let page = next.page();
            listed.extend(page.keys);
            cursor = page.cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(listed, names);
    }
}
