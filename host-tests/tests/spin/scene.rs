//! The example, served, with a store, faults and a bank.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Once};
use std::time::Duration;

use host_tests::Probe;
use host_tests::servers::RedisServer;
use host_tests::spin::{
    App, Bank, Double, Engine, Faults, Faulty, Ledgers, Manifest, RedisEngine, Reply, SqliteEngine,
    Stores, request,
};
use hyper::Method;
use serde_json::json;
use tempfile::TempDir;

/// The engines behind Spin's stores.
pub(crate) const ENGINES: [Kind; 2] = [Kind::Sqlite, Kind::Redis];

/// Who knows it may purge.
pub(crate) const OPERATOR: &str = "operator";

/// The example's manifest.
pub(crate) const MANIFEST: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/spin/spin.toml");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Redis,
}

/// A store that outlives those who use it.
pub(crate) struct Storage {
    pub(crate) folder: TempDir,
    pub(crate) redis: Option<RedisServer>,
}

impl Storage {
    pub(crate) fn new(kind: Kind) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the store");
        Self { folder, redis: (kind == Kind::Redis).then(RedisServer::start) }
    }

    /// The store as one process of Spin has it.
    pub(crate) async fn open(&self) -> Arc<dyn Engine> {
        match &self.redis {
            None => {
                let path = self.folder.path().join("sqlite_key_value.db");
                Arc::new(SqliteEngine::open(&path, "default").expect("a file"))
            }
            Some(redis) => {
                let url = format!("redis://127.0.0.1:{}/", redis.port());
                Arc::new(RedisEngine::connect(&url).await.expect("a server"))
            }
        }
    }
}

/// How an app is served.
#[derive(Clone)]
pub(crate) struct Setting {
    pub(crate) ledger: &'static str,
    pub(crate) faults: Faults,
    pub(crate) lease_ms: u64,
}

impl Default for Setting {
    fn default() -> Self {
        Self { ledger: "ledger-ticket", faults: Faults::default(), lease_ms: 60_000 }
    }
}

/// An app that is served, over the store of one process.
pub(crate) struct Served {
    pub(crate) double: Double,
    pub(crate) probe: Arc<Probe>,
}

impl Served {
    pub(crate) async fn start(storage: &Storage, bank: &Bank, setting: Setting) -> Self {
        build();
        let store = Faulty::new(storage.open().await, setting.faults, 1);
        let probe = store.probe();
        let stores = Stores::from([("default".to_owned(), Arc::new(store) as Arc<dyn Engine>)]);
        let manifest = Manifest::read(Path::new(MANIFEST)).expect("the manifest");
        let instead = Ledgers::example(setting.ledger);
        let variables = variables(bank, setting.lease_ms);
        let app = App::load(&manifest, &instead, &stores, &variables).expect("the app");
        let double = Double::serve(app, 0).await.expect("a port");
        Self { double, probe }
    }

    /// Charges under a key.
    pub(crate) async fn charge(&self, key: &str, cents: u32) -> Reply {
        charge(self.double.address(), key, cents).await.expect("an answer")
    }

    /// A route of the operator's.
    pub(crate) async fn operator(&self, method: Method, path: &str) -> Reply {
        let token = format!("Bearer {OPERATOR}");
        let headers = [("authorization", token.as_str())];
        let reply = request(self.double.address(), method, path, &headers, String::new()).await;
        reply.expect("an answer")
    }
}

/// The variables of the example.
pub(crate) fn variables(bank: &Bank, lease_ms: u64) -> Vec<(String, String)> {
    let variables = [
        ("operator_token", OPERATOR.to_owned()),
        ("bank_host", bank.host()),
        ("lease_ms", lease_ms.to_string()),
    ];
    variables.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// Charges the order of the same name under a key.
pub(crate) async fn charge(
    address: std::net::SocketAddr,
    key: &str,
    cents: u32,
) -> Result<Reply, String> {
    let body = json!({ "order": key, "cents": cents }).to_string();
    request(address, Method::POST, "/charge", &[("idempotency-key", key)], body).await
}

/// A bank that takes so long.
pub(crate) async fn bank(pause_ms: u64) -> Bank {
    Bank::open(Duration::from_millis(pause_ms), false).await
}

/// Builds the example, once per run of the tests, as a reader would.
pub(crate) fn build() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut cargo = Command::new("cargo");
        // The cargo that runs this test has set variables for it alone.
        for (name, _) in std::env::vars() {
            if name == "CARGO" || name.starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" {
                cargo.env_remove(name);
            }
        }
        let status = cargo.args(["xtask", "spin", "build"]).current_dir(root).status();
        assert!(status.expect("cargo").success(), "`cargo xtask spin build` failed");
    });
}
