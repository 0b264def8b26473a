//! What one reviewer says is wrong.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

use crate::config::Severity;
use crate::secrets::Redactor;

/// What the reviewer says should be done, the least strict first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Nothing: it is told, not to be changed.
    NoOp,
    /// It can be mended without asking anybody.
    AutoFix,
    /// A person has to say what should be done.
    AskUser,
}

impl Action {
    /// Every one, the least strict first.
    pub const ALL: [Self; 3] = [Self::NoOp, Self::AutoFix, Self::AskUser];

    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoOp => "no-op",
            Self::AutoFix => "auto-fix",
            Self::AskUser => "ask-user",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Lines of a file, from 1, the last one included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Lines {
    /// The first.
    #[schemars(range(min = 1))]
    pub start: u32,
    /// The last; not before the first.
    #[schemars(range(min = 1))]
    pub end: u32,
}

impl Lines {
    /// The highest number of a line that is believed.
    const MOST: u32 = 100_000_000;

    /// `None` where these are no lines of a file.
    #[must_use]
    pub const fn new(start: u32, end: u32) -> Option<Self> {
        if start == 0 || end < start || end > Self::MOST { None } else { Some(Self { start, end }) }
    }

    /// How many lines are between `self` and `other`; 0 where they are adjacent or overlap.
    #[must_use]
    pub const fn gap(self, other: Self) -> u32 {
        let between =
            if self.end < other.start { other.start - self.end } else { self.start.saturating_sub(other.end) };
        between.saturating_sub(1)
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.start == self.end { write!(f, "{}", self.start) } else { write!(f, "{}-{}", self.start, self.end) }
    }
}

/// What one reviewer says is wrong, cleaned: no text is longer than its bound or holds a character that acts or hides,
/// and the path is one inside of the repository.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What should be done.
    pub action: Action,
    /// Where: a path relative to the root of what is reviewed; `null` where it is about no file.
    pub file: Option<String>,
    /// Which lines of the file.
    pub lines: Option<Lines>,
    /// What it is, in a few words on one line.
    pub title: String,
    /// What is wrong, and when.
    pub description: String,
    /// What shows it; empty where nothing was said.
    pub evidence: String,
    /// What would mend it; empty where nothing was said.
    pub suggestion: String,
}

impl Finding {
    /// Where it is, in words: `src/a.rs:12-14`, `src/a.rs`; nothing where it is about no file.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        let file = self.file.as_deref()?;
        Some(self.lines.map_or_else(|| file.to_owned(), |lines| format!("{file}:{lines}")))
    }

    /// Takes what `redactor` finds out of every text. A path that holds a key leads nowhere without it, and is left out.
    pub(super) fn redact(&mut self, redactor: &Redactor) {
        for text in [&mut self.title, &mut self.description, &mut self.evidence, &mut self.suggestion] {
            *text = redactor.text(text);
        }
        if self.file.as_deref().is_some_and(|file| redactor.text(file) != file) {
            (self.file, self.lines) = (None, None);
        }
    }
}

/// The id of a finding in its session, which `team` assigns: `F01`, `F02` and so on, ordered by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FindingId(u32);

impl FindingId {
    /// The first one.
    pub const FIRST: Self = Self(1);

    /// The one after it.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The number, from 1.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "F{:02}", self.0)
    }
}

/// A text is not the id of a finding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the id of a finding, such as `F01`")]
pub struct FindingIdError(String);

impl FromStr for FindingId {
    type Err = FindingIdError;

    fn from_str(text: &str) -> Result<Self, FindingIdError> {
        let bad = || FindingIdError(text.chars().take(40).collect());
        let digits =
            text.strip_prefix('F').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit())).ok_or_else(bad)?;
        let id = Self(digits.parse().map_err(|_| bad())?);
        // One way to write each.
        if id.0 > 0 && id.to_string() == text { Ok(id) } else { Err(bad()) }
    }
}

impl Serialize for FindingId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FindingId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for FindingId {
    fn schema_name() -> Cow<'static, str> {
        "FindingId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The id of a finding in its session: F01, F02 and so on.",
            "type": "string",
            "pattern": "^F([0-9]{2}|[1-9][0-9]{2,9})$",
        })
    }
}

/// What a reviewer's reply holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FindingsRead {
    /// The findings, in its order.
    pub findings: Vec<Finding>,
    /// What a reader should know about them.
    pub notes: Vec<FindingsNote>,
}

/// Something about a reply that a reader should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingsNote {
    /// What it is.
    pub kind: FindingsNoteKind,
    /// Which finding of the reply is concerned, from 1, where one is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub finding: Option<u32>,
    /// The reviewer's own words, shortened, where they explain it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
}

/// What a [`FindingsNote`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FindingsNoteKind {
    /// The severity is absent or none of the words; taken as critical.
    UnknownSeverity,
    /// The action is absent or none of the words; taken as ask-user.
    UnknownAction,
    /// The file is no path inside of what is reviewed; kept in the description.
    NotAPath,
    /// The lines are none of a file; left out.
    BadLines,
    /// A very long text was shortened.
    Shortened,
    /// A field that is not one of a finding; ignored.
    UnknownField,
    /// A block inside another fence, so quoted; ignored.
    QuotedBlock,
    /// The same block was given more than once; counted once.
    Repeated,
}

impl FindingsNoteKind {
    /// What it is in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::UnknownSeverity => "no severity that is known, so taken as critical",
            Self::UnknownAction => "no action that is known, so taken as ask-user",
            Self::NotAPath => "the file is no path inside of what is reviewed; it is told in the description",
            Self::BadLines => "the lines are none of a file and were left out",
            Self::Shortened => "a long text was shortened",
            Self::UnknownField => "a field that is not known was ignored",
            Self::QuotedBlock => "a quoted block was ignored",
            Self::Repeated => "the same block was given more than once and counted once",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_written_in_one_way_and_ordered_by_number() {
        let ids: Vec<FindingId> =
            std::iter::successors(Some(FindingId::FIRST), |id| Some(id.next())).take(120).collect();
        let written: Vec<String> = ids.iter().map(ToString::to_string).collect();
        assert_eq!([&written[0], &written[8], &written[9], &written[99]], ["F01", "F09", "F10", "F100"]);
        assert!(ids.is_sorted());
        for (id, text) in ids.iter().zip(&written) {
            assert_eq!(text.parse(), Ok(*id));
        }
        for text in ["", "F", "F0", "F00", "F1", "F001", "f01", "F01 ", "F+1", "F99999999999", "01", "../F01"] {
            assert!(text.parse::<FindingId>().is_err(), "{text}");
        }
    }

    #[test]
    fn lines_know_how_far_they_are_apart() {
        let lines = |start, end| Lines::new(start, end).unwrap();
        for (a, b, gap) in [
            ((1, 5), (3, 9), 0),
            ((1, 5), (6, 9), 0),
            ((1, 5), (7, 9), 1),
            ((1, 100), (40, 41), 0),
            ((1, 1), (100, 100), 98),
        ] {
            assert_eq!(lines(a.0, a.1).gap(lines(b.0, b.1)), gap, "{a:?} {b:?}");
            assert_eq!(lines(b.0, b.1).gap(lines(a.0, a.1)), gap, "{b:?} {a:?}");
        }
        assert!(Lines::new(0, 1).is_none() && Lines::new(2, 1).is_none() && Lines::new(1, u32::MAX).is_none());
    }

    #[test]
    fn what_is_stricter_is_more() {
        assert!(Action::NoOp < Action::AutoFix && Action::AutoFix < Action::AskUser);
        assert!(Severity::ALL.is_sorted());
    }
}
