//! `verdict.md`, written again and compared line by line.

use crate::secrets::REDACTED;

/// How a note begins. The notes that the round itself made (an answer was cut, a context too small) are in no other file:
/// one that is only in the document is taken as such.
const NOTE: &str = "- Note: ";

/// The first line that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineDifference {
    /// Its number in the document found, from 1.
    pub(super) line: usize,
    pub(super) expected: String,
    pub(super) found: String,
}

/// Where `found` says something else than `expected`. A secret that was taken out matches anything.
pub(super) fn difference(expected: &str, found: &str) -> Option<LineDifference> {
    let mut expected = expected.lines();
    let mut wanted = expected.next();
    for (index, line) in found.lines().enumerate() {
        match wanted {
            Some(text) if matches(line, text) => wanted = expected.next(),
            _ if line.starts_with(NOTE) => {}
            _ => return Some(told(index + 1, wanted, Some(line))),
        }
    }
    wanted.map(|text| told(found.lines().count() + 1, Some(text), None))
}

fn told(line: usize, expected: Option<&str>, found: Option<&str>) -> LineDifference {
    let shown = |text: Option<&str>| text.unwrap_or("the end").chars().take(200).collect();
    LineDifference { line, expected: shown(expected), found: shown(found) }
}

/// Whether `line` is `text`, with secrets in it replaced.
fn matches(line: &str, text: &str) -> bool {
    let mut parts = line.split(REDACTED);
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        let found = if parts.peek().is_none() { rest.len().checked_sub(part.len()) } else { rest.find(part) };
        match found {
            Some(at) if rest.is_char_boundary(at) && rest[at..].starts_with(part) => rest = &rest[at + part.len()..],
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_says_something_else_is_named() {
        let text = "# Verdict\n\nA wins.\n- Note: one\n";
        assert_eq!(difference(text, text), None);
        let found = difference(text, "# Verdict\n\nB wins.\n- Note: one\n").unwrap();
        assert_eq!((found.line, found.expected.as_str(), found.found.as_str()), (3, "A wins.", "B wins."));
        assert_eq!(difference(text, "# Verdict\n\nA wins.\n").unwrap().expected, "- Note: one");
        assert_eq!(difference(text, "# Verdict\n\nA wins.\nReally.\n- Note: one\n").unwrap().found, "Really.");
    }

    #[test]
    fn a_note_of_the_round_is_allowed_for_and_a_known_one_must_be_there() {
        let text = "a\n- Note: known\nb\n";
        assert_eq!(difference(text, "a\n- Note: of the round\n- Note: known\nb\n"), None);
        assert!(difference(text, "a\n- Note: of the round\nb\n").is_some());
    }

    #[test]
    fn a_secret_that_was_taken_out_matches_whatever_it_was() {
        assert_eq!(difference("key abc, then def.\n", "key [redacted], then [redacted].\n"), None);
        assert_eq!(difference("only abc\n", "only [redacted]\n"), None);
        assert!(difference("key abc, then def.\n", "key [redacted], than [redacted].\n").is_some());
        assert!(difference("abc\n", "abc [redacted]\n").is_some());
    }
}
