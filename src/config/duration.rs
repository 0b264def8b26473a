//! Durations and limits as people write them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

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
        let zero = text.bytes().all(|b| b == b'0');
        let error = if zero { DurationError::Zero } else { DurationError::NoUnit };
        return Err(error(text.to_owned()));
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

/// Writes a duration so that [`parse_duration`] reads it back, to the millisecond.
#[must_use]
pub fn format_duration(duration: Duration) -> String {
    let mut rest = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut text = String::new();
    for (unit, millis) in [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)] {
        if rest >= millis {
            text.push_str(&format!("{}{unit}", rest / millis));
            rest %= millis;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// A limit in time, or that there is none; `none` lifts a limit which a lower layer set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// No limit.
    Unlimited,
    /// Ends after this long.
    After(Duration),
}

impl Limit {
    /// The duration, where there is a limit.
    #[must_use]
    pub const fn duration(self) -> Option<Duration> {
        match self {
            Self::Unlimited => None,
            Self::After(duration) => Some(duration),
        }
    }
}

impl FromStr for Limit {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        if text == "none" { Ok(Self::Unlimited) } else { parse_duration(text).map(Self::After) }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlimited => f.write_str("none"),
            Self::After(duration) => f.write_str(&format_duration(*duration)),
        }
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_duration_is_read_back() {
        for millis in [1, 999, 90_000, 5_400_000, 172_800_001] {
            let duration = Duration::from_millis(millis);
            assert_eq!(parse_duration(&format_duration(duration)), Ok(duration), "{millis}");
        }
        assert_eq!("none".parse(), Ok(Limit::Unlimited));
        assert_eq!(Limit::After(Duration::from_secs(90)).to_string(), "1m30s");
    }

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
