//! The C library: `include/` and `lib/` below `target/embed/c`.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use super::{Supplies, page, wasmtime};
use crate::shell;

const FOLDER: &str = "embed/c";

/// Tests without arguments.
const TESTS: &[&str] = &["misuse", "store_failures"];

/// Longest time of one test, in seconds.
const LIMIT_S: u64 = 300;

const OUT: &str = "target/embed/c";
/// The same with the compiler's own checks of memory and arithmetic.
const CHECKED_OUT: &str = "target/embed/c-checked";
const CHECKED_FLAGS: &str = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all";

pub(super) fn build(supplies: &Supplies<'_>) -> Result<()> {
    make(supplies, OUT, "all", None)
}

pub(super) fn test(supplies: &Supplies<'_>) -> Result<()> {
    build(supplies)?;
    make(supplies, OUT, "tests", None)?;
    run_tests(supplies.root, OUT)?;
    make(supplies, CHECKED_OUT, "tests", Some(CHECKED_FLAGS))?;
    run_tests(supplies.root, CHECKED_OUT)?;
    let library = supplies.root.join(OUT);
    let mut bench = program(&library.join("tests"), "bench");
    shell::run_within(bench.arg("2000"), LIMIT_S)?;
    page::run(supplies.root, "docs/c.md", &[("LEDGER", &library)])
}

fn make(supplies: &Supplies<'_>, out: &str, what: &str, flags: Option<&str>) -> Result<()> {
    let root = supplies.root;
    let wasmtime = wasmtime::ensure(root)?;
    let mut make = Command::new("make");
    make.arg("--silent").arg("--directory").arg(root.join(FOLDER)).arg(what);
    make.arg(format!("WASMTIME={}", wasmtime.display()));
    make.arg(format!("COMPONENT={}", supplies.component.display()));
    make.arg(format!("OUT={}", root.join(out).display()));
    if let Some(flags) = flags {
        make.arg(format!("CFLAGS={flags}"));
    }
    shell::run(&mut make)
}

fn run_tests(root: &Path, out: &str) -> Result<()> {
    let tests = root.join(out).join("tests");
    for name in TESTS {
        shell::run_within(&mut program(&tests, name), LIMIT_S)?;
    }
    let vectors = root.join("host-tests/vectors");
    // Each scenario has a file of its own: in memory, if there is a place, where flushing is free.
    let place = [Path::new("/dev/shm"), &tests].into_iter().find(|place| place.is_dir());
    for store in ["memory", "sqlite"] {
        let mut program = program(&tests, "vectors");
        program.arg(&vectors).arg(store).arg(place.unwrap_or(&tests));
        shell::run_within(&mut program, LIMIT_S)?;
    }
    sees_what_is_wrong(&tests, &vectors)?;
    // An SQLite file on the disk, which must not be there before.
    let files = tests.join("files");
    shell::remove_dir(&files)?;
    fs::create_dir_all(&files)?;
    shell::run_within(program(&tests, "threads").arg(files.join("threads.db")), LIMIT_S)?;
    sample(&tests, &files)
}

/// A second run of the sample answers what the first did.
fn sample(tests: &Path, folder: &Path) -> Result<()> {
    let run = || {
        let mut sample = program(tests, "sample");
        shell::output(sample.args(["order-1", "1999"]).current_dir(folder))
    };
    let (first, second) = (run()?, run()?);
    ensure!(first.starts_with("charged 1999 for order-1"), "the sample says {first}");
    ensure!(second == format!("replayed: {first}"), "the sample says {second} after {first}");
    Ok(())
}

/// The runner fails on the vectors with one number changed.
fn sees_what_is_wrong(tests: &Path, vectors: &Path) -> Result<()> {
    let folder = tests.join("wrong");
    fs::create_dir_all(&folder)?;
    let text = fs::read_to_string(vectors.join("ancestor.json"))?;
    let changed = text.replacen("60000", "60001", 1);
    ensure!(changed != text, "there is nothing to change in the vectors");
    fs::write(folder.join("changed.json"), changed)?;
    let mut runner = program(tests, "vectors");
    let missed = shell::works(runner.arg(&folder).arg("memory").arg(&folder));
    ensure!(!missed, "the runner of vectors misses a wrong answer");
    Ok(())
}

fn program(tests: &Path, name: &str) -> Command {
    let mut program = Command::new(tests.join(name));
    // wasmtime has a handler of its own for SIGSEGV.
    program.env("ASAN_OPTIONS", "handle_segv=0");
    // Of cargo; the guest's native library there has the same name.
    program.env_remove("LD_LIBRARY_PATH");
    program
}
