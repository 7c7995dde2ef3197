//! A shop with a bank that does what the name of the order says.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use idempotency_ledger_host::ManualClock;
use idempotency_ledger_host::store::MemoryStore;
use shop::{Answer, Bank, Shop};
use tokio::sync::Notify;

/// The lease of a claim where the app asks for none.
pub(crate) const LEASE_MS: u64 = 60_000;

/// A bank under the test's hand. Of each kind of order only the first charge is special.
#[derive(Clone)]
pub(crate) struct TestBank {
    clock: ManualClock,
    /// What was asked, with the token; also what was then refused.
    asked: Arc<Mutex<Vec<(String, u64)>>>,
    /// A slow charge has begun.
    begun: Arc<Notify>,
    /// The slow charge may end.
    go_on: Arc<Notify>,
}

#[async_trait]
impl Bank for TestBank {
    async fn charge(&self, order: &str, _cents: u32, token: u64) -> Result<String, String> {
        let first = self.tokens(order).is_empty();
        self.asked.lock().expect("a list").push((order.to_owned(), token));
        match order.split('-').next() {
            Some("slow") if first => {
                self.begun.notify_one();
                self.go_on.notified().await;
            }
            Some("late") if first => self.clock.advance_ms(LEASE_MS),
            Some("refused") if first => return Err("the card is blocked".to_owned()),
            _ => {}
        }
        Ok(format!("receipt-{order}-{token}"))
    }
}

impl TestBank {
    fn tokens(&self, order: &str) -> Vec<u64> {
        let asked = self.asked.lock().expect("a list");
        asked.iter().filter(|(of, _)| of == order).map(|(_, token)| *token).collect()
    }
}

/// A composed component, and the bank and clock that it is given.
pub(crate) struct Scene {
    shop: Shop,
    bank: TestBank,
}

impl Scene {
    pub(crate) fn new(component: &[u8]) -> Self {
        let clock = ManualClock::new(1_000_000);
        let bank = TestBank {
            clock: clock.clone(),
            asked: Arc::default(),
            begun: Arc::default(),
            go_on: Arc::default(),
        };
        let store = MemoryStore::new();
        let shop = Shop::load(component, store, clock, bank.clone()).expect("a composed component");
        Self { shop, bank }
    }

    async fn charge(&self, order: &str, cents: u32) -> Result<Answer, String> {
        self.shop.charge(order, cents).await.expect("a component that does not trap")
    }

    /// The answer to whoever asks when the order is charged.
    async fn charged(&self, order: &str) -> String {
        match self.charge(order, 1999).await {
            Ok(Answer::Charged(receipt)) => receipt,
            other => panic!("{order}: {other:?}"),
        }
    }

    /// The ancestor's example: fresh, in flight with its back-off, done, and a lost claim; and
    /// what else a request can meet.
    pub(crate) async fn play(&self) {
        self.fresh_then_done().await;
        self.in_flight_backs_off().await;
        self.a_lost_claim_has_its_receipt_in_hand().await;
        self.refused_work_is_released().await;
        self.another_amount_is_a_conflict().await;
        self.a_bad_key_is_told().await;
    }

    async fn fresh_then_done(&self) {
        let receipt = self.charged("plain-1").await;
        let token = self.bank.tokens("plain-1")[0];
        assert_eq!(receipt, format!("receipt-plain-1-{token}"));
        assert_eq!(self.charged("plain-1").await, receipt);
        assert_eq!(self.bank.tokens("plain-1").len(), 1);
    }

    async fn in_flight_backs_off(&self) {
        let first = tokio::spawn({
            let shop = self.shop.clone();
            async move { shop.charge("slow-1", 1999).await }
        });
        self.bank.begun.notified().await;
        let busy = |answer| matches!(answer, Ok(Answer::Busy(ms)) if ms == LEASE_MS);
        assert!(busy(self.charge("slow-1", 1999).await));
        self.bank.clock.advance_ms(20_000);
        let answer = self.charge("slow-1", 1999).await;
        assert!(matches!(answer, Ok(Answer::Busy(40_000))), "{answer:?}");
        self.bank.go_on.notify_one();
        let ended = tokio::time::timeout(Duration::from_secs(30), first).await;
        let answer = ended.expect("in time").expect("no panic").expect("no trap");
        assert!(matches!(answer, Ok(Answer::Charged(_))), "{answer:?}");
        self.charged("slow-1").await;
        assert_eq!(self.bank.tokens("slow-1").len(), 1);
    }

    /// The bank takes longer than the lease; then the next request is fresh.
    async fn a_lost_claim_has_its_receipt_in_hand(&self) {
        let answer = self.charge("late-1", 1999).await;
        let Ok(Answer::Unrecorded(receipt)) = answer else { panic!("{answer:?}") };
        assert!(receipt.starts_with("receipt-late-1-"), "{receipt:?}");
        let again = self.charged("late-1").await;
        assert_ne!(again, receipt);
        let tokens = self.bank.tokens("late-1");
        assert!(tokens.len() == 2 && tokens[0] < tokens[1], "the bank can fence: {tokens:?}");
    }

    async fn refused_work_is_released(&self) {
        let refused = self.charge("refused-1", 1999).await;
        assert_eq!(refused.err().as_deref(), Some("the card is blocked"));
        // At once, without waiting for the lease.
        self.charged("refused-1").await;
    }

    async fn another_amount_is_a_conflict(&self) {
        let answer = self.charge("plain-1", 2000).await;
        assert!(matches!(answer, Ok(Answer::Conflict)), "{answer:?}");
    }

    async fn a_bad_key_is_told(&self) {
        let answer = self.charge("", 1999).await;
        let Err(why) = answer else { panic!("{answer:?}") };
        assert!(why.contains("key"), "{why}");
    }
}
