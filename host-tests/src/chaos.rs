//! Chaos: seeded histories of many instances of the component over one store.
//!
//! Each process of a history is an instance of the real component on the host crate. A
//! scheduler decides at every store call who goes on, what fails before or after its effect,
//! which effect comes late or never, who dies, and when the clock jumps, forward or back. One
//! process computes at a time and every decision comes from the seed, so that a seed is a
//! history. The oracle has to explain what the callers of each key were answered; tokens have
//! to grow; and afterwards every key has to become free, and purges have to leave nothing.
//!
//! The clock never jumps over what a deployment must rule out: a store call that was issued
//! takes effect before the clock is half an hour on, or never.

mod notes;
mod plan;

mod caller;
mod gate;
mod run;

mod aftermath;
mod liar;
mod seeds;

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::task::Poll;

use idempotency_ledger::record::Strategy as CoreStrategy;
use idempotency_ledger_host::Strategy;
use idempotency_ledger_host::store::{MemoryStore, SqliteStore, Store};
use tokio::runtime::Builder;

pub use run::Totals;
pub use seeds::{Outcome, Violation, run_seeds};

use crate::doubles::{SpinRedis, SpinSqlite};
use crate::oracle::explains;
use crate::strategies::strategy_name;
use aftermath::aftermath;
use liar::Liar;
use notes::tokens_grow;
use plan::ADDRESSES;
use run::Run;

/// The store of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The host crate's store in memory.
    Memory,
    /// The host crate's store in an SQLite file.
    Sqlite,
    /// The double of Spin's store on SQLite.
    SpinSqlite,
    /// The double of Spin's store on Redis.
    SpinRedis,
    /// A store in memory whose swaps always succeed: to see that chaos finds out.
    Liar,
}

/// What every history of a series has in common.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// The build of the component.
    pub strategy: Strategy,
    /// The store.
    pub kind: Kind,
}

/// One history.
#[derive(Clone, Debug)]
pub struct Chaos {
    /// All that happened, a line each.
    pub text: String,
    /// How much that was.
    pub totals: Totals,
    /// Which promise was broken, if one was.
    pub violation: Option<String>,
}

impl Setup {
    /// The command that plays a seed again and prints its history.
    pub fn replay(&self, seed: u64) -> String {
        let store = self.kind.name();
        let strategy = strategy_name(self.strategy);
        format!("cargo xtask chaos --seed {seed} --strategy {strategy} --store {store}")
    }
}

/// Plays the history of a seed. `folder` is where an SQLite file may be made.
///
/// # Panics
/// Where the store cannot be made, or the component cannot be run.
pub fn play(setup: Setup, seed: u64, folder: &Path) -> Chaos {
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let store = setup.kind.open(&folder.join(format!("{seed}.db"))).await;
        let mut run = Run::new(setup.strategy, store, seed).await;
        let judged = catch(judge(&mut run)).await;
        Chaos { violation: judged.err(), totals: run.totals, text: run.notes.into_text() }
    })
}

impl Kind {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Memory => "memory",
            Kind::Sqlite => "sqlite",
            Kind::SpinSqlite => "spin-sqlite",
            Kind::SpinRedis => "spin-redis",
            Kind::Liar => "liar",
        }
    }

    async fn open(self, file: &Path) -> Arc<dyn Store> {
        match self {
            Kind::Memory => Arc::new(MemoryStore::new()),
            Kind::SpinSqlite => Arc::new(SpinSqlite::new(1)),
            Kind::SpinRedis => Arc::new(SpinRedis::new(1)),
            Kind::Liar => Arc::new(Liar::default()),
            Kind::Sqlite => Arc::new(SqliteStore::open(file).await.expect("a new store")),
        }
    }
}

/// Plays a history to its end and beyond, and says which promise it breaks.
async fn judge(run: &mut Run) -> Result<(), String> {
    run.run_out().await;
    let strategy = match run.strategy {
        Strategy::Cas => CoreStrategy::Cas,
        Strategy::Ticket => CoreStrategy::Ticket,
    };
    for (key, address) in ADDRESSES.iter().enumerate().take(run.plan.keys) {
        let operations = run.notes.of_key(key, run.plan.keys);
        if !explains(&operations, strategy) {
            return Err(format!("no order of the calls explains the answers about {address:?}"));
        }
        if !tokens_grow(&operations) {
            return Err(format!("the tokens of {address:?} do not grow"));
        }
    }
    let store = Arc::clone(&run.store);
    let how = (run.max_ms, run.notes.stopped_purges());
    aftermath(run.strategy, store, run.plan.keys, how).await
}

/// Turns a panic into what was broken.
async fn catch(history: impl Future<Output = Result<(), String>>) -> Result<(), String> {
    let mut history = std::pin::pin!(history);
    std::future::poll_fn(|context| {
        let poll = AssertUnwindSafe(|| history.as_mut().poll(context));
        std::panic::catch_unwind(poll).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied());
            Poll::Ready(Err(format!("panicked: {}", text.unwrap_or("no text"))))
        })
    })
    .await
}
