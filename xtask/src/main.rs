//! The project's own tasks. `cargo xtask` lists them.

mod chaos;
mod ci;
mod component;
mod compose;
mod demo;
mod deny;
mod embed;
mod fuzz;
mod guest;
mod mistakes;
mod model;
mod package;
mod release;
mod reproducible;
mod shell;
mod shop;
mod spin;
mod stores;
mod testing;
mod toolchain;
mod wit;

#[path = "../../host/build/nested.rs"]
mod nested;

#[allow(dead_code, reason = "host/build.rs includes this file too and uses the rest of it")]
#[path = "../../host/build/stamp.rs"]
mod stamp;

use std::env;
use std::process::ExitCode;

use anyhow::{Result, bail};

const HELP: &str = "\
cargo xtask TASK

  demo [ARGS]    set up what is missing, build, and show the ledger at work
  test [ARGS]    set up what is missing, build, and run every test;
                 LEDGER_TEST_SIZE=full for the large sizes, ARGS go to cargo test
  chaos [ARGS]   play seeded histories on the components: --seeds N [--seed S]
                 [--strategy cas|ticket] [--store memory|sqlite]; --seed S alone prints one
  stores         run the contract, the vectors, the failures and the processes on every store,
                 with servers that the tests start
  servers        install the servers that the tests need and that are missing
  build          build the components into target/components
  embed [c|node|python|together [build|test]]
                 build and test the packages for other hosts, and all of them on one SQLite
                 file (`together`); everything where none is named
  compose APP    compose a component, a module or a crate with the ledger; -o OUT.wasm
  shop APP.wasm LEDGER.db ORDER CENTS
                 one request to a composed example, see examples/
  spin [FOLDER] [ARGS]
                 serve an example for Spin on the double of Spin, see examples/spin/;
                 `spin build` builds it only
  package        make the host crate's package, with the components in it
  release        write the components to target/release-files, with their metadata and sums
  reproducible   build the components once more, in another folder, and compare the bytes
  check-model [--full] [ARGS]
                 explore every interleaving of small histories; `--strategy cas|ticket`,
                 `--only TEXT`; `--mistakes [TEXT]` proves that seeded mistakes are found
  fuzz [--minutes N] [TEXT]
                 play the fuzz targets whose names hold the text, guided by the code they reach;
                 a minute each without --minutes
  wit            check wit/: the copies in wit/deps and the docs of our own package
  ci [--full]    every check, and the tests; --full for the large sizes

IDEMPOTENCY_TOOLCHAIN=installed|debian fixes where the wasm target comes from; without it
the first of these that the machine allows: the installed target, `rustup target add`,
Debian's packages.";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<()> {
    let root = shell::workspace_root()?;
    let (task, rest) = match arguments.split_first() {
        Some((task, rest)) => (task.as_str(), rest),
        None => ("help", arguments),
    };
    match (task, rest) {
        ("demo", rest) => demo::demo(&root, rest),
        ("test", rest) => testing::test(&root, testing::Size::from_env(), rest),
        ("chaos", rest) => chaos::chaos(&root, rest),
        ("servers", []) => stores::install_missing(&root),
        ("stores", []) => stores::stores(&root, testing::Size::from_env()),
        ("embed", rest) => embed::embed(&root, testing::Size::from_env(), rest),
        ("build", []) => guest::ensure(&root).map(drop),
        ("compose", rest) => compose::compose(&root, rest),
        ("shop", rest) => shop::shop(&root, rest),
        ("spin", [word]) if word == "build" => spin::build(&root).map(drop),
        ("spin", rest) => spin::spin(&root, rest),
        ("package", []) => package::package(&root),
        ("release", []) => release::release(&root),
        ("reproducible", []) => {
            let toolchain = guest::ensure(&root)?;
            reproducible::check(&root, &toolchain, 1)
        }
        ("check-model", rest) => model::check(&root, rest),
        ("fuzz", rest) => fuzz::fuzz(&root, rest),
        ("wit", []) => wit::check(&root),
        ("ci", []) => ci::run(&root, testing::Size::Small),
        ("ci", [flag]) if flag == "--full" => ci::run(&root, testing::Size::Full),
        ("help" | "--help" | "-h", _) => {
            println!("{HELP}");
            Ok(())
        }
        _ => bail!("`{}` is no task:\n\n{HELP}", arguments.join(" ")),
    }
}
