//! An app that is ready to be served.

use std::collections::BTreeMap;
use std::sync::Arc;

use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine as Wasmtime, OptLevel};
use wasmtime_wasi_http::handler::ProxyPre;
use wasmtime_wasi_http::{p2, p3};

use super::compose::{Ledgers, compose};
use super::engine::{Answer, Engine};
use super::manifest::Manifest;
use super::state::State;
use super::{keyvalue, variables};

/// The stores of a double by their labels, whichever the app may use of them.
pub type Stores = BTreeMap<String, Arc<dyn Engine>>;

/// What the app may use.
pub(crate) struct Rights {
    pub(crate) stores: Stores,
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) hosts: Vec<String>,
}

/// A compiled app and what it may use.
#[derive(Clone)]
pub struct App {
    pub(crate) engine: Wasmtime,
    pub(crate) pre: Arc<ProxyPre<State>>,
    pub(crate) rights: Arc<Rights>,
}

impl App {
    /// Composes, compiles and links the app of a manifest. `set` are variables of the app.
    ///
    /// # Errors
    /// Why it would not start, as text.
    pub fn load(
        manifest: &Manifest,
        instead: &Ledgers,
        stores: &Stores,
        set: &[(String, String)],
    ) -> Answer<Self> {
        let allowed = &manifest.component()?.key_value_stores;
        let mut rights = Rights {
            stores: BTreeMap::new(),
            variables: manifest.variables(set)?,
            hosts: manifest.hosts(set)?,
        };
        for label in allowed {
            let store = stores.get(label).ok_or(format!("there is no store `{label}`"))?;
            rights.stores.insert(label.clone(), Arc::clone(store));
        }
        let (engine, pre) = link(&compose(manifest, instead)?).map_err(|why| format!("{why:#}"))?;
        Ok(Self { engine, pre: Arc::new(pre), rights: Arc::new(rights) })
    }
}

fn link(component: &[u8]) -> wasmtime::Result<(Wasmtime, ProxyPre<State>)> {
    let mut config = Config::new();
    config.wasm_component_model_async(true);
    // Compiled at each start, and then it waits for its store.
    config.cranelift_opt_level(OptLevel::None);
    let engine = Wasmtime::new(&config)?;
    let component = Component::new(&engine, component)?;
    let mut linker = Linker::<State>::new(&engine);
    // Of WASI what an HTTP function may need; Spin has all of it.
    wasmtime_wasi::p2::add_to_linker_proxy_interfaces_async(&mut linker)?;
    wasmtime_wasi::p3::clocks::add_to_linker(&mut linker)?;
    wasmtime_wasi::p3::random::add_to_linker(&mut linker)?;
    p2::add_only_http_to_linker_async(&mut linker)?;
    p3::add_to_linker(&mut linker)?;
    keyvalue::add_to_linker(&mut linker)?;
    variables::add_to_linker(&mut linker)?;
    let pre = linker.instantiate_pre(&component)?;
    let has_0_3 = component.get_export(None, "wasi:http/handler@0.3.0").is_some();
    let pre = if has_0_3 {
        ProxyPre::P3(p3::bindings::ServicePre::new(pre)?)
    } else {
        ProxyPre::P2(p2::bindings::ProxyPre::new(pre)?)
    };
    Ok((engine, pre))
}
