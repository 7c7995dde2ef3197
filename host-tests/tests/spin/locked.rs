//! `database is locked`: as often as it was measured on Spin, and for real, with two processes'
//! connections to one file.

use std::sync::Arc;

use host_tests::Size;
use host_tests::spin::Faults;
use hyper::StatusCode;
use tokio::task::JoinSet;

use crate::promises::{Receipts, settle_all};
use crate::scene::{Kind, Served, Setting, Storage, bank};

const CROWD: usize = 200;
const LEASE_MS: u64 = 3_000;

/// The greatest share that was measured on Spin 4.1.
const LOCKED_PER_MILLE: u32 = 130;

/// Crowds on faulty stores. When the faults are over, every key is charged within its lease and
/// the time that half-done calls are waited for.
async fn rounds(name: &str, locked_per_mille: u32, processes: usize, rounds: usize) {
    let (storage, bank) = (Storage::new(Kind::Sqlite), bank(5).await);
    let faults = Faults { locked_per_mille, ..Faults::default() };
    let setting = Setting { faults, lease_ms: LEASE_MS, ..Setting::default() };
    let mut served = Vec::new();
    for _ in 0..processes {
        served.push(Arc::new(Served::start(&storage, &bank, setting.clone()).await));
    }
    let (mut receipts, mut unavailable) = (Receipts::default(), 0);
    let keys: Vec<String> = (0..rounds).map(|round| format!("order-{round}")).collect();
    for key in &keys {
        let mut crowd = JoinSet::new();
        for number in 0..CROWD {
            let (served, key) = (Arc::clone(&served[number % processes]), key.clone());
            crowd.spawn(async move { served.charge(&key, 1999).await });
        }
        for reply in crowd.join_all().await {
            receipts.take(key, &reply);
            unavailable += usize::from(reply.status == StatusCode::SERVICE_UNAVAILABLE);
        }
    }
    let recorded = receipts.keys().len();
    let setting = Setting { lease_ms: LEASE_MS, ..Setting::default() };
    let sound = Served::start(&storage, &bank, setting).await;
    let slowest = settle_all(sound.double.address(), &keys, LEASE_MS, &mut receipts).await;
    let again = receipts.check(&bank, LEASE_MS);
    println!(
        "{name}: {rounds} rounds of {CROWD}: {unavailable} answers of 503; {recorded} keys with a \
         receipt at once, all of them {slowest:?} after the faults were over; {again} keys charged \
         again after their claim was lost"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_database_costs_a_try_at_most() {
    rounds("13 % of calls locked", LOCKED_PER_MILLE, 1, Size::from_env().pick(2, 50)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_share_a_file() {
    rounds("two processes on one file", 0, 2, Size::from_env().pick(2, 50)).await;
}
