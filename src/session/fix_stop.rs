//! Why a fix ended: the word on its session's record, and a sentence for people.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a fix ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FixStop {
    /// Nothing that is sustained at or above the bar is open.
    Converged,
    /// The rounds are used up.
    MaxRounds,
    /// The open findings do not become fewer.
    Plateau,
    /// The money is used up.
    Budget,
    /// The time is over.
    Deadline,
    /// The fixer changed nothing.
    NoChange,
    /// A person ended it, and wants nothing of it.
    Aborted,
    /// A person takes what there is.
    Approved,
    /// A person leaves what is open as it is.
    Skipped,
    /// Too few reviewers answered to say anything.
    Inconclusive,
}

impl FixStop {
    /// Every reason.
    pub const ALL: [Self; 10] = [
        Self::Converged,
        Self::MaxRounds,
        Self::Plateau,
        Self::Budget,
        Self::Deadline,
        Self::NoChange,
        Self::Aborted,
        Self::Approved,
        Self::Skipped,
        Self::Inconclusive,
    ];

    /// The word on the session's record.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::MaxRounds => "max_rounds",
            Self::Plateau => "plateau",
            Self::Budget => "budget",
            Self::Deadline => "deadline",
            Self::NoChange => "no_change",
            Self::Aborted => "aborted",
            Self::Approved => "approved",
            Self::Skipped => "skipped",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// What such a word stands for.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }

    /// The sentence for people.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Converged => "Nothing that is sustained at or above the bar is open any more.",
            Self::MaxRounds => "The rounds that were allowed (`--max-rounds`) are used up, and findings are open.",
            Self::Plateau => "For two rounds the open findings did not become fewer: more of the same would not help.",
            Self::Budget => "The money that was allowed (`--max-cost`) is used up, and findings are open.",
            Self::Deadline => "The time that was allowed (`--deadline`) is over, and findings are open.",
            Self::NoChange => "The fixer changed nothing, so another round would find the same.",
            Self::Aborted => "A person ended it and wants nothing of it.",
            Self::Approved => "A person took what there is, as it is.",
            Self::Skipped => "A person left what was still to be decided as it is.",
            Self::Inconclusive => "Fewer reviewers answered than the quorum, so nothing is known about the last state.",
        }
    }
}

impl fmt::Display for FixStop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_words_of_its_own() {
        let words: std::collections::BTreeSet<&str> = FixStop::ALL.map(FixStop::sentence).into();
        assert_eq!(words.len(), FixStop::ALL.len());
    }
}
