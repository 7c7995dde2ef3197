//! Building the guest and, from it, the components.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::component;
use crate::shell::{self, say};
use crate::stamp::{self, BUILDS, Build};
use crate::toolchain::{self, BUILD_STD, TARGET, Toolchain};

/// The guest's memory never grows beyond this; some hosts have no limit of their own.
const MAX_MEMORY_BYTES: u32 = 16 * 1024 * 1024;

/// How much the compiler inlines; its own choice is 225. Above 100 the component grows by
/// kilobytes and gets no quicker; below 50 it gets slower.
const INLINE_THRESHOLD: u32 = 100;

/// Makes the components in `target/components` those of the sources, and answers the
/// toolchain that built them.
pub(crate) fn ensure(root: &Path) -> Result<Toolchain> {
    let toolchain = toolchain::find(root)?;
    if stamp::is_current(root, Some(&toolchain.version)) {
        say("the components are up to date");
    } else {
        build(root, &toolchain)?;
    }
    for build in BUILDS {
        component::report_size(&stamp::component_path(root, build), build)?;
    }
    Ok(toolchain)
}

/// Builds every component of the workspace `root`, in target folders within it.
pub(crate) fn build(root: &Path, toolchain: &Toolchain) -> Result<()> {
    let inputs = stamp::inputs_hash(root)?;
    fs::create_dir_all(stamp::components_dir(root))?;
    for build in BUILDS {
        let module = build_module(root, toolchain, build)?;
        let bytes = component::encode(&module).context(build.name)?;
        component::check(&bytes, build, &local_paths(root, toolchain)?).context(build.name)?;
        let path = stamp::component_path(root, build);
        let unfinished = path.with_extension("new");
        fs::write(&unfinished, bytes)?;
        fs::rename(unfinished, path)?;
    }
    stamp::write(root, &inputs, &toolchain.version)?;
    Ok(())
}

/// Compiles the guest to a core module and answers its bytes.
fn build_module(root: &Path, toolchain: &Toolchain, build: &Build) -> Result<Vec<u8>> {
    let whole = if toolchain.builds_std() { ", with the standard library" } else { "" };
    say(format!("compiling the guest for {}{whole}", build.name));
    let mut cargo = toolchain.cargo(root);
    cargo
        .args(["build", "--locked", "--package", "idempotency-ledger", "--lib"])
        .args(["--profile", "component", "--target", TARGET, "--target-dir", "target/guest"])
        .env("CARGO_ENCODED_RUSTFLAGS", rustflags(root, toolchain)?);
    if !build.features.is_empty() {
        cargo.arg("--features").arg(build.features.join(","));
    }
    if toolchain.builds_std() {
        cargo.args([BUILD_STD, "-Zbuild-std-features=optimize_for_size,compiler-builtins-mem"]);
    }
    shell::run(&mut cargo)?;
    let module = root.join("target/guest").join(TARGET).join("component/idempotency_ledger.wasm");
    fs::read(&module).with_context(|| module.display().to_string())
}

/// The compiler's flags, in cargo's encoding.
fn rustflags(root: &Path, toolchain: &Toolchain) -> Result<OsString> {
    let mut flags: Vec<OsString> = vec![
        format!("-Clink-arg=--max-memory={MAX_MEMORY_BYTES}").into(),
        format!("-Cllvm-args=-inline-threshold={INLINE_THRESHOLD}").into(),
    ];
    for (path, name) in local_paths(root, toolchain)? {
        let mut flag = OsString::from("--remap-path-prefix=");
        flag.push(path);
        flag.push("=");
        flag.push(name);
        flags.push(flag);
    }
    Ok(flags.join(std::ffi::OsStr::new("\u{1f}")))
}

/// Folders of this machine, and the name that stands for each in the component.
fn local_paths(root: &Path, toolchain: &Toolchain) -> Result<Vec<(PathBuf, &'static str)>> {
    let mut paths = vec![(root.to_owned(), "ledger")];
    // The folders of the registry's crates differ by where the crates were fetched from.
    let sources = cargo_home(root).join("registry/src");
    for entry in fs::read_dir(&sources).into_iter().flatten() {
        paths.push((entry?.path(), "crates"));
    }
    for folder in [toolchain.library_source.clone(), canonical(&toolchain.library_source)] {
        paths.push((folder, "rust"));
    }
    Ok(paths)
}

/// Cargo's own folder, absolute.
fn cargo_home(root: &Path) -> PathBuf {
    let home = || PathBuf::from(env::var_os("HOME").unwrap_or_default()).join(".cargo");
    root.join(env::var_os("CARGO_HOME").map_or_else(home, PathBuf::from))
}

/// The path with its symbolic links followed, or as it is where it does not exist.
fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
