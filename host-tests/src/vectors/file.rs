//! The files as they stand: scenarios of steps.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::spec::{Bytes, CallSpec};

/// The format that this runner reads.
const FORMAT: u32 = 1;

/// One file of vectors.
#[derive(Debug)]
pub struct VectorFile {
    /// Its name, for messages.
    pub name: String,
    /// In order; each starts with an empty store at time 0.
    pub scenarios: Vec<Scenario>,
}

/// A story of one ledger on one store.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What it shows.
    pub name: String,
    /// The only strategy that it holds for, where it speaks of a strategy's own store keys.
    #[serde(default)]
    pub only: Option<String>,
    pub(super) steps: Vec<Step>,
}

/// One step: the clock is set, then one thing is done.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub(super) struct Step {
    pub(super) at_ms: Option<u64>,
    pub(super) action: Action,
}

#[derive(Debug)]
pub(super) enum Action {
    Call { call: Box<CallSpec>, expect: Value },
    Parallel { calls: ParallelCalls, expect: Vec<Counted> },
    StoreSet(StoreSet),
    StoreAbsent(String),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum ParallelCalls {
    Times { times: usize, step: Box<CallSpec> },
    Each(Vec<CallSpec>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Counted {
    pub(super) count: usize,
    pub(super) answer: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoreSet {
    pub(super) key: String,
    pub(super) value: Bytes,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    format: u32,
    scenarios: Vec<Scenario>,
}

impl TryFrom<Map<String, Value>> for Step {
    type Error = String;

    /// Whatever is in a step must be known: a misspelt argument would be no argument.
    fn try_from(mut step: Map<String, Value>) -> Result<Self, String> {
        let at_ms = step.remove("at_ms").map(read).transpose();
        let action = match ["parallel", "store_set", "store_absent"].map(|name| step.remove(name)) {
            [Some(calls), None, None] => read_expect(&mut step).and_then(|expect| {
                Ok(Action::Parallel { calls: read(calls)?, expect: read(expect)? })
            }),
            [None, Some(set), None] => read(set).map(Action::StoreSet),
            [None, None, Some(key)] => read(key).map(Action::StoreAbsent),
            _ => read_expect(&mut step).and_then(|expect| {
                let call = read(Value::from(std::mem::take(&mut step)))?;
                Ok(Action::Call { call, expect })
            }),
        };
        if let Some(name) = step.keys().next() {
            return Err(format!("{name:?} does not belong in this step"));
        }
        Ok(Step { at_ms: at_ms?, action: action? })
    }
}

/// `null` is an answer; no `expect` at all is a mistake.
fn read_expect(step: &mut Map<String, Value>) -> Result<Value, String> {
    step.remove("expect").ok_or_else(|| "no `expect`".into())
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    let shown = value.to_string();
    serde_json::from_value(value).map_err(|error| format!("{error} in {shown}"))
}

/// Reads every file of a folder, in the order of their names.
///
/// # Panics
/// Where a file cannot be read, or two scenarios have one name.
pub fn read_all(folder: &Path) -> Vec<VectorFile> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let files: Vec<VectorFile> = paths.iter().map(|path| read_file(path)).collect();
    let mut seen = BTreeMap::new();
    for file in &files {
        for scenario in &file.scenarios {
            let before = seen.insert(&scenario.name, &file.name);
            assert_eq!(before, None, "two scenarios are named {:?}", scenario.name);
        }
    }
    files
}

fn read_file(path: &Path) -> VectorFile {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let raw: Raw = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    assert_eq!(raw.format, FORMAT, "{path:?}: an unknown format");
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    VectorFile { name, scenarios: raw.scenarios }
}
