//! Composes a component with the ledger: `ledger-compose LEDGER.wasm APP.wasm OUT.wasm`.
//!
//! The app's import of the ledger is answered by the ledger component; what the two import
//! besides stays an import of the whole, and what the app exports is what the whole exports.
//! The app may be a core module, as rustc makes it for `wasm32-unknown-unknown`; then it is made
//! a component first.

use std::process::ExitCode;
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};
use wac_graph::types::Package;
use wac_graph::{CompositionGraph, EncodeOptions, PackageId, PlugError, plug};
use wit_component::ComponentEncoder;

/// The interfaces that a ledger exports begin with this.
const LEDGER: &str = "idempotency:ledger/";

/// How a core module and a component begin: the magic number, the version, the layer.
const MODULE: &[u8] = b"\0asm\x01\0\0\0";
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ledger-compose: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let [ledger, app, out] = arguments else {
        bail!("usage: ledger-compose LEDGER.wasm APP.wasm OUT.wasm");
    };
    let read = |path: &String| fs::read(path).with_context(|| path.clone());
    let component = component(read(app)?).with_context(|| app.clone())?;
    let (whole, imports) = compose(read(ledger)?, component).with_context(|| app.clone())?;
    fs::write(out, &whole).with_context(|| out.clone())?;
    println!("{out}: {} bytes; it imports", whole.len());
    imports.iter().for_each(|import| println!("  {import}"));
    Ok(())
}

/// The bytes as a component.
fn component(bytes: Vec<u8>) -> Result<Vec<u8>> {
    if bytes.starts_with(COMPONENT) {
        return Ok(bytes);
    }
    ensure!(bytes.starts_with(MODULE), "it is no WebAssembly");
    let mut encoder = ComponentEncoder::default();
    encoder.validate(true);
    encoder.module(&bytes)?.encode().context(
        "it is a core module that cannot be made a component; build it for \
         wasm32-unknown-unknown, or for wasm32-wasip2, which makes components itself",
    )
}

/// The app with its imports of the ledger plugged, and what the whole imports, sorted.
fn compose(ledger: Vec<u8>, app: Vec<u8>) -> Result<(Vec<u8>, Vec<String>)> {
    let mut graph = CompositionGraph::new();
    let ledger = register(&mut graph, "idempotency:composed-ledger", ledger)?;
    let app = register(&mut graph, "idempotency:composed-app", app)?;
    match plug(&mut graph, vec![ledger], app) {
        Ok(()) | Err(PlugError::NoPlugHappened) => {}
        Err(error) => return Err(error.into()),
    }
    let mut imports: Vec<String> = graph.imports().map(|(name, ..)| name.to_owned()).collect();
    if let Some(import) = imports.iter().find(|import| import.starts_with(LEDGER)) {
        bail!("it imports {import}, which the ledger does not export so: take both of one version");
    }
    let exports = &graph.types()[graph[ledger].ty()].exports;
    let wanted = &graph.types()[graph[app].ty()].imports;
    if !exports.keys().any(|export| wanted.contains_key(export)) {
        bail!("it does not import the ledger: {}", list(&imports));
    }
    imports.sort();
    imports.dedup();
    Ok((graph.encode(EncodeOptions::default())?, imports))
}

fn list(imports: &[String]) -> String {
    match imports {
        [] => "it imports nothing".to_owned(),
        imports => format!("it imports {}", imports.join(", ")),
    }
}

fn register(graph: &mut CompositionGraph, name: &str, bytes: Vec<u8>) -> Result<PackageId> {
    let package = Package::from_bytes(name, None, bytes, graph.types_mut())?;
    Ok(graph.register_package(package)?)
}
