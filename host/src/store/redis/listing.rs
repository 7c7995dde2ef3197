//! Listing: the server's own scan answers a key several times at will, so each page walks over
//! all keys and keeps the next ones in order.

use super::layout::Layout;
use super::link::Link;
use super::{Page, StoreError, failed};
use crate::store::listing::NextKeys;

/// Names that the server looks at per round trip.
const SCAN_COUNT: u32 = 1_000;

/// Most round trips of one page: enough for a thousand million names.
const MAX_SCANS: u32 = 1_000_000;

pub(super) async fn page(
    link: &Link,
    layout: &Layout,
    cursor: Option<String>,
) -> Result<Page, StoreError> {
    let mut keys = NextKeys::after(cursor);
    let pattern = layout.pattern();
    let mut position = 0;
    for _ in 0..MAX_SCANS {
        let mut command = redis::cmd("SCAN");
        command.arg(position).arg("MATCH").arg(&pattern).arg("COUNT").arg(SCAN_COUNT);
        let (next, names): (u64, Vec<Vec<u8>>) = link.command(&command).await.map_err(failed)?;
        names.iter().filter_map(|name| layout.key(name)).for_each(|key| keys.offer(key));
        if next == 0 {
            return Ok(keys.page());
        }
        position = next;
    }
    Err(StoreError::Other("Redis: the scan does not end".to_owned()))
}
