//! Durations as people write them.

use std::time::Duration;

/// A duration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// No unit.
    #[error("`{0}` has no unit: write `{0}s` for seconds or `{0}m` for minutes")]
    NoUnit(String),
    /// Zero would end everything at once.
    #[error("`{0}` is no time at all: leave the option out for no limit")]
    Zero(String),
    /// Not a duration.
    #[error("`{0}` is not a duration: write for example `90s`, `10m`, `1h30m` or `500ms`")]
    Malformed(String),
}

/// Reads `90s`, `10m`, `1h30m`, `500ms`; a bare number is refused, for nobody knows its unit.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let malformed = || DurationError::Malformed(text.to_owned());
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(DurationError::NoUnit(text.to_owned()));
    }
    let mut rest = text;
    let mut total = Duration::ZERO;
    let mut last_unit = u64::MAX;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(malformed)?;
        let number: u64 = rest[..digits].parse().map_err(|_| malformed())?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let millis: u64 = match &rest[..letters] {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(malformed()),
        };
        // `1m1h` is more likely a slip than a wish.
        if millis >= last_unit {
            return Err(malformed());
        }
        last_unit = millis;
        rest = &rest[letters..];
        let part = number.checked_mul(millis).map(Duration::from_millis).ok_or_else(malformed)?;
        total = total.checked_add(part).ok_or_else(malformed)?;
    }
    if text.is_empty() {
        return Err(malformed());
    }
    if total.is_zero() { Err(DurationError::Zero(text.to_owned())) } else { Ok(total) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        for (text, millis) in
            [("90s", 90_000), ("10m", 600_000), ("1h30m", 5_400_000), ("500ms", 500), ("2d", 172_800_000)]
        {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn a_bare_number_is_refused_with_a_hint() {
        let text = parse_duration("90").unwrap_err().to_string();
        assert!(text.contains("`90s`"), "{text}");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "s", "1x", "-1s", "1.5h", "1m1h", "0s", "99999999999999999999s", "1 s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
