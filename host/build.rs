//! Finds the ledger component for `include_bytes!(env!("LEDGER_CAS_WASM"))`.
//!
//! A published crate carries its components in `components/`: then nothing is built. In the
//! repository they come from `target/components`; where those are missing or out of date,
//! `xtask` builds them first, in a target folder of its own.

#[allow(dead_code, reason = "xtask includes this file too and uses the rest of it")]
#[path = "build/stamp.rs"]
mod stamp;

#[path = "build/nested.rs"]
mod nested;

use std::path::{Path, PathBuf};
use std::process::exit;
use std::{env, fs};

/// What to run by hand where building the components from here fails.
const BY_HAND: &str = "cargo xtask build";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    let manifest_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let packaged = manifest_dir.join("components");
    if stamp::BUILDS.iter().all(|build| packaged.join(format!("{}.wasm", build.name)).is_file()) {
        println!("cargo:rerun-if-changed=components");
        announce(|build| packaged.join(format!("{}.wasm", build.name)));
        return;
    }
    let Some(root) = manifest_dir.parent().filter(|root| root.join("xtask/Cargo.toml").is_file())
    else {
        fail("this package lacks its components; it was not made by `cargo xtask package`");
    };
    if !stamp::is_current(root, None) {
        build_components(root);
    }
    for input in stamp::INPUTS {
        println!("cargo:rerun-if-changed={}", root.join(input).display());
    }
    for build in stamp::BUILDS {
        println!("cargo:rerun-if-changed={}", stamp::component_path(root, build).display());
    }
    announce(|build| stamp::component_path(root, build));
}

/// Tells the crate where each component is: `LEDGER_CAS_WASM` and so on.
fn announce(path: impl Fn(&stamp::Build) -> PathBuf) {
    for build in stamp::BUILDS {
        let name = build.name.to_uppercase().replace('-', "_");
        println!("cargo:rustc-env={name}_WASM={}", path(build).display());
    }
}

/// Runs `cargo xtask build`. It has a target folder of its own, since the cargo that runs
/// this script holds the lock of the usual one until it is done.
fn build_components(root: &Path) {
    let cargo = env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
    let status = nested::command(&cargo, root)
        .args(["run", "--quiet", "--locked", "--package", "xtask", "--target-dir"])
        .arg("target/guest-tools")
        .args(["--", "build"])
        .status();
    // It fails for a component over the size limit too; that one can be used all the same.
    if !stamp::is_current(root, None) {
        fail(&match status {
            Ok(status) => format!("building the components failed ({status})"),
            Err(error) => format!("cargo could not be started: {error}"),
        });
    }
    date_back(root);
}

/// Dates new components like their youngest source. Dated now, they would be younger than
/// this run of the script, and cargo would run it, and compile the crate, once more.
fn date_back(root: &Path) {
    for build in stamp::BUILDS {
        let file = fs::File::options().append(true).open(stamp::component_path(root, build));
        let dated = stamp::newest_input(root).and_then(|time| file?.set_modified(time));
        if let Err(error) = dated {
            println!("cargo:warning={}.wasm keeps its date: {error}", build.name);
        }
    }
}

/// Ends the build with the reason and with what to run instead.
fn fail(reason: &str) -> ! {
    println!("cargo:error={reason}");
    println!("cargo:error=in the repository, run `{BY_HAND}` and see what it says");
    exit(1)
}
