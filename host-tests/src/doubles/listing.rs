//! What both doubles have in common.

use idempotency_ledger_host::store::{Page, StoreError};

/// All keys at once; a cursor is refused (measured on Spin 4.1).
pub(super) fn list<'a>(
    keys: impl Iterator<Item = &'a String>,
    cursor: Option<String>,
) -> Result<Page, StoreError> {
    match cursor {
        None => Ok(Page { keys: keys.cloned().collect(), cursor: None }),
        Some(_) => Err(StoreError::Other("a cursor is not supported".to_owned())),
    }
}
