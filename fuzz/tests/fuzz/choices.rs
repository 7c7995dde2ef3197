//! Bytes that a fuzzer makes -> steps.

use std::env;
use std::time::Duration;

use bolero::TypeGenerator;
use ledger_fuzz::step::{Span, Step, What, Which};

/// Longer sequences are cut.
pub(crate) const MAX_STEPS: usize = 100;

/// How long a target is played by `cargo test`.
pub(crate) fn time() -> Duration {
    let full = env::var("LEDGER_TEST_SIZE").is_ok_and(|size| size == "full");
    Duration::from_secs(if full { 120 } else { 5 })
}

/// A step, in few bytes.
#[derive(Clone, Copy, Debug, TypeGenerator)]
pub(crate) struct Choice {
    after: (u8, u8),
    address: u8,
    what: u8,
    token: (u8, i8),
    span: (u8, u8),
    payload: u8,
}

impl Choice {
    /// What it stands for.
    pub(crate) fn step(&self) -> Step {
        let token = match self.token.0 % 4 {
            0 => Which::None,
            1 => Which::Near(self.token.1),
            _ => Which::Last,
        };
        let time = span(self.span);
        let what = match self.what % 10 {
            0..=2 => What::Begin { lease: time },
            3 | 4 => What::Complete {
                token,
                ttl: time,
                upsert: self.payload.is_multiple_of(3),
                payload: self.payload,
            },
            5 => What::Renew { token, lease: time },
            6 => What::Release { token },
            7 => What::Get,
            8 => What::Forget { token },
            _ => What::Purge { limit: self.payload },
        };
        // The clock steps back seldom, and never by days.
        let back = self.after.0 >= 250;
        Step { after: span(self.after), back, address: self.address, what }
    }
}

fn span((unit, count): (u8, u8)) -> Span {
    match unit {
        0..=99 => Span::Moment(count % 20),
        100..=159 => Span::Seconds(count),
        160..=199 => Span::Minutes(count),
        200..=229 => Span::Hours(count % 30),
        230..=249 => Span::Days(count % 40),
        250..=255 => Span::Seconds(count % 100),
    }
}
