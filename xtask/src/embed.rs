//! `cargo xtask embed`: the packages for hosts that are not Rust, in `embed/`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::guest;
use crate::stamp::{self, BUILDS};
use crate::testing::{self, Size};

mod c;
mod node;
mod page;
mod python;
mod together;
mod wasmtime;

/// The build of the ledger that the packages carry: their stores have a sound compare-and-swap.
const LEDGER: &str = "ledger-cas";

/// A package. `test` builds it, tests it, and uses it as its users would.
struct Package {
    name: &'static str,
    build: fn(&Supplies<'_>) -> Result<()>,
    test: fn(&Supplies<'_>) -> Result<()>,
}

const PACKAGES: &[Package] = &[
    Package { name: "c", build: c::build, test: c::test },
    Package { name: "node", build: |supplies| node::build(supplies).map(drop), test: node::test },
    Package {
        name: "python",
        build: |supplies| python::build(supplies).map(drop),
        test: python::test,
    },
    // No package: all of them on one file.
    Package {
        name: "together",
        build: |supplies| together::build(supplies).map(drop),
        test: together::test,
    },
];

/// What every package is built from and tested with.
struct Supplies<'a> {
    root: &'a Path,
    size: Size,
    /// The component that the packages carry.
    component: PathBuf,
}

/// Builds one of the packages or all, and tests them unless told otherwise.
pub(crate) fn embed(root: &Path, size: Size, arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (wanted, only_build) = match words.as_slice() {
        [] => (None, false),
        [name] | [name, "test"] => (Some(*name), false),
        [name, "build"] => (Some(*name), true),
        _ => bail!(usage()),
    };
    let chosen = PACKAGES.iter().filter(|package| wanted.is_none_or(|name| name == package.name));
    let chosen: Vec<&Package> = chosen.collect();
    if chosen.is_empty() {
        bail!(usage());
    }
    guest::ensure(root)?;
    let build = BUILDS.iter().find(|build| build.name == LEDGER).context("no such build")?;
    let supplies = Supplies { root, size, component: stamp::component_path(root, build) };
    for package in chosen {
        let run = if only_build { package.build } else { package.test };
        run(&supplies).context(package.name)?;
    }
    Ok(())
}

fn usage() -> String {
    let names: Vec<&str> = PACKAGES.iter().map(|package| package.name).collect();
    format!("cargo xtask embed [NAME [build|test]]; NAME is one of {}", names.join(", "))
}

/// The command `idempotency`, which the tests of the packages share a ledger with.
fn command(root: &Path) -> Result<PathBuf> {
    testing::program(root, "cli", "idempotency")
}
