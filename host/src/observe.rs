//! What a program can see of the ledger at work: spans (feature `tracing`), counters and
//! histograms (feature `metrics`). Without the features a call looks at the clock, no more.
//!
//! Keys and scopes, payloads and messages of errors appear in none of them; a key is named by
//! the first characters of its slot. `docs/observability.md` lists the names.

use tokio::time::Instant;

mod answers;
mod numbers;
mod spans;

pub(crate) use answers::{Answer, StoreAnswer};
pub(crate) use numbers::describe;
use spans::Span;

/// One call, of the ledger or of its store, from here until it is dropped.
pub(crate) struct Watch {
    what: What,
    span: Span,
    start: Instant,
    answer: &'static str,
}

/// What is watched.
#[derive(Clone, Copy)]
enum What {
    Call(&'static str),
    StoreCall(&'static str),
}

/// What is told of a call that ends without an answer: the store panicked, say, the runtime shut
/// down, or the call of the ledger that it belongs to ran out of time.
const DROPPED: &str = "dropped";

impl Watch {
    /// A call of the ledger, on one key or on all.
    pub(crate) fn call(call: &'static str, scope_and_key: Option<(Option<&str>, &str)>) -> Self {
        Self::start(What::Call(call), Span::of_call(call, scope_and_key))
    }

    /// A call of the store, by the name of the method.
    pub(crate) fn store_call(method: &'static str) -> Self {
        Self::start(What::StoreCall(method), Span::of_store_call(method))
    }

    fn start(what: What, span: Span) -> Self {
        Self { what, span, start: Instant::now(), answer: DROPPED }
    }

    /// `work`, with everything that happens in it inside the span.
    pub(crate) fn around<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        self.span.around(work)
    }

    /// It ended with this.
    pub(crate) fn end(mut self, answer: &'static str) {
        self.answer = answer;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let took = self.start.elapsed();
        match self.what {
            What::Call(call) => numbers::call(call, self.answer, took),
            What::StoreCall(method) => numbers::store_call(method, self.answer, took),
        }
        self.span.end(self.answer, took);
    }
}
