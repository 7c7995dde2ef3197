//! The host crate's package: it carries the components, so that its users need no wasm target.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::guest;
use crate::shell::{self, say};
use crate::stamp::{self, BUILDS};

/// The package to make.
const PACKAGE: &str = "idempotency-ledger-host";

/// What the package must hold besides the components.
const FILES: &[&str] = &[
    "build.rs",
    "build/nested.rs",
    "build/stamp.rs",
    "src/lib.rs",
    "wit/world.wit",
    "wit/deps/keyvalue/store.wit",
];

/// The workspace's settings for dependencies, so that the package's check takes those that
/// clippy has checked already.
const PROFILE: &[&str] = &[
    "profile.dev.debug='line-tables-only'",
    "profile.dev.package.'*'.opt-level=2",
    "profile.dev.package.'*'.debug=false",
];

/// Makes the package, checks what is in it, and that it compiles on its own.
pub(crate) fn package(root: &Path) -> Result<()> {
    guest::ensure(root)?;
    let staged = Staged::new(root)?;
    let mut cargo = shell::cargo(root);
    cargo.args(["package", "--locked", "--allow-dirty", "--no-verify", "--package", PACKAGE]);
    shell::run(&mut cargo)?;
    drop(staged);
    let archive = newest_archive(&shell::target_dir(root).join("package"))?;
    check_files(&archive)?;
    compile(root, &archive)?;
    say(format!("{} is whole ({} bytes)", archive.display(), fs::metadata(&archive)?.len()));
    Ok(())
}

/// What `cargo package` would do too, but with a whole build instead of a check, and
/// nothing of it is used again.
fn compile(root: &Path, archive: &Path) -> Result<()> {
    let folder = root.join("target/package-check");
    shell::remove_dir(&folder)?;
    fs::create_dir_all(&folder)?;
    let mut tar = Command::new("tar");
    shell::run(tar.arg("-xzf").arg(archive).arg("-C").arg(&folder).arg("--strip-components=1"))?;
    // It lies within our workspace and is no part of it.
    let manifest = folder.join("Cargo.toml");
    let alone = fs::read_to_string(&manifest)? + "\n[workspace]\n";
    fs::write(&manifest, alone)?;
    let mut cargo = shell::cargo(&folder);
    cargo.args(["check", "--locked", "--target-dir"]).arg(shell::target_dir(root));
    for setting in PROFILE {
        cargo.args(["--config", setting]);
    }
    shell::run(&mut cargo)?;
    shell::remove_dir(&folder)
}

/// Fails where the package lacks a file that its users need.
fn check_files(archive: &Path) -> Result<()> {
    let list = shell::output(Command::new("tar").arg("-tzf").arg(archive))?;
    let components = BUILDS.iter().map(|build| format!("components/{}.wasm", build.name));
    for file in FILES.iter().map(|file| (*file).to_owned()).chain(components) {
        // The first folder in the archive is the package's name and version.
        let found =
            list.lines().any(|line| line.split_once('/').is_some_and(|(_, path)| path == file));
        ensure!(found, "{} lacks {file}", archive.display());
    }
    Ok(())
}

fn newest_archive(folder: &Path) -> Result<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(PACKAGE) && name.ends_with(".crate") {
            found.push((fs::metadata(&path)?.modified()?, path));
        }
    }
    let (_, newest) = found.into_iter().max().context("cargo made no package")?;
    Ok(newest)
}

/// The components' copies within the host crate; gone again when this is dropped.
struct Staged(PathBuf);

impl Staged {
    fn new(root: &Path) -> Result<Self> {
        let staged = Staged(root.join("host/components"));
        shell::remove_dir(&staged.0)?;
        fs::create_dir_all(&staged.0)?;
        for build in BUILDS {
            let file = format!("{}.wasm", build.name);
            fs::copy(stamp::component_path(root, build), staged.0.join(file))?;
        }
        Ok(staged)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if let Err(error) = shell::remove_dir(&self.0) {
            say(format!("remove it by hand: {error:#}"));
        }
    }
}
