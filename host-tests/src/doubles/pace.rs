//! How calls mix: seeded pauses, so that races are real on any number of threads.

use std::sync::{Mutex, PoisonError};

use fastrand::Rng;
use tokio::task::yield_now;

/// Most turns that a call leaves to others, before and after its effect.
const MAX_TURNS: usize = 4;
const PER_MILLE: u32 = 1_000;

/// See the module.
pub(crate) struct Pace(Mutex<Rng>);

impl Pace {
    pub(crate) fn new(seed: u64) -> Self {
        Pace(Mutex::new(Rng::with_seed(seed)))
    }

    /// Lets others go first.
    pub(super) async fn pause(&self) {
        let turns = self.draw(|rng| rng.usize(0..=MAX_TURNS));
        for _ in 0..turns {
            yield_now().await;
        }
    }

    /// True so often out of a thousand times.
    pub(crate) fn happens(&self, per_mille: u32) -> bool {
        per_mille > 0 && self.draw(|rng| rng.u32(0..PER_MILLE)) < per_mille
    }

    fn draw<R>(&self, draw: impl FnOnce(&mut Rng) -> R) -> R {
        draw(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
