//! The oracle bites: histories that break a promise have no explanation.

use idempotency_ledger::answer::{Begin, Claim, Complete, Lease, LostReason, Recorded};
use idempotency_ledger::clock::Millis;

use super::history::{Answer, Call, Operation, Token};
use super::oracle::explains;

const BEGIN: Call = Call::Begin { lease_ms: 10 };
const COMPLETE: Call = Call::Complete { token: Token::Own, ttl_ms: 20, upsert: false, payload: 1 };

/// A call that was made at `called` and answered at once.
fn step(
    called: usize,
    call: Call,
    token: Option<u64>,
    now_ms: Millis,
    answer: Answer,
) -> Operation {
    Operation {
        worker: called,
        call,
        token,
        called,
        answered: Some((called + 1, answer)),
        clock_ms: vec![now_ms],
    }
}

fn fresh(token: u64, now_ms: Millis, attempt: u32) -> Answer {
    Answer::Begin(Begin::Fresh(Claim { token, expires_at_ms: now_ms + 10, attempt }))
}

fn recorded(token: u64, now_ms: Millis) -> Answer {
    Answer::Complete(Complete::Recorded(Recorded {
        token,
        completed_at_ms: now_ms,
        expires_at_ms: now_ms + 20,
    }))
}

fn lost(reason: LostReason) -> Answer {
    Answer::Complete(Complete::Lost(reason))
}

#[test]
fn an_honest_history_is_explained() {
    assert!(explains(&[
        step(1, BEGIN, None, 100, fresh(100, 100, 1)),
        step(
            3,
            BEGIN,
            None,
            109,
            Answer::Begin(Begin::Inflight(Lease { expires_at_ms: 110, retry_after_ms: 1 }))
        ),
        step(5, BEGIN, None, 110, fresh(110, 110, 2)),
        step(7, COMPLETE, Some(100), 111, lost(LostReason::Superseded)),
        step(9, COMPLETE, Some(110), 112, recorded(110, 112)),
        step(11, COMPLETE, Some(110), 113, lost(LostReason::AlreadyDone)),
    ]));
}

#[test]
fn broken_promises_are_not() {
    let claim = || step(1, BEGIN, None, 100, fresh(100, 100, 1));
    let rows: [(&str, Vec<Operation>); 7] = [
        ("two live claims", vec![claim(), step(3, BEGIN, None, 109, fresh(109, 109, 2))]),
        ("the same token again", vec![claim(), step(3, BEGIN, None, 110, fresh(100, 110, 2))]),
        ("a forgotten attempt", vec![claim(), step(3, BEGIN, None, 110, fresh(110, 110, 1))]),
        (
            "two outcomes",
            vec![
                claim(),
                step(3, COMPLETE, Some(100), 105, recorded(100, 105)),
                step(5, COMPLETE, Some(100), 106, recorded(100, 106)),
            ],
        ),
        (
            "an outcome past the lease",
            vec![claim(), step(3, COMPLETE, Some(100), 110, recorded(100, 110))],
        ),
        (
            "a stale worker's outcome",
            vec![
                claim(),
                step(3, BEGIN, None, 110, fresh(110, 110, 2)),
                step(5, COMPLETE, Some(100), 111, recorded(100, 111)),
            ],
        ),
        (
            "a hint beyond the lease",
            vec![
                claim(),
                step(
                    3,
                    BEGIN,
                    None,
                    105,
                    Answer::Begin(Begin::Inflight(Lease { expires_at_ms: 110, retry_after_ms: 6 })),
                ),
            ],
        ),
    ];
    for (name, history) in rows {
        assert!(!explains(&history), "{name}");
    }
}
