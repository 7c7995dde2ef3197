//! The server dies by `SIGKILL` at a call of its store, again and again.

use std::path::Path;

use fastrand::Rng;
use host_tests::Size;
use host_tests::servers::SpinServer;
use host_tests::spin::{Bank, Ledgers};

use crate::promises::{Receipts, settle_all};
use crate::scene::{ENGINES, Kind, MANIFEST, Storage, bank, build, charge, variables};

const LEASE_MS: u64 = 2_000;

/// Deaths come within so many calls of the store: some charges.
const MAX_CALLS: u64 = 100;

/// Requests with one key at once, and keys from before that are asked for again.
const CROWD: usize = 3;
const OLDER: usize = 5;

fn start(storage: &Storage, bank: &Bank, number: usize, dies_at: Option<u64>) -> SpinServer {
    let instead = Ledgers::example("ledger-ticket");
    let path = |path: &Path| path.display().to_string();
    let mut arguments = vec![MANIFEST.to_owned()];
    for (flag, file) in [("--source", instead.source), ("--ledger", instead.ledger)] {
        arguments.extend([flag.to_owned(), path(&file.expect("a file"))]);
    }
    for (name, value) in variables(bank, LEASE_MS) {
        arguments.extend(["--variable".to_owned(), format!("{name}={value}")]);
    }
    let store = match &storage.redis {
        None => ["--sqlite".to_owned(), path(&storage.folder.path().join("sqlite_key_value.db"))],
        Some(redis) => ["--redis".to_owned(), format!("redis://127.0.0.1:{}/", redis.port())],
    };
    arguments.extend(store);
    if let Some(call) = dies_at {
        arguments.extend(["--dies-at".to_owned(), call.to_string()]);
    }
    let log = storage.folder.path().join(format!("log-{number}"));
    SpinServer::start(Path::new(env!("CARGO_BIN_EXE_spin-double")), &arguments, &log)
}

/// Charges until the server dies, new keys and some that have no receipt yet.
async fn charge_until_it_dies(
    server: &mut SpinServer,
    number: usize,
    pending: &mut Vec<String>,
    receipts: &mut Receipts,
) {
    let address = server.address();
    for round in 0.. {
        if server.is_over() {
            return;
        }
        let key = format!("order-{number}-{round}");
        let older = pending.iter().rev().take(OLDER).cloned();
        let mut keys: Vec<String> = older.collect();
        keys.extend(vec![key.clone(); CROWD]);
        pending.push(key);
        let tasks: Vec<_> = keys
            .into_iter()
            .map(|key| tokio::spawn(async move { (charge(address, &key, 1999).await, key) }))
            .collect();
        for task in tasks {
            let (reply, key) = task.await.expect("no panic");
            if reply.is_ok_and(|reply| receipts.take(&key, &reply)) {
                pending.retain(|pending| *pending != key);
            }
        }
    }
}

async fn kill_again_and_again(kind: Kind, kills: usize) {
    build();
    let (storage, bank, mut rng) = (Storage::new(kind), bank(1).await, Rng::with_seed(7));
    let (mut pending, mut receipts) = (Vec::new(), Receipts::default());
    for number in 0..kills {
        let dies_at = rng.u64(1..=MAX_CALLS);
        let mut server = start(&storage, &bank, number, Some(dies_at));
        charge_until_it_dies(&mut server, number, &mut pending, &mut receipts).await;
    }
    let server = start(&storage, &bank, kills, None);
    let stuck = settle_all(server.address(), &pending, LEASE_MS, &mut receipts).await;
    // What was recorded before a death is there after it.
    settle_all(server.address(), &receipts.keys(), LEASE_MS, &mut receipts).await;
    let again = receipts.check(&bank, LEASE_MS);
    println!(
        "{kind:?}: {kills} deaths by SIGKILL, {} keys, {} without a receipt after the last, all \
         of them free after {stuck:?}; {again} charged again after their claim was lost",
        receipts.keys().len(),
        pending.len(),
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deaths_lose_nothing() {
    for kind in ENGINES {
        kill_again_and_again(kind, Size::from_env().pick(4, 100)).await;
    }
}
