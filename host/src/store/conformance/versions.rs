//! Versions, and what a swap does with them.

use super::{Verdict, delete, failed, found, key, rule, value};
use crate::store::{Store, Swap, Version};

pub(super) async fn versions(store: &dyn Store) -> Verdict {
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

pub(super) async fn swaps(store: &dyn Store) -> Verdict {
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
