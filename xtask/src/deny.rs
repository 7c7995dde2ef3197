//! `cargo deny`: licences, sources and duplicates of the dependencies.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::shell::{self, say};

/// The release that is installed where there is none.
const VERSION: &str = "0.20.2";

/// The checks that need nothing from the network.
const CHECKS: &[&str] = &["licenses", "bans", "sources"];

/// Installs cargo-deny where it is missing, and runs the checks of `deny.toml` on each of these
/// workspaces. Only the first, the largest, has to use every licence that is allowed.
pub(crate) fn check(root: &Path, workspaces: &[PathBuf]) -> Result<()> {
    let program = find_or_install(root)?;
    for (number, workspace) in workspaces.iter().enumerate() {
        let mut cargo = shell::cargo(workspace);
        // The program asks cargo for the dependencies, so it runs in cargo's environment.
        let mut deny = Command::new(&program);
        deny.current_dir(workspace).env("CARGO", cargo.get_program());
        cargo.args(["fetch", "--locked"]);
        shell::run(&mut cargo)?;
        deny.args(["--workspace", "--locked", "--config"]).arg(root.join("deny.toml")).arg("check");
        if number > 0 {
            deny.args(["--allow", "license-not-encountered"]);
        }
        shell::run(deny.args(CHECKS))?;
    }
    Ok(())
}

/// The program as it is installed, or compiled into `target/tools`: about a minute, without
/// optimisation, which the checks would not repay.
fn find_or_install(root: &Path) -> Result<PathBuf> {
    let tools = root.join("target/tools");
    let compiled = tools.join("bin/cargo-deny");
    for program in [PathBuf::from("cargo-deny"), compiled.clone()] {
        if shell::works(Command::new(&program).arg("--version")) {
            return Ok(program);
        }
    }
    say("compiling cargo-deny");
    let mut cargo = shell::cargo(root);
    cargo.args(["install", "cargo-deny", "--locked", "--debug", "--version", VERSION]);
    shell::run(cargo.arg("--root").arg(&tools).arg("--target-dir").arg(tools.join("build")))?;
    Ok(compiled)
}
