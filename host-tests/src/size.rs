//! How much the tests do. The code is the same.

/// From the environment's `LEDGER_TEST_SIZE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A few minutes in all.
    Small,
    /// What a release is tested with: `full`.
    Full,
}

impl Size {
    /// Small where nothing else was asked for.
    pub fn from_env() -> Self {
        match std::env::var("LEDGER_TEST_SIZE").as_deref() {
            Ok("full") => Size::Full,
            _ => Size::Small,
        }
    }

    /// One of two numbers.
    pub fn pick<T>(self, small: T, full: T) -> T {
        match self {
            Size::Small => small,
            Size::Full => full,
        }
    }
}
