//! `cargo xtask shop`: one request to a composed example.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::shell;

/// Builds the examples' host and runs it. It is built as the tests of the workspace build it:
/// otherwise the dependencies have other features, and wasmtime is compiled once more.
pub(crate) fn shop(root: &Path, arguments: &[String]) -> Result<()> {
    let mut cargo = shell::cargo(root);
    cargo.args(["test", "--quiet", "--locked", "--workspace", "--no-run", "--test", "examples"]);
    shell::run(&mut cargo)?;
    let program = shell::target_dir(root).join("debug/shop");
    shell::run(Command::new(program).args(arguments))
}
