//! The client over the host crate's ledger, with the component itself behind it.

mod errors;
mod payloads;
mod run;
mod scene;
mod settings;
mod validator;
