//! The rows that are printed.

use std::fmt;
use std::time::Duration;

/// One measured thing beside its bar.
pub(crate) struct Row {
    name: String,
    ours: String,
    other: String,
    value: f64,
    bar: f64,
}

impl Row {
    /// Two times; the bar is the largest quotient.
    pub(crate) fn ratio(name: impl Into<String>, ours: Duration, other: Duration, bar: f64) -> Self {
        let value = ours.as_secs_f64() / other.as_secs_f64();
        Self { name: name.into(), ours: millis(ours), other: millis(other), value, bar }
    }

    /// A size in MiB; the bar is the largest.
    pub(crate) fn mebibytes(name: impl Into<String>, bytes: u64, bar: f64) -> Self {
        let value = bytes as f64 / f64::from(1 << 20);
        Self { name: name.into(), ours: format!("{value:.1} MiB"), other: "-".into(), value, bar }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.value > self.bar
    }
}

fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

pub(crate) fn head() {
    println!("{:<58} {:>12} {:>12} {:>7} {:>7}", "", "ours", "other side", "ratio", "bar");
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.is_over() { "over" } else { "ok" };
        write!(
            f,
            "{:<58} {:>12} {:>12} {:>7.2} {:>7.2} {verdict}",
            self.name, self.ours, self.other, self.value, self.bar
        )
    }
}
