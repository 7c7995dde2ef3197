//! One SQLite file for Node, Python, C and the command `idempotency`: what one of them wrote, the
//! others go on with.

use std::env;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::node::{self, Node};
use super::{Supplies, c, command, python};
use crate::shell;

const FOLDER: &str = "embed/together";
const OUT: &str = "target/embed/together";

/// Where calls are read and answers are written as the vectors do, for C and Python.
const C_VECTORS: &str = "embed/c/tests/vectors";
const PYTHON_VECTORS: &str = "embed/python/tests";

/// Longest time of the tests, in seconds. They take some 30 on a busy machine.
const LIMIT_S: u64 = 300;

/// Builds the packages, and a program that makes calls with the C library.
pub(super) fn build(supplies: &Supplies<'_>) -> Result<Node> {
    let root = supplies.root;
    c::build(supplies)?;
    let node = node::build(supplies)?;
    let wheel = python::build(supplies)?;
    let packages = root.join(OUT).join("python");
    shell::remove_dir(&packages)?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"]);
    shell::run(pip.arg(&packages).arg(&wheel))?;
    compile(root)?;
    Ok(node)
}

/// Plays the stories of `embed/together/test_together.py`.
pub(super) fn test(supplies: &Supplies<'_>) -> Result<()> {
    let node = build(supplies)?;
    let root = supplies.root;
    let paths = [root.join(OUT).join("python"), root.join(PYTHON_VECTORS)];
    let mut unittest = Command::new("python3");
    unittest.args(["-m", "unittest", "discover", "--verbose", "--start-directory"]);
    unittest.arg(root.join(FOLDER)).env("PYTHONDONTWRITEBYTECODE", "1");
    unittest
        .env("PYTHONPATH", env::join_paths(paths)?)
        .env("PATH", node.path())
        .env("LEDGER_NODE", "node");
    unittest.env("LEDGER_C", root.join(OUT).join("call")).env("LEDGER_COMMAND", command(root)?);
    // Of cargo; libraries of the repository lie there.
    unittest.env_remove("LD_LIBRARY_PATH");
    shell::run_within(&mut unittest, LIMIT_S)
}

fn compile(root: &Path) -> Result<()> {
    let library = root.join("target/embed/c");
    let (include, lib) = (library.join("include"), library.join("lib"));
    let vectors = root.join(C_VECTORS);
    let mut cc = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
    cc.args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1"]);
    cc.args(["-D_DEFAULT_SOURCE", "-D_POSIX_C_SOURCE=200809L", "-o"]);
    cc.arg(root.join(OUT).join("call")).arg(root.join(FOLDER).join("call.c"));
    cc.args([vectors.join("call.c"), vectors.join("spec.c")]);
    cc.arg("-I").arg(include).arg("-I").arg(vectors).arg("-L").arg(&lib);
    cc.arg("-lidempotency_ledger").arg(format!("-Wl,-rpath,{}", lib.display()));
    shell::run(cc.arg("-ljson-c"))
}
