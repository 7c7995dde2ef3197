//! The C library: `include/` and `lib/` below `target/embed/c`.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use super::{Action, page, wasmtime};
use crate::shell;
use crate::stamp;

const FOLDER: &str = "embed/c";

/// Tests without arguments.
const TESTS: &[&str] = &["misuse", "store_failures"];

/// Longest time of one test, in seconds.
const LIMIT_S: u64 = 300;

pub(super) fn run(root: &Path, action: Action) -> Result<()> {
    make(root, "target/embed/c", "all", None)?;
    if let Action::Test(_) = action {
        make(root, "target/embed/c", "tests", None)?;
        test(root, "target/embed/c")?;
        // Once more with the compiler's own checks of memory and arithmetic.
        let checked = Some("-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all");
        make(root, "target/embed/c-checked", "tests", checked)?;
        test(root, "target/embed/c-checked")?;
        let mut bench = program(&root.join("target/embed/c/tests"), "bench");
        shell::run_within(bench.arg("2000"), LIMIT_S)?;
        let library = root.join("target/embed/c");
        page::run(root, "docs/c.md", &[("LEDGER", &library)])?;
    }
    Ok(())
}

fn make(root: &Path, out: &str, what: &str, flags: Option<&str>) -> Result<()> {
    let wasmtime = wasmtime::ensure(root)?;
    let component = stamp::component_path(root, &stamp::BUILDS[0]);
    let mut make = Command::new("make");
    make.arg("--silent").arg("--directory").arg(root.join(FOLDER)).arg(what);
    make.arg(format!("WASMTIME={}", wasmtime.display()));
    make.arg(format!("COMPONENT={}", component.display()));
    make.arg(format!("OUT={}", root.join(out).display()));
    if let Some(flags) = flags {
        make.arg(format!("CFLAGS={flags}"));
    }
    shell::run(&mut make)
}

fn test(root: &Path, out: &str) -> Result<()> {
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
    let file = tests.join(format!("threads-{}.db", std::process::id()));
    let result = shell::run_within(program(&tests, "threads").arg(&file), LIMIT_S);
    for ending in ["", "-wal", "-shm"] {
        let mut name = file.clone().into_os_string();
        name.push(ending);
        // Where the test failed early, there is none.
        let _ = fs::remove_file(name);
    }
    result
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
