//! `cargo xtask spin`: the example for Spin, built here and served on the double of Spin.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::shell::{self, say};
use crate::{compose, guest, testing};

/// The example.
const APP: &str = "examples/spin";

/// Its store where the caller names none.
const STORE: &str = "target/examples/spin.db";

/// Builds the ledger, the example and what composes them; answers where the example is.
pub(crate) fn build(root: &Path) -> Result<PathBuf> {
    let toolchain = guest::ensure(root)?;
    let module = compose::build_app(root, &toolchain, &root.join(APP))?;
    let mut cargo = shell::cargo(&root.join("xtask/compose"));
    cargo.args(["build", "--quiet", "--locked", "--target-dir"]).arg(root.join("target/compose"));
    shell::run(&mut cargo)?;
    say(format!("{} is ready to be composed", module.display()));
    Ok(module)
}

/// Builds, and serves an example on the double, with a bank beside it: the one in Rust, unless the
/// first argument is another's folder.
pub(crate) fn spin(root: &Path, arguments: &[String]) -> Result<()> {
    let module = build(root)?;
    let mut double = Command::new(testing::program(root, "spin", "spin-double")?);
    let arguments = match arguments.split_first() {
        Some((folder, rest)) if !folder.starts_with('-') => {
            double.arg(Path::new(folder).join("spin.toml"));
            rest
        }
        _ => {
            double.arg(root.join(APP).join("spin.toml")).arg("--source").arg(module);
            arguments
        }
    };
    if !arguments.iter().any(|argument| ["--sqlite", "--redis"].contains(&argument.as_str())) {
        double.arg("--sqlite").arg(root.join(STORE));
    }
    shell::run(double.arg("--bank").args(arguments))
}
