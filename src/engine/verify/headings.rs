//! The names under which a judge's prompt shows the answers, read from the prompt itself.

use memchr::memchr;

/// The beginning of the line that introduces an answer. In the answers' own text such a line is neutralised.
const HEADING: &[u8] = b"### Response ";

/// More of a line than any heading has.
const LONGEST: usize = 64;

/// Collects what stands in the headings of a text that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Headings {
    names: Vec<String>,
    /// The beginning of the line that the last piece ended in.
    line: Vec<u8>,
}

impl Headings {
    pub(super) fn push(&mut self, mut piece: &[u8]) {
        while let Some(end) = memchr(b'\n', piece) {
            self.begin(&piece[..end]);
            self.finish_line();
            piece = &piece[end + 1..];
        }
        self.begin(piece);
    }

    /// What stands in the headings, in order.
    pub(super) fn finish(mut self) -> Vec<String> {
        self.finish_line();
        self.names
    }

    fn begin(&mut self, part: &[u8]) {
        let room = LONGEST - self.line.len();
        self.line.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn finish_line(&mut self) {
        if let Some(name) = self.line.strip_prefix(HEADING) {
            self.names.push(String::from_utf8_lossy(name).into_owned());
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_found_in_any_pieces() {
        let text = b"### Response ABC\nBEGIN x\n(quoted) ### Response NO\n ### Response NO\n### Response DEF";
        for size in 1..text.len() {
            let mut headings = Headings::default();
            text.chunks(size).for_each(|piece| headings.push(piece));
            assert_eq!(headings.finish(), ["ABC", "DEF"], "{size}");
        }
    }
}
