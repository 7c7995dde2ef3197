//! The contract of [`Store`] as a suite, for whoever implements one.
//!
//! It finds what a few thousand calls can find: a store that passes may still be unfit, by
//! answering old values under a load that the suite does not make, say.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{MAX_KEY_BYTES, PAGE_KEYS, Store, StoreError, Swap, Version, Versioned};

mod races;

/// Every key that the suite uses begins with this.
pub const PREFIX: &str = "conformance/";

/// Keys of the listing test: more than a page of the stores of this crate.
const LISTED_KEYS: usize = PAGE_KEYS + 50;

/// Most pages that a listing may take.
const MAX_PAGES: usize = 100_000;

/// What a check found: the broken rule.
pub(super) type Verdict = Result<(), String>;

/// Check `store`, which should be empty, against the contract. Run it inside a tokio runtime,
/// one with several threads for the races to be real ones.
///
/// The keys used are deleted again if all is well.
///
/// # Errors
///
/// The first rule found broken, in words.
pub async fn check(store: Arc<dyn Store>) -> Result<(), String> {
    values(&*store).await?;
    keys(&*store).await?;
    bad_keys(&*store).await?;
    versions(&*store).await?;
    swaps(&*store).await?;
    counters(&*store).await?;
    kinds(&*store).await?;
    listing(&*store).await?;
    races::swaps(&store).await?;
    races::increments(&store).await?;
    races::reads(&store).await
}

/// `Err(rule)` unless it holds.
pub(super) fn rule(holds: bool, rule: impl Into<String>) -> Verdict {
    if holds { Ok(()) } else { Err(rule.into()) }
}

pub(super) fn key(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// An error where none belongs.
pub(super) fn failed(error: StoreError) -> String {
    format!("a call failed: {error}")
}

pub(super) async fn value(store: &dyn Store, key: &str) -> Result<Option<Vec<u8>>, String> {
    Ok(store.get(key).await.map_err(failed)?.map(|found| found.value))
}

pub(super) async fn found(store: &dyn Store, key: &str) -> Result<Versioned, String> {
    store
        .get(key)
        .await
        .map_err(failed)?
        .ok_or_else(|| format!("{key:?} was written and is absent"))
}

pub(super) async fn delete(store: &dyn Store, key: &str) -> Verdict {
    store.delete(key).await.map_err(failed)
}

async fn values(store: &dyn Store) -> Verdict {
    let key = key("values");
    rule(value(store, &key).await?.is_none(), "a key that was never written is absent")?;
    delete(store, &key).await?;
    let all_bytes: Vec<u8> = (0..=u8::MAX).collect();
    for content in [Vec::new(), all_bytes, b"null".to_vec(), vec![0; 8], vec![0xff; 1 << 20]] {
        store.set(&key, content.clone()).await.map_err(failed)?;
        let len = content.len();
        rule(
            value(store, &key).await? == Some(content),
            format!("{len} bytes come back as written"),
        )?;
    }
    delete(store, &key).await?;
    rule(value(store, &key).await?.is_none(), "a deleted key is absent")
}

async fn keys(store: &dyn Store) -> Verdict {
    let mut names: Vec<String> = [
        "a", "A", "a\0", "a\0b", "a b", "a\n", "a'\"`", "a%", "a_", "a*", "é", "e\u{301}", "🦀",
        "a/../b", "a\\",
    ]
    .map(key)
    .to_vec();
    names.push(key(&"x".repeat(MAX_KEY_BYTES - PREFIX.len())));
    names.push(key(&"x".repeat(MAX_KEY_BYTES - PREFIX.len() - 1)));
    for name in &names {
        store.set(name, name.clone().into_bytes()).await.map_err(failed)?;
    }
    for name in &names {
        let right = value(store, name).await?.as_deref() == Some(name.as_bytes());
        rule(right, format!("the key {name:?} is one of its own"))?;
    }
    for name in &names {
        delete(store, name).await?;
    }
    Ok(())
}

async fn bad_keys(store: &dyn Store) -> Verdict {
    for bad in [String::new(), "x".repeat(MAX_KEY_BYTES + 1)] {
        let refused = store.get(&bad).await.is_err()
            && store.set(&bad, Vec::new()).await.is_err()
            && store.delete(&bad).await.is_err()
            && store.increment(&bad, 1).await.is_err()
            && store.compare_and_swap(&bad, None, Vec::new()).await.is_err();
        rule(refused, format!("a key of {} bytes is refused by every call", bad.len()))?;
    }
    Ok(())
}

async fn versions(store: &dyn Store) -> Verdict {
    let key = key("versions");
    let mut last = None;
    for round in 0..3 {
        for _ in 0..2 {
            store.set(&key, b"same".to_vec()).await.map_err(failed)?;
            let version = found(store, &key).await?.version;
            rule(last < Some(version), format!("versions grow with each write (round {round})"))?;
            last = Some(version);
        }
        rule(
            swap(store, &key, last).await? == Swap::Swapped,
            "a swap on the present version is done",
        )?;
        let version = found(store, &key).await?.version;
        rule(last < Some(version), "versions grow with each swap")?;
        last = Some(version);
        delete(store, &key).await?;
    }
    Ok(())
}

async fn swap(store: &dyn Store, key: &str, expected: Option<Version>) -> Result<Swap, String> {
    store.compare_and_swap(key, expected, b"same".to_vec()).await.map_err(failed)
}

async fn swaps(store: &dyn Store) -> Verdict {
    let key = key("swaps");
    rule(
        swap(store, &key, Some(Version(1))).await? == Swap::Conflict,
        "an absent key has no version",
    )?;
    rule(value(store, &key).await?.is_none(), "a swap that conflicts writes nothing")?;
    rule(swap(store, &key, None).await? == Swap::Swapped, "a swap makes an absent key")?;
    rule(swap(store, &key, None).await? == Swap::Conflict, "a swap does not make a key twice")?;
    let old = found(store, &key).await?.version;
    rule(
        swap(store, &key, Some(old)).await? == Swap::Swapped,
        "a swap on the present version is done",
    )?;
    rule(
        swap(store, &key, Some(old)).await? == Swap::Conflict,
        "a swap on an old version conflicts",
    )?;
    let old = found(store, &key).await?.version;
    delete(store, &key).await?;
    rule(
        swap(store, &key, Some(old)).await? == Swap::Conflict,
        "the version of a deleted key is gone",
    )?;
    store.set(&key, b"same".to_vec()).await.map_err(failed)?;
    let conflict = swap(store, &key, Some(old)).await? == Swap::Conflict;
    rule(conflict, "a version does not recur when the key is made again with the same value")?;
    delete(store, &key).await
}

async fn counters(store: &dyn Store) -> Verdict {
    let key = key("counters");
    for (delta, sum) in [(5, 5), (0, 5), (-7, -2), (i64::MIN + 2, i64::MIN), (i64::MAX, -1)] {
        let answer = store.increment(&key, delta).await.map_err(failed)?;
        rule(answer == sum, format!("adding {delta} gives {sum}, not {answer}"))?;
        let bytes = value(store, &key).await?;
        rule(
            bytes == Some(sum.to_le_bytes().to_vec()),
            "a counter reads as its eight bytes, little-endian",
        )?;
    }
    delete(store, &key).await?;
    rule(store.increment(&key, i64::MAX).await == Ok(i64::MAX), "a deleted counter starts again")?;
    rule(store.increment(&key, 1).await.is_err(), "a sum that does not fit is an error")?;
    rule(store.increment(&key, 0).await == Ok(i64::MAX), "a failed increment changes nothing")?;
    delete(store, &key).await
}

async fn kinds(store: &dyn Store) -> Verdict {
    let key = key("kinds");
    store.set(&key, vec![1, 0, 0, 0, 0, 0, 0, 0]).await.map_err(failed)?;
    let before = found(store, &key).await?;
    rule(store.increment(&key, 1).await.is_err(), "a value is not incremented")?;
    rule(found(store, &key).await? == before, "a refused increment changes nothing")?;
    delete(store, &key).await?;
    store.increment(&key, 1).await.map_err(failed)?;
    let before = found(store, &key).await?;
    rule(store.set(&key, Vec::new()).await.is_err(), "a counter is not set")?;
    let swapped = store.compare_and_swap(&key, Some(before.version), Vec::new()).await;
    rule(swapped.is_err(), "a counter is not swapped")?;
    rule(found(store, &key).await? == before, "a refused write changes nothing")?;
    delete(store, &key).await
}

async fn listing(store: &dyn Store) -> Verdict {
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
