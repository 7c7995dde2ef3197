//! Running the commands of a document.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The repository.
pub(crate) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository")
}

/// The commands of a document: all its blocks marked `sh`, in their order.
pub(crate) fn commands(document: &str) -> String {
    let text = fs::read_to_string(root().join(document)).expect(document);
    let (mut commands, mut inside) = (String::new(), false);
    for line in text.lines() {
        match line.trim_end() {
            "```sh" => inside = true,
            "```" => inside = false,
            line if inside => commands += &format!("{line}\n"),
            _ => {}
        }
    }
    assert!(!commands.is_empty(), "{document} has no block of commands");
    commands
}

/// Runs the commands in `folder` with bash, which ends at the first that fails. Answers what
/// they printed; shows it too.
pub(crate) fn run(commands: &str, folder: &Path, variables: &[(&str, &Path)]) -> String {
    let mut bash = Command::new("bash");
    bash.args(["-euo", "pipefail", "-c", commands]).current_dir(folder);
    // The cargo that runs this test has set variables for it alone.
    for (name, _) in std::env::vars() {
        let kept = ["CARGO_HOME", "CARGO_TARGET_DIR"].contains(&name.as_str());
        if name.starts_with("CARGO") && !kept || name.starts_with("RUST") && name != "RUSTUP_HOME" {
            bash.env_remove(name);
        }
    }
    bash.envs(variables.iter().copied());
    let output = bash.stderr(Stdio::inherit()).output().expect("bash");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{printed}");
    assert!(output.status.success(), "{}: {commands}", output.status);
    printed
}

/// Fails with what to install where a program is missing: nothing is skipped in silence.
pub(crate) fn needs(program: &[&str], package: &str) {
    let found = Command::new(program[0]).args(&program[1..]).output();
    let found = found.is_ok_and(|output| output.status.success());
    assert!(found, "this test runs `{}`: install Debian's {package}", program.join(" "));
}

/// The lines of a shop that was asked twice: the bank charges once.
pub(crate) fn assert_one_charge(printed: &str) {
    let lines: Vec<&str> = printed.lines().collect();
    let banked = lines.iter().filter(|line| line.starts_with("bank: ")).count();
    let charged: Vec<_> = lines.iter().filter(|line| line.starts_with("charged: ")).collect();
    assert_eq!(banked, 1, "{printed}");
    assert!(charged.len() == 2 && charged[0] == charged[1], "{printed}");
}
