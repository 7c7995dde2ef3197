//! The documents and the interface say the same.

use std::fs;

use wit_parser::{Resolve, TypeDef, TypeDefKind, TypeOwner};

use crate::sources::{has_word, none, root};

/// Types of the interface whose cases are answers.
const ANSWERS: [&str; 7] = [
    "begin-result",
    "complete-result",
    "renew-result",
    "release-result",
    "forget-result",
    "lost-reason",
    "error",
];

/// Every case of every answer, as the WIT has it.
fn answers() -> Vec<String> {
    let mut resolve = Resolve::default();
    resolve.push_path(root().join("wit")).expect("the WIT of this project");
    let mut cases = Vec::new();
    for name in ANSWERS {
        let found = ours(&resolve).find(|found| found.name.as_deref() == Some(name));
        let found = found.unwrap_or_else(|| panic!("no type {name} in the WIT"));
        match &found.kind {
            TypeDefKind::Variant(variant) => {
                cases.extend(variant.cases.iter().map(|case| case.name.clone()));
            }
            TypeDefKind::Enum(words) => {
                cases.extend(words.cases.iter().map(|case| case.name.clone()));
            }
            other => panic!("{name} is {other:?}"),
        }
    }
    cases.retain(|case| case != "lost");
    cases
}

/// The types that the ledger's own interfaces define.
fn ours(resolve: &Resolve) -> impl Iterator<Item = &TypeDef> {
    let interfaces = ["ledger", "maintenance"];
    resolve.types.iter().map(|(_, found)| found).filter(move |found| match found.owner {
        TypeOwner::Interface(id) => {
            let name = resolve.interfaces[id].name.as_deref();
            name.is_some_and(|name| interfaces.contains(&name))
                && !matches!(found.kind, TypeDefKind::Type(_))
        }
        _ => false,
    })
}

#[test]
fn the_vectors_meet_every_ordinary_answer() {
    let folder = root().join("host-tests/vectors");
    let texts = fs::read_dir(folder)
        .expect("vectors")
        .map(|entry| fs::read_to_string(entry.expect("an entry").path()).expect("a text"));
    let all: String = texts.collect();
    // Those that take a failing store or a slow call are the subject of the faults.
    let other =
        ["no-such-store", "access-denied", "unavailable", "outcome-unknown", "deadline-exceeded"];
    let mut missing = answers();
    missing.retain(|case| !other.contains(&case.as_str()) && !all.contains(&format!("\"{case}\"")));
    none("no vector expects", &missing);
}

/// The tables of states in ARCHITECTURE.md, and the words around them, name every answer.
#[test]
fn the_architecture_names_every_answer() {
    let Ok(text) = fs::read_to_string(root().join("ARCHITECTURE.md")) else {
        println!("there is no ARCHITECTURE.md");
        return;
    };
    let lines = text.lines().skip_while(|line| !line.starts_with("## States of a key")).skip(1);
    let section: Vec<&str> = lines.take_while(|line| !line.starts_with("## ")).collect();
    assert!(section.iter().any(|line| line.starts_with('|')), "no tables of states");
    let mut missing = answers();
    missing.retain(|case| !section.iter().any(|line| has_word(line, case)));
    none("ARCHITECTURE.md, \"States of a key\", never names", &missing);
}

/// The changelog tells of the version that is being made.
#[test]
fn the_changelog_knows_the_version() {
    let Ok(text) = fs::read_to_string(root().join("CHANGELOG.md")) else {
        println!("there is no CHANGELOG.md");
        return;
    };
    let version = env!("CARGO_PKG_VERSION");
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
    assert!(
        headings.iter().any(|heading| heading.contains(version) || heading.contains("Unreleased")),
        "no heading for {version} in {headings:?}"
    );
}
