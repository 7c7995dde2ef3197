//! `cargo xtask chaos`.

use std::path::Path;

use anyhow::Result;

use crate::guest;
use crate::shell::{self, say};

/// Builds what is missing and plays seeded histories on the component.
pub(crate) fn chaos(root: &Path, arguments: &[String]) -> Result<()> {
    guest::ensure(root)?;
    say("playing seeded histories on the component");
    let mut cargo = shell::cargo(root);
    cargo.args(["run", "--locked", "--package", "host-tests", "--bin", "chaos", "--"]);
    shell::run(cargo.args(arguments))
}
