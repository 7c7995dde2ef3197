//! What must hold after every history, whatever died and whatever failed.

use std::sync::Arc;

use idempotency_ledger::clock::Millis;
use idempotency_ledger_host::Strategy;
use idempotency_ledger_host::store::Store;

use super::plan::{ADDRESSES, LONGEST_MS};
use crate::call::Call;
use crate::target::Target;
use crate::targets::Hosted;
use crate::upkeep::leftovers;

const HOUR_MS: Millis = 3_600_000;
const TWO_DAYS_MS: Millis = 172_800_000;
/// With tickets: an unfinished append puts a `begin` off for 30 s, an unfinished deletion for
/// three hours in all.
const DELAYS_MS: [Millis; 4] = [30_000, HOUR_MS, HOUR_MS, HOUR_MS];

/// After leases and quarantines every key can be claimed, and purges leave nothing but
/// constants.
///
/// A purge that stops half-way may leave the counter of a bucket, which holds nothing of a key:
/// it closed the bucket and could not note that, or looked at it while another purge closed it.
/// Whoever looks at the counter then makes it again, and nobody removes it.
///
/// # Errors
/// What does not hold.
pub(super) async fn aftermath(
    strategy: Strategy,
    store: Arc<dyn Store>,
    keys: usize,
    (max_ms, stopped_purges): (Millis, usize),
) -> Result<(), String> {
    let target = Hosted::over(strategy, store).await;
    target.set_clock(max_ms + LONGEST_MS + HOUR_MS);
    for address in &ADDRESSES[..keys] {
        let scope = address.scope.map(str::to_owned);
        let begin = Call { scope, ..Call::begin(address.key, 10) };
        let mut answer = target.call(&begin).await;
        for wait_ms in DELAYS_MS.iter().filter(|_| strategy == Strategy::Ticket) {
            if answer["fresh"].is_null() {
                target.set_clock(target.now_ms() + wait_ms);
                answer = target.call(&begin).await;
            }
        }
        if answer["fresh"].is_null() {
            return Err(format!("{address:?} is not free after all leases: {answer}"));
        }
    }
    let mut left = leftovers(&target, TWO_DAYS_MS).await;
    let is_counter = |key: &String| key.starts_with("il.n.");
    if left.iter().filter(|key| is_counter(key)).count() <= stopped_purges {
        left.retain(|key| !is_counter(key));
    }
    if left.is_empty() { Ok(()) } else { Err(format!("purges left {left:?}")) }
}
