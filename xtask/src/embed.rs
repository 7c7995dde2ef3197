//! `cargo xtask embed`: the packages for hosts that are not Rust.

use std::path::Path;

use anyhow::{Result, bail};

use crate::guest;
use crate::testing::Size;

mod c;
mod page;
mod python;
mod wasmtime;

const USAGE: &str = "cargo xtask embed [c|python [build|test]]";

/// What to do with a package.
#[derive(Clone, Copy)]
enum Action {
    Build,
    /// Build it, then test it as its users get it.
    Test(Size),
}

/// A package, and what builds and tests it.
type Package = (&'static str, fn(&Path, Action) -> Result<()>);

const PACKAGES: &[Package] = &[("c", c::run), ("python", python::run)];

/// Builds or tests one package; all of them where none is named.
pub(crate) fn embed(root: &Path, size: Size, arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (name, action) = match words.as_slice() {
        [] => (None, Action::Test(size)),
        [name] | [name, "test"] => (Some(*name), Action::Test(size)),
        [name, "build"] => (Some(*name), Action::Build),
        _ => bail!("{USAGE}"),
    };
    let named: Vec<&Package> =
        PACKAGES.iter().filter(|(known, _)| name.is_none_or(|name| name == *known)).collect();
    if named.is_empty() {
        bail!("{USAGE}");
    }
    guest::ensure(root)?;
    named.into_iter().try_for_each(|(_, run)| run(root, action))
}
