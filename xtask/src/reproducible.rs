//! Two builds from clean, in two folders, give the same bytes.

use std::fs;
use std::path::Path;

use anyhow::{Result, bail};

use crate::guest;
use crate::shell::{self, say};
use crate::stamp::{self, BUILDS};
use crate::toolchain::Toolchain;

/// Builds the components anew from copies of the sources, and compares them with those in
/// `target/components`. In a fresh clone these were built from clean, so that one copy
/// makes two builds; `copies` may ask for more.
pub(crate) fn check(root: &Path, toolchain: &Toolchain, copies: u32) -> Result<()> {
    for copy in 1..=copies {
        // The folder's name is longer each time, so that a path's length would show too.
        let folder =
            root.join("target/reproducible").join("copy-of-the-sources-".repeat(copy as usize));
        shell::remove_dir(&folder)?;
        shell::copy_sources(root, &folder)?;
        say(format!("building from clean in {}", folder.display()));
        guest::build(&folder, toolchain)?;
        compare(root, &folder)?;
        shell::remove_dir(&folder)?;
    }
    say("the builds gave the same bytes");
    Ok(())
}

fn compare(root: &Path, other: &Path) -> Result<()> {
    for build in BUILDS {
        let (ours, theirs) =
            (stamp::component_path(root, build), stamp::component_path(other, build));
        if fs::read(&ours)? != fs::read(&theirs)? {
            bail!("{} and {} differ", ours.display(), theirs.display());
        }
    }
    Ok(())
}
