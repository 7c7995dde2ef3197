//! Many seeds, on all processors.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::{Chaos, Setup, Totals, play};

/// What a series came to.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Histories played.
    pub histories: u64,
    /// Of all of them.
    pub totals: Totals,
    /// The first that broke a promise, in the order of the seeds that were played.
    pub violation: Option<Violation>,
}

/// A history that broke a promise.
#[derive(Debug)]
pub struct Violation {
    /// Its seed.
    pub seed: u64,
    /// Which promise.
    pub why: String,
    /// What happened.
    pub text: String,
    /// The command that plays it again.
    pub replay: String,
}

/// Plays `count` seeds from `first` on, and stops after the first violation.
///
/// # Panics
/// Where no folder can be made for the store.
pub fn run_seeds(setup: Setup, first: u64, count: u64) -> Outcome {
    let folder = tempfile::tempdir().expect("a folder for the stores");
    let (next, end) = (AtomicU64::new(first), first.saturating_add(count));
    let outcome = Mutex::new(Outcome::default());
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    let chaos = play(setup, seed, folder.path());
                    if !outcome.lock().expect("no panic").add(setup, seed, chaos) {
                        next.store(end, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    outcome.into_inner().expect("no panic")
}

impl Outcome {
    /// Answers whether to go on.
    fn add(&mut self, setup: Setup, seed: u64, chaos: Chaos) -> bool {
        self.histories += 1;
        self.totals.add(chaos.totals);
        let earlier = self.violation.as_ref().is_none_or(|found| seed < found.seed);
        if let Some(why) = chaos.violation.filter(|_| earlier) {
            let replay = setup.replay(seed);
            self.violation = Some(Violation { seed, why, text: chaos.text, replay });
        }
        self.violation.is_none()
    }
}

impl Totals {
    fn add(&mut self, more: Totals) {
        self.calls += more.calls;
        self.store_calls += more.store_calls;
        self.failures += more.failures;
        self.crashes += more.crashes;
        self.late_effects += more.late_effects;
        self.clock_moves += more.clock_moves;
    }
}
