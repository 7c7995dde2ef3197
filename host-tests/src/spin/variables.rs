//! An app's variables: `spin:variables@3.0.0`, and `wasi:config` of the draft that Spin has.

use wasmtime::Result;
use wasmtime::component::{ComponentType, Lift, Linker, Lower};

use super::state::State;

/// The error of `spin:variables`.
#[derive(Clone, Debug, ComponentType, Lift, Lower)]
#[component(variant)]
enum VariableError {
    #[component(name = "invalid-name")]
    InvalidName(String),
    #[component(name = "undefined")]
    Undefined(String),
    #[component(name = "provider")]
    Provider(String),
    #[component(name = "other")]
    Other(String),
}

/// The error of `wasi:config`.
#[derive(Clone, Debug, ComponentType, Lift, Lower)]
#[component(variant)]
enum ConfigError {
    #[component(name = "upstream")]
    Upstream(String),
    #[component(name = "io")]
    Io(String),
}

pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    let mut variables = linker.instance("spin:variables/variables@3.0.0")?;
    variables.func_wrap_concurrent("get", |accessor, (name,): (String,)| {
        Box::pin(async move {
            let found =
                accessor.with(|mut access| access.get().rights.variables.get(&name).cloned());
            Ok((found.ok_or(VariableError::Undefined(name)),))
        })
    })?;
    let mut config = linker.instance("wasi:config/store@0.2.0-draft-2024-09-27")?;
    config.func_wrap("get", |store, (name,): (String,)| {
        Ok((Ok::<_, ConfigError>(store.data().rights.variables.get(&name).cloned()),))
    })?;
    config.func_wrap("get-all", |store, (): ()| {
        let all = store.data().rights.variables.clone().into_iter();
        Ok((Ok::<_, ConfigError>(all.collect::<Vec<(String, String)>>()),))
    })
}
