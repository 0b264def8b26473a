//! The bar of a vote on a task, in whole numbers.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

/// How many of the valid votes (approvals and rejections) decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Threshold {
    /// More than half.
    #[default]
    Majority,
    /// Two thirds or more.
    Supermajority,
    /// All.
    Unanimous,
    /// At least this many in a hundred.
    Percent(Percent),
}

/// A whole number from 1 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Percent(u8);

impl Percent {
    /// `None` when `number` is not from 1 to 100.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if matches!(number, 1..=100) { Some(Self(number)) } else { None }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl Threshold {
    /// The fewest of `valid` votes that reach the bar; more than there are where there is none.
    #[must_use]
    pub const fn needed(self, valid: u32) -> u32 {
        if valid == 0 {
            return 1;
        }
        match self {
            Self::Majority => valid / 2 + 1,
            // 2 / 3 of it, without leaving the range of the type.
            Self::Supermajority => valid - valid / 3,
            Self::Unanimous => valid,
            // At most `valid`, for the number is at most 100.
            Self::Percent(percent) => (valid as u64 * percent.0 as u64).div_ceil(100) as u32,
        }
    }

    /// The bar in words.
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Self::Majority => "more than half of the valid votes".to_owned(),
            Self::Supermajority => "two thirds of the valid votes or more".to_owned(),
            Self::Unanimous => "all valid votes".to_owned(),
            Self::Percent(percent) => format!("at least {} % of the valid votes", percent.0),
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Majority => f.write_str("majority"),
            Self::Supermajority => f.write_str("supermajority"),
            Self::Unanimous => f.write_str("unanimous"),
            Self::Percent(percent) => write!(f, "{}%", percent.0),
        }
    }
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let word = text.trim();
        for known in [Self::Majority, Self::Supermajority, Self::Unanimous] {
            if word.eq_ignore_ascii_case(&known.to_string()) {
                return Ok(known);
            }
        }
        let number = word.strip_suffix('%').map(str::trim_end);
        let digits = |number: &str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        match number {
            Some(number) if digits(number) => match number.parse().ok().and_then(Percent::new) {
                Some(percent) => Ok(Self::Percent(percent)),
                None => Err(format!("`{text}` is not from 1% to 100%")),
            },
            Some(_) => Err(format!("`{text}` is not a whole number of percent")),
            None if digits(word) => Err(format!("`{text}` has no unit: write `{word}%`")),
            None => Err(format!("`{text}` is none of `majority`, `supermajority`, `unanimous`, and no `N%`")),
        }
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Threshold {
    fn schema_name() -> Cow<'static, str> {
        "Threshold".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^(majority|supermajority|unanimous|([1-9][0-9]?|100)%)$"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(number: u8) -> Threshold {
        Threshold::Percent(Percent::new(number).unwrap())
    }

    #[test]
    fn a_bar_reads_back_as_it_is_written() {
        let all = (1..=100).map(percent);
        for bar in [Threshold::Majority, Threshold::Supermajority, Threshold::Unanimous].into_iter().chain(all) {
            assert_eq!(bar.to_string().parse(), Ok(bar));
            assert_eq!(serde_json::from_value::<Threshold>(serde_json::to_value(bar).unwrap()).unwrap(), bar);
        }
        assert_eq!(" Majority ".parse(), Ok(Threshold::Majority));
        assert_eq!("67 %".parse(), Ok(percent(67)));
        assert_eq!("007%".parse(), Ok(percent(7)));
    }

    #[test]
    fn what_is_no_bar_is_refused_with_its_value_and_the_way_out() {
        for (text, told) in [
            ("0%", "`0%` is not from 1% to 100%"),
            ("101%", "`101%` is not from 1% to 100%"),
            ("99999999999%", "`99999999999%` is not from 1% to 100%"),
            ("66.7%", "`66.7%` is not a whole number of percent"),
            ("-5%", "`-5%` is not a whole number of percent"),
            ("+5%", "`+5%` is not a whole number of percent"),
            ("%", "`%` is not a whole number of percent"),
            ("67", "`67` has no unit: write `67%`"),
            ("most", "`most` is none of `majority`, `supermajority`, `unanimous`, and no `N%`"),
            ("", "`` is none of `majority`, `supermajority`, `unanimous`, and no `N%`"),
        ] {
            assert_eq!(text.parse::<Threshold>(), Err(told.to_owned()));
        }
    }

    #[test]
    fn the_votes_needed_stay_exact_where_they_are_many() {
        let most = u32::MAX;
        assert_eq!(Threshold::Majority.needed(most), 2_147_483_648);
        assert_eq!(Threshold::Supermajority.needed(most), 2_863_311_530);
        assert_eq!(percent(1).needed(most), 42_949_673);
        assert_eq!(percent(100).needed(most), most);
        assert_eq!(percent(67).needed(3), 3, "two of three are less than 67 %");
        assert_eq!(percent(66).needed(3), 2);
    }
}
