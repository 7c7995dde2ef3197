//! Values: every byte, and how long they may be.

use super::{Limits, Verdict, delete, failed, key, rule, value};
use crate::store::Store;

pub(super) async fn values(store: &dyn Store) -> Verdict {
    let key = key("values");
    rule(value(store, &key).await?.is_none(), "a key that was never written is absent")?;
    delete(store, &key).await?;
    let all_bytes: Vec<u8> = (0..=u8::MAX).collect();
    for content in [Vec::new(), all_bytes, b"null".to_vec(), vec![0; 8]] {
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

/// The longest value works; a longer one too, or it is refused and changes nothing.
pub(super) async fn limits(store: &dyn Store, limits: &Limits) -> Verdict {
    let key = key("value-limits");
    let longest = vec![0xff; limits.max_value_bytes];
    let bytes = longest.len();
    store.set(&key, longest.clone()).await.map_err(failed)?;
    rule(
        value(store, &key).await?.as_ref() == Some(&longest),
        format!("{bytes} bytes come back as written"),
    )?;
    let mut longer = longest.clone();
    longer.push(0);
    let expected = if store.set(&key, longer.clone()).await.is_ok() { longer } else { longest };
    rule(
        value(store, &key).await? == Some(expected),
        format!("{} bytes come back as written, or are refused and change nothing", bytes + 1),
    )?;
    delete(store, &key).await
}
