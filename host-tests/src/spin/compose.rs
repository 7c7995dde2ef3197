//! The app and its ledger made one component.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::engine::Answer;
use super::manifest::{Dependency, Manifest};

/// The tool that composes; `cargo xtask spin build` compiles it.
const TOOL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/compose/debug/ledger-compose");

/// The package that a ledger exports.
const PACKAGE: &str = "idempotency:ledger";

/// What `cargo xtask spin build` makes of the example, and the builds of the ledger.
const EXAMPLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../target/examples/wasm32-unknown-unknown/release/spin_charge.wasm"
);
const COMPONENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/components");

/// Other files than those that the manifest names: what is built here is a module for
/// `wasm32-unknown-unknown`, and tests take other ledgers.
#[derive(Clone, Debug, Default)]
pub struct Ledgers {
    /// The app's module or component.
    pub source: Option<PathBuf>,
    /// The ledger's component.
    pub ledger: Option<PathBuf>,
}

impl Ledgers {
    /// The example as it is built here, with the ledger `ledger-cas` or `ledger-ticket`.
    pub fn example(ledger: &str) -> Self {
        let ledger = Path::new(COMPONENTS).join(ledger).with_extension("wasm");
        Self { source: Some(EXAMPLE.into()), ledger: Some(ledger) }
    }
}

/// What the app composed with its dependency is.
///
/// Names of dependencies are matched as Spin's source has it: a package, with or without a
/// version, answers all imports of it. Two dependencies on one package are refused, since Spin
/// registers packages without their versions and takes each name once (by its source). Spin wants
/// the very version of the import; the double's tool is content with a compatible one.
pub(crate) fn compose(manifest: &Manifest, instead: &Ledgers) -> Answer<Vec<u8>> {
    let component = manifest.component()?;
    let source = manifest.folder.join(&component.source);
    let source = instead.source.as_ref().unwrap_or(&source);
    let dependencies: Vec<_> = component.dependencies.iter().collect();
    let (name, dependency) = match dependencies.as_slice() {
        [] => return fs::read(source).map_err(|why| format!("{}: {why}", source.display())),
        [one] => one,
        _ => return Err("the double composes one dependency".to_owned()),
    };
    if !name.starts_with(PACKAGE) {
        return Err(format!("the double composes a dependency on {PACKAGE}, not on {name}"));
    }
    let inherits = component.dependencies_inherit_configuration;
    let Dependency { path, inherit_configuration } = dependency;
    if !inherits && !inherit_configuration.iter().any(|name| name == "key_value_stores") {
        // Measured on Spin 4.1: the app does not start.
        return Err(format!("{name} inherits no key_value_stores: wasi:keyvalue has no match"));
    }
    let ledger = manifest.folder.join(path);
    plug(instead.ledger.as_ref().unwrap_or(&ledger), source)
}

fn plug(ledger: &Path, source: &Path) -> Answer<Vec<u8>> {
    let folder = tempfile::tempdir().map_err(|why| why.to_string())?;
    let whole = folder.path().join("whole.wasm");
    let output = Command::new(TOOL).args([ledger, source, &whole]).output();
    let output = output.map_err(|why| format!("{TOOL}: {why}; run `cargo xtask spin build`"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    fs::read(&whole).map_err(|why| why.to_string())
}
