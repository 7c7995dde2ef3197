//! `cargo xtask test`.

use std::env;
use std::io::{BufRead, BufReader, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::shell::{self, say};
use crate::{guest, stores};

/// How much the tests do; the code is the same. They read it from `LEDGER_TEST_SIZE`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// A few minutes in all.
    Small,
    /// What a release is tested with.
    Full,
}

impl Size {
    /// What the caller asked for; small where nothing was said.
    pub(crate) fn from_env() -> Self {
        match env::var("LEDGER_TEST_SIZE").as_deref() {
            Ok("full") => Size::Full,
            _ => Size::Small,
        }
    }

    /// As the tests know it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Size::Small => "small",
            Size::Full => "full",
        }
    }
}

/// Sets up what is missing, builds the components and runs every test.
pub(crate) fn test(root: &Path, size: Size, arguments: &[String]) -> Result<()> {
    guest::ensure(root)?;
    stores::install_missing(root)?;
    run(root, size, arguments)
}

/// Runs every test with the components as they are, and ends with a line that counts them.
pub(crate) fn run(root: &Path, size: Size, arguments: &[String]) -> Result<()> {
    say(format!("running every test, size {}", size.name()));
    let mut cargo = shell::cargo(root);
    cargo
        .args(["test", "--workspace", "--locked"])
        .args(arguments)
        .env("LEDGER_TEST_SIZE", size.name())
        .stdout(Stdio::piped());
    println!("$ LEDGER_TEST_SIZE={} {}", size.name(), shell::show(&cargo));
    let mut child = cargo.spawn().context("cargo could not be started")?;
    let mut counts = Counts::default();
    for line in BufReader::new(child.stdout.take().context("no output")?).split(b'\n') {
        let mut line = line?;
        line.push(b'\n');
        stdout().write_all(&line)?;
        counts.add(&String::from_utf8_lossy(&line));
    }
    let status = child.wait()?;
    println!("\n{} passed, {} failed", counts.passed, counts.failed);
    if !status.success() || counts.failed > 0 {
        bail!("the tests failed ({status})");
    }
    if counts.passed == 0 {
        bail!("no test ran");
    }
    Ok(())
}

/// Builds a program that a test program needs, with the features that the tests of the workspace
/// have: with others wasmtime would be compiled once more.
pub(crate) fn program(root: &Path, test: &str, name: &str) -> Result<PathBuf> {
    let mut cargo = shell::cargo(root);
    cargo.args(["test", "--quiet", "--locked", "--workspace", "--no-run", "--test", test]);
    shell::run(&mut cargo)?;
    Ok(shell::target_dir(root).join("debug").join(name))
}

/// The sums over all test programs.
#[derive(Default)]
struct Counts {
    passed: u64,
    failed: u64,
}

impl Counts {
    /// Adds a line such as `test result: ok. 12 passed; 0 failed; ...`; ignores others.
    fn add(&mut self, line: &str) {
        let Some((_, result)) =
            line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for part in result.split("; ") {
            match part.split_once(' ') {
                Some((number, "passed")) => self.passed += number.parse().unwrap_or(0),
                Some((number, "failed")) => self.failed += number.parse().unwrap_or(0),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn sums_the_result_lines_of_all_programs() {
        let mut counts = Counts::default();
        counts.add("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.02s\n");
        counts.add("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s\n");
        counts.add("test passed::failed ... ok\n");
        assert_eq!((counts.passed, counts.failed), (15, 2));
    }
}
