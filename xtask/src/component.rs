//! Turning the guest's core module into a component, and what every component must fulfil.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use wasmparser::BinaryReader;
use wit_component::{ComponentEncoder, DecodedWasm};
use wit_parser::{Resolve, WorldItem, WorldKey};

use crate::shell::say;
use crate::stamp::Build;

/// Magic number and version, before the first section.
const HEADER_BYTES: usize = 8;

/// The number that marks a custom section.
const CUSTOM_SECTION: u8 = 0;

/// The component around a core module whose custom sections describe its world.
pub(crate) fn encode(module: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = ComponentEncoder::default();
    encoder.validate(true);
    encoder.module(module)?;
    without_custom_sections(&encoder.encode()?)
}

/// The component without the names that only people who debug it would see: 3 kB.
fn without_custom_sections(component: &[u8]) -> Result<Vec<u8>> {
    let mut reader = BinaryReader::new(component, 0);
    let mut kept = reader.read_bytes(HEADER_BYTES)?.to_vec();
    while !reader.eof() {
        let start = reader.current_position();
        let section = reader.read_u8()?;
        let size_bytes = reader.read_var_u32()?;
        reader.read_bytes(size_bytes as usize)?;
        if section != CUSTOM_SECTION {
            kept.extend_from_slice(&component[start..reader.current_position()]);
        }
    }
    Ok(kept)
}

/// Fails where the component imports anything else than it should, or carries a path of
/// the machine that built it.
pub(crate) fn check(bytes: &[u8], build: &Build, local_paths: &[(PathBuf, &str)]) -> Result<()> {
    let imports = imports(bytes)?;
    if imports != build.imports {
        bail!("it imports {imports:?}, and should import {:?}", build.imports);
    }
    for (path, _) in local_paths {
        let path = path.to_string_lossy();
        if bytes.windows(path.len()).any(|window| window == path.as_bytes()) {
            bail!("it contains the path {path}");
        }
    }
    Ok(())
}

/// Prints the component's size; fails where it is over the limit.
pub(crate) fn report_size(path: &Path, build: &Build) -> Result<()> {
    let size_bytes = fs::metadata(path)?.len();
    let Build { name, size_limit_bytes, .. } = build;
    say(format!("{name}.wasm: {size_bytes} bytes of at most {size_limit_bytes}"));
    if size_bytes > *size_limit_bytes {
        bail!("{name}.wasm is too large");
    }
    Ok(())
}

/// The interfaces that a component imports, sorted.
fn imports(bytes: &[u8]) -> Result<Vec<String>> {
    let DecodedWasm::Component(resolve, world) = wit_component::decode(bytes)? else {
        bail!("it is a WIT package and no component");
    };
    let items = &resolve.worlds[world].imports;
    let mut names: Vec<String> =
        items.iter().map(|(key, item)| import_name(&resolve, key, item)).collect::<Result<_>>()?;
    names.sort();
    Ok(names)
}

fn import_name(resolve: &Resolve, key: &WorldKey, item: &WorldItem) -> Result<String> {
    match (key, item) {
        (WorldKey::Interface(id), _) => resolve.id_of(*id).context("an interface without a name"),
        (WorldKey::Name(name), _) => Ok(name.clone()),
    }
}
