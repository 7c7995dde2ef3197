//! `cargo xtask check-model`: every interleaving of small histories, and the proof that this
//! finds mistakes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::mistakes::{MISTAKES, Mistake};
use crate::shell::{self, say};

/// What the changed workspace consists of.
const PARTS: [&str; 4] = ["Cargo.toml", "Cargo.lock", "src", "model"];

/// Explores; with `--mistakes`, explores each seeded mistake instead, or those whose names hold
/// the text that follows.
pub(crate) fn check(root: &Path, arguments: &[String]) -> Result<()> {
    match arguments.split_first() {
        Some((flag, names)) if flag == "--mistakes" => find_mistakes(root, names),
        _ => shell::run(
            shell::cargo(root)
                .args(["run", "--quiet", "--locked", "--package", "ledger-model", "--"])
                .args(arguments),
        ),
    }
}

fn find_mistakes(root: &Path, names: &[String]) -> Result<()> {
    let copy = root.join("target/mistakes");
    let wanted = |mistake: &&Mistake| names.iter().all(|name| mistake.name.contains(name));
    let all: Vec<&Mistake> = MISTAKES.iter().filter(wanted).collect();
    let mut missed = Vec::new();
    for mistake in &all {
        make_workspace(root, &copy)?;
        for (file, text, instead) in mistake.edits {
            edit(&copy.join(file), text, instead).context(mistake.name)?;
        }
        build(&copy)?;
        // Small histories show most.
        let found = match explore(&copy, mistake, &["--shortest"])? {
            None => explore(&copy, mistake, &["--full", "--shortest"])?,
            small => small,
        };
        match found {
            Some(steps) => say(format!("found: {} ({steps} steps)", mistake.name)),
            None => {
                say(format!("NOT FOUND: {}", mistake.name));
                missed.push(mistake.name);
            }
        }
    }
    say(format!("{} of {} seeded mistakes found", all.len() - missed.len(), all.len()));
    if missed.is_empty() { Ok(()) } else { bail!("not found: {}", missed.join("; ")) }
}

/// The core and the model alone, as they stand; what was compiled before stays.
fn make_workspace(root: &Path, copy: &Path) -> Result<()> {
    for part in PARTS {
        let (from, to) = (root.join(part), copy.join(part));
        if from.is_dir() {
            copy_folder(&from, &to)?;
        } else {
            fs::create_dir_all(copy)?;
            fs::copy(&from, &to).with_context(|| from.display().to_string())?;
        }
    }
    let manifest = copy.join("Cargo.toml");
    let text = fs::read_to_string(&manifest)?;
    let lines = text.lines().map(|line| match line {
        line if line.starts_with("members = ") => "members = [\".\", \"model\"]",
        line if line.starts_with("default-members = ") => "default-members = [\"model\"]",
        line => line,
    });
    let lines: Vec<&str> = lines.collect();
    // Settings of packages that are not there would be warned about.
    let text = lines.join("\n").replace("[profile.dev.package.host-tests]\nopt-level = 1\n", "");
    Ok(fs::write(manifest, text)?)
}

/// Files that are the same are left alone, so that cargo compiles only what changed.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (from, to): (PathBuf, PathBuf) = {
            let entry = entry?;
            (entry.path(), to.join(entry.file_name()))
        };
        if from.is_dir() {
            copy_folder(&from, &to)?;
        } else {
            let bytes = fs::read(&from)?;
            if fs::read(&to).ok().as_ref() != Some(&bytes) {
                fs::write(&to, bytes)?;
            }
        }
    }
    Ok(())
}

fn edit(path: &Path, text: &str, instead: &str) -> Result<()> {
    Ok(fs::write(path, edited(path, text, instead)?)?)
}

fn edited(path: &Path, text: &str, instead: &str) -> Result<String> {
    let source = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    if source.matches(text).count() != 1 {
        bail!("{} does not hold this once:\n{text}", path.display());
    }
    Ok(source.replace(text, instead))
}

fn build(copy: &Path) -> Result<()> {
    let mut cargo = shell::cargo(copy);
    cargo.args(["build", "--quiet", "--package", "ledger-model", "--target-dir", "target"]);
    shell::run(cargo.env("RUSTFLAGS", "-Awarnings"))
}

/// How long the shortest history is that shows the mistake.
fn explore(copy: &Path, mistake: &Mistake, which: &[&str]) -> Result<Option<usize>> {
    let program = copy.join("target/debug/ledger-model");
    let mut model = Command::new(&program);
    model.args(which).args(["--only", mistake.only]);
    let output = model.output().with_context(|| program.display().to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.code() {
        Some(0) => Ok(None),
        Some(1) => Ok(Some(steps(&text).unwrap_or(0))),
        // No such scenario among the small ones.
        Some(3) if !which.contains(&"--full") => Ok(None),
        _ => bail!("{}{}", text, String::from_utf8_lossy(&output.stderr)),
    }
}

/// From a line such as `...: VIOLATION after 12 steps`.
fn steps(text: &str) -> Option<usize> {
    let (_, rest) = text.split_once("VIOLATION after ")?;
    rest.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_can_be_made_in_the_core_as_it_stands() -> Result<()> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for mistake in MISTAKES {
            for (file, text, instead) in mistake.edits {
                edited(&root.join(file), text, instead).context(mistake.name)?;
            }
        }
        Ok(())
    }
}
