//! Files and functions are small, files say what they are for, and nothing tells where they
//! were written.

use crate::sources::{Source, files, none};

const MAX_FILE_LINES: usize = 300;
const MAX_FUNCTION_LINES: usize = 50;

/// Where the code is that is no test.
const LIBRARIES: [&str; 9] = [
    "src",
    "client/src",
    "examples/shop/src",
    "fuzz/src",
    "host/src",
    "host-tests/src",
    "model/src",
    "xtask/compose/src",
    "xtask/src",
];

fn rust() -> Vec<Source> {
    files(&["src", "client", "examples", "fuzz", "host", "host-tests", "model", "xtask"], &["rs"])
}

#[test]
fn files_have_at_most_300_lines() {
    let long = |source: &Source| {
        let lines = source.text.lines().count();
        (lines > MAX_FILE_LINES).then(|| format!("{}: {lines} lines", source.path))
    };
    let mut all = rust();
    all.extend(files(&["host-tests/vectors"], &["json"]));
    all.extend(files(&["embed"], &["c", "h", "mjs", "py", "ts"]));
    none("too long", &all.iter().filter_map(long).collect::<Vec<_>>());
}

#[test]
fn functions_have_at_most_50_lines() {
    let mut complaints = Vec::new();
    for source in rust().iter().filter(|source| !source.is_tests()) {
        for (at, name, lines) in functions(source) {
            if lines > MAX_FUNCTION_LINES {
                complaints.push(format!("{}:{at}: {name} has {lines} lines", source.path));
            }
        }
    }
    none("too long", &complaints);
}

/// First line, name and number of lines of each function: from its `fn` to the brace in the
/// same column, or to the end of a signature without a body.
fn functions(source: &Source) -> Vec<(usize, String, usize)> {
    let code = source.code();
    let mut found = Vec::new();
    for (index, (at, line)) in code.iter().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(name) = words.iter().position(|word| *word == "fn") else { continue };
        if !words[..name].iter().all(|word| is_qualifier(word)) {
            continue;
        }
        let column = line.len() - line.trim_start().len();
        let end = format!("{}}}", " ".repeat(column));
        let signature = format!("{})", " ".repeat(column));
        let ends = |line: &str| {
            let line = line.trim_end();
            line == end || line.starts_with(&signature) && line.ends_with(';')
        };
        let one_line = line.trim_end().ends_with(['}', ';']);
        let last = code[index..].iter().find(|(_, line)| one_line || ends(line));
        let name = words.get(name + 1).unwrap_or(&"?").split(['(', '<']).next().unwrap_or("?");
        found.push((*at, name.to_owned(), last.map_or(0, |(last, _)| last - at + 1)));
    }
    found
}

fn is_qualifier(word: &str) -> bool {
    ["pub", "const", "async", "unsafe", "extern"].contains(&word) || word.starts_with("pub(")
}

#[test]
fn functions_are_found() {
    let text = "impl A {\n    pub(crate) async fn f(\n        &self,\n    ) {\n        g();\n    }\n}\nfn g() {}\n";
    let source = Source { path: "a.rs".into(), text: text.into() };
    let found = functions(&source);
    assert_eq!(found, [(2, "f".into(), 5), (8, "g".into(), 1)]);
}

#[test]
fn files_say_what_they_are_for() {
    let silent = |source: &&Source| {
        // A file that another includes at its top has no comment of its own module.
        !source.text.lines().take(40).any(|line| line.starts_with("//!"))
            && !source.path.contains("/build/")
            && !source.path.ends_with("record_tests.rs")
    };
    let all = rust();
    let silent = all.iter().filter(silent).map(|source| source.path.clone());
    none("no `//!` at the top", &silent.collect::<Vec<_>>());
}

/// A module's file stands beside its folder: `slot_log.rs` and `slot_log/`.
#[test]
fn no_file_of_the_library_is_named_mod() {
    let mut all = files(&LIBRARIES, &["rs"]);
    all.retain(|source| source.path.ends_with("/mod.rs"));
    none("named mod.rs", &all.into_iter().map(|source| source.path).collect::<Vec<_>>());
}

/// `mod` lines stand before the first function or type, so that a module begins with its map.
#[test]
fn modules_begin_with_their_map() {
    let mut complaints = Vec::new();
    for source in files(&LIBRARIES, &["rs"]) {
        let item = |line: &str| {
            let line = line.trim_start_matches("pub ").trim_start_matches("pub(crate) ");
            ["fn ", "struct ", "enum ", "trait ", "impl "]
                .iter()
                .any(|start| line.starts_with(start))
        };
        let declares = |line: &str| {
            let line = line.trim_start_matches("pub ").trim_start_matches("pub(crate) ");
            line.starts_with("mod ") && line.trim_end().ends_with(';')
        };
        let code = source.code();
        let first = code.iter().find(|(_, line)| item(line)).map_or(usize::MAX, |(at, _)| *at);
        for (at, line) in code.iter().filter(|(at, line)| *at > first && declares(line)) {
            complaints.push(format!("{}:{at}: {line}", source.path));
        }
    }
    none("a `mod` line below an item", &complaints);
}

/// In examples of what a path looks like.
const SOMEBODYS_HOME: &str = "/home/me";

#[test]
fn nothing_tells_where_it_was_written() {
    let local = ["work", "home", "root", "Users"].map(|folder| format!("/{folder}/"));
    let mut complaints = Vec::new();
    for source in files(&["."], &["rs", "toml", "md", "json", "wit", "txt"]) {
        for (at, line) in source.text.lines().enumerate() {
            let line = line.replace(SOMEBODYS_HOME, "~");
            if local.iter().any(|path| line.contains(path.as_str())) {
                complaints.push(format!("{}:{}: {}", source.path, at + 1, line.trim()));
            }
        }
    }
    none("a path of some machine", &complaints);
}
