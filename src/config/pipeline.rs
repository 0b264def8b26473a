//! `[pipeline]`: what holds of reviews and repairs that go over rounds.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Whether a reviewer's seat and the fixer keep their conversations over the rounds of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SessionReuse {
    /// They do, where their programs can.
    #[default]
    On,
    /// Each turn stands alone.
    Off,
}

impl SessionReuse {
    /// Every value.
    pub const ALL: &'static [Self] = &[Self::On, Self::Off];

    /// The word in `team.toml` and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

impl fmt::Display for SessionReuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SessionReuse {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().copied().find(|value| value.as_str() == text);
        found.ok_or_else(|| format!("`{text}` is none of `on`, `off`"))
    }
}

impl Serialize for SessionReuse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for SessionReuse {
    /// A word, or a truth value.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "`on`, `off`, true or false are expected")]
        enum Either {
            Flag(bool),
            Word(String),
        }
        match Either::deserialize(deserializer)? {
            Either::Flag(true) => Ok(Self::On),
            Either::Flag(false) => Ok(Self::Off),
            Either::Word(word) => word.parse().map_err(serde::de::Error::custom),
        }
    }
}

/// `[pipeline]`, one layer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PipelineEntry {
    /// Whether conversations are gone on with.
    pub session_reuse: Option<SessionReuse>,
}

impl PipelineEntry {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reuse_is_said_by_a_word_or_a_truth_value() {
        let read = |text: &str| toml::from_str::<PipelineEntry>(text).map(|entry| entry.session_reuse);
        for (text, expected) in [
            ("session_reuse = true", Some(SessionReuse::On)),
            ("session_reuse = \"on\"", Some(SessionReuse::On)),
            ("session_reuse = false", Some(SessionReuse::Off)),
            ("session_reuse = \"off\"", Some(SessionReuse::Off)),
            ("", None),
        ] {
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
        let error = read("session_reuse = \"sometimes\"").unwrap_err().to_string();
        assert!(error.contains("`sometimes` is none of `on`, `off`"), "{error}");
        assert!(read("session_reuse = 1").unwrap_err().to_string().contains("true or false are expected"));
    }
}
