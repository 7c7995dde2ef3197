//! What the component imports and exports, to the letter, and how large it is.

use std::fs;
use std::path::{Path, PathBuf};

use wit_component::{DecodedWasm, WitPrinter};
use wit_parser::WorldKey;

/// Each build, the most bytes that it may have, and its snapshot.
const BUILDS: [(&str, usize, &str); 2] =
    [("ledger-cas", 120_000, "surface.txt"), ("ledger-ticket", 132_000, "surface-ticket.txt")];

/// The only imports.
const IMPORTS: [&str; 3] = [
    "wasi:clocks/wall-clock@0.2.12",
    "wasi:keyvalue/atomics@0.2.0-draft2",
    "wasi:keyvalue/store@0.2.0-draft2",
];

const EXPORTS: [&str; 2] =
    ["idempotency:ledger/ledger@0.1.0", "idempotency:ledger/maintenance@0.1.0"];

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn component(name: &str) -> Vec<u8> {
    let path = in_repository(&format!("target/components/{name}.wasm"));
    fs::read(&path).unwrap_or_else(|error| panic!("{path:?}: {error}; run `cargo xtask build`"))
}

fn decode(component: &[u8]) -> DecodedWasm {
    wit_component::decode(component).expect("a component")
}

#[test]
fn three_imports_two_exports() {
    for (name, ..) in BUILDS {
        let DecodedWasm::Component(resolve, world) = decode(&component(name)) else {
            panic!("no component")
        };
        let world = &resolve.worlds[world];
        let names = |keys: Vec<&WorldKey>| {
            let mut names: Vec<String> =
                keys.into_iter().map(|key| resolve.name_world_key(key)).collect();
            names.sort();
            names
        };
        assert_eq!(names(world.imports.keys().collect()), IMPORTS);
        assert_eq!(names(world.exports.keys().collect()), EXPORTS);
    }
}

#[test]
fn the_surface_is_the_snapshot() {
    for (name, _, snapshot) in BUILDS {
        let surface = surface(name);
        let path = in_repository(&format!("host-tests/snapshots/{snapshot}"));
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            fs::write(&path, &surface).expect("a writable snapshot");
        }
        let snapshot = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            surface == snapshot,
            "the surface of {name} changed; if that is wanted, run this test with \
             UPDATE_SNAPSHOTS=1 and look at the difference\n{surface}"
        );
    }
}

fn surface(name: &str) -> String {
    let decoded = decode(&component(name));
    let mut printer = WitPrinter::default();
    printer.emit_docs(false);
    let others: Vec<_> = decoded.resolve().packages.iter().map(|(id, _)| id).collect();
    let others: Vec<_> = others.into_iter().filter(|id| *id != decoded.package()).collect();
    printer.print(decoded.resolve(), decoded.package(), &others).expect("a printable world");
    printer.output.to_string()
}

/// A host without compare-and-swap can run it.
#[test]
fn the_ticket_build_needs_no_swap() {
    assert!(surface("ledger-cas").contains("swap: func("));
    assert!(!surface("ledger-ticket").contains("swap: func("));
}

#[test]
fn small_enough_for_an_edge_host() {
    for (name, most, _) in BUILDS {
        let size = component(name).len();
        println!("{name}.wasm: {size} bytes of at most {most}");
        assert!(size < most, "{name}: {size} bytes");
    }
}
