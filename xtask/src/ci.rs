//! `cargo xtask ci`: every check in one order, the quickest to fail first, the tests last.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::shell::{self, say};
use crate::testing::{self, Size};
use crate::toolchain::Toolchain;
use crate::{deny, embed, guest, model, package, release, reproducible, stamp, stores, wit};

/// Workspaces of their own, and where each is built.
///
/// Spin's SDK is compiled once more for clippy, in a minute and a half of one core: at full size.
const OTHER_WORKSPACES: &[(&str, &str)] = &[
    ("examples/charge", "target/examples"),
    (SPIN, "target/examples"),
    ("xtask/compose", "target/compose"),
];

const SPIN: &str = "examples/spin";

/// Runs every check and prints how long each took.
pub(crate) fn run(root: &Path, size: Size) -> Result<()> {
    let mut steps = Steps::default();
    let result = all(root, size, &mut steps);
    steps.print();
    result
}

fn all(root: &Path, size: Size, steps: &mut Steps) -> Result<()> {
    let copies = if size == Size::Full { 2 } else { 1 };
    steps.run("formatting", || formatting(root))?;
    steps.run("wit", || wit::check(root))?;
    let toolchain = steps.run("components", || guest::ensure(root))?;
    steps.run("reproducible", || reproducible::check(root, &toolchain, copies))?;
    steps.run("release", || release::release(root))?;
    steps.run("dependencies", || dependencies(root))?;
    steps.run("clippy", || clippy(root, size))?;
    steps.run("clippy, guest", || clippy_guest(root, &toolchain))?;
    steps.run("docs", || docs(root))?;
    steps.run("package", || package::package(root))?;
    if size == Size::Full {
        steps.run("seeded mistakes", || model::check(root, &["--mistakes".into()]))?;
    }
    steps.run("servers", || stores::install_missing(root))?;
    steps.run("tests", || testing::run(root, size, &[]))?;
    steps.run("embed", || embed::embed(root, size, &[]))
}

fn dependencies(root: &Path) -> Result<()> {
    let others = OTHER_WORKSPACES.iter().map(|(folder, _)| root.join(folder));
    let all: Vec<PathBuf> = [root.to_owned()].into_iter().chain(others).collect();
    deny::check(root, &all)
}

fn formatting(root: &Path) -> Result<()> {
    shell::run(shell::cargo(root).args(["fmt", "--all", "--check"]))?;
    for (folder, _) in OTHER_WORKSPACES {
        shell::run(shell::cargo(&root.join(folder)).args(["fmt", "--check"]))?;
    }
    Ok(())
}

fn clippy(root: &Path, size: Size) -> Result<()> {
    let mut cargo = shell::cargo(root);
    cargo.args(["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]);
    shell::run(&mut cargo)?;
    let at_this_size = |folder: &str| size == Size::Full || folder != SPIN;
    for (folder, target) in OTHER_WORKSPACES.iter().filter(|(folder, _)| at_this_size(folder)) {
        let mut cargo = shell::cargo(&root.join(folder));
        cargo.args(["clippy", "--locked", "--target-dir"]).arg(root.join(target));
        shell::run(cargo.args(["--", "-D", "warnings"]))?;
    }
    Ok(())
}

/// The guest's code for wasm only, which the other run does not see.
fn clippy_guest(root: &Path, toolchain: &Toolchain) -> Result<()> {
    for build in stamp::BUILDS {
        let Some(mut cargo) = toolchain.clippy(root)? else {
            say("this toolchain has no clippy: the guest's code for wasm is not checked");
            return Ok(());
        };
        cargo.arg("--features").arg(build.features.join(","));
        shell::run(cargo.args(["--", "-D", "warnings"]))?;
    }
    Ok(())
}

fn docs(root: &Path) -> Result<()> {
    let mut cargo = shell::cargo(root);
    cargo.args(["doc", "--workspace", "--no-deps", "--locked"]).env("RUSTDOCFLAGS", "-D warnings");
    shell::run(&mut cargo)
}

/// The steps so far, and how long each took.
#[derive(Default)]
struct Steps(Vec<(&'static str, Duration)>);

impl Steps {
    #[expect(clippy::disallowed_methods, reason = "how long a step took, for people to read")]
    fn run<T>(&mut self, name: &'static str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        println!("\n=== {name}");
        let start = Instant::now();
        let result = step();
        self.0.push((name, start.elapsed()));
        result.context(name)
    }

    fn print(&self) {
        println!("\nxtask: seconds per step");
        for (name, time) in &self.0 {
            println!("{:>8.1}  {name}", time.as_secs_f64());
        }
        let total: Duration = self.0.iter().map(|(_, time)| *time).sum();
        println!("{:>8.1}  all", total.as_secs_f64());
    }
}
