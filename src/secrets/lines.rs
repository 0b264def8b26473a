//! Redaction and masking of a log that comes in pieces.

use super::{Mask, RedactStream};
use crate::ids::SlotId;

/// A line that is longer is masked in parts, cut at a blank where there is one.
const LONGEST_LINE: usize = 64 * 1024;

/// Scrubs a log line by line; any way to cut the log into pieces gives the same bytes.
///
/// Holds at most one line of 64 KiB and what [`RedactStream`] holds. What is not UTF-8 becomes U+FFFD where names are
/// masked. A name that a line's end or a cut breaks in two is not found.
#[derive(Debug)]
pub struct ScrubLines {
    secrets: RedactStream,
    mask: Option<Mask>,
    slot: Option<SlotId>,
    line: Vec<u8>,
}

impl ScrubLines {
    pub(super) fn new(secrets: RedactStream, mask: Option<Mask>, slot: Option<SlotId>) -> Self {
        Self { secrets, mask, slot, line: Vec::new() }
    }

    /// Takes the next piece; gives what can be shown by now.
    #[must_use]
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let clear = self.secrets.push(piece);
        self.lines(clear)
    }

    /// Ends the log; gives the rest.
    #[must_use]
    pub fn finish(&mut self) -> Vec<u8> {
        let clear = self.secrets.finish();
        let mut out = self.lines(clear);
        let rest = std::mem::take(&mut self.line);
        self.show(&rest, &mut out);
        out
    }

    fn lines(&mut self, clear: Vec<u8>) -> Vec<u8> {
        if self.mask.is_none() {
            return clear;
        }
        let mut out = Vec::with_capacity(clear.len());
        let mut rest = clear.as_slice();
        while !rest.is_empty() {
            // Cuts depend on the line's own bytes only, never on the pieces.
            let room = &rest[..rest.len().min(LONGEST_LINE - self.line.len())];
            let end = memchr::memchr(b'\n', room).map(|at| at + 1);
            let (taken, later) = rest.split_at(end.unwrap_or(room.len()));
            self.line.extend_from_slice(taken);
            rest = later;
            let cut = match end {
                Some(_) => self.line.len(),
                None if self.line.len() == LONGEST_LINE => cut(&self.line),
                None => break,
            };
            let kept = self.line.split_off(cut);
            let whole = std::mem::replace(&mut self.line, kept);
            self.show(&whole, &mut out);
        }
        out
    }

    fn show(&self, line: &[u8], out: &mut Vec<u8>) {
        let text = String::from_utf8_lossy(line);
        match &self.mask {
            Some(mask) => out.extend_from_slice(mask.text_for(self.slot, &text).as_bytes()),
            None => out.extend_from_slice(line),
        }
    }
}

/// Where to cut a line that is too long: after its last blank, else before the character that is not complete.
fn cut(line: &[u8]) -> usize {
    if let Some(blank) = memchr::memrchr2(b' ', b'\t', line) {
        return blank + 1;
    }
    let start = line.len() - line.iter().rev().take(3).take_while(|b| *b & 0xc0 == 0x80).count();
    // A lead byte without all of its followers goes to the next part; anything else is cut at the end.
    match line.get(start.wrapping_sub(1)) {
        Some(lead) if *lead >= 0xc0 && std::str::from_utf8(&line[start - 1..]).is_err() && start > 1 => start - 1,
        _ => line.len(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::secrets::{Redactor, SlotNames};

    fn lines() -> ScrubLines {
        let slot: SlotId = "02".parse().unwrap();
        let names = SlotNames { slot, model: vec!["opus".into()], program: vec!["claude".into()], key: Vec::new() };
        ScrubLines::new(Redactor::new(["hunter2"]).stream(), Some(Mask::new(vec![names])), Some(slot))
    }

    fn run(bytes: &[u8], size: usize) -> Vec<u8> {
        let mut lines = lines();
        let mut out: Vec<u8> = bytes.chunks(size).flat_map(|piece| lines.push(piece)).collect();
        out.extend(lines.finish());
        out
    }

    #[test]
    fn a_line_without_an_end_is_shown_in_parts_and_loses_nothing() {
        let text = format!("{}claude é{}opus", "word ".repeat(30_000), "é".repeat(50_000));
        let shown = String::from_utf8(run(text.as_bytes(), 4096)).unwrap();
        assert_eq!(shown, text.replace("claude", "[02.program]").replace("opus", "[02.model]"));
    }

    #[test]
    fn no_line_is_held_beyond_its_bound() {
        let mut lines = lines();
        for _ in 0..1000 {
            let _ = lines.push(&[b'x'; 1000]);
            assert!(lines.line.len() <= LONGEST_LINE);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        #[test]
        fn any_slicing_gives_the_same_bytes(
            parts in proptest::collection::vec(
                proptest::sample::select(vec!["claude", "\n", " ", "opus", "é", "hunter2", "xxxxxxxxxxxxxxxxxxxxxxxx", "\u{fffd}"]),
                0..200,
            ),
            repeat in 1_usize..100,
            size in 1_usize..5000,
        ) {
            let bytes = parts.concat().repeat(repeat).into_bytes();
            prop_assert_eq!(run(&bytes, size), run(&bytes, usize::MAX));
        }
    }
}
