//! Counters, and that they are not values.

use super::{Verdict, delete, failed, found, key, rule, value};
use crate::store::Store;

pub(super) async fn counters(store: &dyn Store) -> Verdict {
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

pub(super) async fn kinds(store: &dyn Store) -> Verdict {
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
