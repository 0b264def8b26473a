//! When a request is sent again, and how long it waits first.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use jiff::Timestamp;
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// The longest wait that a server may ask for; one that asks for more fails the slot at once, with the time in its
/// words, because a person decides better than a timer whether to wait that long.
pub const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// How retries are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The wait before the first retry; it doubles with each further one.
    pub first: Duration,
    /// The longest wait that is chosen here (the random part may double it).
    pub ceiling: Duration,
    /// The longest wait that is accepted from a server.
    pub longest: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { first: Duration::from_millis(500), ceiling: Duration::from_secs(8), longest: LONGEST_WAIT }
    }
}

impl RetryPolicy {
    /// The waits before the first, second, .. retry when the server names none: each doubles, plus up to as much
    /// again at random, so that slots which failed together do not come back together.
    pub(super) fn waits(&self, seed: u64) -> impl Iterator<Item = Duration> + use<> {
        ExponentialBuilder::new()
            .with_min_delay(self.first)
            .with_max_delay(self.ceiling)
            .with_factor(2.0)
            .without_max_times()
            .with_jitter_seed(seed)
            .with_jitter()
            .build()
    }
}

/// Whether an answer of this status may be different on the next try.
pub(super) const fn is_transient(status: u16) -> bool {
    // 501 and 505 state what the server is, not how it is.
    matches!(status, 408 | 429 | 500 | 502..=504 | 506..=599)
}

/// How long the server asks to wait: `retry-after-ms`, or Retry-After in seconds (also with a fraction) or as an
/// HTTP date (RFC 9110, 10.2.3). A date in the past is no wait; what cannot be read is as if absent.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(wait) = text("retry-after-ms").and_then(|millis| seconds(millis, 1e-3)) {
        return Some(wait);
    }
    let value = text(RETRY_AFTER.as_str())?;
    seconds(value, 1.0).or_else(|| {
        let until = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
        Some(Duration::try_from(until.duration_since(now)).unwrap_or(Duration::ZERO))
    })
}

fn seconds(text: &str, unit: f64) -> Option<Duration> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    Duration::try_from_secs_f64(text.parse::<f64>().ok()? * unit).ok()
}

/// `the server asks to wait 3600 s, until 2026-01-01T00:00:00Z`.
pub(super) fn asks_to_wait(wait: Duration, now: Timestamp) -> String {
    let until = now.checked_add(wait).ok().and_then(|at| at.round(jiff::Unit::Second).ok());
    let until = until.map(|at| format!(", until {at}")).unwrap_or_default();
    format!("the server asks to wait {} s{until}", wait.as_secs())
}

/// Whole seconds for people, rounded up.
pub(super) fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &'static str, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        headers
    }

    #[test]
    fn retry_after_is_read_in_seconds_and_as_a_date() {
        let now: Timestamp = "1994-11-06T08:49:07Z".parse().unwrap();
        for (name, value, wait) in [
            ("retry-after", "30", Some(Duration::from_secs(30))),
            ("retry-after", " 1.5 ", Some(Duration::from_millis(1500))),
            ("retry-after", "0", Some(Duration::ZERO)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT", Some(Duration::from_secs(30))),
            ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT", Some(Duration::ZERO)),
            ("retry-after-ms", "250", Some(Duration::from_millis(250))),
            ("retry-after", "soon", None),
            ("retry-after", "-1", None),
            ("retry-after", "1e999", None),
            ("x", "1", None),
        ] {
            assert_eq!(retry_after(&header(name, value), now), wait, "{name}: {value}");
        }
    }

    #[test]
    fn waits_double_up_to_the_ceiling_with_at_most_as_much_again_at_random() {
        let policy = RetryPolicy::default();
        for seed in 0..50 {
            let waits: Vec<u64> = policy.waits(seed).take(7).map(|wait| wait.as_millis() as u64).collect();
            for (wait, least) in waits.iter().zip([500, 1000, 2000, 4000, 8000, 8000, 8000]) {
                assert!((least..=2 * least).contains(wait), "seed {seed}: {waits:?}");
            }
        }
        let of = |seed| policy.waits(seed).next();
        assert_ne!(of(1), of(2), "slots that failed together come back apart");
        assert_eq!(of(1), of(1));
    }

    #[test]
    fn a_long_wait_is_told_with_its_end() {
        let now: Timestamp = "2026-01-01T00:00:00.4Z".parse().unwrap();
        let text = asks_to_wait(Duration::from_secs(3600), now);
        assert_eq!(text, "the server asks to wait 3600 s, until 2026-01-01T01:00:00Z");
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for status in [408, 429, 500, 502, 503, 504, 529] {
            assert!(is_transient(status), "{status}");
        }
        for status in [200, 301, 400, 401, 403, 404, 413, 501, 505] {
            assert!(!is_transient(status), "{status}");
        }
    }
}
