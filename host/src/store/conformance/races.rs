//! What must hold when many call at once.

use std::sync::Arc;

use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::{Verdict, delete, failed, found, key, rule, value};
use crate::store::{Store, StoreError, Swap};

/// Callers at once.
const CALLERS: usize = 32;

/// How often each race is run.
const ROUNDS: usize = 8;

/// Increments of each caller.
const INCREMENTS: i64 = 10;

/// Writes of one task that another looks at.
const LOOKS: u32 = 100;

/// Of all who swap on one state of a key, present or absent, exactly one succeeds, and its value
/// stands.
pub(super) async fn swaps(store: &Arc<dyn Store>) -> Verdict {
    let key = key("races/swaps");
    for round in 0..ROUNDS {
        if round % 2 == 0 {
            delete(&**store, &key).await?;
        }
        let seen = store.get(&key).await.map_err(failed)?.map(|found| found.version);
        let answers = at_once(store, |store, caller| {
            let key = key.clone();
            async move {
                store.compare_and_swap(&key, seen, format!("{round}/{caller}").into_bytes()).await
            }
        });
        let answers = answers.await?;
        let winners: Vec<usize> = answers
            .iter()
            .filter(|(_, swap)| *swap == Swap::Swapped)
            .map(|(caller, _)| *caller)
            .collect();
        let state = if seen.is_some() { "present" } else { "absent" };
        rule(
            winners.len() == 1,
            format!("of {CALLERS} swaps on one {state} state {} won", winners.len()),
        )?;
        let stands = value(&**store, &key).await?;
        let won = winners.iter().map(|caller| format!("{round}/{caller}").into_bytes()).next();
        rule(stands == won, "the value of the swap that won stands")?;
    }
    delete(&**store, &key).await
}

/// Every sum is answered once.
pub(super) async fn increments(store: &Arc<dyn Store>) -> Verdict {
    let key = key("races/increments");
    let answers = at_once(store, |store, _| {
        let key = key.clone();
        async move {
            let mut sums = Vec::new();
            for _ in 0..INCREMENTS {
                sums.push(store.increment(&key, 1).await?);
            }
            Ok(sums)
        }
    });
    let mut sums: Vec<i64> = answers.await?.into_iter().flat_map(|(_, sums)| sums).collect();
    let each_grows = sums.chunks(INCREMENTS as usize).all(|sums| sums.is_sorted());
    rule(each_grows, "the sums that one caller is answered grow")?;
    sums.sort_unstable();
    rule(
        sums.into_iter().eq(1..=CALLERS as i64 * INCREMENTS),
        "each sum is answered once, and none is left out",
    )?;
    delete(&**store, &key).await
}

/// Who is told of a write by whoever made it sees it.
///
/// Each write waits for the look at the one before it: a writer who ran ahead would hide a read
/// of the last state, since that state would be new enough.
pub(super) async fn reads(store: &Arc<dyn Store>) -> Verdict {
    let key = key("races/reads");
    for number in 1..=LOOKS {
        let written = number.to_be_bytes().to_vec();
        let write = {
            let (store, key, value) = (Arc::clone(store), key.clone(), written.clone());
            tokio::spawn(async move { store.set(&key, value).await })
        };
        write.await.map_err(|error| error.to_string())?.map_err(failed)?;
        rule(
            found(&**store, &key).await?.value == written,
            "an answered write is seen by every read that starts later",
        )?;
    }
    delete(&**store, &key).await
}

/// The answers of [`CALLERS`] calls that start together, with the number of the caller.
async fn at_once<R, F>(
    store: &Arc<dyn Store>,
    call: impl Fn(Arc<dyn Store>, usize) -> F,
) -> Result<Vec<(usize, R)>, String>
where
    R: Send + 'static,
    F: Future<Output = Result<R, StoreError>> + Send + 'static,
{
    let start = Arc::new(Barrier::new(CALLERS));
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let (start, call) = (Arc::clone(&start), call(Arc::clone(store), caller));
        callers.spawn(async move {
            start.wait().await;
            (caller, call.await)
        });
    }
    let mut answers = Vec::new();
    while let Some(answered) = callers.join_next().await {
        let (caller, answer) = answered.map_err(|error| error.to_string())?;
        answers.push((caller, answer.map_err(failed)?));
    }
    Ok(answers)
}
