//! A patch in the reply of a model that has no hands: one or more blocks fenced as `diff` or `patch`, at the top level.
//! Nothing else of the reply is ever applied.

use std::fmt;

/// The most bytes of a patch.
const MOST: usize = 4 * 1024 * 1024;

/// Why there is no patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoPatch {
    /// No block is fenced as one.
    Missing,
    /// A block has no end, so the reply may be cut off.
    Unclosed,
    /// It is longer than anything that would be looked at.
    TooLong,
}

impl fmt::Display for NoPatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "the reply has no block that begins with a line of three backticks and `diff`",
            Self::Unclosed => "the last block of the reply has no closing fence",
            Self::TooLong => "the patch is longer than 4 MiB",
        })
    }
}

/// The fence of an open block.
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    run: usize,
    is_patch: bool,
}

impl Fence {
    /// The fence that a line opens. Up to three spaces before it are allowed, as in any Markdown.
    fn opened_by(line: &str) -> Option<Self> {
        let inner = line.trim_start_matches(' ');
        if line.len() - inner.len() > 3 {
            return None;
        }
        let mark = inner.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let run = inner.chars().take_while(|c| *c == mark).count();
        let info = inner[run..].trim();
        if run < 3 || info.contains('`') {
            return None;
        }
        let word = info.split_whitespace().next().unwrap_or_default();
        Some(Self { mark, run, is_patch: ["diff", "patch"].iter().any(|known| word.eq_ignore_ascii_case(known)) })
    }

    /// Whether a line closes it. In a patch a line with a space before its fence is one of the file that is changed.
    fn is_closed_by(self, line: &str) -> bool {
        let line = if self.is_patch { line.trim_end() } else { line.trim() };
        line.len() >= self.run && line.chars().all(|c| c == self.mark)
    }
}

/// The patch of a reply.
pub(crate) fn patch_in(reply: &str) -> Result<Vec<u8>, NoPatch> {
    let mut patch = String::new();
    let mut open: Option<Fence> = None;
    for line in reply.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        let bare = bare.strip_suffix('\r').unwrap_or(bare);
        match open {
            None => open = Fence::opened_by(bare),
            Some(fence) if fence.is_closed_by(bare) => open = None,
            Some(fence) if fence.is_patch => {
                // The line end of the reply is not the one of the file: a carriage return that belongs to the file
                // stands before it.
                patch.push_str(line.strip_suffix('\n').unwrap_or(line));
                patch.push('\n');
            }
            Some(_) => {}
        }
    }
    match open {
        Some(_) => Err(NoPatch::Unclosed),
        None if patch.trim().is_empty() => Err(NoPatch::Missing),
        None if patch.len() > MOST => Err(NoPatch::TooLong),
        None => Ok(patch.into_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reply: &str) -> Result<String, NoPatch> {
        patch_in(reply).map(|patch| String::from_utf8(patch).unwrap())
    }

    #[test]
    fn blocks_of_patches_are_taken_in_order_and_nothing_else() {
        let reply =
            "Here:\n```diff\n--- a/x\n+++ b/x\n```\nand\n~~~~ Patch\n--- a/y\n~~~\n~~~~\n```rust\nfn x() {}\n```\n";
        assert_eq!(read(reply).unwrap(), "--- a/x\n+++ b/x\n--- a/y\n~~~\n");
    }

    #[test]
    fn a_fence_in_the_file_that_is_changed_does_not_end_the_patch() {
        let body = "--- a/README.md\n+++ b/README.md\n@@ -1,3 +1,3 @@\n ```\n-old\n+new\n ```\n+```\n";
        assert_eq!(read(&format!("```diff\n{body}```\n")).unwrap(), body);
    }

    #[test]
    fn a_quoted_patch_a_cut_off_one_and_prose_are_none() {
        assert_eq!(read("````text\n```diff\n--- a/x\n```\n````\n"), Err(NoPatch::Missing));
        assert_eq!(read("```diff\n--- a/x\n+++ b/x\n"), Err(NoPatch::Unclosed));
        assert_eq!(read("I would change x to y.\n"), Err(NoPatch::Missing));
        assert_eq!(read("```diff\n\n```\n"), Err(NoPatch::Missing));
        assert_eq!(read(&format!("```diff\n{}\n```\n", "+".repeat(MOST))), Err(NoPatch::TooLong));
    }
}
