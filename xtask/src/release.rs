//! `cargo xtask release`: the components as files to publish.
//!
//! Each carries what it is as custom sections, under the names that tools for WebAssembly in OCI
//! registries (`wkg`, `wasm-tools metadata`) read and turn into annotations. Running code is that
//! of `target/components`, to the byte.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use wasm_encoder::{CustomSection, Section};
use wasmparser::{Parser, Payload};

use crate::shell::{self, say};
use crate::stamp::{self, BUILDS, Build};
use crate::{component, guest, wit};

/// Where the files go.
const FOLDER: &str = "target/release-files";

/// The workspace's package that the components are built from.
const PACKAGE: &str = "idempotency-ledger";

/// Writes each component and the sums of all.
pub(crate) fn release(root: &Path) -> Result<()> {
    guest::ensure(root)?;
    let folder = root.join(FOLDER);
    shell::remove_dir(&folder)?;
    fs::create_dir_all(&folder)?;
    let (package, mut sums) = (package(root)?, String::new());
    for build in BUILDS {
        let plain = fs::read(stamp::component_path(root, build))?;
        let annotations = annotations(&package, build)?;
        let whole = annotate(&plain, &annotations);
        check(&plain, &whole, &annotations).context(build.name)?;
        let version = field(&package, "version")?;
        let name = format!("idempotency-{}-{version}.wasm", build.name);
        let path = folder.join(&name);
        fs::write(&path, &whole)?;
        component::report_size(&path, build)?;
        sums += &format!("{}  {name}\n", wit::sha256(&whole));
    }
    fs::write(folder.join("SHA256SUMS"), &sums)?;
    shell::run(Command::new("sha256sum").arg("--check").arg("SHA256SUMS").current_dir(&folder))?;
    say(format!("the files to publish are in {FOLDER}"));
    Ok(())
}

/// What cargo knows of the package.
fn package(root: &Path) -> Result<Value> {
    let metadata = shell::metadata(root, &["--no-deps"])?;
    shell::package(&metadata, PACKAGE).cloned()
}

fn field<'a>(package: &'a Value, name: &str) -> Result<&'a str> {
    package[name].as_str().with_context(|| format!("Cargo.toml has no {name}"))
}

/// The names and texts of the sections.
fn annotations(package: &Value, build: &Build) -> Result<Vec<(&'static str, String)>> {
    let host = match build.features {
        [] => "for hosts whose compare-and-swap is sound",
        _ => "for hosts whose atomic increment is sound, Spin among them",
    };
    let description = format!("{} This build is {host}.", field(package, "description")?);
    let text = |name| field(package, name).map(str::to_owned);
    Ok(vec![
        ("version", text("version")?),
        ("description", description),
        ("licenses", text("license")?),
        ("source", text("repository")?),
        ("homepage", text("repository")?),
    ])
}

fn annotate(component: &[u8], annotations: &[(&str, String)]) -> Vec<u8> {
    let mut whole = component.to_vec();
    for (name, text) in annotations {
        let section = CustomSection { name: (*name).into(), data: text.as_bytes().into() };
        section.append_to(&mut whole);
    }
    whole
}

/// Fails unless the sections are found again, and nothing else differs.
fn check(plain: &[u8], whole: &[u8], annotations: &[(&str, String)]) -> Result<()> {
    ensure!(whole.starts_with(plain), "its code is another");
    let mut found = Vec::new();
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(whole) {
        match payload? {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::CustomSection(section) if depth == 0 => {
                found.push((section.name(), String::from_utf8(section.data().to_vec())?));
            }
            _ => {}
        }
    }
    ensure!(found == annotations, "its sections are {found:?}");
    Ok(())
}
