//! Calls that are answered in every way there is, on keys that must not be seen.

use std::time::Duration;

use idempotency_ledger_host::{
    BeginOptions, CompleteOptions, Ledger, PurgeOptions, RenewOptions, Token,
};

use crate::faulty::{Fault, Faulty};
use crate::spans::subscribe;

const SCOPE: Option<&str> = Some("secret scope");
const LEASE: Duration = Duration::from_secs(60);
const UNKNOWN: &str = "secret unknown";

/// A ledger whose calls are answered in every way.
pub(crate) struct Scene {
    pub(crate) store: Faulty,
    ledger: Ledger,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        subscribe();
        let store = Faulty::new();
        let builder = Ledger::builder(store.clone()).clock(store.clock.clone());
        let ledger = builder.store_timeout(Duration::from_millis(50)).build().await;
        Self { store, ledger: ledger.expect("the component") }
    }

    /// Everything, in turn. What is answered shows in what was observed.
    pub(crate) async fn play(&self) {
        self.claims().await;
        self.holders().await;
        self.operators().await;
        self.bad_input().await;
        self.failing_store().await;
    }

    pub(crate) async fn begin(&self, key: &str) -> Token {
        self.begin_for(key, b"secret print", LEASE).await
    }

    /// The token, or 0 where the key was not claimed.
    async fn begin_for(&self, key: &str, fingerprint: &[u8], lease: Duration) -> Token {
        let options = BeginOptions {
            scope: SCOPE.map(Into::into),
            lease: Some(lease),
            fingerprint: Some(fingerprint.to_vec()),
        };
        match self.ledger.begin(key, &options).await {
            Ok(idempotency_ledger_host::Begin::Fresh(claim)) => claim.token,
            _ => 0,
        }
    }

    async fn complete(&self, key: &str, token: Token, ttl: Duration) {
        let options = CompleteOptions {
            scope: SCOPE.map(Into::into),
            token: Some(token),
            ttl: Some(ttl),
            upsert_on_missing: false,
        };
        let _ = self.ledger.complete(key, Some(b"secret payload".to_vec()), &options).await;
    }

    async fn renew(&self, key: &str, token: Token) {
        let options = RenewOptions { scope: SCOPE.map(Into::into), lease: Some(LEASE) };
        let _ = self.ledger.renew(key, token, &options).await;
    }

    async fn claims(&self) {
        let token = self.begin("secret key").await;
        self.begin("secret key").await;
        self.begin_for("secret key", b"another secret", LEASE).await;
        let _ = self.ledger.get("secret key", SCOPE).await;
        self.complete("secret key", token, LEASE).await;
        self.begin("secret key").await;
        let _ = self.ledger.get("secret key", SCOPE).await;
        let _ = self.ledger.get(UNKNOWN, SCOPE).await;
    }

    /// What a holder is answered: its claim lives, is another's, has expired, is done, or is
    /// not there.
    async fn holders(&self) {
        let done = self.begin("secret done").await;
        self.complete("secret done", done, LEASE).await;
        let live = self.begin("secret live").await;
        let late = self.begin_for("secret late", b"p", Duration::from_millis(1)).await;
        self.store.pass_ms(1_000);
        let claims =
            [("secret live", live + 1), ("secret late", late), ("secret done", done), (UNKNOWN, 1)];
        for (key, token) in claims {
            self.complete(key, token, LEASE).await;
            self.renew(key, token).await;
            let _ = self.ledger.release(key, token, SCOPE).await;
        }
        self.renew("secret live", live).await;
        let _ = self.ledger.release("secret live", live, SCOPE).await;
    }

    async fn operators(&self) {
        let token = self.begin("secret forgotten").await;
        let _ = self.ledger.forget("secret forgotten", token, SCOPE).await;
        self.complete("secret forgotten", token, LEASE).await;
        let _ = self.ledger.forget("secret forgotten", token + 1, SCOPE).await;
        let _ = self.ledger.forget("secret forgotten", token, SCOPE).await;
        let _ = self.ledger.forget(UNKNOWN, token, SCOPE).await;
        for key in ["secret 1", "secret 2"] {
            self.begin(key).await;
        }
        // Two purges that remove, and an hour later two that reclaim.
        for _ in 0..2 {
            self.store.pass_ms(2 * 3_600_000);
            for limit in [1, 200] {
                let options = PurgeOptions { before_ms: None, limit: Some(limit) };
                let _ = self.ledger.purge(&options).await;
            }
        }
        let _ = self.ledger.check_store().await;
        self.store.set(Some(Fault::LostSwaps));
        let _ = self.ledger.check_store().await;
        self.store.set(None);
    }

    async fn bad_input(&self) {
        self.begin("").await;
        self.begin_for("secret key", b"p", Duration::ZERO).await;
        let options = PurgeOptions { before_ms: None, limit: Some(0) };
        let _ = self.ledger.purge(&options).await;
        let large = vec![b'x'; 524_289];
        let _ = self.ledger.complete("secret key", Some(large), &CompleteOptions::default()).await;
    }

    async fn failing_store(&self) {
        for fault in [
            Fault::NoSuchStore,
            Fault::AccessDenied,
            Fault::Other,
            Fault::FromSwapOn,
            Fault::LostSwaps,
            Fault::Slow,
            Fault::Garbage,
            Fault::Hangs,
            Fault::Panics,
        ] {
            // Something for `Garbage` to be in place of.
            self.begin("secret trouble").await;
            self.store.pass_ms(3_600_000);
            self.store.set(Some(fault));
            self.begin("secret trouble").await;
            self.store.set(None);
        }
    }
}
