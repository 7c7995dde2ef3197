//! Debian's Rust: a compiler with the wasm backend, and the standard library's sources,
//! which cargo compiles together with the guest.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::Toolchain;
use crate::nested;
use crate::shell::{self, say};

/// What has to be installed.
const PACKAGES: &[&str] = &["rustc-web", "cargo-web", "rust-web-src", "lld-19"];

/// Fails rather than asking, and does not wait for ever for a server.
const APT_GET: &[&str] = &[
    "DEBIAN_FRONTEND=noninteractive",
    "apt-get",
    "-o",
    "Acquire::Retries=2",
    "-o",
    "Acquire::http::Timeout=60",
];

/// The toolchain, installed first where that is possible.
pub(crate) fn find_or_install(root: &Path) -> Result<Option<Toolchain>> {
    if let Some(toolchain) = find(root)? {
        return Ok(Some(toolchain));
    }
    if !install(PACKAGES)? {
        return Ok(None);
    }
    find(root)
}

/// Debian's `cargo clippy`, installed first where that is possible.
pub(crate) fn clippy() -> Result<Option<PathBuf>> {
    let clippy = PathBuf::from("/usr/bin/cargo-clippy");
    let there = clippy.is_file() || (install(&["rust-web-clippy"])? && clippy.is_file());
    Ok(there.then_some(clippy))
}

/// The toolchain, if all of it is there.
fn find(root: &Path) -> Result<Option<Toolchain>> {
    let (cargo, rustc) = (PathBuf::from("/usr/bin/cargo"), PathBuf::from("/usr/bin/rustc"));
    let Some(linker) = linker()? else {
        return Ok(None);
    };
    if !cargo.is_file() || !rustc.is_file() {
        return Ok(None);
    }
    let sysroot = shell::output(nested::command(&rustc, root).args(["--print", "sysroot"]))?;
    let library_source = Path::new(&sysroot).join("lib/rustlib/src/rust");
    if !library_source.join("library/std/Cargo.toml").is_file() {
        return Ok(None);
    }
    let version = shell::output(nested::command(&rustc, root).arg("--version"))?;
    let linker_version = shell::output(Command::new(&linker).arg("--version"))?;
    let version = format!("{version}, std from source, {linker_version}");
    say(format!("using Debian's Rust ({version})"));
    Ok(Some(Toolchain { cargo, rustc, library_source, version, std_from_source: Some(linker) }))
}

/// The newest `wasm-ld` of Debian's LLVM packages.
fn linker() -> Result<Option<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/usr/bin").into_iter().flatten() {
        let entry = entry?;
        let name = entry.file_name();
        let version =
            name.to_str().and_then(|name| name.strip_prefix("wasm-ld-")?.parse::<u32>().ok());
        found.extend(version.map(|version| (version, entry.path())));
    }
    Ok(found.into_iter().max().map(|(_, path)| path))
}

/// True if apt-get installed the packages; false, with the reason printed, if not.
fn install(packages: &[&str]) -> Result<bool> {
    if !Path::new("/usr/bin/apt-get").is_file() {
        return Ok(false);
    }
    let sudo: &[&str] = match shell::output(Command::new("id").arg("-u"))?.as_str() {
        "0" => &[],
        _ if shell::works(Command::new("sudo").args(["-n", "true"])) => &["sudo", "-n"],
        _ => {
            say("not root, and sudo asks for a password: installing nothing");
            return Ok(false);
        }
    };
    say(format!("installing Debian's packages {}", packages.join(" ")));
    let apt_get = |arguments: &[&str]| {
        let line = [sudo, &["env"], APT_GET, arguments].concat();
        shell::run(Command::new(line[0]).args(&line[1..]))
    };
    let done = apt_get(&["update", "-q"]).and_then(|()| {
        apt_get(&[&["install", "-y", "-q", "--no-install-recommends"], packages].concat())
    });
    if let Err(error) = &done {
        say(format!("{error:#}"));
    }
    Ok(done.is_ok())
}
