//! Listing by cursor.

use std::collections::BTreeSet;

use super::{PREFIX, Verdict, delete, failed, key, rule};
use crate::store::{PAGE_KEYS, Store};

/// Keys of the test: more than a page of the stores of this crate.
const LISTED_KEYS: usize = PAGE_KEYS + 50;

/// Most pages that a listing may take.
const MAX_PAGES: usize = 100_000;

pub(super) async fn listing(store: &dyn Store) -> Verdict {
    let written: BTreeSet<String> = (0..LISTED_KEYS).map(|i| key(&format!("list/{i}"))).collect();
    for (i, key) in written.iter().enumerate() {
        let made = if i % 100 == 0 {
            store.increment(key, 1).await.map(drop)
        } else {
            store.set(key, Vec::new()).await
        };
        made.map_err(failed)?;
    }
    let mut listed = Vec::new();
    let mut cursor = None;
    for _ in 0..MAX_PAGES {
        let page = store.list(cursor).await.map_err(failed)?;
        listed.extend(page.keys.into_iter().filter(|key| key.starts_with(PREFIX)));
        cursor = page.cursor;
        if cursor.is_none() {
            break;
        }
    }
    rule(cursor.is_none(), "a listing ends")?;
    rule(
        listed.len() == written.len(),
        format!("{} keys are listed as {}", written.len(), listed.len()),
    )?;
    rule(
        listed.into_iter().collect::<BTreeSet<_>>() == written,
        "every key is listed once, and no other",
    )?;
    for key in &written {
        delete(store, key).await?;
    }
    Ok(())
}
