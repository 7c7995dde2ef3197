//! What an operator sees of the ledger: it is what `docs/observability.md` says, and no secret.

mod counters;
mod document;
mod faulty;
mod scene;
mod spans;
