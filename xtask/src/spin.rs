//! `cargo xtask spin`: the example for Spin, built here and served on the double of Spin.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::shell::{self, say};
use crate::{compose, guest};

/// The example.
const APP: &str = "examples/spin";

/// Builds the ledger, the example and what composes them.
pub(crate) fn build(root: &Path) -> Result<()> {
    let toolchain = guest::ensure(root)?;
    let module = compose::build_app(root, &toolchain, &root.join(APP))?;
    let mut cargo = shell::cargo(&root.join("xtask/compose"));
    cargo.args(["build", "--quiet", "--locked", "--target-dir"]).arg(root.join("target/compose"));
    shell::run(&mut cargo)?;
    say(format!("{} is ready to be composed", module.display()));
    Ok(())
}

/// Builds, and serves the example on the double. It is built as the tests of the workspace build
/// it: otherwise the dependencies have other features, and wasmtime is compiled once more.
pub(crate) fn spin(root: &Path, arguments: &[String]) -> Result<()> {
    build(root)?;
    let mut cargo = shell::cargo(root);
    cargo.args(["test", "--quiet", "--locked", "--workspace", "--no-run", "--test", "spin"]);
    shell::run(&mut cargo)?;
    let double = shell::target_dir(root).join("debug/spin-double");
    shell::run(Command::new(double).args(arguments))
}
