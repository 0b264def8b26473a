//! Numbers as people read them.

use unicode_width::UnicodeWidthChar;

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

/// A number with its thousands apart: `1 234 567`, by a blank that does not break.
#[must_use]
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{a0}');
        }
        out.push(digit);
    }
    out
}

/// `text` with every control character but newline and tab replaced, so that it cannot drive a terminal.
#[must_use]
pub fn without_controls(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            // Also the characters that turn the direction of the text around them.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// `text` on one line: without control characters, line ends and tabs as blanks.
#[must_use]
pub(super) fn one_line(text: &str) -> String {
    without_controls(text).replace(['\n', '\t'], " ")
}

/// How many columns of a terminal a character may take. The sign that asks for a wide form of the character before it
/// counts, and parts of a joined picture count one by one: not every terminal joins them.
fn column(c: char) -> usize {
    if c == '\u{fe0f}' { 1 } else { c.width().unwrap_or(0) }
}

/// How many columns of a terminal `text` takes at most.
#[must_use]
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(column).sum()
}

/// `text` in at most `width` columns of a terminal; what does not fit is replaced by `…`.
#[must_use]
pub(super) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut room = width.saturating_sub(1);
    let fits = |c: &char| {
        let needed = column(*c);
        let fits = needed <= room;
        room = if fits { room - needed } else { 0 };
        fits
    };
    text.chars().take_while(fits).chain(['…']).collect()
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

    #[test]
    fn a_cut_text_never_takes_more_columns_than_there_are() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer", 5), "long…");
        // Two columns each.
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        // A family of four, joined, and a heart in its wide form: as wide as on a terminal that joins nothing.
        assert_eq!(columns("\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}"), 8);
        assert_eq!(columns("\u{2764}\u{fe0f}"), 2);
    }

    #[test]
    fn what_must_be_one_line_is_one() {
        assert_eq!(one_line("a\nb\tc\r\u{7}"), "a b c\u{fffd}\u{fffd}");
    }

    #[test]
    fn a_text_with_escapes_cannot_drive_a_terminal() {
        assert_eq!(without_controls("a\u{1b}[2Jb\u{202e}\tc\n"), "a\u{fffd}[2Jb\u{fffd}\tc\n");
    }
}
