//! The builds of the component that there are.

use idempotency_ledger_host::store::Store;
use idempotency_ledger_host::{Ledger, LedgerBuilder, Strategy};

/// All of them. A test that runs once per build asks here.
pub const STRATEGIES: [Strategy; 2] = [Strategy::Cas, Strategy::Ticket];

/// The name in the words of the WIT.
pub fn strategy_name(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Cas => "cas",
        Strategy::Ticket => "ticket",
    }
}

/// A ledger of this build.
pub fn builder(strategy: Strategy, store: impl Store) -> LedgerBuilder {
    Ledger::builder(store).strategy(strategy)
}
