//! `spin-double MANIFEST`: serves a Spin app on the double of Spin. The first line that it prints
//! is where it listens.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use host_tests::spin::{
    App, Bank, Double, Engine, Faults, Faulty, Ledgers, Manifest, RedisEngine, SqliteEngine,
    Stores, request,
};
use hyper::Method;
use serde_json::json;

/// Serve a Spin app on the double of Spin, until it is stopped.
#[derive(Parser)]
struct Arguments {
    /// The app's spin.toml.
    manifest: PathBuf,
    /// The app's module or component, instead of the manifest's.
    #[arg(long)]
    source: Option<PathBuf>,
    /// The ledger, instead of the manifest's.
    #[arg(long)]
    ledger: Option<PathBuf>,
    /// Port of loopback to listen on; any that is free unless given.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// File of the store `default`.
    #[arg(long, conflicts_with = "redis", required_unless_present = "redis")]
    sqlite: Option<PathBuf>,
    /// Server of the store `default`: redis://HOST:PORT/.
    #[arg(long)]
    redis: Option<String>,
    /// A variable of the app: NAME=VALUE.
    #[arg(long = "variable", value_parser = variable)]
    variables: Vec<(String, String)>,
    /// Start a bank, and set the app's variable `bank_host` to it.
    #[arg(long)]
    bank: bool,
    /// Send the example some requests, show what it answers, and end.
    #[arg(long)]
    show: bool,
    /// Die by SIGKILL at this call of the store.
    #[arg(long)]
    dies_at: Option<u64>,
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("NAME=VALUE is missing its `=`")?;
    Ok((name.to_owned(), value.to_owned()))
}

#[tokio::main]
async fn main() -> ExitCode {
    match serve(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("spin-double: {why}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(mut arguments: Arguments) -> Result<(), String> {
    let store: Arc<dyn Engine> = match (&arguments.sqlite, &arguments.redis) {
        (Some(path), _) => Arc::new(SqliteEngine::open(path, "default")?),
        (None, url) => Arc::new(RedisEngine::connect(url.as_deref().unwrap_or_default()).await?),
    };
    let faults = Faults { dies_at: arguments.dies_at, ..Faults::default() };
    let store: Arc<dyn Engine> = Arc::new(Faulty::new(store, faults, 0));
    let bank = if arguments.bank { Some(Bank::open(Duration::ZERO, true).await) } else { None };
    if let Some(bank) = &bank {
        arguments.variables.push(("bank_host".to_owned(), bank.host()));
    }
    let stores = Stores::from([("default".to_owned(), store)]);
    let instead = Ledgers { source: arguments.source, ledger: arguments.ledger };
    let manifest = Manifest::read(&arguments.manifest)?;
    let app = App::load(&manifest, &instead, &stores, &arguments.variables)?;
    let double = Double::serve(app, arguments.port).await?;
    println!("listening on http://{}", double.address());
    if arguments.show {
        let operator = arguments.variables.iter().find(|(name, _)| name == "operator_token");
        return show(double.address(), operator.map_or("", |(_, token)| token)).await;
    }
    std::future::pending().await
}

/// A charge, its replay, another amount under its key, and what an operator asks.
async fn show(address: SocketAddr, operator_token: &str) -> Result<(), String> {
    for cents in [1_999, 1_999, 2_000] {
        println!("POST /charge, Idempotency-Key: order-1, {cents} cents");
        let body = json!({ "order": "order-1", "cents": cents }).to_string();
        let key = [("idempotency-key", "order-1")];
        send(address, Method::POST, "/charge", &key, body).await?;
    }
    let bearer = format!("Bearer {operator_token}");
    let routes = [(Method::GET, "/check-store"), (Method::POST, "/purge")];
    // Without a token there are no such routes.
    for (method, path) in routes.into_iter().filter(|_| !operator_token.is_empty()) {
        println!("{method} {path}");
        let token = [("authorization", bearer.as_str())];
        send(address, method, path, &token, String::new()).await?;
    }
    Ok(())
}

async fn send(
    address: SocketAddr,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: String,
) -> Result<(), String> {
    let reply = request(address, method, path, headers, body).await?;
    print!("{} {}", reply.status.as_u16(), reply.body);
    for name in ["idempotent-replayed", "retry-after"] {
        if let Some(value) = reply.headers.get(name) {
            print!(" {name}: {}", value.to_str().unwrap_or_default());
        }
    }
    println!();
    Ok(())
}
