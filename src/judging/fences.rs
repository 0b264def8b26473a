//! Fenced blocks, by the rules of CommonMark 0.31 section 4.5 as far as they matter here.

/// What opens a block and what must close it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    /// A backtick or a tilde.
    mark: u8,
    /// How many.
    run: usize,
}

impl Fence {
    /// The fence that `line` opens, and the words after it.
    pub(super) fn opened_by(line: &str) -> Option<(Self, &str)> {
        let inner = line.trim_start();
        let mark = *inner.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let run = inner.bytes().take_while(|byte| *byte == mark).count();
        let info = &inner[run..];
        // Backticks after backticks are a code span, not a fence.
        if run < 3 || (mark == b'`' && info.contains('`')) {
            return None;
        }
        Some((Self { mark, run }, info))
    }

    /// Whether a whole block of `other` can stand inside: nothing of it ends this one.
    pub(super) fn holds(self, other: Self) -> bool {
        self.mark != other.mark || self.run > other.run
    }

    /// Whether `line` ends the block.
    pub(super) fn is_closed_by(self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.run && line.bytes().all(|byte| byte == self.mark)
    }
}

/// Whether a text that is read line by line is in a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Fences {
    open: Option<Fence>,
}

impl Fences {
    /// Goes on over `text`, which ends where a line ends.
    pub(super) fn read(&mut self, text: &str) {
        let mut start = 0;
        for end in memchr::memchr2_iter(b'\n', b'\r', text.as_bytes()).chain([text.len()]) {
            let line = &text[start..end];
            start = end + 1;
            self.open = match self.open {
                Some(fence) if fence.is_closed_by(line) => None,
                Some(fence) => Some(fence),
                None => Fence::opened_by(line).map(|(fence, _)| fence),
            };
        }
    }

    /// Whether the next line is inside of a block.
    pub(super) const fn is_open(self) -> bool {
        self.open.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_open_until_a_fence_of_its_kind_and_length() {
        let mut fences = Fences::default();
        let mut open_after = |line: &str| {
            fences.read(line);
            fences.is_open()
        };
        for (line, open) in [
            ("text\n", false),
            ("````rust\n", true),
            ("```\n", true),
            ("~~~~\n", true),
            ("  ````  \n", false),
            ("```one line```\n", false),
            ("~~~ a ` b\r\n", true),
        ] {
            assert_eq!(open_after(line), open, "{line:?}");
        }
    }
}
