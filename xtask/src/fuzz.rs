//! `cargo xtask fuzz`: the fuzz targets, guided by what code an input reaches.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::shell::{self, say};

/// What libFuzzer needs to see of the code.
const FLAGS: [&str; 8] = [
    "--cfg=fuzzing",
    "--cfg=fuzzing_libfuzzer",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-sanitizer-coverage-stack-depth",
];

/// Seconds that one input may take.
const SLOW: u32 = 20;

struct Ask {
    minutes: u32,
    only: String,
}

/// Plays every target whose name holds a text, each for some minutes.
pub(crate) fn fuzz(root: &Path, arguments: &[String]) -> Result<()> {
    let ask = Ask::parse(arguments)?;
    let program = build(root)?;
    let mut targets = targets(&program)?;
    targets.retain(|target| target.contains(&ask.only));
    if targets.is_empty() {
        bail!("no fuzz target's name holds {:?}", ask.only);
    }
    for target in &targets {
        say(format!("{target}: {} minutes", ask.minutes));
        play(root, &program, target, ask.minutes)?;
    }
    Ok(())
}

impl Ask {
    fn parse(arguments: &[String]) -> Result<Ask> {
        let mut ask = Ask { minutes: 1, only: String::new() };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--minutes" => {
                    let minutes = arguments.next().and_then(|text| text.parse().ok());
                    ask.minutes = minutes.context("--minutes needs a number")?;
                }
                name if !name.starts_with('-') => ask.only = name.into(),
                other => bail!("what is {other:?}?"),
            }
        }
        Ok(ask)
    }
}

/// The program that holds the targets, compiled to tell what an input reaches.
fn build(root: &Path) -> Result<PathBuf> {
    say("building the fuzz targets");
    let target = host_target()?;
    let folder = root.join("target/fuzz");
    let mut cargo = shell::cargo(root);
    cargo.args(["test", "--locked", "--package", "ledger-fuzz", "--test", "fuzz", "--no-run"]);
    cargo.args(["--target", &target, "--message-format=json-render-diagnostics"]);
    cargo.arg("--target-dir").arg(&folder);
    cargo.env("RUSTFLAGS", FLAGS.join(" ")).env("BOLERO_FUZZER", "libfuzzer");
    let messages = shell::output(&mut cargo)?;
    messages.lines().find_map(program_of).context("cargo names no program")
}

/// The program that a message of cargo tells of.
fn program_of(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    message["executable"].as_str().map(PathBuf::from)
}

/// Without a target of its own, build scripts and macros would be compiled likewise.
fn host_target() -> Result<String> {
    let text = shell::output(Command::new("rustc").arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV names no host")?.to_owned())
}

fn targets(program: &Path) -> Result<Vec<String>> {
    let text = shell::output(Command::new(program).arg("--list"))?;
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

/// Finds are kept in `target/fuzz`; `fuzz/corpus` is where every search begins.
fn play(root: &Path, program: &Path, target: &str, minutes: u32) -> Result<()> {
    let name = target.replace("::", "-");
    let folder = root.join("target/fuzz");
    let (grown, seeds) = (folder.join("corpus").join(&name), root.join("fuzz/corpus").join(&name));
    let failures = folder.join("failures").join(&name);
    fs::create_dir_all(&grown)?;
    fs::create_dir_all(&failures)?;
    let mut arguments = vec![grown.display().to_string()];
    if seeds.is_dir() {
        arguments.push(seeds.display().to_string());
    }
    arguments.push(format!("-artifact_prefix={}/", failures.display()));
    arguments.push(format!("-timeout={SLOW}"));
    arguments.push(format!("-max_total_time={}", minutes * 60));
    let mut fuzzer = Command::new(program);
    fuzzer.args([target, "--exact", "--nocapture", "--quiet", "--test-threads", "1"]);
    fuzzer.env("BOLERO_TEST_NAME", target).env("BOLERO_LIBTEST_HARNESS", "1");
    fuzzer.env("BOLERO_LIBFUZZER_ARGS", arguments.join(" "));
    fuzzer.env("RUST_BACKTRACE", "0").current_dir(root.join("fuzz"));
    let status = fuzzer.status().with_context(|| program.display().to_string())?;
    if !status.success() {
        bail!("{target} failed ({status}); its input is in {}", failures.display());
    }
    Ok(())
}
