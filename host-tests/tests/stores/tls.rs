//! TLS: a server whose certificate is trusted is used, any other refused.

use host_tests::servers::{Certificate, NatsServer, PostgresServer, RedisServer};
use idempotency_ledger_host::store::open_url;

async fn trusts_what_it_is_told_to(url: &str, certificate: &Certificate) {
    let separator = if url.contains('?') { '&' } else { '?' };
    let trusting = format!("{url}{separator}tls_ca={}", certificate.path().display());
    assert_eq!(open_url(&trusting).await.unwrap().increment("c", 1).await, Ok(1));
    let stranger = Certificate::new();
    let strange = format!("{url}{separator}tls_ca={}", stranger.path().display());
    for url in [url, &strange] {
        let said = open_url(url).await.err().expect("a certificate that nobody knows");
        println!("{said}");
    }
}

#[tokio::test]
async fn redis() {
    let certificate = Certificate::new();
    let server = RedisServer::with_tls(&certificate);
    let url = server.url("p:").replace("redis:", "rediss:");
    trusts_what_it_is_told_to(&url, &certificate).await;
}

#[tokio::test]
async fn nats() {
    let certificate = Certificate::new();
    let server = NatsServer::with_tls(&certificate);
    trusts_what_it_is_told_to(&server.url("b").replace("nats:", "tls:"), &certificate).await;
}

#[tokio::test]
async fn postgres() {
    let certificate = Certificate::new();
    let server = PostgresServer::with_tls(&certificate);
    let url = format!("{}&sslmode=require", server.url("s"));
    trusts_what_it_is_told_to(&url, &certificate).await;
    // A server without TLS is refused where it is required, and used where it is not.
    let plain = PostgresServer::start();
    open_url(&plain.url("s")).await.unwrap();
    let said = open_url(&format!("{}&sslmode=require", plain.url("s"))).await.err().unwrap();
    assert!(said.to_string().contains("TLS"), "{said}");
}
