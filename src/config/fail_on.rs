//! Which findings of a review do not pass: how bad, and agreed on by how many.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

/// How bad it is, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Info,
    /// A blemish.
    Low,
    /// Wrong in a case that is rare or can be lived with.
    Medium,
    /// Wrong in a case that will happen.
    High,
    /// Data is lost, somebody gets in, or it does not work at all.
    Critical,
}

impl Severity {
    /// Every one, mildest first.
    pub const ALL: [Self; 5] = [Self::Info, Self::Low, Self::Medium, Self::High, Self::Critical];

    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Severity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|known| text.trim().eq_ignore_ascii_case(known.as_str()));
        known.ok_or_else(|| format!("`{text}` is none of {}", listed(Self::ALL.iter().rev())))
    }
}

/// How far those who voted on a finding agree, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Consensus {
    /// Half of them or fewer.
    Divergent,
    /// More than half.
    Majority,
    /// Two thirds or more.
    Strong,
    /// All.
    Unanimous,
}

impl Consensus {
    /// Every one, least first.
    pub const ALL: [Self; 4] = [Self::Divergent, Self::Majority, Self::Strong, Self::Unanimous];

    /// How far `agreeing` of `all` agree. Of nobody, nobody does.
    #[must_use]
    pub const fn of(agreeing: u64, all: u64) -> Self {
        // Wide enough for every count.
        let (agreeing, all) = (agreeing as u128, all as u128);
        if all > 0 && agreeing >= all {
            Self::Unanimous
        } else if agreeing * 3 >= all * 2 && agreeing > 0 {
            Self::Strong
        } else if agreeing * 2 > all {
            Self::Majority
        } else {
            Self::Divergent
        }
    }

    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Divergent => "divergent",
            Self::Majority => "majority",
            Self::Strong => "strong",
            Self::Unanimous => "unanimous",
        }
    }
}

impl fmt::Display for Consensus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Consensus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|known| text.trim().eq_ignore_ascii_case(known.as_str()));
        known.ok_or_else(|| format!("`{text}` is none of {}", listed(Self::ALL.iter().rev())))
    }
}

/// A sustained finding that is as bad as this, and agreed on as far, does not pass: `high`, or `high:strong`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FailOn {
    /// As bad as this, or worse.
    pub severity: Severity,
    /// Agreed on as far as this, or farther.
    pub consensus: Consensus,
}

impl Default for FailOn {
    fn default() -> Self {
        Self { severity: Severity::High, consensus: Consensus::Majority }
    }
}

impl FailOn {
    /// Whether a sustained finding of this kind does not pass.
    #[must_use]
    pub fn is_met(self, severity: Severity, consensus: Consensus) -> bool {
        severity >= self.severity && consensus >= self.consensus
    }
}

impl fmt::Display for FailOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.severity, self.consensus)
    }
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (severity, consensus) = match text.split_once(':') {
            Some((severity, consensus)) => (severity, Some(consensus)),
            None => (text, None),
        };
        let consensus = consensus.map(str::parse).transpose()?;
        Ok(Self { severity: severity.parse()?, consensus: consensus.unwrap_or(Self::default().consensus) })
    }
}

impl Serialize for FailOn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FailOn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for FailOn {
    fn schema_name() -> Cow<'static, str> {
        "FailOn".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let severities = Severity::ALL.map(Severity::as_str).join("|");
        let consensus = Consensus::ALL.map(Consensus::as_str).join("|");
        json_schema!({"type": "string", "pattern": format!("^({severities}):({consensus})$")})
    }
}

fn listed(words: impl Iterator<Item = impl fmt::Display>) -> String {
    words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_reads_back_as_it_is_written() {
        for severity in Severity::ALL {
            for consensus in Consensus::ALL {
                let bar = FailOn { severity, consensus };
                assert_eq!(bar.to_string().parse(), Ok(bar));
                assert_eq!(serde_json::from_value::<FailOn>(serde_json::to_value(bar).unwrap()).unwrap(), bar);
            }
        }
        assert_eq!(" Medium ".parse(), Ok(FailOn { severity: Severity::Medium, ..FailOn::default() }));
        assert_eq!(FailOn::default().to_string(), "high:majority");
    }

    #[test]
    fn what_is_no_bar_is_refused_with_its_value_and_the_words() {
        let severities = "`critical`, `high`, `medium`, `low`, `info`";
        let consensus = "`unanimous`, `strong`, `majority`, `divergent`";
        for (text, told) in [
            ("worst", format!("`worst` is none of {severities}")),
            ("", format!("`` is none of {severities}")),
            ("high:most", format!("`most` is none of {consensus}")),
            ("high:", format!("`` is none of {consensus}")),
            ("high:strong:x", format!("`strong:x` is none of {consensus}")),
        ] {
            assert_eq!(text.parse::<FailOn>(), Err(told));
        }
    }

    #[test]
    fn a_bar_is_met_by_what_is_as_bad_and_as_agreed_on_and_by_nothing_less() {
        let bar = FailOn { severity: Severity::High, consensus: Consensus::Strong };
        for (severity, consensus, met) in [
            (Severity::High, Consensus::Strong, true),
            (Severity::Critical, Consensus::Unanimous, true),
            (Severity::Critical, Consensus::Majority, false),
            (Severity::Medium, Consensus::Unanimous, false),
        ] {
            assert_eq!(bar.is_met(severity, consensus), met, "{severity} {consensus}");
        }
    }

    #[test]
    fn consensus_is_exact_at_its_boundaries() {
        use Consensus::{Divergent, Majority, Strong, Unanimous};
        for (agreeing, all, expected) in [
            (0, 0, Divergent),
            (0, 1, Divergent),
            (1, 1, Unanimous),
            (1, 2, Divergent),
            (2, 3, Strong),
            (3, 5, Majority),
            (4, 6, Strong),
            (4, 7, Majority),
            (u64::MAX - 1, u64::MAX, Strong),
            (u64::MAX, u64::MAX, Unanimous),
        ] {
            assert_eq!(Consensus::of(agreeing, all), expected, "{agreeing} of {all}");
        }
    }
}
