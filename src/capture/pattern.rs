//! `--require-pattern`: a regular expression that the whole answer must match somewhere.
//!
//! Answers up to [`WINDOW`] are matched in one piece. Longer ones are read in windows of that size which overlap by
//! [`OVERLAP`], so memory stays flat. In each window the anchors see the bytes around it: `^`, `$`, `\A`, `\z` and `\b`
//! mean the same as on the whole file, and a match found is one of the whole file. The one limit: in an answer longer
//! than a window, a match that is longer than the overlap can be missed.

use std::io::{self, Read};
use std::path::Path;

use regex_automata::{Input, meta, util::syntax};

/// Bytes searched at a time.
pub(super) const WINDOW: usize = 16 << 20;
/// Bytes that two neighbouring windows share.
pub(super) const OVERLAP: usize = 1 << 20;
/// Bytes on either side that only anchors look at: the longest character.
const CONTEXT: usize = 4;

/// A pattern that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is not a regular expression: {problem}")]
pub struct PatternError {
    /// What was given.
    pub pattern: String,
    /// What is wrong with it.
    pub problem: String,
}

/// A compiled `--require-pattern`.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    regex: meta::Regex,
}

impl Pattern {
    /// Compiles `text`; made before anything starts, so that a mistake costs nothing.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        let regex = meta::Builder::new()
            // Answers are bytes that are text nearly always; an invalid one must not end the search.
            .syntax(syntax::Config::new().utf8(false))
            .configure(meta::Config::new().utf8_empty(false).nfa_size_limit(Some(10 << 20)))
            .build(text)
            .map_err(|error| {
                let problem = match (error.syntax_error(), error.size_limit()) {
                    (Some(syntax), _) => syntax.to_string(),
                    (None, Some(limit)) => format!("it needs more than {limit} bytes"),
                    (None, None) => error.to_string(),
                };
                PatternError { pattern: text.to_owned(), problem }
            })?;
        Ok(Self { text: text.to_owned(), regex })
    }

    /// The pattern as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the file at `path` holds a match.
    pub fn matches_file(&self, path: &Path) -> io::Result<bool> {
        self.matches_reader(&mut fs_err::File::open(path)?)
    }

    fn matches_reader(&self, reader: &mut impl Read) -> io::Result<bool> {
        self.search(reader, WINDOW, OVERLAP)
    }

    fn search(&self, reader: &mut impl Read, window: usize, overlap: usize) -> io::Result<bool> {
        let mut bytes = Vec::new();
        // Where the search of this window begins in `bytes`; before it lies only context.
        let mut from = 0;
        loop {
            let wanted = from + window + CONTEXT;
            let missing = (wanted - bytes.len()) as u64;
            let at_end = reader.by_ref().take(missing).read_to_end(&mut bytes)? < usize::try_from(missing).unwrap_or(0);
            let to = if at_end { bytes.len() } else { from + window };
            if self.regex.is_match(Input::new(&bytes).span(from..to)) {
                return Ok(true);
            }
            if at_end {
                return Ok(false);
            }
            let next = to - overlap;
            let context = next.min(CONTEXT);
            bytes.drain(..next - context);
            from = context;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, text: &[u8], window: usize, overlap: usize) -> bool {
        Pattern::new(pattern).unwrap().search(&mut &text[..], window, overlap).unwrap()
    }

    #[test]
    fn a_bad_pattern_is_refused_with_what_is_wrong() {
        let error = Pattern::new("a(b").unwrap_err().to_string();
        assert!(error.contains("`a(b`") && error.contains("unclosed group"), "{error}");
        let error = Pattern::new(r"(\pL{1000}){1000}").unwrap_err().to_string();
        assert!(error.contains("bytes"), "{error}");
    }

    #[test]
    fn windows_find_what_the_whole_text_holds_and_nothing_else() {
        let text = "START é one\ntwo ünd three\nEND".as_bytes();
        let patterns = [
            r"\ASTART",
            r"^START",
            r"^one",
            r"(?m)^two",
            r"\Aé",
            r"END$",
            r"END\z",
            r"one$",
            r"(?m)one$",
            r"\btwo\b",
            r"\bwo\b",
            r"\bnd\b",
            r"\bthree",
            "ü",
            "missing",
            r"\z",
            r"(?s)START.",
            "^",
            r"é\b",
            r"\Bnd",
        ];
        for pattern in patterns {
            let whole = found(pattern, text, 1000, 10);
            for (window, overlap) in [(8, 6), (9, 7), (12, 8), (29, 6), (30, 6), (31, 6)] {
                assert_eq!(found(pattern, text, window, overlap), whole, "{pattern} in windows of {window}");
            }
        }
    }

    #[test]
    fn an_early_marker_of_a_large_answer_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("answer");
        let mut text = b"VERDICT: yes\n".to_vec();
        text.resize(WINDOW + OVERLAP, b'x');
        text.extend_from_slice(b"LAST");
        crate::fs::replace(&path, &text).unwrap();
        for (pattern, expected) in [(r"\AVERDICT: (yes|no)", true), (r"xLAST\z", true), (r"\ALAST", false)] {
            assert_eq!(Pattern::new(pattern).unwrap().matches_file(&path).unwrap(), expected, "{pattern}");
        }
        assert!(Pattern::new("a").unwrap().matches_file(&dir.path().join("gone")).is_err());
    }
}
