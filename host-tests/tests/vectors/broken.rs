//! Ledgers that are wrong in one way each: the vectors reject every one of them. Most ways are ones
//! that users of other ledgers met. What goes wrong with a failing store is not seen by vectors, which
//! run on sound ones; `faults` sees it.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use host_tests::targets::Native;
use host_tests::vectors::{read_all, run_all};
use host_tests::{Call, CallName, Probe, Strategy, Target};
use serde_json::{Value, json};

/// What a wrong ledger does to its calls and answers.
#[derive(Clone, Copy)]
enum Wrong {
    /// It takes a call for another one.
    Call(fn(&mut Call)),
    /// It answers something else.
    Answer(fn(&Call, &Value) -> Option<Value>),
    /// It takes the present holder's token for the caller's.
    AnyToken(CallName),
    /// It reads another clock.
    Clock(fn(u64) -> u64),
}

/// The answer, where the right one was this.
fn instead(answer: &Value, right: &Value, wrong: Value) -> Option<Value> {
    (answer == right).then_some(wrong)
}

fn fresh() -> Value {
    json!({"fresh": {"token": 1, "expires-at-ms": 60_000, "attempt": 1}})
}

fn recorded() -> Value {
    json!({"recorded": {"token": 1, "completed-at-ms": 1, "expires-at-ms": 60_000}})
}

const WRONGS: &[(&str, Wrong)] = &[
    ("anybody may complete", Wrong::AnyToken(CallName::Complete)),
    ("anybody may renew", Wrong::AnyToken(CallName::Renew)),
    ("anybody may release", Wrong::AnyToken(CallName::Release)),
    ("anybody may forget", Wrong::AnyToken(CallName::Forget)),
    ("a completion always upserts", Wrong::Call(|call| call.upsert_on_missing = true)),
    ("a completion never upserts", Wrong::Call(|call| call.upsert_on_missing = false)),
    ("fingerprints are not compared", Wrong::Call(|call| call.fingerprint = None)),
    ("tenants share their keys", Wrong::Call(|call| call.scope = None)),
    (
        "no scope and the empty one are the same",
        Wrong::Call(|call| {
            call.scope = call.scope.take().filter(|scope| !scope.is_empty());
        }),
    ),
    ("keys are trimmed", Wrong::Call(|call| call.key = call.key.trim().into())),
    ("keys are folded to lower case", Wrong::Call(|call| call.key = call.key.to_lowercase())),
    (
        "keys are cut to their limit",
        Wrong::Call(|call| {
            call.key = call.key.chars().take(1_024).collect();
        }),
    ),
    (
        "leases are in seconds",
        Wrong::Call(|call| {
            call.lease_ms = call.lease_ms.map(|lease| lease.saturating_mul(1_000));
        }),
    ),
    (
        "a lease of 0 is none given",
        Wrong::Call(|call| {
            call.lease_ms = call.lease_ms.filter(|lease| *lease > 0);
        }),
    ),
    (
        "a long ttl is cut",
        Wrong::Call(|call| {
            call.ttl_ms = call.ttl_ms.map(|ttl| ttl.min(86_400_000));
        }),
    ),
    (
        "an empty payload is none",
        Wrong::Call(|call| {
            call.payload = call.payload.take().filter(|bytes| !bytes.is_empty());
        }),
    ),
    (
        "payloads are parsed and written anew",
        Wrong::Call(|call| {
            let parsed = call.payload.as_deref().map(serde_json::from_slice::<Value>);
            if let Some(Ok(value)) = parsed {
                call.payload = Some(value.to_string().into_bytes());
            }
        }),
    ),
    ("a purge has no cutoff", Wrong::Call(|call| call.before_ms = None)),
    (
        "a purge has no limit",
        Wrong::Call(|call| {
            call.limit = call.limit.filter(|limit| !(1..=10_000).contains(limit)).or(Some(10_000));
        }),
    ),
    (
        "an unreadable record is none",
        Wrong::Answer(|call, answer| {
            let begins = call.name == CallName::Begin;
            instead(answer, &json!({"error": "corrupt"}), fresh()).filter(|_| begins)
        }),
    ),
    (
        "a second outcome is recorded",
        Wrong::Answer(|_, answer| instead(answer, &json!({"lost": "already-done"}), recorded())),
    ),
    (
        "a claim that was taken over has expired",
        Wrong::Answer(|_, answer| {
            instead(answer, &json!({"lost": "superseded"}), json!({"lost": "expired"}))
        }),
    ),
    (
        "whoever waits is told no time",
        Wrong::Answer(|_, answer| {
            let mut answer = answer.clone();
            *answer.get_mut("inflight")?.get_mut("retry-after-ms")? = json!(0);
            Some(answer)
        }),
    ),
    (
        "what has expired is not said to be",
        Wrong::Answer(|_, answer| {
            let mut answer = answer.clone();
            *answer.get_mut("expired")? = json!(false);
            Some(answer)
        }),
    ),
    ("the clock counts seconds", Wrong::Clock(|now_ms| now_ms / 1_000 * 1_000)),
    ("the clock is a millisecond fast", Wrong::Clock(|now_ms| now_ms.saturating_add(1))),
];

/// The native core behind what is wrong.
struct Broken {
    inner: Native,
    wrong: Wrong,
}

#[async_trait]
impl Target for Broken {
    async fn call(&self, call: &Call) -> Value {
        let mut taken = call.clone();
        match self.wrong {
            Wrong::Call(change) => change(&mut taken),
            Wrong::AnyToken(name) if call.name == name => {
                let get = Call { scope: call.scope.clone(), ..Call::get(&call.key) };
                let holder = self.inner.call(&get).await["token"].as_u64();
                taken.token = holder.or(taken.token);
            }
            _ => {}
        }
        let answer = self.inner.call(&taken).await;
        match self.wrong {
            Wrong::Answer(change) => change(call, &answer).unwrap_or(answer),
            _ => answer,
        }
    }

    fn set_clock(&self, now_ms: u64) {
        self.inner.set_clock(match self.wrong {
            Wrong::Clock(change) => change(now_ms),
            _ => now_ms,
        });
    }

    fn now_ms(&self) -> u64 {
        self.inner.now_ms()
    }

    async fn store_set(&self, key: &str, value: Vec<u8>) {
        self.inner.store_set(key, value).await;
    }

    async fn store_get(&self, key: &str) -> Option<Vec<u8>> {
        self.inner.store_get(key).await
    }

    async fn store_keys(&self) -> Vec<String> {
        self.inner.store_keys().await
    }

    async fn land(&self) {
        self.inner.land().await;
    }

    fn probe(&self) -> &Probe {
        self.inner.probe()
    }
}

#[tokio::test]
async fn broken_ledgers_are_rejected() {
    let files = read_all(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/vectors")));
    let mut passed = Vec::new();
    for (name, wrong) in WRONGS {
        let mut failures = Vec::new();
        for file in &files {
            let report = run_all(std::slice::from_ref(file), "cas", async || {
                let inner = Native::new(Strategy::Cas);
                Arc::new(Broken { inner, wrong: *wrong }) as Arc<dyn Target>
            });
            failures = report.await.failures;
            if !failures.is_empty() {
                break;
            }
        }
        match failures.first() {
            Some(first) => println!("{name}: {}", first.lines().next().unwrap_or_default()),
            None => passed.push(name),
        }
    }
    assert!(passed.is_empty(), "the vectors take these for right: {passed:?}");
}
