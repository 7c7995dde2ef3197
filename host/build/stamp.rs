//! Whether the components in `target/components` are those of the sources as they stand.
//!
//! `xtask` writes the stamp when it has built the components; `host/build.rs` reads it to
//! know whether it has to build them first. Both include this file, so it uses `std` only:
//! who depends on the published crate compiles nothing more for it.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

/// One build of the guest.
pub(crate) struct Build {
    /// File name without `.wasm`.
    pub(crate) name: &'static str,
    /// Cargo features of the guest.
    pub(crate) features: &'static [&'static str],
    /// The component must stay below this.
    pub(crate) size_limit_bytes: u64,
    /// What the component imports, and nothing else.
    pub(crate) imports: &'static [&'static str],
}

/// Every component that this project publishes.
pub(crate) const BUILDS: &[Build] = &[
    Build { name: "ledger-cas", features: &[], size_limit_bytes: 120_000, imports: IMPORTS },
    Build {
        name: "ledger-ticket",
        features: &["ticket"],
        size_limit_bytes: 132_000,
        imports: IMPORTS,
    },
];

const IMPORTS: &[&str] = &[
    "wasi:clocks/wall-clock@0.2.12",
    "wasi:keyvalue/atomics@0.2.0-draft2",
    "wasi:keyvalue/store@0.2.0-draft2",
];

/// What decides a component's bytes, besides the toolchain: files, and folders with all
/// that is in them.
pub(crate) const INPUTS: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "host/build/stamp.rs",
    "src",
    "wit",
    "xtask/src/component.rs",
    "xtask/src/guest.rs",
];

/// Where the components lie, in the workspace `root`.
pub(crate) fn components_dir(root: &Path) -> PathBuf {
    root.join("target/components")
}

/// The file of one component, in the workspace `root`.
pub(crate) fn component_path(root: &Path, build: &Build) -> PathBuf {
    components_dir(root).join(format!("{}.wasm", build.name))
}

/// True if every component is there and was built from the inputs as they are now.
///
/// `toolchain` is compared where it is given: two toolchains give different bytes.
pub(crate) fn is_current(root: &Path, toolchain: Option<&str>) -> bool {
    let Ok(stamp) = fs::read_to_string(stamp_path(root)) else {
        return false;
    };
    let Some(line) = stamp.lines().find_map(|line| line.strip_prefix("toolchain ")) else {
        return false;
    };
    if toolchain.is_some_and(|wanted| wanted != line) {
        return false;
    }
    matches!(inputs_hash(root).and_then(|inputs| render(root, &inputs, line)), Ok(now) if now == stamp)
}

/// Writes the stamp for the components as they lie there. `inputs` is what [`inputs_hash`]
/// answered before the build, so that a file changed meanwhile makes the next one build again.
pub(crate) fn write(root: &Path, inputs: &str, toolchain: &str) -> io::Result<()> {
    let path = stamp_path(root);
    let unfinished = path.with_extension("new");
    fs::write(&unfinished, render(root, inputs, toolchain)?)?;
    fs::rename(unfinished, path)
}

/// Hash of all inputs, their paths included.
pub(crate) fn inputs_hash(root: &Path) -> io::Result<String> {
    let mut hash = Fnv::new();
    for path in input_files(root)? {
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        hash.add(name.as_bytes());
        hash.add(&fs::read(&path)?);
    }
    Ok(hash.text())
}

/// When the youngest input was last changed.
pub(crate) fn newest_input(root: &Path) -> io::Result<SystemTime> {
    let mut newest = SystemTime::UNIX_EPOCH;
    for path in input_files(root)? {
        newest = newest.max(fs::metadata(path)?.modified()?);
    }
    Ok(newest)
}

/// The stamp's own file, in the workspace `root`.
pub(crate) fn stamp_path(root: &Path) -> PathBuf {
    components_dir(root).join("stamp")
}

/// What the stamp must say for the components as they lie there.
fn render(root: &Path, inputs: &str, toolchain: &str) -> io::Result<String> {
    let mut text = format!("toolchain {toolchain}\ninputs {inputs}\n");
    for build in BUILDS {
        let mut hash = Fnv::new();
        hash.add(&fs::read(component_path(root, build))?);
        text.push_str(&format!("{} {}\n", build.name, hash.text()));
    }
    Ok(text)
}

/// All files among the inputs, sorted; those that are missing are left out.
fn input_files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut pending: Vec<PathBuf> = INPUTS.iter().map(|name| root.join(name)).collect();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                pending.push(entry?.path());
            }
        } else if path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// FNV-1a, 64 bits: notices every change that is not made on purpose to deceive it.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    /// Adds the bytes' length, then the bytes.
    fn add(&mut self, bytes: &[u8]) {
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}
