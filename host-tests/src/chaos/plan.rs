//! What one seed stands for: who calls what, what goes wrong, how the clock moves.

use fastrand::Rng;
use idempotency_ledger::clock::Millis;

use crate::oracle::{Call, Token};

/// A key in its scope.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    pub(super) key: &'static str,
    pub(super) scope: Option<&'static str>,
}

/// The keys of all histories: a history uses the first one, two or three.
pub(super) const ADDRESSES: [Address; 3] = [
    Address { key: "order", scope: None },
    Address { key: "order", scope: Some("tenant") },
    Address { key: "refund", scope: None },
];

/// Around the ends of the index's minutes, hours and days.
const LEASES_MS: [Millis; 8] = [5, 20, 20, 1_000, 60_000, 600_000, 7_300_000, LONGEST_MS];
/// The longest lease and ttl of a history.
pub(super) const LONGEST_MS: Millis = 100_000_000;
const DAY_MS: Millis = 86_400_000;
const HOUR_MS: Millis = 3_600_000;

/// How far a history's clock ever stands behind what it showed.
const MAX_STEP_BACK_MS: Millis = 600_000;

/// What becomes of a store call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It happens and is answered.
    Answered,
    /// It happens, and is answered later.
    Slow,
    /// It is answered as failed: without its effect, after it, or before it.
    FailsBefore,
    FailsAfter,
    FailsLate,
    /// Its process dies.
    DiesBefore,
    DiesAfter,
    DiesLate,
}

/// How the clock moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    To(Millis),
    /// By more than a store call may take: nothing that was issued is left undecided.
    Far(Millis),
}

/// See the module. Everything comes from the seed.
pub(super) struct Plan {
    pub(super) rng: Rng,
    pub(super) keys: usize,
    /// Whether this history is about removal: many purges, and hours between them.
    is_upkeep: bool,
    /// Calls that each process has left to make.
    pub(super) calls: Vec<usize>,
    faults: usize,
    crashes: usize,
    pub(super) moves: usize,
    payload: u8,
    /// The last call that somebody made: key, call and token.
    last: Option<(Option<usize>, Call, Option<u64>)>,
    /// Tokens that somebody was given, for each key.
    tokens: Vec<Vec<u64>>,
    /// Expiries that somebody was told.
    expiries: Vec<Millis>,
}

impl Plan {
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        // Crowds on one key are the most telling.
        let keys = [1, 1, 1, 2, ADDRESSES.len()][rng.usize(0..5)];
        let is_upkeep = rng.u8(0..3) == 0;
        let processes = rng.usize(2..=5);
        let calls = (0..processes).map(|_| rng.usize(2..=9)).collect();
        let quiet = rng.u8(0..5) == 0;
        let faults = if quiet { 0 } else { rng.usize(0..=6) };
        let crashes = if quiet { 0 } else { rng.usize(0..=3) };
        let moves = rng.usize(0..=14) + if is_upkeep { 6 } else { 0 };
        let tokens = vec![Vec::new(); keys];
        Plan {
            rng,
            keys,
            is_upkeep,
            calls,
            faults,
            crashes,
            moves,
            payload: 0,
            last: None,
            tokens,
            expiries: Vec::new(),
        }
    }

    /// When the history begins: shortly before the end of a minute, an hour and a day.
    pub(super) fn start_ms(&mut self) -> Millis {
        20_000 * DAY_MS - self.rng.u64(0..2 * HOUR_MS)
    }

    /// Somebody was told a token.
    pub(super) fn learn(&mut self, key: usize, token: u64, expires_at_ms: Millis) {
        self.tokens[key].push(token);
        self.expiries.push(expires_at_ms);
    }

    /// The next call of a process, on which key, and the token that it carries. `own` is the
    /// token of the caller's last claim of each key. Often it is the very call that somebody
    /// made last: a retry, and two who write the same bytes in the same millisecond.
    pub(super) fn call(
        &mut self,
        own: &[Option<u64>],
        now_ms: Millis,
    ) -> (Option<usize>, Call, Option<u64>) {
        let again = self.last.filter(|_| self.rng.u8(0..4) == 0);
        let call = again.unwrap_or_else(|| self.new_call(own, now_ms));
        self.last = Some(call);
        call
    }

    fn new_call(
        &mut self,
        own: &[Option<u64>],
        now_ms: Millis,
    ) -> (Option<usize>, Call, Option<u64>) {
        let key = self.rng.usize(0..self.keys);
        let token = self.token(key, own[key], now_ms);
        let is = Token::Is(token);
        if self.rng.u8(0..100) < if self.is_upkeep { 35 } else { 6 } {
            return (None, Call::Purge { limit: self.rng.u32(1..=4) }, None);
        }
        let roll = self.rng.u8(0..88);
        let releases = self.is_upkeep && (30..42).contains(&roll);
        let (call, token) = match roll {
            _ if releases => (Call::Release { token: is }, Some(token)),
            0..30 => (Call::Begin { lease_ms: self.span_ms() }, None),
            30..54 => {
                let token = (self.rng.u8(0..5) > 0).then_some(token);
                let (ttl_ms, upsert) = (self.span_ms(), self.rng.u8(0..3) == 0);
                self.payload = self.payload.wrapping_add(1);
                let payload = self.payload;
                let carried = token.map_or(Token::None, Token::Is);
                (Call::Complete { token: carried, ttl_ms, upsert, payload }, token)
            }
            54..64 => (Call::Renew { token: is, lease_ms: self.span_ms() }, Some(token)),
            64..72 => (Call::Release { token: is }, Some(token)),
            72..82 => (Call::Get, None),
            _ => (Call::Forget { token: is }, Some(token)),
        };
        (Some(key), call, token)
    }

    /// Mostly the caller's own, else somebody's, else one that nobody has.
    fn token(&mut self, key: usize, own: Option<u64>, now_ms: Millis) -> u64 {
        let seen = self.rng.choice(&self.tokens[key]).copied();
        match (own, seen, self.rng.u8(0..20)) {
            (Some(own), _, 0..14) => own,
            (_, Some(seen), 0..19) => seen,
            (_, Some(seen), _) => seen + 1,
            (_, None, _) => now_ms,
        }
    }

    fn span_ms(&mut self) -> Millis {
        let longest = if self.is_upkeep { 5 } else { LEASES_MS.len() };
        LEASES_MS[self.rng.usize(0..longest)]
    }

    /// What becomes of the next store call.
    pub(super) fn fate(&mut self, is_read: bool) -> Fate {
        let roll = self.rng.u8(0..60);
        let side = if is_read { 0 } else { self.rng.u8(0..3) };
        if roll < 4 && self.faults > 0 {
            self.faults -= 1;
            return [Fate::FailsBefore, Fate::FailsAfter, Fate::FailsLate][usize::from(side)];
        }
        if roll == 4 && self.crashes > 0 {
            self.crashes -= 1;
            return [Fate::DiesBefore, Fate::DiesAfter, Fate::DiesLate][usize::from(side)];
        }
        if roll < 20 { Fate::Slow } else { Fate::Answered }
    }

    /// The clock's next move; `max_ms` is the latest that it has shown. Far moves mostly wait
    /// until nobody is busy: they end the calls that are under way.
    pub(super) fn next_move(&mut self, now_ms: Millis, max_ms: Millis, is_busy: bool) -> Move {
        self.moves -= 1;
        let floor_ms = max_ms - MAX_STEP_BACK_MS;
        let to = |ms: Millis| Move::To(ms.max(floor_ms));
        let hour = Move::Far(now_ms + HOUR_MS + self.rng.u64(0..=180_000));
        if self.is_upkeep && !is_busy && self.rng.bool() {
            return hour;
        }
        match self.rng.u8(0..if is_busy { 41 } else { 24 }) {
            0..4 => to(now_ms + 61_000),
            4..11 => {
                // To an end that somebody knows, to the millisecond before it or after it.
                let end_ms = self.rng.choice(&self.expiries).copied().unwrap_or(now_ms);
                to(end_ms.min(now_ms + DAY_MS) + 1 - self.rng.u64(0..=2))
            }
            11..14 => to(now_ms - self.rng.u64(1..=1_000)),
            14 => to(now_ms - self.rng.u64(1..=MAX_STEP_BACK_MS)),
            15 => Move::Far(now_ms + self.rng.u64(2 * HOUR_MS..=DAY_MS)),
            16..18 => hour,
            18..20 => to(now_ms + self.rng.u64(1_000..=5_000)),
            _ => to(now_ms + self.rng.u64(1..=25)),
        }
    }
}
