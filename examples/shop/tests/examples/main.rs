//! The examples as their READMEs build them, and each before the same bank.

mod run_block;
mod scene;

use std::fs;

use run_block::{assert_one_charge, commands, install, needs, root, run};
use scene::Scene;

/// The page "Protect an operation in a component".
const PAGE: &str = "docs/components.md";

/// What every composed example imports: what the app needs and what the ledger needs.
const IMPORTS: [&str; 4] = [
    "example:shop/bank@0.1.0",
    "wasi:clocks/wall-clock@0.2.12",
    "wasi:keyvalue/atomics@0.2.0-draft2",
    "wasi:keyvalue/store@0.2.0-draft2",
];

/// Follows the README of one example, looks at what the component imports, and plays with it.
async fn follow(example: &str) {
    let printed = run(&commands(&format!("examples/{example}/README.md"), "sh"), &root(), &[]);
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

/// From `cargo new` to a replay, in an empty folder.
#[test]
fn the_page() {
    let folder = tempfile::tempdir().expect("an empty folder");
    let commands = commands(PAGE, "sh");
    let printed = run(&commands, folder.path(), &[("LEDGER", &root())]);
    assert_one_charge(&printed);
    assert_eq!(imports(&printed), IMPORTS);
    assert!(printed.contains("conflict: the order has another amount"), "{printed}");
}

#[test]
fn the_page_shows_the_example() {
    let example = fs::read_to_string(root().join("examples/charge/src/lib.rs")).expect("it");
    let (_, code) = example.split_once("impl Guest").expect("its code");
    assert!(commands(PAGE, "sh").contains(code), "the page and the example differ");
}

/// What the page says of `wac plug` and `wasm-tools compose`. The two are compiled first, which
/// takes some minutes: at the full size only.
#[tokio::test]
async fn other_tools() {
    if std::env::var("LEDGER_TEST_SIZE").as_deref() != Ok("full") {
        println!("left out: wac and wasm-tools, which LEDGER_TEST_SIZE=full compiles and tries");
        return;
    }
    install("wac", "wac-cli@0.12.0", "");
    let tools = install("wasm-tools", "wasm-tools@1.263.0", "--features component,compose");
    let folder = tempfile::tempdir().expect("an empty folder");
    let build = "cargo xtask compose examples/charge -o target/examples/other-tools.wasm";
    run(build, &root(), &[]);
    let ledger = root().join("target/components/ledger-cas.wasm");
    fs::copy(ledger, folder.path().join("ledger-cas.wasm")).expect("the ledger");
    let app = root().join("target/examples/wasm32-unknown-unknown/release/charge.wasm");
    let on_path = format!("PATH={}:$PATH\n{}", tools.display(), commands(PAGE, "bash"));
    run(&on_path, folder.path(), &[("app", &app)]);
    for composed in ["plugged.wasm", "composed.wasm"] {
        let component = fs::read(folder.path().join(composed)).expect(composed);
        Scene::new(&component).play().await;
    }
}
