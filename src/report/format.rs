//! Numbers as people read them.

/// A size in bytes with a unit: `0 B`, `999 B`, `1.2 KB`, `34 MB` (powers of 1000).
#[must_use]
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if count < 1000 {
        return format!("{count} B");
    }
    let mut value = count as f64;
    let mut unit = "B";
    for next in UNITS {
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    if value < 9.95 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// A time in whole seconds: `5s`, `2m05s`, `1h02m`.
#[must_use]
pub fn seconds(total: u64) -> String {
    match (total / 3600, total / 60 % 60, total % 60) {
        (0, 0, s) => format!("{s}s"),
        (0, m, s) => format!("{m}m{s:02}s"),
        (h, m, _) => format!("{h}h{m:02}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_short() {
        let sizes = [0, 999, 1000, 1234, 12_345, 999_499, 999_500, 1_500_000, 5_000_000_000];
        let shown: Vec<String> = sizes.into_iter().map(bytes).collect();
        assert_eq!(shown, ["0 B", "999 B", "1.0 KB", "1.2 KB", "12 KB", "999 KB", "1.0 MB", "1.5 MB", "5.0 GB"]);
        assert_eq!([5, 125, 3725].map(seconds), ["5s", "2m05s", "1h02m"]);
    }
}
