//! The ledgers that are tested.

mod hosted;
mod memory_bucket;
mod native;
mod probed_store;
mod words;

pub use hosted::Hosted;
pub use memory_bucket::{Intruder, MemoryBucket};
pub use native::Native;
pub use probed_store::ProbedStore;
