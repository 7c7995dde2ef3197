//! Each store against the contract; what only the SQLite store promises; stores by URL.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use idempotency_ledger_host::store::{
    MemoryStore, OpenError, Page, SqliteStore, Store, StoreError, Swap, Version, Versioned,
    conformance, open_url,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_keeps_the_contract() {
    conformance::check(Arc::new(MemoryStore::new())).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sqlite_keeps_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(folder.path().join("a.db")).await.unwrap());
    conformance::check(store.clone()).await.unwrap();
    assert_eq!(store.list(None).await.unwrap(), Page::default());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_stores_on_one_file_keep_the_contract_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (one, other) = tokio::join!(SqliteStore::open(&path), SqliteStore::open(&path));
    let stores = [one.unwrap(), other.unwrap()];
    conformance::check(Arc::new(InTurn { stores, calls: AtomicUsize::new(0) })).await.unwrap();
}

#[tokio::test]
async fn sqlite_keeps_everything_when_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/a.db");
    let store = SqliteStore::open(&path).await.unwrap();
    store.set("v", b"1".to_vec()).await.unwrap();
    store.increment("c", 3).await.unwrap();
    let before = store.get("v").await.unwrap().unwrap();
    store.delete("v").await.unwrap();
    drop(store);
    let store = SqliteStore::open(&path).await.unwrap();
    assert_eq!(store.increment("c", 1).await, Ok(4));
    store.set("v", b"1".to_vec()).await.unwrap();
    assert!(store.get("v").await.unwrap().unwrap().version > before.version);
}

#[tokio::test]
async fn sqlite_refuses_what_is_not_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let refusal = async || SqliteStore::open(&path).await.unwrap_err().to_string();

    std::fs::write(&path, [b'x'; 4096]).unwrap();
    assert!(refusal().await.contains("not a database"), "{}", refusal().await);

    std::fs::remove_file(&path).unwrap();
    let foreign = rusqlite::Connection::open(&path).unwrap();
    foreign.execute_batch("CREATE TABLE t (x)").unwrap();
    assert!(refusal().await.contains("another program's"), "{}", refusal().await);
    let mode: String = foreign.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "delete", "a foreign file is left as it is");
    drop(foreign);

    std::fs::remove_file(&path).unwrap();
    drop(SqliteStore::open(&path).await.unwrap());
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 2).unwrap();
    assert!(refusal().await.contains("newer version (schema 2"), "{}", refusal().await);

    let below_a_file = SqliteStore::open(path.join("x/a.db")).await.unwrap_err().to_string();
    assert!(below_a_file.contains("cannot make the folder"), "{below_a_file}");
}

#[tokio::test]
async fn urls_name_stores() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    open_url("memory:").await.unwrap();
    for url in [format!("sqlite:{}", path.display()), format!("sqlite://{}", path.display())] {
        open_url(&url).await.unwrap().increment("c", 1).await.unwrap();
    }
    assert_eq!(SqliteStore::open(&path).await.unwrap().increment("c", 0).await, Ok(2));
    for url in ["", "memory", "memory:x", "sqlite:", "sqlite://", "redis:x", "nats:x", "/tmp/a.db"]
    {
        assert!(matches!(open_url(url).await, Err(OpenError::InvalidUrl(_))), "{url}");
    }
}

#[tokio::test]
async fn processes_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let children: Vec<Child> = (0..4).map(|_| counting_child(&path, 100)).collect();
    let mut sums = Vec::new();
    for mut child in children {
        sums.extend(counted(&mut child));
        assert!(child.wait().unwrap().success());
    }
    sums.sort_unstable();
    assert!(sums.into_iter().eq(1..=400));
}

#[tokio::test]
async fn an_answered_write_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut last = 0;
    for round in 0..10 {
        let mut child = counting_child(&path, 1_000_000);
        let mut sums = counted(&mut child);
        last = sums.by_ref().take(1 + 7 * round).last().unwrap();
        child.kill().unwrap();
        last = sums.last().unwrap_or(last);
        child.wait().unwrap();
        let store = SqliteStore::open(&path).await.unwrap();
        let now = store.increment("c", 0).await.unwrap();
        assert!(now == last || now == last + 1, "{last} was answered, {now} is there");
    }
    assert!(last >= 64);
}

/// Not a test by itself: what the two above start.
#[tokio::test]
#[ignore = "started by other tests"]
async fn child() {
    let Ok(path) = std::env::var("CHILD_PATH") else { return };
    let count: u32 = std::env::var("CHILD_COUNT").unwrap().parse().unwrap();
    let store = SqliteStore::open(path).await.unwrap();
    for _ in 0..count {
        println!("sum {}", store.increment("c", 1).await.unwrap());
    }
}

fn counting_child(path: &Path, count: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["child", "--exact", "--ignored", "--nocapture"])
        .env("CHILD_PATH", path)
        .env("CHILD_COUNT", count.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The sums that a child was answered, to the end of its output.
fn counted(child: &mut Child) -> impl Iterator<Item = i64> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines
        .map_while(Result::ok)
        .filter_map(|line| line.rsplit_once("sum ").map(|(_, sum)| sum.parse().unwrap()))
}

/// Each call goes to the next of two stores.
struct InTurn {
    stores: [SqliteStore; 2],
    calls: AtomicUsize,
}

impl InTurn {
    fn next(&self) -> &SqliteStore {
        &self.stores[self.calls.fetch_add(1, Ordering::SeqCst) % 2]
    }
}

#[async_trait::async_trait]
impl Store for InTurn {
    async fn get(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        self.next().get(key).await
    }
    async fn set(&self, key: &str, value: Vec<u8>) -> Result<(), StoreError> {
        self.next().set(key, value).await
    }
    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.next().delete(key).await
    }
    async fn increment(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        self.next().increment(key, delta).await
    }
    async fn compare_and_swap(
        &self,
        key: &str,
        expected: Option<Version>,
        value: Vec<u8>,
    ) -> Result<Swap, StoreError> {
        self.next().compare_and_swap(key, expected, value).await
    }
    async fn list(&self, cursor: Option<String>) -> Result<Page, StoreError> {
        self.next().list(cursor).await
    }
}
