//! What each request is answered, on both stores.

use host_tests::spin::request;
use hyper::{Method, StatusCode};

use crate::scene::{ENGINES, Served, Setting, Storage, bank};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_charge_is_made_once_and_replayed() {
    for kind in ENGINES {
        let (storage, bank) = (Storage::new(kind), bank(0).await);
        let served = Served::start(&storage, &bank, Setting::default()).await;
        let first = served.charge("order-1", 1999).await;
        assert_eq!(first.status, StatusCode::CREATED, "{first:?}");
        assert!(!first.headers.contains_key("idempotent-replayed"), "{first:?}");
        let again = served.charge("order-1", 1999).await;
        assert_eq!((again.status, &again.body), (first.status, &first.body));
        assert_eq!(again.headers["idempotent-replayed"], "true");
        let other = served.charge("order-1", 2000).await;
        assert_eq!(other.status, StatusCode::UNPROCESSABLE_ENTITY, "{other:?}");
        assert_eq!(bank.charges().len(), 1, "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_requests_are_told_why() {
    let (storage, bank) = (Storage::new(ENGINES[0]), bank(0).await);
    let served = Served::start(&storage, &bank, Setting::default()).await;
    let send = async |method: Method, path: &str, key: &[(&str, &str)], body: &str| {
        let reply = request(served.double.address(), method, path, key, body.to_owned()).await;
        reply.expect("an answer")
    };
    let order = r#"{"order": "order-1", "cents": 1999}"#;
    let long = "k".repeat(1_025);
    let rows = [
        (send(Method::POST, "/charge", &[], order).await, StatusCode::BAD_REQUEST, "missing"),
        (
            send(Method::POST, "/charge", &[("idempotency-key", &long)], order).await,
            StatusCode::BAD_REQUEST,
            "key",
        ),
        (
            send(Method::POST, "/charge", &[("idempotency-key", "k")], "{}").await,
            StatusCode::BAD_REQUEST,
            "order",
        ),
        (send(Method::GET, "/charge", &[], "").await, StatusCode::NOT_FOUND, "route"),
        (send(Method::POST, "/purge", &[], "").await, StatusCode::FORBIDDEN, "operator"),
        (
            send(Method::POST, "/purge", &[("authorization", "Bearer guess")], "").await,
            StatusCode::FORBIDDEN,
            "operator",
        ),
        (send(Method::GET, "/check-store", &[], "").await, StatusCode::FORBIDDEN, "operator"),
    ];
    for (reply, status, word) in rows {
        assert_eq!(reply.status, status, "{reply:?}");
        assert!(reply.body["error"].as_str().is_some_and(|why| why.contains(word)), "{reply:?}");
    }
    assert_eq!(bank.charges(), []);
}

/// Work that failed is not recorded: another try asks the bank again, at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_is_told_and_can_be_tried_again() {
    let (storage, bank) = (Storage::new(ENGINES[0]), bank(0).await);
    let served = Served::start(&storage, &bank, Setting::default()).await;
    for (order, status) in
        [("refused-1", StatusCode::PAYMENT_REQUIRED), ("silent-1", StatusCode::BAD_GATEWAY)]
    {
        for tries in 1..=2 {
            let reply = served.charge(order, 1999).await;
            assert_eq!(reply.status, status, "{reply:?}");
            assert_eq!(bank.tokens(order).len(), tries);
        }
        let tokens = bank.tokens(order);
        assert!(tokens[0] < tokens[1], "the bank can fence: {tokens:?}");
    }
}
