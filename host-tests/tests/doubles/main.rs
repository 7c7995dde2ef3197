//! The ledger on hosts as they are: `ledger-cas` breaks its promises on both doubles of Spin,
//! and `check-store` says so of each; a build by tickets keeps them.

mod facts;
mod races;
mod reports;
