//! Text in lines of a terminal's width: no colour, no control characters, nothing wider than there is room.

use std::fmt::Write;

use super::format::{columns, cut};
use crate::judging::push_visible;

/// The narrowest and the widest text.
const WIDTHS: (usize, usize) = (40, 200);

/// What was printed so far.
#[derive(Debug)]
pub(super) struct Paper {
    out: String,
    width: usize,
}

impl Paper {
    /// An empty one, of `width` columns or what is next to that between 40 and 200.
    pub(super) fn new(width: usize) -> Self {
        Self { out: String::new(), width: width.clamp(WIDTHS.0, WIDTHS.1) }
    }

    /// The text.
    pub(super) fn finish(self) -> String {
        self.out
    }

    /// How many columns it has.
    pub(super) const fn width(&self) -> usize {
        self.width
    }

    /// An empty line.
    pub(super) fn blank(&mut self) {
        self.out.push('\n');
    }

    /// One line, cut where there is no room.
    pub(super) fn line(&mut self, text: &str) {
        // Writing to a string cannot fail.
        writeln!(self.out, "{}", cut(&visible(text), self.width).trim_end()).ok();
    }

    pub(super) fn heading(&mut self, text: &str) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.blank();
        }
        self.line(text);
        self.line(&"-".repeat(columns(text)));
    }

    /// Words in lines, each below `start`.
    pub(super) fn paragraph(&mut self, start: &str, text: &str) {
        let indent = columns(start);
        let mut begin = start.to_owned();
        for line in wrapped(&visible(&text.replace(['\n', '\t'], " ")), self.width.saturating_sub(indent)) {
            writeln!(self.out, "{}", format!("{begin}{line}").trim_end()).ok();
            begin = " ".repeat(indent);
        }
    }

    /// A line of somebody's text behind a bar, in at most `most` lines; how many it took.
    pub(super) fn quoted(&mut self, line: &str, most: usize) -> usize {
        let lines = wrapped(&visible(&line.replace('\t', "    ")), self.width.saturating_sub(4));
        let shown = lines.len().min(most);
        for line in &lines[..shown] {
            writeln!(self.out, "{}", format!("  | {line}").trim_end()).ok();
        }
        shown
    }

    /// Whether a table of these rows has room for every column.
    pub(super) fn fits<const N: usize>(&self, rows: &[[String; N]]) -> bool {
        let widest = |column: usize| rows.iter().map(|row| columns(&visible(&row[column]))).max().unwrap_or(0);
        (0..N).map(|column| widest(column) + 2).sum::<usize>() <= self.width + 2
    }

    /// Rows under their head; on a narrow page only the columns that fit, by the order in `first`.
    pub(super) fn table<const N: usize>(&mut self, rows: &[[String; N]], first: &[usize; N]) {
        let rows: Vec<[String; N]> = rows.iter().map(|row| row.each_ref().map(|cell| visible(cell))).collect();
        let mut widths = [0; N];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(columns(cell)).min(self.width / 2);
            }
        }
        let mut room = self.width + 2;
        let mut taken = Vec::new();
        for column in first {
            if let Some(rest) = room.checked_sub(widths[*column] + 2) {
                room = rest;
                taken.push(*column);
            }
        }
        taken.sort_unstable();
        for row in &rows {
            let cells = taken.iter().map(|column| {
                let cell = cut(&row[*column], widths[*column]);
                let pad = widths[*column] - columns(&cell);
                format!("{cell}{:pad$}", "")
            });
            let line = cells.collect::<Vec<_>>().join("  ");
            writeln!(self.out, "{}", line.trim_end()).ok();
        }
    }
}

/// `text` with what acts or hides made visible.
pub(super) fn visible(text: &str) -> String {
    let mut out = String::new();
    text.chars().for_each(|c| push_visible(&mut out, c));
    out
}

/// The words of `text` in lines of at most `width` columns; longer words are broken.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for (at, word) in text.split(' ').enumerate() {
        let needed = columns(word);
        let last = lines.len() - 1;
        if at > 0 && used + 1 + needed <= width {
            lines[last].push(' ');
            used += 1;
        } else if at > 0 {
            lines.push(String::new());
            used = 0;
        }
        for c in word.chars() {
            let wide = columns(c.encode_utf8(&mut [0; 4]));
            if used + wide > width && used > 0 {
                lines.push(String::new());
                used = 0;
            }
            let last = lines.len() - 1;
            lines[last].push(c);
            used += wide;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_and_long_ones_broken() {
        assert_eq!(wrapped("a bb ccc", 4), ["a bb", "ccc"]);
        assert_eq!(wrapped("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrapped("", 3), [""]);
        assert_eq!(wrapped("日本語", 4), ["日本", "語"]);
    }

    #[test]
    fn a_table_keeps_the_columns_that_fit() {
        let rows = [["a", "long words", "c"].map(str::to_owned)];
        let table = |width| {
            let mut page = Paper { out: String::new(), width };
            page.table(&rows, &[0, 2, 1]);
            page.out
        };
        assert_eq!(table(40), "a  long words  c\n");
        assert_eq!(table(10), "a  c\n");
    }
}
