//! `cargo xtask demo`.

use std::path::Path;

use anyhow::Result;

use crate::guest;
use crate::shell::{self, say};

/// Builds what is missing and shows the ledger at work.
pub(crate) fn demo(root: &Path, arguments: &[String]) -> Result<()> {
    guest::ensure(root)?;
    say("compiling the host and the command `idempotency`");
    let mut cargo = shell::cargo(root);
    cargo.args(["run", "--locked", "--package", "idempotency-ledger-host"]);
    cargo.args(["--bin", "idempotency", "--", "demo"]);
    shell::run(cargo.args(arguments))
}
