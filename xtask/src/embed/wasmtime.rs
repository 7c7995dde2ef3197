//! The C API of wasmtime: a library and its headers, pinned by hash, from the registries.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::shell::{self, say};

/// Where the versions and their hashes are pinned.
const PINNED: &str = "embed/c/wasmtime";

/// The crate that holds the headers.
const HEADERS: &str = "wasmtime-c-api-impl";

/// The library as the Python package names it, by platform.
const LIBRARIES: &[&str] = &["_libwasmtime.so", "_libwasmtime.dylib"];

/// A folder with `include/`, `libwasmtime.so` and its `LICENSE`, fetched when it is first needed.
pub(crate) fn ensure(root: &Path) -> Result<PathBuf> {
    let folder = root.join("target/embed/wasmtime");
    let pins = fs::read(root.join(PINNED).join("Cargo.lock"))?;
    let stamp = folder.join("Cargo.lock");
    if fs::read(&stamp).is_ok_and(|known| known == pins) {
        return Ok(folder);
    }
    say("fetching wasmtime's C API");
    shell::remove_dir(&folder)?;
    fs::create_dir_all(&folder)?;
    copy_headers(root, &folder)?;
    copy_library(root, &folder)?;
    fs::write(stamp, pins)?;
    Ok(folder)
}

/// The crate comes by cargo, which checks it against the lock file; nothing of it is compiled.
fn copy_headers(root: &Path, folder: &Path) -> Result<()> {
    let metadata = shell::metadata(&root.join(PINNED), &[])?;
    let headers = shell::package(&metadata, HEADERS)?;
    let manifest = headers["manifest_path"].as_str().context("cargo names no manifest")?;
    let include = folder.join("include");
    shell::copy_sources(&Path::new(manifest).with_file_name("include"), &include)?;
    // What the library was built with; only its components are not declared without.
    let template = fs::read_to_string(include.join("wasmtime/conf.h.in"))?;
    fs::write(include.join("wasmtime/conf.h"), template.replace("#cmakedefine", "#define"))?;
    Ok(())
}

/// The Python package carries the library; pip checks it against the hashes.
fn copy_library(root: &Path, folder: &Path) -> Result<()> {
    let wheel = folder.join("wheel");
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    pip.args(["--only-binary", ":all:", "--require-hashes", "--requirement"]);
    shell::run(pip.arg(root.join(PINNED).join("requirements.txt")).arg("--dest").arg(&wheel))?;
    let archive = files(&wheel)?.pop().context("pip fetched nothing")?;
    let mut unpack = Command::new("python3");
    shell::run(unpack.args(["-m", "zipfile", "--extract"]).arg(archive).arg(&wheel))?;
    let library = files(&wheel.join("wasmtime"))?
        .into_iter()
        .flat_map(|folder| LIBRARIES.iter().map(move |name| folder.join(name)))
        .find(|library| library.is_file())
        .context("there is no library in the Python package")?;
    fs::rename(library, folder.join("libwasmtime.so"))?;
    let license = files(&wheel)?
        .into_iter()
        .map(|part| part.join("licenses/LICENSE"))
        .find(|license| license.is_file())
        .context("there is no license in the Python package")?;
    fs::rename(license, folder.join("LICENSE"))?;
    shell::remove_dir(&wheel)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    entries.map(|entry| Ok(entry?.path())).collect()
}
