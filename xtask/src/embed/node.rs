//! The npm package `embed/node`.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::{Supplies, command};
use crate::shell::{self, say};
use crate::testing::Size;

/// The oldest release of Node that the package supports, and the one that is installed where
/// the machine has an older one: npm's registry has the program as a package.
const OLDEST_MAJOR: u32 = 20;
const NODE_VERSION: &str = "20.19.5";

/// A later release, which the tests run on too at full size: it brings SQLite along.
const LATER_VERSION: &str = "24.22.3";

/// Most seconds of all tests.
const TEST_LIMIT_S: u64 = 900;

/// A Node that is recent enough, with its npm.
pub(super) struct Node {
    /// Folders to look for programs in.
    path: OsString,
    /// Where the headers of this Node are, for packages that compile something.
    headers: Option<PathBuf>,
}

/// Installs what the build needs and builds the package: what `npm pack` would pack.
pub(super) fn build(supplies: &Supplies<'_>) -> Result<Node> {
    let folder = supplies.root.join("embed/node");
    let node = Node::find(supplies.root)?;
    install(&node, &folder)?;
    let mut build = node.command("node", &folder);
    shell::run(build.arg("build.mjs").arg(&supplies.component))?;
    Ok(node)
}

/// Builds the package, checks how its sources are written and runs its tests; one of them packs
/// and installs it.
pub(super) fn test(supplies: &Supplies<'_>) -> Result<()> {
    let node = build(supplies)?;
    let folder = supplies.root.join("embed/node");
    let mut format = node.command("npm", &folder);
    shell::run(format.args(["run", "--silent", "format"]))?;
    let mut tests: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder.join("test"))? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".test.mjs") {
            tests.push(path);
        }
    }
    tests.sort();
    run_tests(&node, supplies, &tests)?;
    if supplies.size == Size::Full {
        run_tests(&Node::fetch(supplies.root, LATER_VERSION)?, supplies, &tests)?;
    }
    Ok(())
}

fn run_tests(node: &Node, supplies: &Supplies<'_>, tests: &[PathBuf]) -> Result<()> {
    let size = if supplies.size == Size::Full { "full" } else { "small" };
    let mut run = node.command("node", &supplies.root.join("embed/node"));
    run.args(["--test", "--test-reporter=spec", "--test-concurrency=2"]).args(tests);
    run.env("LEDGER_TEST_SIZE", size);
    run.env("IDEMPOTENCY_COMMAND", command(supplies.root)?);
    run.env("LEDGER_COMPONENT", &supplies.component);
    shell::run_within(&mut run, TEST_LIMIT_S)
}

/// What the compiled package leaves behind, made last.
const COMPILED: &str = "node_modules/better-sqlite3/build/Release/better_sqlite3.node";

/// The packages of the lock file, unless they are there. `better-sqlite3` is compiled: the
/// program that it would fetch lies outside npm's registry. With little optimisation, which the
/// tests would not repay.
fn install(node: &Node, folder: &Path) -> Result<()> {
    let modified = |name: &str| fs::metadata(folder.join(name)).and_then(|file| file.modified());
    let wanted = modified("package-lock.json").context("embed/node has no lock file")?;
    if modified(COMPILED).is_ok_and(|installed| installed > wanted) {
        return Ok(());
    }
    let mut npm = node.command("npm", folder);
    shell::run(npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]))?;
    let mut compile = node.command("npm", &folder.join("node_modules/better-sqlite3"));
    compile.args(["run", "--silent", "build-release"]).stdout(Stdio::null());
    shell::run(compile.env("CFLAGS", "-O1 -w").env("CXXFLAGS", "-O1 -w"))
}

impl Node {
    /// Where programs are looked for, this Node first.
    pub(super) fn path(&self) -> &OsStr {
        &self.path
    }

    /// The machine's, or one from npm's registry.
    fn find(root: &Path) -> Result<Self> {
        if let Some(node) = Self::on(env::var_os("PATH").unwrap_or_default()) {
            return Ok(node);
        }
        say(format!("the machine has no Node {OLDEST_MAJOR} or later: installing {NODE_VERSION}"));
        Self::fetch(root, NODE_VERSION)
    }

    /// This release from npm's registry, in `target/tools`.
    fn fetch(root: &Path, version: &str) -> Result<Self> {
        let tools = root.join("target/tools").join(format!("node-{version}"));
        fs::create_dir_all(&tools)?;
        let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
        let package = format!("node-linux-{machine}");
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&tools);
        shell::run(npm.arg(format!("{package}@{version}")))?;
        let bin = tools.join("node_modules").join(package).join("bin");
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [bin].into_iter().chain(env::split_paths(&path));
        let node = Self::on(env::join_paths(folders)?);
        node.with_context(|| format!("Node {version} does not run on this machine"))
    }

    /// The Node on this search path, if it is recent enough.
    fn on(path: OsString) -> Option<Self> {
        let mut ask = Command::new("node");
        ask.env("PATH", &path).args(["-p", "process.versions.node + ' ' + process.execPath"]);
        let answer = ask.output().ok().filter(|output| output.status.success())?;
        let answer = String::from_utf8(answer.stdout).ok()?;
        let (version, program) = answer.trim().split_once(' ')?;
        let major: u32 = version.split('.').next()?.parse().ok()?;
        let prefix = Path::new(program).parent()?.parent()?.to_owned();
        let headers = prefix.join("include/node/node.h").is_file().then_some(prefix);
        (major >= OLDEST_MAJOR).then_some(Self { path, headers })
    }

    fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.env("PATH", &self.path).current_dir(folder);
        if let Some(headers) = &self.headers {
            command.env("npm_config_nodedir", headers);
        }
        command
    }
}
