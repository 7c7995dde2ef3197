//! Starting cargo from within cargo, without the outer one's settings.

use std::path::Path;
use std::process::Command;

/// Variables that an outer cargo sets for its children and that would change an inner build.
const DISTURBING: &[&str] = &[
    "CLIPPY_ARGS",
    "DEBUG",
    "HOST",
    "MAKEFLAGS",
    "MFLAGS",
    "NUM_JOBS",
    "OPT_LEVEL",
    "OUT_DIR",
    "PROFILE",
    "RUSTC",
    "RUSTC_LINKER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTDOC",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
    "TARGET",
];

/// Variables that begin with `CARGO_` and say where things are, not how to build.
const KEPT: &[&str] = &[
    "CARGO_HOME",
    "CARGO_HTTP_",
    "CARGO_INSTALL_ROOT",
    "CARGO_NET_",
    "CARGO_REGISTRIES_",
    "CARGO_REGISTRY_",
    "CARGO_SOURCE_",
    "CARGO_TARGET_DIR",
    "CARGO_TERM_",
];

/// A command in the workspace `root` whose environment is as if no cargo had started us.
pub(crate) fn command(program: &Path, root: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let kept = KEPT.iter().any(|prefix| text.starts_with(prefix));
        if DISTURBING.contains(&&*text) || (text.starts_with("CARGO_") && !kept) {
            command.env_remove(&name);
        }
    }
    command
}
