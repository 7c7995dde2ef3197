//! Running other programs, and saying so.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::Duration;
use std::{env, fs};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::nested;

/// How often [`run_within`] looks whether the program has ended, per second.
const LOOKS_PER_SECOND: u64 = 10;

/// The folder of the workspace's `Cargo.toml`.
pub(crate) fn workspace_root() -> Result<PathBuf> {
    let manifest_dir = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let root = manifest_dir.parent().context("xtask lies outside its workspace")?;
    Ok(root.to_owned())
}

/// The cargo that runs us, in `root`, with the settings of its own run removed.
pub(crate) fn cargo(root: &Path) -> Command {
    let cargo = env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
    nested::command(&cargo, root)
}

/// Where cargo builds the host side. The guest's folders and the components are always in
/// the workspace's `target`.
pub(crate) fn target_dir(root: &Path) -> PathBuf {
    root.join(
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from),
    )
}

/// Says what happens next, on one line.
pub(crate) fn say(text: impl AsRef<str>) {
    println!("xtask: {}", text.as_ref());
}

/// Shows the command, runs it, and fails if it does.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = show(command);
    println!("$ {shown}");
    let status = command.status().with_context(|| format!("`{shown}` could not be started"))?;
    succeeded(&shown, status)
}

/// Like [`run`], but ends the program after `limit_s` seconds.
pub(crate) fn run_within(command: &mut Command, limit_s: u64) -> Result<()> {
    let shown = show(command);
    println!("$ {shown}");
    let mut child = command.spawn().with_context(|| format!("`{shown}` could not be started"))?;
    match wait_within(&mut child, limit_s)? {
        Some(status) => succeeded(&shown, status),
        None => bail!("`{shown}` took longer than {limit_s} s"),
    }
}

/// The program's standard output, without the spaces around it.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("`{shown}` could not be started"))?;
    succeeded(&shown, output.status)?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// What cargo knows of a workspace.
pub(crate) fn metadata(workspace: &Path, arguments: &[&str]) -> Result<Value> {
    let mut cargo = cargo(workspace);
    cargo.args(["metadata", "--locked", "--format-version", "1"]).args(arguments);
    Ok(serde_json::from_str(&output(&mut cargo)?)?)
}

/// One package of it.
pub(crate) fn package<'a>(metadata: &'a Value, name: &str) -> Result<&'a Value> {
    let packages = metadata["packages"].as_array().context("cargo names no packages")?;
    let found = packages.iter().find(|package| package["name"] == name);
    found.with_context(|| format!("cargo knows no package {name}"))
}

/// True if the program can be run at all and ends well; prints nothing.
pub(crate) fn works(command: &mut Command) -> bool {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Copies the workspace's sources to `to`, without what builds have made.
pub(crate) fn copy_sources(from: &Path, to: &Path) -> Result<()> {
    const LEFT_OUT: &[&str] = &[".git", ".venv", "node_modules", "target"];
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        if entry.path().is_dir() {
            copy_sources(&entry.path(), &target)?;
        } else if entry.path().is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Removes a folder with all that is in it; it may be missing.
pub(crate) fn remove_dir(path: &Path) -> Result<()> {
    if path.exists() {
        fs::remove_dir_all(path).with_context(|| format!("{} stays", path.display()))?;
    }
    Ok(())
}

fn wait_within(child: &mut Child, limit_s: u64) -> Result<Option<ExitStatus>> {
    for _ in 0..limit_s.saturating_mul(LOOKS_PER_SECOND) {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        sleep(Duration::from_millis(1000 / LOOKS_PER_SECOND));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

fn succeeded(shown: &str, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// The command as one would type it: the program without its folder.
pub(crate) fn show(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let mut shown = name.to_string_lossy().into_owned();
    for argument in command.get_args() {
        shown.push(' ');
        shown.push_str(&argument.to_string_lossy());
    }
    shown
}
