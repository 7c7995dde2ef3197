//! Charges a card once per order, however often it is asked to.
use example::shop::bank;
use exports::example::shop::charging::{Answer, Guest};
use idempotency_ledger_client::{Error, Idempotency, Run};

wit_bindgen::generate!({ path: "../wit", world: "shop" });

struct Shop;
export!(Shop);
impl Guest for Shop {
    fn charge(order: String, cents: u32) -> Result<Answer, String> {
        let charges = Idempotency::imported().scope("charges").fingerprint(cents.to_be_bytes());
        Ok(match charges.run(&order, |claim| bank::charge(&order, cents, claim.token)) {
            Ok(Run::Ran(outcome) | Run::Replayed(outcome)) => Answer::Charged(outcome.value),
            Ok(Run::Inflight(lease)) => Answer::Busy(lease.retry_after_ms),
            Ok(Run::Mismatch) => Answer::Conflict,
            Ok(Run::Lost { value, .. } | Run::NotRecorded { value, .. }) => {
                Answer::Unrecorded(value)
            }
            Err(Error::Work(refusal)) => return Err(refusal),
            Err(other) => return Err(other.to_string()),
        })
    }
}
