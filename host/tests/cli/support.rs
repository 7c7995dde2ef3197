//! One ledger in a folder of its own, and ways to call the program.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Longer than anything here takes on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Ledger {
    folder: tempfile::TempDir,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program, told of this ledger, working in its folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_idempotency"));
        command
            .args(arguments)
            .env("IDEMPOTENCY_STORE", format!("sqlite:{}", self.path("ledger.db").display()))
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn call(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// `run` with options, and a shell script as its command.
    pub(crate) fn run(&self, options: &[&str], script: &str) -> Output {
        self.run_command(options, script).output().unwrap()
    }

    pub(crate) fn run_command(&self, options: &[&str], script: &str) -> Command {
        let arguments = [&["run"], options, &["--", "sh", "-c", script]].concat();
        self.command(&arguments)
    }

    /// Started and not waited for, its output kept.
    pub(crate) fn start(&self, options: &[&str], script: &str) -> Child {
        // Whoever runs the tests may ignore signals, and so would the command.
        let run = self.run_command(options, script);
        let mut command = Command::new("env");
        command.arg("--default-signal").arg(run.get_program()).args(run.get_args());
        for (name, value) in run.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(folder) = run.get_current_dir() {
            command.current_dir(folder);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// What `--json` answers, and the exit code.
    pub(crate) fn json(&self, arguments: &[&str]) -> (Value, i32) {
        let output = self.call(&[arguments, &["--json"]].concat());
        let json = serde_json::from_slice(&output.stdout);
        (json.unwrap_or_else(|error| panic!("{error}: {output:?}")), code(&output))
    }

    /// The lines of a file in the folder; none where there is no file.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(Into::into).collect()
    }

    /// The reports in a file that `run --json` wrote.
    pub(crate) fn reports(&self, name: &str) -> Vec<Value> {
        self.lines(name).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Waits until a file has so many lines.
    pub(crate) fn until_lines(&self, name: &str, count: usize) -> Vec<String> {
        until(&format!("{name} has {count} lines"), || self.lines(name).len() >= count);
        self.lines(name)
    }
}

pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("ended by a signal: {output:?}"))
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn number(json: &Value, name: &str) -> u64 {
    json[name].as_u64().unwrap_or_else(|| panic!("no {name} in {json}"))
}

pub(crate) fn is_full_size() -> bool {
    std::env::var("LEDGER_TEST_SIZE").is_ok_and(|size| size == "full")
}
