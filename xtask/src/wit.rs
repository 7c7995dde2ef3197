//! What `wit/` must fulfil: vendored packages as they were published, and our own package
//! documented and dated in full.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use sha2::{Digest, Sha256};
use wit_parser::{
    Docs, Interface, InterfaceId, Resolve, Stability, Type, TypeDefKind, TypeOwner, World,
};

use crate::shell::{self, say};
use crate::toolchain::TARGET;

/// Our own package.
const PACKAGE: &str = "idempotency:ledger";

/// Packages that must equal those of the crate with the guest's clock bindings: the folder
/// and file in `wit/deps`, and the file in that crate's `wit/deps`.
const FROM_CRATE: &[(&str, &str)] = &[("clocks/clocks.wit", "clocks.wit"), ("io/io.wit", "io.wit")];

/// The crate that the guest depends on for its clock, and the one that holds the WIT.
const CLOCK_CRATES: (&str, &str) = ("wasi", "wasip2");

/// Fails with the whole list of what is wrong.
pub(crate) fn check(root: &Path) -> Result<()> {
    let mut wrong = Vec::new();
    clocks_and_io(root, &mut wrong)?;
    sums(&root.join("wit/deps"), &mut wrong)?;
    our_package(&root.join("wit"), &mut wrong)?;
    ensure!(wrong.is_empty(), "wit/ needs care:\n  {}", wrong.join("\n  "));
    say("wit/ is as it should be");
    Ok(())
}

fn clocks_and_io(root: &Path, wrong: &mut Vec<String>) -> Result<()> {
    let published = wasi_crate(root)?.join("wit/deps");
    for (vendored, file) in FROM_CRATE {
        let theirs = fs::read(published.join(file)).context(*file)?;
        if fs::read(root.join("wit/deps").join(vendored)).ok() != Some(theirs) {
            let source = published.join(file);
            wrong.push(format!("wit/deps/{vendored} differs from {}: copy it", source.display()));
        }
    }
    Ok(())
}

/// The folder of the crate whose WIT the guest's clock bindings come from.
fn wasi_crate(root: &Path) -> Result<PathBuf> {
    let (bindings, holder) = CLOCK_CRATES;
    let metadata = shell::metadata(root, &["--filter-platform", TARGET])?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let nodes = metadata["resolve"]["nodes"].as_array().context("no resolve")?;
    let guest = packages.iter().find(|package| package["name"] == "idempotency-ledger");
    let bindings = guest
        .and_then(|guest| dependency(nodes, packages, guest, bindings))
        .with_context(|| format!("the guest does not use crate {bindings}"))?;
    let holder = dependency(nodes, packages, bindings, holder)
        .with_context(|| format!("that crate does not use {holder}"))?;
    let manifest = holder["manifest_path"].as_str().context("no manifest path")?;
    Ok(Path::new(manifest).parent().context("no folder")?.to_owned())
}

/// The package called `name` among the dependencies of the package `of`.
fn dependency<'a>(
    nodes: &[Value],
    packages: &'a [Value],
    of: &Value,
    name: &str,
) -> Option<&'a Value> {
    let node = nodes.iter().find(|node| node["id"] == of["id"])?;
    let ids = node["dependencies"].as_array()?;
    packages.iter().find(|package| package["name"] == name && ids.contains(&package["id"]))
}

/// Compares the files with the sums in README.md, lines as `sha256sum` prints them.
fn sums(deps: &Path, wrong: &mut Vec<String>) -> Result<()> {
    let readme = fs::read_to_string(deps.join("README.md")).context("wit/deps/README.md")?;
    let listed: Vec<(&str, &str)> = readme
        .lines()
        .filter_map(|line| line.split_once("  "))
        .filter(|(sum, _)| sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .collect();
    for (sum, name) in &listed {
        let found = fs::read(deps.join(name)).map(|bytes| sha256(&bytes));
        if found.as_deref().ok() != Some(*sum) {
            wrong.push(format!("wit/deps/{name} is not the file that wit/deps/README.md lists"));
        }
    }
    for entry in fs::read_dir(deps.join("keyvalue")).context("wit/deps/keyvalue")? {
        let name = format!("keyvalue/{}", entry?.file_name().to_string_lossy());
        if !listed.iter().any(|(_, listed)| *listed == name) {
            wrong.push(format!("wit/deps/{name} is not listed in wit/deps/README.md"));
        }
    }
    Ok(())
}

/// As `sha256sum` prints it.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Every interface, function, type and world of our package has docs and `@since`.
fn our_package(wit: &Path, wrong: &mut Vec<String>) -> Result<()> {
    let mut resolve = Resolve::default();
    let (id, _) = resolve.push_dir(wit)?;
    let package = &resolve.packages[id];
    if !package.name.to_string().starts_with(PACKAGE) {
        bail!("wit/ holds package {}, not {PACKAGE}", package.name);
    }
    for id in package.interfaces.values() {
        interface(&resolve, *id, wrong);
    }
    for id in package.worlds.values() {
        let World { name, docs, stability, .. } = &resolve.worlds[*id];
        item(&format!("world {name}"), docs, stability, wrong);
    }
    Ok(())
}

fn interface(resolve: &Resolve, id: InterfaceId, wrong: &mut Vec<String>) {
    let Interface { name, types, functions, docs, stability, .. } = &resolve.interfaces[id];
    let name = name.as_deref().unwrap_or_default();
    item(&format!("interface {name}"), docs, stability, wrong);
    for (type_name, type_id) in types {
        let definition = &resolve.types[*type_id];
        if !comes_by_use(resolve, id, &definition.kind) {
            let what = format!("{name}.{type_name}");
            item(&what, &definition.docs, &definition.stability, wrong);
        }
    }
    for function in functions.values() {
        let what = format!("{name}.{}", function.name);
        item(&what, &function.docs, &function.stability, wrong);
    }
}

/// True for a name that `use` brought in from another interface.
fn comes_by_use(resolve: &Resolve, interface: InterfaceId, kind: &TypeDefKind) -> bool {
    let TypeDefKind::Type(Type::Id(original)) = kind else {
        return false;
    };
    resolve.types[*original].owner != TypeOwner::Interface(interface)
}

fn item(what: &str, docs: &Docs, stability: &Stability, wrong: &mut Vec<String>) {
    if docs.is_empty() {
        wrong.push(format!("{what} has no doc comment"));
    }
    if stability.is_unknown() {
        wrong.push(format!("{what} has no @since"));
    }
}
