//! The commands of the examples' READMEs do what they say, on the double.

use crate::run_block::{commands, needs, root, run};

/// Follows an example's README from the repository's folder; answers what it printed.
fn follow(example: &str) -> String {
    run(&commands(&format!("examples/{example}/README.md"), "sh"), &root(), &[])
}

/// The bank charges once, the second answer is the first one's replay, the third is refused.
fn assert_one_charge(printed: &str) {
    let lines =
        |start: &str| printed.lines().filter(|line| line.starts_with(start)).collect::<Vec<_>>();
    assert_eq!(lines("bank: ").len(), 1);
    let [first, second] = lines("201 ")[..] else { panic!("two receipts") };
    assert_eq!(second.strip_suffix(" idempotent-replayed: true"), Some(first));
    assert_eq!(lines("422 ").len(), 1);
}

#[test]
fn rust() {
    let printed = follow("spin");
    assert_one_charge(&printed);
    assert!(printed.contains("\"sound\":true"));
    assert!(printed.contains("\"removed\":0"));
}

#[test]
fn javascript() {
    needs(&["npm", "--version"], "nodejs and npm");
    assert_one_charge(&follow("spin-javascript"));
}
