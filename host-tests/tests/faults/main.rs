//! Faults that users of such ledgers reported, where they take more than a story of calls
//! (those are in `vectors/faults.json`): a store that fails at any of its calls, callers that
//! meet between any two, a clock that moves under a call, who waits for one that died.

mod crash;
mod interleaved;
mod moving_clock;
mod scene;
mod store_fails;
mod store_fails_in_upkeep;
mod waiting;
