//! `cargo xtask compose`: an app with the ledger in it, ready for a host.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::guest;
use crate::shell::{self, say};
use crate::stamp::{self, BUILDS};
use crate::toolchain::{TARGET, Toolchain};

const USAGE: &str = "\
cargo xtask compose APP [-o OUT.wasm] [--ledger NAME]

APP is a component, a core module, or the folder of a crate that makes one; without -o
the result lies beside it, as NAME-with-ledger.wasm";

/// What was asked for.
struct Request {
    app: PathBuf,
    out: Option<PathBuf>,
    ledger: String,
}

/// Builds the ledger, and the app where it is a crate, and composes the two.
pub(crate) fn compose(root: &Path, arguments: &[String]) -> Result<()> {
    let request = parse(arguments)?;
    let Some(build) = BUILDS.iter().find(|build| build.name == request.ledger) else {
        let names: Vec<&str> = BUILDS.iter().map(|build| build.name).collect();
        bail!("there is no ledger `{}`; there is {}", request.ledger, names.join(", "));
    };
    let toolchain = guest::ensure(root)?;
    let app =
        if request.app.is_dir() { build_app(root, &toolchain, &request.app)? } else { request.app };
    let out = request.out.unwrap_or_else(|| beside(&app));
    // A workspace of its own: its dependencies would change the features of wasmtime's.
    let mut cargo = shell::cargo(&root.join("xtask/compose"));
    cargo.args(["run", "--quiet", "--locked", "--target-dir"]).arg(root.join("target/compose"));
    cargo.arg("--").arg(stamp::component_path(root, build));
    shell::run(cargo.args([std::path::absolute(app)?, std::path::absolute(out)?]))
}

fn parse(arguments: &[String]) -> Result<Request> {
    let (mut app, mut out, mut ledger) = (None, None, "ledger-cas".to_owned());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "-o" => out = Some(PathBuf::from(rest.next().context(USAGE)?)),
            "--ledger" => ledger = rest.next().context(USAGE)?.clone(),
            path if app.is_none() && !path.starts_with('-') => app = Some(PathBuf::from(path)),
            _ => bail!("{USAGE}"),
        }
    }
    Ok(Request { app: app.context(USAGE)?, out, ledger })
}

/// Compiles the crate in `folder` and answers where its module is.
pub(crate) fn build_app(root: &Path, toolchain: &Toolchain, folder: &Path) -> Result<PathBuf> {
    say(format!("compiling {} for {TARGET}", folder.display()));
    let mut cargo = toolchain.cargo(root);
    cargo.args(["build", "--release", "--locked", "--target", TARGET, "--manifest-path"]);
    cargo.arg(std::path::absolute(folder.join("Cargo.toml"))?);
    cargo.arg("--target-dir").arg(root.join("target/examples"));
    cargo.arg("--message-format=json-render-diagnostics");
    if toolchain.builds_std() {
        cargo.arg("-Zbuild-std=std,panic_abort");
    }
    let modules: Vec<PathBuf> = shell::output(&mut cargo)?.lines().filter_map(module_of).collect();
    match modules.as_slice() {
        [module] => Ok(module.clone()),
        [] => bail!("it makes no module; its Cargo.toml needs\n\n[lib]\ncrate-type = [\"cdylib\"]"),
        _ => bail!("it makes more than one module: build it yourself and name the one to compose"),
    }
}

/// The `.wasm` file that a message of cargo tells of.
fn module_of(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let files = message["filenames"].as_array()?;
    files.iter().filter_map(Value::as_str).find(|file| file.ends_with(".wasm")).map(PathBuf::from)
}

fn beside(app: &Path) -> PathBuf {
    let name = app.file_stem().unwrap_or_default().to_string_lossy();
    app.with_file_name(format!("{name}-with-ledger.wasm"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{beside, module_of, parse};

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn takes_an_app_a_place_and_a_ledger() {
        let request = parse(&words("app.wasm -o out.wasm --ledger other")).expect("a request");
        assert_eq!(request.app, Path::new("app.wasm"));
        assert_eq!(request.out.as_deref(), Some(Path::new("out.wasm")));
        assert_eq!(request.ledger, "other");
        for wrong in ["", "-o", "a.wasm b.wasm", "a.wasm --out b.wasm", "a.wasm --ledger"] {
            assert!(parse(&words(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn puts_the_result_beside_the_app() {
        assert_eq!(beside(Path::new("a/app.wasm")), Path::new("a/app-with-ledger.wasm"));
    }

    #[test]
    fn finds_the_module_in_a_message_of_cargo() {
        let artifact = r#"{"reason":"compiler-artifact","filenames":["a/x.rlib","a/x.wasm"]}"#;
        assert_eq!(module_of(artifact).as_deref(), Some(Path::new("a/x.wasm")));
        assert_eq!(module_of(r#"{"reason":"build-finished","success":true}"#), None);
    }
}
