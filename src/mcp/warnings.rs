//! What a process warned of, as far as a reply has room for it.

use serde::{Serialize, Serializer};

use super::words::in_words_of_a_call;
use crate::report::without_controls;

/// So many are told.
const MOST: usize = 6;

/// So many characters of each.
const LONGEST: usize = 240;

/// Warnings, each once, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Warnings {
    told: Vec<String>,
    more: usize,
}

impl Warnings {
    /// Takes in one more.
    pub(super) fn add(&mut self, text: &str) {
        let text = in_words_of_a_call(&without_controls(text.trim()));
        let cut = match text.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text,
        };
        if cut.is_empty() || self.told.contains(&cut) {
            return;
        }
        if self.told.len() < MOST {
            self.told.push(cut);
        } else {
            self.more += 1;
        }
    }

    /// Whether there are none.
    pub(super) const fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// Each in a line, and how many are left out.
    pub(super) fn lines(&self) -> Vec<String> {
        let more = (self.more > 0).then(|| format!("and {} more", self.more));
        self.told.iter().cloned().chain(more).collect()
    }
}

impl Serialize for Warnings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.lines().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_told_once_and_many_are_cut() {
        let mut warnings = Warnings::default();
        assert!(warnings.is_empty());
        for text in ["a\n", " a", "", "b\u{1b}[2J"] {
            warnings.add(text);
        }
        assert_eq!(warnings.lines(), ["a", "b\u{fffd}[2J"]);
        for number in 0..10 {
            warnings.add(&format!("{number}{}", "é".repeat(1000)));
        }
        let lines = warnings.lines();
        assert_eq!((lines.len(), lines[6].as_str()), (7, "and 6 more"));
        assert_eq!(lines[2].chars().count(), LONGEST + 3);
        assert_eq!(serde_json::to_value(&warnings).unwrap().as_array().unwrap().len(), 7);
    }
}
