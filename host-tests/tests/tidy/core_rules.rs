//! What the core may not do.

use crate::sources::{core, none};

/// These decide and translate; they do no input or output and read no clock.
const PURE: [&str; 5] =
    ["src/state.rs", "src/record.rs", "src/key.rs", "src/json.rs", "src/expiry/wheel.rs"];

/// These alone know the generated bindings.
const EDGES: [&str; 2] = ["src/wasi.rs", "src/component.rs"];

/// These alone decide who won.
const DECIDES: &str = "src/slot_log/";

fn complain(rule: &str, words: &[&str], applies: impl Fn(&str) -> bool) {
    let mut complaints = Vec::new();
    for source in core().iter().filter(|source| applies(&source.path)) {
        for word in words.iter().filter(|word| source.names(word)) {
            complaints.push(format!("{} names {word}", source.path));
        }
    }
    none(rule, &complaints);
}

#[test]
fn the_rules_know_their_files() {
    let paths: Vec<String> = core().into_iter().map(|source| source.path).collect();
    for path in PURE.iter().chain(&EDGES) {
        assert!(paths.iter().any(|known| known == path), "{path} is gone: update the rules");
    }
    assert!(paths.iter().any(|path| path.starts_with(DECIDES)));
}

/// Their tests may; so may modules that are split off them.
#[test]
fn pure_files_do_no_io_and_read_no_clock() {
    let words = [
        "Bucket", "Clock", "Op", "Index", "std", "wasi", "now", "spawn", "Mutex", "Cell", "static",
    ];
    let pure = |path: &str| {
        let folder = |pure: &str| path.starts_with(&pure.replace(".rs", "/"));
        PURE.iter().any(|pure| path == *pure || folder(pure))
    };
    complain("pure files", &words, pure);
}

#[test]
fn generated_types_are_named_at_the_edges_only() {
    let words = ["bindings", "wit_bindgen", "wasi", "exports"];
    // `lib.rs` names the module that is one of the edges.
    complain("generated types", &words, |path| !EDGES.contains(&path) && path != "src/lib.rs");
}

#[test]
fn nothing_in_the_core_panics() {
    let mut complaints = Vec::new();
    let words = [
        ".unwrap()",
        ".expect(",
        "panic!(",
        "todo!(",
        "unimplemented!(",
        "unreachable!(",
        "assert!(",
        "assert_eq!(",
    ];
    for source in core() {
        for (at, line) in source.code() {
            for word in words.iter().filter(|word| line.contains(*word)) {
                complaints.push(format!("{}:{at}: {word}", source.path));
            }
        }
    }
    none("a trap on some input", &complaints);
}

#[test]
fn only_the_slot_log_swaps() {
    let mut complaints = Vec::new();
    for source in core() {
        // The port, its implementation over the imports, and the check of a store know the call.
        let may = ["src/bucket.rs", "src/wasi.rs", "src/check.rs"].contains(&source.path.as_str());
        let swaps = source
            .code()
            .iter()
            .any(|(_, line)| line.contains(".swap(") && line.contains("bucket"));
        if swaps && !may && !source.path.starts_with(DECIDES) {
            complaints.push(source.path);
        }
    }
    none("decides who won", &complaints);
}

/// Nothing scans the store: the port has no way to list keys.
#[test]
fn nothing_lists_the_store() {
    complain("lists keys", &["list_keys", "list"], |_| true);
}

/// No loop without a bound.
#[test]
fn no_loop_is_endless() {
    let mut complaints = Vec::new();
    for source in core() {
        for (at, line) in source.code() {
            if line.trim_start().starts_with("loop ") || line.contains("while true") {
                complaints.push(format!("{}:{at}", source.path));
            }
        }
    }
    none("a loop without a bound", &complaints);
}
