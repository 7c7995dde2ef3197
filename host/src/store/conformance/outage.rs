//! A closed connection: nothing is answered, and all is as it was when it is open again.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{sleep, timeout};

use super::{Broken, Verdict, delete, failed, found, key, rule};
use crate::store::{Store, StoreError, Swap};

/// How long a call may take while the server is away: what a ledger waits by default.
const CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the store may need to find its server again, in attempts and the pause between two.
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// A way to cut a store off its server, and to let it come back.
#[async_trait]
pub trait Outage: Send + Sync {
    /// Close every connection of the store, and refuse new ones.
    async fn begin(&self);
    /// Let it connect again.
    async fn end(&self);
}

/// Check that a store that has lost its server answers errors, within 5 s, and works again
/// within 5 s once the server is back. A store without a connection has nothing to check.
///
/// # Errors
///
/// The first rule found broken.
pub async fn check_outage(store: Arc<dyn Store>, outage: &dyn Outage) -> Result<(), Broken> {
    let checked = check(&*store, outage).await;
    checked.map_err(|rule| Broken { check: "outage", rule })
}

async fn check(store: &dyn Store, outage: &dyn Outage) -> Verdict {
    let key = key("outage");
    store.set(&key, b"before".to_vec()).await.map_err(failed)?;
    let before = found(store, &key).await?;
    outage.begin().await;
    let expected = Some(before.version);
    is_error("get", store.get(&key)).await?;
    is_error("set", store.set(&key, b"meanwhile".to_vec())).await?;
    is_error("delete", store.delete(&key)).await?;
    is_error("increment", store.increment(&key, 1)).await?;
    let swap = store.compare_and_swap(&key, expected, b"meanwhile".to_vec());
    is_error("compare_and_swap", swap).await?;
    is_error("list", store.list(None)).await?;
    outage.end().await;
    let after = back(store, &key).await?;
    // Calls that failed may have had their effect, here not: no server was there to have it.
    rule(after.as_ref() == Some(&before), "what was written before an outage is there after it")?;
    let swap = store.compare_and_swap(&key, expected, b"after".to_vec()).await.map_err(failed)?;
    rule(swap == Swap::Swapped, "a version is good before and after an outage")?;
    delete(store, &key).await
}

async fn is_error<R>(call: &str, answer: impl Future<Output = Result<R, StoreError>>) -> Verdict {
    match timeout(CALL_TIMEOUT, answer).await {
        Err(_) => Err(format!("{call} without a server ends within {CALL_TIMEOUT:?}")),
        Ok(answered) => rule(answered.is_err(), format!("{call} without a server is an error")),
    }
}

/// What `key` holds once the store works again.
async fn back(store: &dyn Store, key: &str) -> Result<Option<crate::store::Versioned>, String> {
    let mut last = String::new();
    for _ in 0..ATTEMPTS {
        match store.get(key).await {
            Ok(found) => return Ok(found),
            Err(error) => last = error.to_string(),
        }
        sleep(PAUSE).await;
    }
    Err(format!("a store works again when its server does; it says: {last}"))
}
