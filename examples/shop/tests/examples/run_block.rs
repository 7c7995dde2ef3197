//! Running the commands of a document.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Variables of cargo and rustup that say where things are, not how to build.
const KEPT: [&str; 7] = [
    "CARGO_HOME",
    "CARGO_HTTP_",
    "CARGO_NET_",
    "CARGO_REGISTRIES_",
    "CARGO_REGISTRY_",
    "CARGO_SOURCE_",
    "RUSTUP_",
];

/// The repository.
pub(crate) fn root() -> PathBuf {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let root = folders.find(|folder| folder.join("Cargo.lock").is_file());
    root.expect("the repository").to_owned()
}

/// The commands of a document: all its blocks with this mark, in their order.
pub(crate) fn commands(document: &str, mark: &str) -> String {
    let text = fs::read_to_string(root().join(document)).expect(document);
    let (start, mut commands, mut inside) = (format!("```{mark}"), String::new(), false);
    for line in text.lines() {
        match line.trim_end() {
            line if line == start => inside = true,
            "```" => inside = false,
            line if inside => commands += &format!("{line}\n"),
            _ => {}
        }
    }
    assert!(!commands.is_empty(), "{document} has no block of {mark}");
    commands
}

/// Runs the commands in `folder` with bash, which ends at the first that fails. Answers what
/// they printed; shows it too.
pub(crate) fn run(commands: &str, folder: &Path, variables: &[(&str, &Path)]) -> String {
    let mut bash = Command::new("bash");
    bash.args(["-euo", "pipefail", "-c", commands]).current_dir(folder);
    // The cargo that runs this test has set variables for it alone.
    for (name, _) in std::env::vars() {
        let ours = name == "CARGO" || name.starts_with("CARGO_") || name.starts_with("RUST");
        if ours && !KEPT.iter().any(|prefix| name.starts_with(prefix)) {
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

/// The folder with this published program, which is compiled first where it is missing: about
/// a minute, without optimisation.
pub(crate) fn install(program: &str, package: &str, flags: &str) -> PathBuf {
    let tools = root().join("target/tools");
    if !tools.join("bin").join(program).is_file() {
        let install = format!(
            "cargo install {package} --locked --debug --no-default-features {flags} \
             --root {root} --target-dir {root}/build",
            root = tools.display()
        );
        run(&install, &root(), &[]);
    }
    tools.join("bin")
}

/// The lines of a shop that was asked twice: the bank charges once.
pub(crate) fn assert_one_charge(printed: &str) {
    let lines: Vec<&str> = printed.lines().collect();
    let banked = lines.iter().filter(|line| line.starts_with("bank: ")).count();
    let charged: Vec<_> = lines.iter().filter(|line| line.starts_with("charged: ")).collect();
    assert_eq!(banked, 1, "{printed}");
    assert!(charged.len() == 2 && charged[0] == charged[1], "{printed}");
}
