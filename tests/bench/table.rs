//! The rows that are printed.

use std::fmt;
use std::time::Duration;

/// One measured thing beside its bar.
pub(crate) struct Row {
    name: String,
    ours: String,
    other: String,
    value: String,
    bar: String,
    verdict: &'static str,
}

impl Row {
    /// Two times; the bar is the largest quotient.
    pub(crate) fn ratio(name: impl Into<String>, ours: Duration, other: Duration, bar: f64) -> Self {
        let value = ours.as_secs_f64() / other.as_secs_f64();
        Self { other: millis(other), ..Self::judged(name, millis(ours), value, bar) }
    }

    /// Two times that no bar is set for.
    pub(crate) fn information(name: impl Into<String>, ours: Duration, other: Duration) -> Self {
        Self { bar: "-".to_owned(), verdict: "info", ..Self::ratio(name, ours, other, f64::INFINITY) }
    }

    /// A time that no bar is set for.
    pub(crate) fn time(name: impl Into<String>, ours: Duration) -> Self {
        Self { bar: "-".to_owned(), verdict: "info", ..Self::millis(name, ours, u32::MAX) }
    }

    /// A size in MiB; the bar is the largest.
    pub(crate) fn mebibytes(name: impl Into<String>, bytes: u64, bar: f64) -> Self {
        let value = bytes as f64 / f64::from(1 << 20);
        Self { value: "-".to_owned(), ..Self::judged(name, format!("{value:.1} MiB"), value, bar) }
    }

    /// A time by itself; the bar is the longest in milliseconds.
    pub(crate) fn millis(name: impl Into<String>, ours: Duration, bar: u32) -> Self {
        let value = ours.as_secs_f64() * 1e3;
        Self { value: "-".to_owned(), ..Self::judged(name, millis(ours), value, f64::from(bar)) }
    }

    /// What something adds to the time of `without` it; the bar is the most in milliseconds.
    pub(crate) fn added(name: impl Into<String>, with: Duration, without: Duration, bar: u32) -> Self {
        let more = (with.as_secs_f64() - without.as_secs_f64()) * 1e3;
        Self {
            other: millis(without),
            value: format!("{more:+.1} ms"),
            bar: format!("{bar} ms"),
            ..Self::judged(name, millis(with), more, f64::from(bar))
        }
    }

    fn judged(name: impl Into<String>, ours: String, value: f64, bar: f64) -> Self {
        Self {
            name: name.into(),
            ours,
            other: "-".to_owned(),
            value: format!("{value:.2}"),
            bar: format!("{bar:.2}"),
            verdict: if value > bar { OVER } else { "ok" },
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.verdict == OVER
    }
}

const OVER: &str = "OVER";

fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

pub(crate) fn head() {
    println!("{:<66} {:>12} {:>12} {:>7} {:>7}", "", "ours", "other side", "ratio", "bar");
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, ours, other, value, bar, verdict } = self;
        write!(f, "{name:<66} {ours:>12} {other:>12} {value:>7} {bar:>7} {verdict}")
    }
}
