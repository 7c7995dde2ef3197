//! `spin.toml`, as far as the double needs it. A field that it does not know is an error, since
//! it would be one that is not tested.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Value;

use super::engine::Answer;

/// The manifest, version 2.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    spin_manifest_version: u32,
    #[serde(rename = "application")]
    _application: Value,
    #[serde(default)]
    variables: BTreeMap<String, Variable>,
    trigger: Triggers,
    component: BTreeMap<String, Component>,
    /// Where it lies; paths in it are relative to that.
    #[serde(skip)]
    pub(crate) folder: PathBuf,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Variable {
    default: Option<String>,
    #[serde(default)]
    required: bool,
    #[serde(default, rename = "secret")]
    _secret: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Triggers {
    http: Vec<HttpTrigger>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HttpTrigger {
    route: String,
    component: String,
}

/// One component of the app.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Component {
    pub(crate) source: PathBuf,
    #[serde(default)]
    pub(crate) allowed_outbound_hosts: Vec<String>,
    #[serde(default)]
    pub(crate) key_value_stores: Vec<String>,
    #[serde(default)]
    pub(crate) variables: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) dependencies: BTreeMap<String, Dependency>,
    /// Every dependency inherits everything: Spin 3.6 and 4.
    #[serde(default)]
    pub(crate) dependencies_inherit_configuration: bool,
    #[serde(rename = "build")]
    _build: Option<Value>,
}

/// A component that answers imports of another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dependency {
    pub(crate) path: PathBuf,
    /// What it inherits: Spin 4.
    #[serde(default)]
    pub(crate) inherit_configuration: Vec<String>,
}

impl Manifest {
    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong with it, or not supported by the double.
    pub fn read(path: &Path) -> Answer<Self> {
        let text = fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))?;
        let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        Self::parse(&text, folder).map_err(|why| format!("{}: {why}", path.display()))
    }

    /// Reads the text of a manifest whose paths are relative to `folder`.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn parse(text: &str, folder: PathBuf) -> Answer<Self> {
        let manifest: Self = toml::from_str(text).map_err(|why| why.to_string())?;
        if manifest.spin_manifest_version != 2 {
            return Err("spin_manifest_version has to be 2".to_owned());
        }
        let manifest = Self { folder, ..manifest };
        manifest.component()?;
        Ok(manifest)
    }

    /// The component that serves every path.
    pub(crate) fn component(&self) -> Answer<&Component> {
        let [HttpTrigger { route, component }] = self.trigger.http.as_slice() else {
            return Err("the double serves one HTTP trigger".to_owned());
        };
        if route != "/..." {
            return Err("the double serves the route `/...`".to_owned());
        }
        self.component.get(component).ok_or(format!("there is no component `{component}`"))
    }

    /// The component's variables, from what the caller sets and the defaults.
    pub(crate) fn variables(&self, set: &[(String, String)]) -> Answer<BTreeMap<String, String>> {
        let mut values = BTreeMap::new();
        for (name, Variable { default, required, .. }) in &self.variables {
            let given = set.iter().find(|(given, _)| given == name).map(|(_, value)| value);
            match given.or(default.as_ref()) {
                Some(value) => drop(values.insert(name.as_str(), value.as_str())),
                None if *required => return Err(format!("the variable `{name}` is not set")),
                None => {}
            }
        }
        if let Some((name, _)) = set.iter().find(|(name, _)| !self.variables.contains_key(name)) {
            return Err(format!("there is no variable `{name}`"));
        }
        let variables = self.component()?.variables.iter();
        variables.map(|(name, text)| Ok((name.clone(), expand(text, &values)?))).collect()
    }

    /// The hosts that the component may send requests to: `http://HOST:PORT`.
    pub(crate) fn hosts(&self, set: &[(String, String)]) -> Answer<Vec<String>> {
        let defaults = self
            .variables
            .iter()
            .filter_map(|(name, variable)| Some((name.as_str(), variable.default.as_deref()?)));
        let mut values: BTreeMap<&str, &str> = defaults.collect();
        values.extend(set.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        self.component()?.allowed_outbound_hosts.iter().map(|host| expand(host, &values)).collect()
    }
}

/// `text` with each `{{ name }}` replaced.
fn expand(text: &str, values: &BTreeMap<&str, &str>) -> Answer<String> {
    let (mut expanded, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").ok_or(format!("`{text}` lacks `}}}}`"))?;
        let name = name.trim();
        let value = values.get(name).ok_or(format!("the variable `{name}` is not set"))?;
        expanded = expanded + before + value;
        rest = after;
    }
    Ok(expanded + rest)
}
