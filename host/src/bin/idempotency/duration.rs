//! Durations as people write them, always with a unit, and moments as people read them.

use std::time::{Duration, UNIX_EPOCH};

/// Units and their milliseconds, longest first; `ms` is looked at before `m` and `s`.
const UNITS: [(&str, u64); 5] =
    [("ms", 1), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)];

/// Reads `250ms`, `60s`, `5m`, `24h` or `7d`. A bare number is refused: whether it meant
/// seconds or milliseconds would be a guess.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err("a duration is a whole number and a unit: 250ms, 60s, 5m, 24h or 7d".into());
    }
    if unit.is_empty() {
        return Err(format!("a duration needs a unit: {number}ms or {number}s?"));
    }
    let Some((_, unit_ms)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(format!("`{unit}` is not a unit: use ms, s, m, h or d"));
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(*unit_ms))
        .map(Duration::from_millis)
        .ok_or_else(|| "this is longer than any duration here may be".into())
}

/// Reads a moment in UTC, `2026-01-31T12:00:00Z` or `2026-01-31 12:00:00`, as milliseconds
/// since the epoch.
pub(crate) fn parse_moment(text: &str) -> Result<u64, String> {
    let moment = humantime::parse_rfc3339_weak(text)
        .map_err(|_| "a moment is written like 2026-01-31T12:00:00Z (UTC)".to_string())?;
    let since =
        moment.duration_since(UNIX_EPOCH).map_err(|_| "a moment before 1970".to_string())?;
    u64::try_from(since.as_millis()).map_err(|_| "a moment too far away".to_string())
}

/// `1 500` as `1.5s`, `90 000` as `1m 30s`: two units at most.
pub(crate) fn human(duration_ms: u64) -> String {
    let (seconds, rest_ms) = (duration_ms / 1_000, duration_ms % 1_000);
    match seconds {
        0 => format!("{rest_ms}ms"),
        1..=9 if rest_ms > 0 => format!("{seconds}.{}s", rest_ms / 100),
        1..=59 => format!("{seconds}s"),
        60..=3_599 => two(seconds, 60, "m", 1, "s"),
        3_600..=86_399 => two(seconds, 3_600, "h", 60, "m"),
        _ => two(seconds, 86_400, "d", 3_600, "h"),
    }
}

fn two(seconds: u64, great: u64, great_unit: &str, small: u64, small_unit: &str) -> String {
    match seconds % great / small {
        0 => format!("{}{great_unit}", seconds / great),
        rest => format!("{}{great_unit} {rest}{small_unit}", seconds / great),
    }
}

/// A moment of the ledger's clock in UTC, to the millisecond.
pub(crate) fn moment(at_ms: u64) -> String {
    // The formatter ends with the year 9999.
    const LAST_MS: u64 = 253_402_300_799_999;
    if at_ms > LAST_MS {
        return format!("{at_ms} ms after 1970");
    }
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(at_ms)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_exact_to_the_millisecond() {
        for (text, expected_ms) in [
            ("250ms", 250),
            ("60s", 60_000),
            ("60000ms", 60_000),
            ("5m", 300_000),
            ("24h", 86_400_000),
            ("7d", 604_800_000),
            ("0s", 0),
            ("18446744073709551615ms", u64::MAX),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(expected_ms)), "{text}");
        }
    }

    #[test]
    fn a_bare_number_is_refused_and_told_to_take_a_unit() {
        assert_eq!(parse("60"), Err("a duration needs a unit: 60ms or 60s?".into()));
        for text in ["", "s", "1.5s", "-1s", "1S", "1 s", "1M", "18446744073709551615s"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_read_well() {
        for (duration_ms, expected) in [
            (0, "0ms"),
            (999, "999ms"),
            (1_000, "1s"),
            (1_500, "1.5s"),
            (59_999, "59s"),
            (60_000, "1m"),
            (90_000, "1m 30s"),
            (3_660_000, "1h 1m"),
            (86_400_000, "1d"),
        ] {
            assert_eq!(human(duration_ms), expected);
        }
    }

    #[test]
    fn moments_are_utc() {
        assert_eq!(moment(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(parse_moment("1970-01-01T00:01:00Z"), Ok(60_000));
        assert_eq!(moment(u64::MAX), "18446744073709551615 ms after 1970");
    }
}
