//! What happened, for people and for the oracle.

use std::fmt::{Display, Write};

use idempotency_ledger::answer::{Begin, Complete, Renew};
use idempotency_ledger::clock::Millis;

use super::plan::ADDRESSES;
use crate::oracle::{Answer, Call, Operation};

/// The most of a value that is printed.
const BRIEF_BYTES: usize = 160;

/// The history so far. The same seed makes the same text, byte for byte.
#[derive(Default)]
pub(super) struct Notes {
    text: String,
    /// Each call, and its key; none for a purge, which is about all.
    operations: Vec<(Option<usize>, Operation)>,
    last: usize,
}

/// The beginning of a value, on one line.
pub(super) fn brief(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(&value[..value.len().min(BRIEF_BYTES)]).into_owned();
    format!("{} ({} bytes)", text.escape_debug(), value.len())
}

impl Notes {
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// One line about what a process does, or is done to it.
    pub(super) fn line(&mut self, process: usize, what: impl Display) {
        let _ = writeln!(self.text, "  {process}: {what}");
    }

    /// One line about the world.
    pub(super) fn world(&mut self, what: impl Display) {
        let _ = writeln!(self.text, "{what}");
    }

    /// The clock moved while some calls were under way.
    pub(super) fn tick(&mut self, under_way: impl Iterator<Item = usize>, now_ms: Millis) {
        for at in under_way {
            let clock_ms = &mut self.operations[at].1.clock_ms;
            if !clock_ms.contains(&now_ms) {
                clock_ms.push(now_ms);
            }
        }
    }

    /// A call begins; answers its place.
    pub(super) fn call(
        &mut self,
        worker: usize,
        key: Option<usize>,
        (call, token): (Call, Option<u64>),
        now_ms: Millis,
    ) -> usize {
        let on = key.map_or_else(|| "all keys".to_owned(), |key| format!("{:?}", ADDRESSES[key]));
        self.line(worker, format!("{call:?} on {on}"));
        let called = self.next();
        let operation =
            Operation { worker, call, token, called, answered: None, clock_ms: vec![now_ms] };
        self.operations.push((key, operation));
        self.operations.len() - 1
    }

    /// It ends.
    pub(super) fn answer(&mut self, at: usize, answer: Answer) {
        let worker = self.operations[at].1.worker;
        self.line(worker, format!("answered {answer:?}"));
        let answered = self.next();
        self.operations[at].1.answered = Some((answered, answer));
    }

    fn next(&mut self) -> usize {
        self.last += 1;
        self.last
    }

    /// How many purges died or failed, perhaps half-way.
    pub(super) fn stopped_purges(&self) -> usize {
        let stopped = |(key, operation): &&(Option<usize>, Operation)| {
            key.is_none() && matches!(operation.answered, None | Some((_, Answer::Error(_))))
        };
        self.operations.iter().filter(stopped).count()
    }

    /// What concerns one of `keys` keys.
    pub(super) fn of_key(&self, key: usize, keys: usize) -> Vec<Operation> {
        let concerns = |on: &Option<usize>| on.is_none_or(|on| on == key);
        let mut operations: Vec<Operation> = self
            .operations
            .iter()
            .filter(|(on, _)| concerns(on))
            .map(|(_, operation)| operation.clone())
            .collect();
        for operation in operations.iter_mut().filter(|_| keys > 1) {
            if let Some((_, answer @ Answer::Purge(_))) = &mut operation.answered
                && let Answer::Purge(report) = *answer
            {
                *answer = Answer::Swept(report);
            }
        }
        operations
    }
}

/// Token and expiry that an answer tells.
pub(super) fn told(answer: &Answer) -> Option<(u64, Millis)> {
    match answer {
        Answer::Begin(Begin::Fresh(claim)) | Answer::Renew(Renew::Renewed(claim)) => {
            Some((claim.token, claim.expires_at_ms))
        }
        Answer::Begin(Begin::Done(outcome)) => Some((outcome.token, outcome.expires_at_ms)),
        Answer::Complete(Complete::Recorded(recorded)) => {
            Some((recorded.token, recorded.expires_at_ms))
        }
        Answer::Get(Some(entry)) => Some((entry.token, entry.expires_at_ms)),
        _ => None,
    }
}

/// Fencing: every claim has a token greater than all claims that were answered before it began.
pub(super) fn tokens_grow(operations: &[Operation]) -> bool {
    let claims = || {
        operations.iter().filter_map(|operation| match &operation.answered {
            Some((at, Answer::Begin(Begin::Fresh(claim)))) => {
                Some((operation.called, *at, claim.token))
            }
            _ => None,
        })
    };
    claims().all(|(called, _, token)| {
        claims().all(|(other, answered, earlier)| {
            other == called || token > earlier || (answered > called && token != earlier)
        })
    })
}
