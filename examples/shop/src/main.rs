//! `shop COMPOSED.wasm LEDGER.db ORDER CENTS`: one request to an example component.

use std::env;

use async_trait::async_trait;
use idempotency_ledger_host::SystemClock;
use idempotency_ledger_host::store::SqliteStore;
use shop::{Answer, Bank, Shop};
use wasmtime::{Result, bail};

/// Says so when it charges.
struct Teller;

#[async_trait]
impl Bank for Teller {
    async fn charge(&self, order: &str, cents: u32, token: u64) -> Result<String, String> {
        println!("bank: charging {cents} cents for {order}");
        Ok(format!("receipt-{token}"))
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [component, ledger, order, cents] = arguments.as_slice() else {
        bail!("usage: shop COMPOSED.wasm LEDGER.db ORDER CENTS");
    };
    let (store, component) = (SqliteStore::open(ledger).await?, std::fs::read(component)?);
    let shop = Shop::load(&component, store, SystemClock, Teller)?;
    match shop.charge(order, cents.parse()?).await? {
        Ok(Answer::Charged(receipt)) => println!("charged: {}", receipt),
        Ok(Answer::Busy(retry_after_ms)) => println!("busy: ask again in {retry_after_ms} ms"),
        Ok(Answer::Conflict) => println!("conflict: the order has another amount"),
        Ok(Answer::Unrecorded(receipt)) => println!("not recorded: {}", receipt),
        Err(why) => bail!("{why}"),
    }
    Ok(())
}
