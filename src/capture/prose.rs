//! Puts blocks of recovered text together: a blank line between blocks, one newline at the end.

use std::hash::{DefaultHasher, Hasher};
use std::io;

use crate::session::slot::Output;

/// Which block a piece of text belongs to; another value than before begins a new block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    /// Lines that are no frames; neighbours stay together as they were printed.
    Plain,
    /// A block of the model's text.
    Model(u64),
}

/// Line ends at the end of what was put so far are held back, at most this many bytes of them.
const HELD: usize = 64 << 10;

/// The writer of an answer that is recovered from frames.
#[derive(Debug, Default)]
pub(super) struct Prose {
    held: Vec<u8>,
    block: Option<Block>,
    begun: bool,
    /// A new block has begun and its first visible byte has not come yet.
    between: bool,
}

impl Prose {
    /// Adds `text` to `block`. Every byte is kept; between two blocks newlines are added up to one blank line.
    pub(super) fn put(&mut self, block: Block, text: &[u8], out: &mut dyn Output) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if self.block != Some(block) {
            self.between = self.block.is_some();
            self.block = Some(block);
        }
        let end = text.iter().rposition(|b| !is_line_end(*b)).map_or(0, |last| last + 1);
        let (body, tail) = text.split_at(end);
        if !body.is_empty() {
            if std::mem::take(&mut self.between) && self.begun {
                let lead = body.iter().take_while(|b| is_line_end(**b)).filter(|b| **b == b'\n').count();
                let have = lead + self.held.iter().filter(|b| **b == b'\n').count();
                self.held.extend(std::iter::repeat_n(b'\n', 2_usize.saturating_sub(have)));
            }
            if !self.held.is_empty() {
                out.text(&self.held)?;
                self.held.clear();
            }
            out.text(body)?;
            self.begun = true;
        }
        self.hold(tail, out)
    }

    /// The block that the last text belonged to.
    pub(super) fn block(&self) -> Option<Block> {
        self.block
    }

    /// Ends the answer in exactly one line end, when there is any text.
    pub(super) fn finish(self, out: &mut dyn Output) -> io::Result<()> {
        if !self.begun {
            return Ok(());
        }
        let end: &[u8] = if self.held.starts_with(b"\r\n") { b"\r\n" } else { b"\n" };
        out.text(end)
    }

    fn hold(&mut self, tail: &[u8], out: &mut dyn Output) -> io::Result<()> {
        self.held.extend_from_slice(tail);
        let over = self.held.len().saturating_sub(HELD);
        if over > 0 {
            out.text(&self.held[..over])?;
            self.held.drain(..over);
        }
        Ok(())
    }
}

const fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// What was already written of a text whose later frames may repeat it from its beginning.
#[derive(Debug, Default)]
pub(super) struct Written {
    length: usize,
    hash: DefaultHasher,
}

impl Written {
    /// Notes that `text` was written after what was written before.
    pub(super) fn add(&mut self, text: &[u8]) {
        self.length += text.len();
        self.hash.write(text);
    }

    /// What a repetition of the whole text adds; `None` when `whole` is another text.
    pub(super) fn rest_of<'a>(&self, whole: &'a [u8]) -> Option<&'a [u8]> {
        if self.length == 0 {
            return None;
        }
        let (old, new) = whole.split_at_checked(self.length)?;
        let mut hash = DefaultHasher::new();
        hash.write(old);
        (hash.finish() == self.hash.finish()).then_some(new)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::session::slot::Activity;

    /// Collects what comes out.
    #[derive(Default)]
    pub(in crate::capture) struct Collected {
        pub(in crate::capture) text: Vec<u8>,
        pub(in crate::capture) activities: Vec<Activity>,
    }

    impl Output for Collected {
        fn text(&mut self, piece: &[u8]) -> io::Result<()> {
            self.text.extend_from_slice(piece);
            Ok(())
        }
        fn activity(&mut self, activity: Activity) {
            self.activities.push(activity);
        }
        fn received(&mut self, _: usize) {}
    }

    fn joined(blocks: &[(Block, &str)]) -> String {
        let mut out = Collected::default();
        let mut prose = Prose::default();
        for (block, text) in blocks {
            prose.put(*block, text.as_bytes(), &mut out).unwrap();
        }
        prose.finish(&mut out).unwrap();
        String::from_utf8(out.text).unwrap()
    }

    #[test]
    fn blocks_are_separated_by_one_blank_line_and_end_in_one_newline() {
        use Block::{Model, Plain};
        assert_eq!(joined(&[(Model(1), "a"), (Model(2), "b")]), "a\n\nb\n");
        assert_eq!(joined(&[(Model(1), "a\n"), (Model(2), "b\n\n\n")]), "a\n\nb\n");
        assert_eq!(joined(&[(Model(1), "a"), (Model(2), "\n\n"), (Model(3), "b")]), "a\n\nb\n");
        assert_eq!(joined(&[(Model(1), "a\n\n\nx"), (Model(1), "y")]), "a\n\n\nxy\n");
        assert_eq!(joined(&[(Plain, "1\n"), (Plain, "\n"), (Plain, "2\n"), (Model(1), "a")]), "1\n\n2\n\na\n");
        assert_eq!(joined(&[(Plain, "1\r\n")]), "1\r\n");
        assert_eq!(joined(&[(Model(1), "\n"), (Model(2), "")]), "");
    }

    #[test]
    fn a_repeated_text_adds_only_what_is_new() {
        let mut written = Written::default();
        assert_eq!(written.rest_of(b"abc"), None);
        written.add(b"a");
        written.add(b"b");
        assert_eq!(written.rest_of(b"abc"), Some(&b"c"[..]));
        assert_eq!(written.rest_of(b"axc"), None);
        assert_eq!(written.rest_of(b"a"), None);
    }
}
