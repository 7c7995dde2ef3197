//! The examples as their READMEs build them, and each before the same bank.

mod run_block;
mod scene;

use std::fs;

use run_block::{assert_one_charge, commands, needs, root, run};
use scene::Scene;

/// What every composed example imports: what the app needs and what the ledger needs.
const IMPORTS: [&str; 4] = [
    "example:shop/bank@0.1.0",
    "wasi:clocks/wall-clock@0.2.12",
    "wasi:keyvalue/atomics@0.2.0-draft2",
    "wasi:keyvalue/store@0.2.0-draft2",
];

/// Follows the README of one example, looks at what the component imports, and plays with it.
async fn follow(example: &str) {
    let printed = run(&commands(&format!("examples/{example}/README.md")), &root(), &[]);
    assert_one_charge(&printed);
    assert_eq!(imports(&printed), IMPORTS);
    let path = root().join(format!("target/examples/{example}.wasm"));
    let component = fs::read(&path).expect("what the README builds");
    println!("{}: {} bytes", path.display(), component.len());
    Scene::new(&component).play().await;
}

/// What `cargo xtask compose` says that the whole imports. The host has nothing else to give.
fn imports(printed: &str) -> Vec<&str> {
    let lines = printed.lines().skip_while(|line| !line.ends_with("it imports")).skip(1);
    lines.map_while(|line| line.strip_prefix("  ")).collect()
}

#[tokio::test]
async fn rust() {
    follow("charge").await;
}

#[test]
fn the_rust_example_has_fewer_than_25_lines() {
    let text = fs::read_to_string(root().join("examples/charge/src/lib.rs")).expect("the example");
    assert!(text.lines().count() < 25, "{} lines", text.lines().count());
}

#[tokio::test]
async fn javascript() {
    needs(&["npm", "--version"], "nodejs and npm");
    follow("javascript").await;
}

#[tokio::test]
async fn python() {
    needs(&["python3", "-c", "import ensurepip, venv"], "python3-venv");
    follow("python").await;
}
