//! What a history of answers must keep to.

use std::collections::BTreeMap;
use std::time::Duration;

use host_tests::targets::Hosted;
use host_tests::{Call, CallName, Target};
use serde_json::Value;
use tokio::time::Instant;

use crate::explained;
use crate::load::Answered;

/// How long after the end of a fault each worker may wait for its first answer.
const BACK_WITHIN: Duration = Duration::from_secs(5);

/// What happened to one key.
#[derive(Debug, Default)]
struct Key<'a> {
    calls: Vec<&'a Answered>,
    fresh: Vec<u64>,
    /// The outcome that was answered `recorded`, and when.
    recorded: Vec<(Vec<u8>, Instant)>,
    /// Outcomes that calls showed, and when those calls started.
    shown: Vec<(Vec<u8>, Instant)>,
    /// When calls started that were answered that there is no outcome.
    without: Vec<Instant>,
}

/// Checks the history, and what the store holds now:
///
/// - each key was `fresh` once at most, as no lease ends while the test's clock stands still;
/// - one outcome at most was answered `recorded`, under the token of the claim;
/// - from then on every answer shows it, byte for byte, and so does the store in the end;
/// - two answers never show different outcomes;
/// - and the oracle of the model finds an order of all calls that explains every answer.
///
/// Prints what came about, and answers the number of errors.
pub(crate) async fn check(name: &str, target: &Hosted, history: &[Answered]) -> usize {
    let mut keys: BTreeMap<String, Key<'_>> = BTreeMap::new();
    for answered in history {
        let key = keys.entry(answered.call.key.clone()).or_default();
        key.add(answered);
        key.calls.push(answered);
    }
    let mut unfinished = 0;
    for (name, key) in &mut keys {
        let started = Instant::now();
        let answer = target.call(&Call::begin(name, 600_000)).await;
        let call = Call::begin(name, 600_000);
        let last = Answered { worker: 0, call, started, ended: started, answer };
        assert!(!last.is_error(), "{name}: {last:?}");
        key.add(&last);
        key.check(name);
        explained::explain(name, key.calls.iter().copied().chain([&last]));
        unfinished += usize::from(key.recorded.is_empty() && key.shown.is_empty());
    }
    let errors = history.iter().filter(|answered| answered.is_error()).count();
    let unknown = history.iter().filter(|one| one.answer["error"] == "outcome-unknown");
    println!(
        "{name}: {} calls on {} keys, {errors} errors ({} outcome-unknown), \
         {unfinished} keys claimed by a call that was not answered",
        history.len(),
        keys.len(),
        unknown.count()
    );
    errors
}

/// Checks that the fault met the load: for so long nobody was answered. Calls that only waited for
/// the server, and then succeeded, are as good as calls that failed.
pub(crate) fn check_away(name: &str, history: &[Answered], away: Duration) {
    let answers = history.iter().filter(|one| !one.is_error());
    let mut ends: Vec<Instant> = answers.map(|one| one.ended).collect();
    ends.sort_unstable();
    let longest = ends.windows(2).map(|two| two[1] - two[0]).max().unwrap_or_default();
    println!("{name}: nobody was answered for {} ms", longest.as_millis());
    assert!(longest >= away, "{name}: nobody noticed");
}

/// Checks that each worker was answered within 5 s of the end of the fault.
pub(crate) fn check_back(name: &str, history: &[Answered], end: Instant) {
    let mut first: BTreeMap<u64, Instant> = BTreeMap::new();
    let after = history.iter().filter(|one| !one.is_error() && one.ended >= end);
    for answered in after {
        let ended = first.entry(answered.worker).or_insert(answered.ended);
        *ended = (*ended).min(answered.ended);
    }
    let workers: std::collections::BTreeSet<u64> = history.iter().map(|one| one.worker).collect();
    assert_eq!(first.len(), workers.len(), "{name}: not everyone was answered again");
    let back = first.values().max().map_or(Duration::ZERO, |last| *last - end);
    println!("{name}: everyone was answered {} ms after the end of the fault", back.as_millis());
    assert!(back < BACK_WITHIN, "{name}: {back:?}");
}

impl Key<'_> {
    fn add(&mut self, answered: &Answered) {
        let (answer, started) = (&answered.answer, answered.started);
        match answered.call.name {
            CallName::Begin => {
                self.fresh.extend(answer["fresh"]["token"].as_u64());
                self.shown.extend(payload(&answer["done"]).map(|payload| (payload, started)));
                if answer["inflight"].is_object() || answer["fresh"].is_object() {
                    self.without.push(started);
                }
            }
            CallName::Complete if answer["recorded"].is_object() => {
                let payload = answered.call.payload.clone().unwrap_or_default();
                self.recorded.push((payload, answered.ended));
            }
            _ => {}
        }
    }

    fn check(&self, name: &str) {
        assert!(self.fresh.len() <= 1, "{name} was fresh twice: {self:?}");
        assert!(self.recorded.len() <= 1, "{name} was recorded twice: {self:?}");
        let outcomes = self.shown.iter().map(|(payload, _)| payload);
        let outcomes: Vec<_> = outcomes.chain(self.recorded.iter().map(|(one, _)| one)).collect();
        assert!(outcomes.windows(2).all(|two| two[0] == two[1]), "{name} changed: {self:?}");
        for (_, recorded) in &self.recorded {
            let lost = self.without.iter().any(|started| started > recorded);
            assert!(!lost, "the outcome of {name} is lost: {self:?}");
            assert!(!self.shown.is_empty(), "the outcome of {name} is lost: {self:?}");
        }
    }
}

pub(crate) fn payload(outcome: &Value) -> Option<Vec<u8>> {
    let hex = outcome["payload"]["hex"].as_str()?;
    let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
    Some((0..hex.len()).step_by(2).map(digits).collect())
}
