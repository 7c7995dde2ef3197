//! The sources of the repository, and how they are looked at.

use std::fs;
use std::path::{Path, PathBuf};

/// A file and its text.
pub(crate) struct Source {
    /// From the repository's root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every file below these folders with one of these extensions.
pub(crate) fn files(folders: &[&str], extensions: &[&str]) -> Vec<Source> {
    let mut found = Vec::new();
    folders.iter().for_each(|folder| walk(&root().join(folder), folder, extensions, &mut found));
    found.sort_by(|one, other| one.path.cmp(&other.path));
    assert!(!found.is_empty(), "nothing in {folders:?}");
    found
}

/// The code of the guest's core: `src`, without the files of tests.
pub(crate) fn core() -> Vec<Source> {
    let mut core = files(&["src"], &["rs"]);
    let tests: Vec<String> = core.iter().flat_map(test_files).collect();
    core.retain(|source| !tests.contains(&source.path));
    core
}

/// The files that a file includes for tests only, by a `#[path]` under its `#[cfg(test)]`.
fn test_files(source: &Source) -> Vec<String> {
    let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let lines = source.text.lines().skip_while(|line| *line != "#[cfg(test)]");
    let paths = lines.filter_map(|line| line.strip_prefix("#[path = \"")?.strip_suffix("\"]"));
    paths.map(|path| format!("{folder}/{path}")).collect()
}

fn walk(folder: &Path, name: &str, extensions: &[&str], found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let (path, name) = (entry.path(), format!("{name}/{file}"));
        if ["target", ".git", "deps", "node_modules", ".venv"].contains(&file.as_str()) {
            continue;
        }
        if path.is_dir() {
            walk(&path, &name, extensions, found);
        } else if extensions.iter().any(|extension| file.ends_with(&format!(".{extension}"))) {
            let path = name.trim_start_matches("./").to_owned();
            found.push(Source { path, text: fs::read_to_string(entry.path()).expect("a text") });
        }
    }
}

impl Source {
    /// Whether it holds nothing but tests.
    pub(crate) fn is_tests(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("tests.rs")
    }

    /// Its lines of code, numbered from 1: without comments, and without the `mod tests` at
    /// its end.
    pub(crate) fn code(&self) -> Vec<(usize, &str)> {
        let lines = self.text.lines().enumerate().map(|(at, line)| (at + 1, line));
        let tests = |line: &str| line.trim_start().starts_with("#[cfg(test)]");
        let code = lines.take_while(|(_, line)| !tests(line));
        code.map(|(at, line)| (at, without_comment(line))).collect()
    }

    /// Whether one of the lines of code holds this word, standing alone.
    pub(crate) fn names(&self, word: &str) -> bool {
        self.code().iter().any(|(_, line)| has_word(line, word))
    }
}

fn without_comment(line: &str) -> &str {
    match line.find("//") {
        Some(at) if !line[..at].contains('"') => &line[..at],
        _ => line,
    }
}

/// Whether the word stands in the line alone; a lifetime is no word.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    let part = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(part)
            && !line[..at].ends_with('\'')
            && !line[at + word.len()..].starts_with(part)
    })
}

/// Fails with every complaint at once.
pub(crate) fn none(what: &str, complaints: &[String]) {
    assert!(complaints.is_empty(), "{what}:\n  {}", complaints.join("\n  "));
}
