//! Keys: which there are, and that they are told apart.

use super::{PREFIX, Verdict, delete, failed, key, rule, value};
use crate::store::{MAX_KEY_BYTES, Store};

pub(super) async fn keys(store: &dyn Store) -> Verdict {
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

pub(super) async fn limits(store: &dyn Store) -> Verdict {
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
