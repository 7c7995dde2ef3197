//! The Python package: a wheel below `target/embed/python/dist`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{Supplies, command, page};
use crate::shell::{self, say};

const SOURCES: &str = "embed/python";

/// What the package takes from elsewhere in the repository, and where it goes.
const LUA: (&str, &str) = ("host/src/store/redis/lua", "src/idempotency_ledger/stores/lua");
const COMPONENT: &str = "src/idempotency_ledger/ledger-cas.wasm";
const LICENSES: &[&str] = &["LICENSE-APACHE", "LICENSE-MIT"];

/// Longest time of the tests, in seconds.
const LIMIT_S: u64 = 600;

/// Makes the wheel and answers where it is.
pub(super) fn build(supplies: &Supplies<'_>) -> Result<PathBuf> {
    let root = supplies.root;
    let out = root.join("target/embed/python");
    let (stage, dist) = (out.join("stage"), out.join("dist"));
    shell::remove_dir(&stage)?;
    shell::remove_dir(&dist)?;
    shell::copy_sources(&root.join(SOURCES), &stage)?;
    shell::copy_sources(&root.join(LUA.0), &stage.join(LUA.1))?;
    fs::copy(&supplies.component, stage.join(COMPONENT))?;
    for license in LICENSES {
        fs::copy(root.join(license), stage.join(license))?;
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    shell::run(pip.arg("--wheel-dir").arg(&dist).arg(&stage))?;
    let wheel = fs::read_dir(&dist)?.next().context("pip made no wheel")??.path();
    say(format!("{} ({} bytes)", wheel.display(), fs::metadata(&wheel)?.len()));
    Ok(wheel)
}

/// Installs the wheel into an empty environment, as its users do, and tests what is there.
pub(super) fn test(supplies: &Supplies<'_>) -> Result<()> {
    let root = supplies.root;
    let wheel = build(supplies)?;
    let environment = root.join("target/embed/python/venv");
    shell::remove_dir(&environment)?;
    shell::run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let python = environment.join("bin/python");
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    pip.arg(root.join(SOURCES).join("tests/requirements.txt"));
    shell::run(pip.arg(format!("{}[redis]", wheel.display())))?;
    lint(root, &python)?;
    let tests = root.join(SOURCES).join("tests");
    let mut unittest = Command::new(&python);
    unittest.args(["-m", "unittest", "discover", "--verbose", "--start-directory"]).arg(&tests);
    unittest.env("PYTHONDONTWRITEBYTECODE", "1").env("LEDGER_ROOT", root);
    unittest.env("LEDGER_TEST_SIZE", supplies.size.name());
    // It shares a file with the package.
    unittest.env("LEDGER_COMMAND", command(root)?);
    shell::run_within(&mut unittest, LIMIT_S)?;
    page::run(root, "docs/python.md", &[("WHEEL", &wheel)])
}

/// Format, lints and types, by tools that `tests/requirements.txt` pins.
fn lint(root: &Path, python: &Path) -> Result<()> {
    let cache = root.join("target/embed/python/cache");
    let checks: [&[&str]; 3] =
        [&["ruff", "format", "--check", "."], &["ruff", "check", "."], &["mypy", "src"]];
    for check in checks {
        let mut tool = Command::new(python);
        tool.arg("-m").args(check).current_dir(root.join(SOURCES));
        tool.env("MYPY_CACHE_DIR", &cache).env("RUFF_CACHE_DIR", &cache);
        shell::run(&mut tool)?;
    }
    Ok(())
}
