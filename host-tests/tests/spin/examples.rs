//! The commands of the examples' READMEs do what they say, on the double.

use std::path::Path;
use std::process::{Command, Stdio};

/// The commands of a document's blocks marked `sh`.
fn commands(document: &Path) -> String {
    let text = std::fs::read_to_string(document).expect("a document");
    let (mut commands, mut inside) = (String::new(), false);
    for line in text.lines() {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            line if inside => commands += &format!("{line}\n"),
            _ => {}
        }
    }
    assert!(!commands.is_empty(), "{} has no commands", document.display());
    commands
}

/// Runs them from the repository's folder and answers what they printed.
fn run(example: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let commands = commands(&root.join("examples").join(example).join("README.md"));
    let mut bash = Command::new("bash");
    bash.args(["-euo", "pipefail", "-c", &commands]).current_dir(root);
    // The cargo that runs this test has set variables for it alone.
    for (name, _) in std::env::vars() {
        if name == "CARGO" || name.starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" {
            bash.env_remove(name);
        }
    }
    let output = bash.stderr(Stdio::inherit()).output().expect("bash");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{printed}");
    assert!(output.status.success(), "{example}: {}", output.status);
    printed
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
    let printed = run("spin");
    assert_one_charge(&printed);
    assert!(printed.contains("\"sound\":true"));
    assert!(printed.contains("\"removed\":0"));
}

#[test]
fn javascript() {
    let found = Command::new("npm").arg("--version").stdout(Stdio::null()).status();
    let found = found.is_ok_and(|status| status.success());
    assert!(found, "this test runs `npm`: install Debian's nodejs and npm");
    assert_one_charge(&run("spin-javascript"));
}
