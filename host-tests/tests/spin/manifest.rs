//! What a manifest has to say so that the ledger works, and what is told where it does not.

use std::fs;
use std::path::Path;

use host_tests::spin::{App, Double, Ledgers, Manifest, Stores};
use hyper::StatusCode;

use crate::scene::{Kind, MANIFEST, Storage, bank, build, charge, variables};

/// Loads the example with a changed manifest.
async fn load(change: impl FnOnce(String) -> String) -> Result<App, String> {
    build();
    let (storage, bank) = (Storage::new(Kind::Sqlite), bank(0).await);
    let text = change(fs::read_to_string(MANIFEST).expect("the manifest"));
    let folder = Path::new(MANIFEST).parent().expect("its folder");
    let manifest = Manifest::parse(&text, folder.to_owned())?;
    let stores = Stores::from([("default".to_owned(), storage.open().await)]);
    App::load(&manifest, &Ledgers::example("ledger-ticket"), &stores, &variables(&bank, 60_000))
}

/// Replaces a part of the manifest that has to be there.
fn replaced(text: String, part: &str, by: &str) -> String {
    assert!(text.contains(part), "{part}");
    text.replace(part, by)
}

const INHERITS: &str = ", inherit_configuration = [\"key_value_stores\"]";

#[tokio::test(flavor = "multi_thread")]
async fn without_inheritance_the_app_does_not_start() {
    let loaded = load(|text| replaced(text, INHERITS, "")).await;
    assert!(loaded.err().is_some_and(|why| why.contains("inherits no key_value_stores")));
}

/// Spin 3.6 and 4: everything is inherited.
#[tokio::test(flavor = "multi_thread")]
async fn the_older_way_to_inherit_works_too() {
    let older = "\ndependencies_inherit_configuration = true\n\n[component.charge.variables]";
    let loaded = load(|text| {
        replaced(replaced(text, INHERITS, ""), "\n[component.charge.variables]", older)
    });
    assert!(loaded.await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_store_the_ledger_is_denied_access() {
    let stores = "key_value_stores = [\"default\"]";
    let app = load(|text| replaced(text, stores, "key_value_stores = []")).await.expect("an app");
    let double = Double::serve(app, 0).await.expect("a port");
    let reply = charge(double.address(), "order-1", 1999).await.expect("an answer");
    assert_eq!(reply.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(reply.body["error"].as_str().is_some_and(|why| why.contains("denies")), "{reply:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_version_has_to_be_that_of_the_import() {
    // The ledger of another version: the same component with another number in its names.
    let folder = tempfile::tempdir().expect("a folder");
    let instead = Ledgers::example("ledger-ticket");
    build();
    let mut bytes = fs::read(instead.ledger.expect("a file")).expect("the ledger");
    for name in ["idempotency:ledger/ledger@0.1", "idempotency:ledger/maintenance@0.1"] {
        while let Some(at) = bytes.windows(name.len()).position(|part| part == name.as_bytes()) {
            bytes[at + name.len() - 1] = b'2';
        }
    }
    let ledger = folder.path().join("ledger.wasm");
    fs::write(&ledger, bytes).expect("a file");
    let manifest = Manifest::read(Path::new(MANIFEST)).expect("the manifest");
    let (storage, bank) = (Storage::new(Kind::Sqlite), bank(0).await);
    let stores = Stores::from([("default".to_owned(), storage.open().await)]);
    let instead = Ledgers { ledger: Some(ledger), ..Ledgers::example("ledger-ticket") };
    let loaded = App::load(&manifest, &instead, &stores, &variables(&bank, 60_000));
    assert!(loaded.err().is_some_and(|why| why.contains("one version")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_misspelt_field_is_told() {
    let loaded = load(|text| replaced(text, "key_value_stores =", "key_value_store =")).await;
    assert!(loaded.err().is_some_and(|why| why.contains("key_value_store")));
}
