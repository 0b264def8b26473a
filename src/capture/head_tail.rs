//! The beginning and the end of a stream of any length, in bounded memory.

use std::collections::VecDeque;
use std::fmt::Write as _;

/// Keeps the first and the last bytes of a stream.
#[derive(Debug, Clone)]
pub struct HeadTail {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    keep: usize,
    total: u64,
}

impl HeadTail {
    /// Keeps up to `keep` bytes on either side.
    #[must_use]
    pub fn new(keep: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), keep, total: 0 }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(self.keep - self.head.len()));
        self.head.extend_from_slice(first);
        // Only the end of a long piece can stay.
        let rest = &rest[rest.len().saturating_sub(self.keep)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(self.keep);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    /// Bytes that came in all.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Bytes between head and tail that were not kept.
    #[must_use]
    pub fn elided(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// The last bytes, as far as they are kept: the tail, or what little came.
    #[must_use]
    pub fn end(&self) -> Vec<u8> {
        let mut end = if self.elided() == 0 { self.head.clone() } else { Vec::new() };
        end.extend(&self.tail);
        end
    }

    /// At most `limit` bytes of head and of tail for a status file or a message: valid UTF-8 on few lines, control
    /// characters escaped, what was left out counted. `None` when there is nothing visible.
    #[must_use]
    pub fn snippet(&self, limit: usize) -> Option<String> {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let mut text = String::new();
        if self.elided() == 0 && self.head.len() + tail.len() <= 2 * limit {
            let whole = [self.head.as_slice(), &tail].concat();
            escape(&whole, &mut text);
        } else {
            // What little of a tail there is may continue a head that is cut here.
            let (head, tail) = if self.elided() == 0 {
                let whole = [self.head.as_slice(), &tail].concat();
                (whole[..limit].to_vec(), whole[whole.len() - limit..].to_vec())
            } else {
                (self.head[..limit.min(self.head.len())].to_vec(), tail[tail.len().saturating_sub(limit)..].to_vec())
            };
            let (head, tail) = (without_cut_end(&head), without_cut_start(&tail));
            escape(head, &mut text);
            let left_out = self.total - (head.len() + tail.len()) as u64;
            write!(text, "\n[... {left_out} bytes left out ...]\n").ok();
            escape(tail, &mut text);
        }
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

/// Valid UTF-8 without control characters, but for line ends and tabs.
pub(crate) fn escape(bytes: &[u8], into: &mut String) {
    for c in String::from_utf8_lossy(bytes).chars() {
        match c {
            '\n' | '\t' => into.push(c),
            // A line end of another system, and what redraws a progress line.
            '\r' => into.push_str("\\r"),
            c if c.is_control() || is_direction(c) => into.extend(c.escape_unicode()),
            c => into.push(c),
        }
    }
}

/// Characters that reorder the text around them on a terminal.
const fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Leaves out a character of which only the beginning is there.
fn without_cut_end(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        _ => bytes,
    }
}

/// Leaves out the last bytes of a character whose beginning is not there.
fn without_cut_start(bytes: &[u8]) -> &[u8] {
    let cut = bytes.iter().take(3).take_while(|b| **b & 0xc0 == 0x80).count();
    &bytes[cut..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_has_the_beginning_and_the_end_with_a_count_between() {
        for size in [1, 3, 64, 5000] {
            let mut kept = HeadTail::new(16);
            for piece in "first words é".repeat(50).as_bytes().chunks(size) {
                kept.push(piece);
            }
            assert_eq!(kept.total(), 700);
            assert_eq!(kept.snippet(11).unwrap(), "first words\n[... 678 bytes left out ...]\nst words é");
            assert_eq!(kept.elided(), 668);
        }
    }

    #[test]
    fn a_short_text_is_whole_and_nothing_is_nothing() {
        let mut kept = HeadTail::new(4);
        assert_eq!(kept.snippet(4), None);
        kept.push(b"ab");
        kept.push(b"cdef");
        assert_eq!(kept.snippet(4).unwrap(), "abcdef");
        assert_eq!(kept.end(), b"abcdef");
        assert_eq!(kept.snippet(2).unwrap(), "ab\n[... 2 bytes left out ...]\nef");
        kept.push(b"ghijkl");
        assert_eq!(kept.end(), b"ijkl");
    }

    #[test]
    fn control_characters_and_invalid_bytes_cannot_reach_a_terminal() {
        let mut kept = HeadTail::new(64);
        kept.push(b"\x1b[31mred\x07\xff\r\n\xe2\x80\xae");
        assert_eq!(kept.snippet(64).unwrap(), "\\u{1b}[31mred\\u{7}\u{fffd}\\r\n\\u{202e}");
    }
}
