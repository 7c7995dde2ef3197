//! Where the wasm target comes from: the installed one, `rustup target add`, or Debian's
//! packages, whichever the machine allows first.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Result, bail};

use crate::nested;
use crate::shell::{self, say};

mod debian;

/// The guest's target.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// What of the standard library is compiled where the target is not installed: all that
/// the guest uses on wasm.
pub(crate) const BUILD_STD: &str = "-Zbuild-std=core,alloc,compiler_builtins,panic_abort";

/// `rustup target add` may take this long; where it cannot fetch anything it may hang.
const RUSTUP_LIMIT_S: u64 = 120;

/// What to run by hand where nothing worked.
const BY_HAND: &str = "\
the guest needs the target wasm32-unknown-unknown. Run one of

    rustup target add wasm32-unknown-unknown

    sudo apt-get update
    sudo apt-get install -y --no-install-recommends rustc-web cargo-web rust-web-src lld-19

and then the same task again";

/// A Rust toolchain that can build the guest.
pub(crate) struct Toolchain {
    cargo: PathBuf,
    rustc: PathBuf,
    /// Where the standard library's sources are, or would be.
    pub(crate) library_source: PathBuf,
    /// Names the toolchain; another name means other bytes.
    pub(crate) version: String,
    /// The linker, where the toolchain has none of its own and the standard library is
    /// built together with the guest.
    std_from_source: Option<PathBuf>,
}

impl Toolchain {
    /// True if the standard library is compiled together with the guest.
    pub(crate) fn builds_std(&self) -> bool {
        self.std_from_source.is_some()
    }

    /// Cargo in the workspace `root`, set up for this toolchain.
    pub(crate) fn cargo(&self, root: &Path) -> Command {
        self.command(&self.cargo, root)
    }

    /// `cargo clippy` for the guest as it is compiled to wasm, where there is a clippy.
    pub(crate) fn clippy(&self, root: &Path) -> Result<Option<Command>> {
        let mut command = if self.builds_std() {
            // By its path: cargo would start the first on the search path, another toolchain's.
            let Some(clippy) = debian::clippy()? else {
                return Ok(None);
            };
            let mut command = self.command(&clippy, root);
            command.env("CARGO", &self.cargo).args(["clippy", BUILD_STD]);
            command
        } else {
            let mut command = self.cargo(root);
            command.arg("clippy");
            command
        };
        command.args(["--locked", "--package", "idempotency-ledger", "--lib"]);
        // In the build's own profile, whose macros are compiled already.
        command.args(["--profile", "component", "--target", TARGET]);
        command.args(["--target-dir", "target/guest"]);
        Ok(Some(command))
    }

    fn command(&self, program: &Path, root: &Path) -> Command {
        let mut command = nested::command(program, root);
        if let Some(linker) = &self.std_from_source {
            command
                .env("RUSTC", &self.rustc)
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker)
                .env_remove("LD_LIBRARY_PATH");
        }
        command
    }
}

/// Finds a toolchain, or installs what is missing.
pub(crate) fn find(root: &Path) -> Result<Toolchain> {
    match env::var("IDEMPOTENCY_TOOLCHAIN").as_deref() {
        Ok("installed") => installed(root)?.map_or_else(|| bail!("{BY_HAND}"), Ok),
        Ok("debian") => debian::find_or_install(root)?.map_or_else(|| bail!("{BY_HAND}"), Ok),
        Ok(other) if !other.is_empty() => {
            bail!("IDEMPOTENCY_TOOLCHAIN is `{other}`; it may be `installed` or `debian`")
        }
        _ => find_any(root),
    }
}

fn find_any(root: &Path) -> Result<Toolchain> {
    if let Some(toolchain) = installed(root)? {
        return Ok(toolchain);
    }
    if rustup_add(root)
        && let Some(toolchain) = installed(root)?
    {
        return Ok(toolchain);
    }
    match debian::find_or_install(root)? {
        Some(toolchain) => Ok(toolchain),
        None => bail!("{BY_HAND}"),
    }
}

/// The toolchain that runs us, if it has the target.
fn installed(root: &Path) -> Result<Option<Toolchain>> {
    let rustc = PathBuf::from("rustc");
    let sysroot = shell::output(nested::command(&rustc, root).args(["--print", "sysroot"]))?;
    let rustlib = Path::new(&sysroot).join("lib/rustlib");
    if !rustlib.join(TARGET).join("lib").is_dir() {
        return Ok(None);
    }
    let version = shell::output(nested::command(&rustc, root).arg("--version"))?;
    say(format!("the wasm target is installed ({version})"));
    Ok(Some(Toolchain {
        cargo: env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from),
        rustc,
        library_source: rustlib.join("src/rust"),
        version,
        std_from_source: None,
    }))
}

/// Lets rustup fetch the target. A failure is remembered until `cargo clean`, so that
/// later tasks do not wait for it again.
fn rustup_add(root: &Path) -> bool {
    let rustup = Path::new("rustup");
    let failed_before = root.join("target/rustup-cannot-add-the-wasm-target");
    if !shell::works(nested::command(rustup, root).arg("--version")) {
        say("rustup is not installed");
        return false;
    }
    if failed_before.exists() {
        say(format!("rustup could not fetch the wasm target before ({})", failed_before.display()));
        return false;
    }
    say("the wasm target is not installed; asking rustup for it");
    let added = shell::run_within(
        nested::command(rustup, root).args(["target", "add", TARGET]),
        RUSTUP_LIMIT_S,
    );
    if let Err(error) = &added {
        say(format!("{error:#}"));
        // Only saves time later: nothing is lost if it cannot be written.
        let _ = fs::write(&failed_before, format!("{error:#}\n"));
    }
    added.is_ok()
}
