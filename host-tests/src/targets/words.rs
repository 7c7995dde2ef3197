//! Answers in the words of the WIT, as JSON. The core and the host crate name their types
//! alike, so one text makes both.

use serde_json::{Value, json};

use crate::to_hex;

/// An answer in the words of the WIT; see [`crate::Target::call`].
pub(super) trait Words {
    fn words(self) -> Value;
}

impl<A: Words, E: Words> Words for Result<A, E> {
    fn words(self) -> Value {
        self.map_or_else(|error| json!({ "error": error.words() }), Words::words)
    }
}

impl<A: Words> Words for Option<A> {
    fn words(self) -> Value {
        self.map_or(Value::Null, Words::words)
    }
}

fn payload(payload: Option<Vec<u8>>) -> Value {
    payload.map_or(Value::Null, |bytes| json!({ "hex": to_hex(&bytes) }))
}

macro_rules! words_of {
    ($types:ident) => {
        impl Words for $types::Claim {
            fn words(self) -> Value {
                json!({
                    "token": self.token,
                    "expires-at-ms": self.expires_at_ms,
                    "attempt": self.attempt,
                })
            }
        }

        impl Words for $types::Lease {
            fn words(self) -> Value {
                json!({
                    "expires-at-ms": self.expires_at_ms,
                    "retry-after-ms": self.retry_after_ms,
                })
            }
        }

        impl Words for $types::Begin {
            fn words(self) -> Value {
                match self {
                    $types::Begin::Fresh(claim) => json!({ "fresh": claim.words() }),
                    $types::Begin::Inflight(lease) => json!({ "inflight": lease.words() }),
                    $types::Begin::Done(outcome) => json!({ "done": {
                        "payload": payload(outcome.payload),
                        "token": outcome.token,
                        "completed-at-ms": outcome.completed_at_ms,
                        "expires-at-ms": outcome.expires_at_ms,
                    }}),
                    $types::Begin::Mismatch => json!("mismatch"),
                }
            }
        }

        impl Words for $types::LostReason {
            fn words(self) -> Value {
                json!({ "lost": match self {
                    $types::LostReason::Missing => "missing",
                    $types::LostReason::Expired => "expired",
                    $types::LostReason::Superseded => "superseded",
                    $types::LostReason::AlreadyDone => "already-done",
                }})
            }
        }

        impl Words for $types::Complete {
            fn words(self) -> Value {
                match self {
                    $types::Complete::Recorded(recorded) => json!({ "recorded": {
                        "token": recorded.token,
                        "completed-at-ms": recorded.completed_at_ms,
                        "expires-at-ms": recorded.expires_at_ms,
                    }}),
                    $types::Complete::Lost(reason) => reason.words(),
                }
            }
        }

        impl Words for $types::Renew {
            fn words(self) -> Value {
                match self {
                    $types::Renew::Renewed(claim) => json!({ "renewed": claim.words() }),
                    $types::Renew::Lost(reason) => reason.words(),
                }
            }
        }

        impl Words for $types::Release {
            fn words(self) -> Value {
                match self {
                    $types::Release::Released => json!("released"),
                    $types::Release::Lost(reason) => reason.words(),
                }
            }
        }

        impl Words for $types::Entry {
            fn words(self) -> Value {
                json!({
                    "state": match self.state {
                        $types::EntryState::Inflight => json!("inflight"),
                        $types::EntryState::Done(bytes) => json!({ "done": payload(bytes) }),
                    },
                    "token": self.token,
                    "attempt": self.attempt,
                    "fingerprint": self.fingerprint.as_deref().map(to_hex),
                    "claimed-at-ms": self.claimed_at_ms,
                    "completed-at-ms": self.completed_at_ms,
                    "expires-at-ms": self.expires_at_ms,
                    "expired": self.expired,
                })
            }
        }

        impl Words for $types::Forget {
            fn words(self) -> Value {
                match self {
                    $types::Forget::Forgotten => json!("forgotten"),
                    $types::Forget::Missing => json!("missing"),
                    $types::Forget::Superseded => json!("superseded"),
                    $types::Forget::Inflight(lease) => json!({ "inflight": lease.words() }),
                }
            }
        }

        impl Words for $types::PurgeReport {
            fn words(self) -> Value {
                json!({
                    "removed": self.removed,
                    "reclaimed": self.reclaimed,
                    "more": self.more,
                })
            }
        }

        impl Words for $types::Finding {
            fn words(self) -> Value {
                match self {
                    $types::Finding::Sound => json!("sound"),
                    $types::Finding::Unsound(_) => json!("unsound"),
                    $types::Finding::Untested => json!("untested"),
                }
            }
        }

        impl Words for $types::StoreReport {
            fn words(self) -> Value {
                json!({
                    "strategy": match self.strategy {
                        $types::Strategy::Cas => "cas",
                        $types::Strategy::Ticket => "ticket",
                    },
                    "sound": self.sound,
                    "read-your-writes": self.read_your_writes.words(),
                    "increment": self.increment.words(),
                    "swap-absent": self.swap_absent.words(),
                    "swap-present": self.swap_present.words(),
                    "swap-answer": self.swap_answer.words(),
                    "now-ms": self.now_ms,
                })
            }
        }
    };
}

/// The core's types.
mod core {
    pub(super) use idempotency_ledger::answer::*;
    pub(super) use idempotency_ledger::record::Strategy;
}
words_of!(core);

/// The host crate's types.
mod host {
    pub(super) use idempotency_ledger_host::*;
}
words_of!(host);

impl Words for idempotency_ledger::Error {
    fn words(self) -> Value {
        use idempotency_ledger::Error::*;
        match self {
            InvalidKey(_) => json!("invalid-key"),
            InvalidTtl(_) => json!("invalid-ttl"),
            InvalidLimit(_) => json!("invalid-limit"),
            PayloadTooLarge(limit_bytes) => json!({ "payload-too-large": limit_bytes }),
            NoSuchStore => json!("no-such-store"),
            AccessDenied => json!("access-denied"),
            Unavailable(_) => json!("unavailable"),
            OutcomeUnknown(_) => json!("outcome-unknown"),
            Contended(retry_after_ms) => json!({ "contended": retry_after_ms }),
            DeadlineExceeded => json!("deadline-exceeded"),
            Corrupt(_) => json!("corrupt"),
        }
    }
}

impl Words for idempotency_ledger_host::Error {
    fn words(self) -> Value {
        use idempotency_ledger_host::Error::*;
        match self {
            InvalidKey(_) => json!("invalid-key"),
            InvalidTtl(_) => json!("invalid-ttl"),
            InvalidLimit(_) => json!("invalid-limit"),
            PayloadTooLarge { limit_bytes } => json!({ "payload-too-large": limit_bytes }),
            NoSuchStore => json!("no-such-store"),
            AccessDenied => json!("access-denied"),
            Unavailable(_) => json!("unavailable"),
            OutcomeUnknown(_) => json!("outcome-unknown"),
            Contended { retry_after_ms } => json!({ "contended": retry_after_ms }),
            DeadlineExceeded => json!("deadline-exceeded"),
            Corrupt(_) => json!("corrupt"),
            other => json!({ "no answer of the ledger's": other.to_string() }),
        }
    }
}
