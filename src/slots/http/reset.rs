//! When a server says that it can be asked again.
//!
//! Looked for in this order: Retry-After, what the error itself holds, and only where a limit was hit the headers in
//! which providers report their limits (they stand on every response, and then say nothing about waiting).

use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{HeaderMap, RETRY_AFTER};

use super::failure::Stated;
use crate::session::slot::Reason;

/// How long the server asks to wait before the next request.
pub(super) fn asked_wait(headers: &HeaderMap, stated: &Stated, now: Timestamp) -> Option<Duration> {
    retry_after(headers, now).or_else(|| stated_wait(stated, now)).or_else(|| {
        matches!(stated.reason(), Reason::RateLimited | Reason::QuotaExhausted)
            .then(|| limits_reset(headers, now))
            .flatten()
    })
}

/// The wait that an error names, in a field of its own or in its words.
pub(super) fn stated_wait(stated: &Stated, now: Timestamp) -> Option<Duration> {
    stated.reset.as_deref().and_then(|text| span_or_moment(text, now)).or_else(|| {
        let (_, rest) = ["try again in ", "retry in "].iter().find_map(|words| stated.message.split_once(words))?;
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, ',' | ')')).unwrap_or(rest.len());
        span(rest[..end].trim_end_matches('.'))
    })
}

/// `retry-after-ms`, or Retry-After in seconds (also with a fraction) or as an HTTP date (RFC 9110, 10.2.3). A date in
/// the past is no wait; what cannot be read is as if absent.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(wait) = text("retry-after-ms").and_then(|millis| seconds(millis, 1e-3)) {
        return Some(wait);
    }
    let value = text(RETRY_AFTER.as_str())?;
    seconds(value, 1.0).or_else(|| {
        let until = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
        Some(from_to(now, until))
    })
}

/// The headers that report a limit: `x-ratelimit-reset-requests` (OpenAI, Groq, ..), `anthropic-ratelimit-tokens-reset`,
/// `x-ratelimit-reset` (OpenRouter), `ratelimit-reset`. Each has a sibling that says what remains: a limit with nothing
/// left must reset before anything can come of a request; where none is known to be used up, the first reset may do.
fn limits_reset(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let is_limit = |name: &str| name.contains("ratelimit") && name.split('-').any(|part| part == "reset");
    let mut used_up: Option<Duration> = None;
    let mut first: Option<Duration> = None;
    for name in headers.keys().map(reqwest::header::HeaderName::as_str).filter(|name| is_limit(name)) {
        let Some(wait) = text(name).and_then(|value| span_or_moment(value, now)) else { continue };
        let remaining = text(&name.replace("reset", "remaining"));
        if remaining.and_then(|left| left.parse::<f64>().ok()).is_some_and(|left| left <= 0.0) {
            used_up = used_up.max(Some(wait));
        }
        first = Some(first.map_or(wait, |earlier| earlier.min(wait)));
    }
    used_up.or(first)
}

/// `6m0s`, `20ms`, seconds, a Unix time in seconds or milliseconds, or a moment as RFC 3339 writes it.
fn span_or_moment(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        // No span is as long as the time since 1970.
        return match number {
            _ if number > 1e11 => Some(from_to(now, Timestamp::from_millisecond(number as i64).ok()?)),
            _ if number > 1e9 => Some(from_to(now, Timestamp::from_second(number as i64).ok()?)),
            _ => seconds(text, 1.0),
        };
    }
    span(text).or_else(|| Some(from_to(now, text.parse().ok()?)))
}

/// A span in the notation of Go and of Google's JSON: `1h2m3.5s`, `250ms`.
fn span(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut sum = Duration::ZERO;
    while !rest.is_empty() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (digits, tail) = rest.split_at(number);
        let unit_end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let unit = match &tail[..unit_end] {
            "d" => 86_400.0,
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        sum = sum.checked_add(seconds(digits, unit)?)?;
        rest = &tail[unit_end..];
    }
    (!text.is_empty()).then_some(sum)
}

fn from_to(now: Timestamp, until: Timestamp) -> Duration {
    Duration::try_from(until.duration_since(now)).unwrap_or(Duration::ZERO)
}

fn seconds(text: &str, unit: f64) -> Option<Duration> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    Duration::try_from_secs_f64(text.parse::<f64>().ok()? * unit).ok()
}

/// `the server asks to wait 3600 s, until 2026-01-01T00:00:00Z`.
pub(super) fn asks_to_wait(wait: Duration, now: Timestamp) -> String {
    let until = moment(wait, now).map(|at| format!(", until {at}")).unwrap_or_default();
    format!("the server asks to wait {} s{until}", wait.as_secs())
}

/// `the quota resets in 3600 s, at 2026-01-01T00:00:00Z`.
pub(super) fn quota_resets(wait: Duration, now: Timestamp) -> String {
    let at = moment(wait, now).map(|at| format!(", at {at}")).unwrap_or_default();
    format!("the quota resets in {} s{at}", wait.as_secs())
}

fn moment(wait: Duration, now: Timestamp) -> Option<Timestamp> {
    now.checked_add(wait).ok().and_then(|at| at.round(jiff::Unit::Second).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "1994-11-06T08:49:07Z";

    fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
        list.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn retry_after_is_read_in_seconds_and_as_a_date() {
        let now: Timestamp = NOW.parse().unwrap();
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
            assert_eq!(retry_after(&headers(&[(name, value)]), now), wait, "{name}: {value}");
        }
    }

    #[test]
    fn a_long_wait_is_told_with_its_end() {
        let now: Timestamp = "2026-01-01T00:00:00.4Z".parse().unwrap();
        let text = asks_to_wait(Duration::from_secs(3600), now);
        assert_eq!(text, "the server asks to wait 3600 s, until 2026-01-01T01:00:00Z");
    }

    #[test]
    fn limits_are_read_in_every_notation() {
        let now: Timestamp = NOW.parse().unwrap();
        for (name, value, wait) in [
            ("x-ratelimit-reset-requests", "6m0s".to_owned(), Some(360_000)),
            ("x-ratelimit-reset-tokens", "20ms".to_owned(), Some(20)),
            ("x-ratelimit-reset-tokens", "2m59.5s".to_owned(), Some(179_500)),
            ("ratelimit-reset", "17".to_owned(), Some(17_000)),
            ("anthropic-ratelimit-requests-reset", "1994-11-06T08:50:37Z".to_owned(), Some(90_000)),
            ("anthropic-ratelimit-requests-reset", "1994-11-06T08:00:00Z".to_owned(), Some(0)),
            ("x-ratelimit-reset-requests", "soon".to_owned(), None),
            ("x-ratelimit-limit-requests", "60".to_owned(), None),
            ("x-reset", "60".to_owned(), None),
        ] {
            let found = limits_reset(&headers(&[(name, &value)]), now);
            assert_eq!(found.map(|wait| wait.as_millis()), wait, "{name}: {value}");
        }
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        for value in [(now.as_second() + 90).to_string(), (now.as_millisecond() + 90_000).to_string()] {
            let found = limits_reset(&headers(&[("x-ratelimit-reset", &value)]), now);
            assert_eq!(found, Some(Duration::from_secs(90)), "{value}");
        }
    }

    #[test]
    fn the_limit_that_is_used_up_decides_and_else_the_first_that_resets() {
        let now: Timestamp = NOW.parse().unwrap();
        let both = [("x-ratelimit-reset-requests", "50s"), ("x-ratelimit-reset-tokens", "10s")];
        let found = |more: &[(&'static str, &str)]| limits_reset(&headers(&[&both, more].concat()), now);
        assert_eq!(found(&[]), Some(Duration::from_secs(10)));
        let left = |requests, tokens| {
            found(&[("x-ratelimit-remaining-requests", requests), ("x-ratelimit-remaining-tokens", tokens)])
        };
        assert_eq!(left("0", "300"), Some(Duration::from_secs(50)));
        assert_eq!(left("7", "0"), Some(Duration::from_secs(10)));
        assert_eq!(left("0", "0"), Some(Duration::from_secs(50)));
    }

    #[test]
    fn retry_after_goes_before_the_error_and_the_error_before_the_limits() {
        let now: Timestamp = NOW.parse().unwrap();
        let limits = ("x-ratelimit-reset-requests", "50s");
        let limited = Stated { status: Some(429), ..Stated::plain("slow down") };
        let stated = Stated { reset: Some("37s".to_owned()), ..limited.clone() };
        let wait = |list: &[(&'static str, &str)], stated: &Stated| {
            asked_wait(&headers(list), stated, now).map(|wait| wait.as_secs())
        };
        assert_eq!(wait(&[("retry-after", "3"), limits], &stated), Some(3));
        assert_eq!(wait(&[limits], &stated), Some(37));
        assert_eq!(wait(&[limits], &limited), Some(50));
        let busy = Stated { status: Some(500), ..Stated::plain("oops") };
        assert_eq!(wait(&[limits], &busy), None, "limits stand on every response");
    }

    #[test]
    fn a_wait_in_words_is_read() {
        let now: Timestamp = NOW.parse().unwrap();
        for (words, wait) in [
            ("Rate limit reached. Please try again in 6m12s. Visit the limits page", Some(372_000)),
            ("Please retry in 36.5s.", Some(36_500)),
            ("Please try again in 20ms", Some(20)),
            ("Please try again in a moment", None),
            ("Please try again later", None),
        ] {
            let found = stated_wait(&Stated::plain(words), now).map(|wait| wait.as_millis());
            assert_eq!(found, wait, "{words}");
        }
    }

    #[test]
    fn the_reset_of_a_quota_is_told_with_its_time() {
        let now: Timestamp = "2026-01-01T00:00:00.4Z".parse().unwrap();
        let text = quota_resets(Duration::from_secs(7200), now);
        assert_eq!(text, "the quota resets in 7200 s, at 2026-01-01T02:00:00Z");
    }
}
