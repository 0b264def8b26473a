//! The rules of a vote that are words or small numbers in `team.toml` and on the command line.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SelfVote;

/// A closed set of words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word in `team.toml` and on the command line.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                Self::ALL.iter().copied().find(|value| value.as_str() == text).ok_or_else(|| {
                    let all: Vec<String> = Self::ALL.iter().map(|value| format!("`{value}`")).collect();
                    format!("`{text}` is none of {}", all.join(", "))
                })
            }
        }
    };
}

words! {
    /// Whose answers a judge does not see beside its own.
    Recuse {
        /// Nobody's.
        #[default]
        None = "none",
        /// Those of its own model's maker.
        Vendor = "vendor",
    }
}

words! {
    /// What happens to text by which an author names itself.
    Leaks {
        /// It is masked in the copy that judges see.
        #[default]
        Mask = "mask",
        /// It stays, and the verdict says so.
        Flag = "flag",
        /// An answer that has it is left out of the vote.
        Fail = "fail",
    }
}

words! {
    /// What of a workspace's files that git neither tracks nor ignores is in its snapshot.
    Untracked {
        /// Nothing.
        #[default]
        Exclude = "exclude",
        /// All of it.
        Include = "include",
    }
}

/// How often each judge is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u32", into = "u32")]
#[schemars(with = "u32")]
pub enum Passes {
    /// Once.
    #[default]
    One,
    /// Twice, the second time with the answers in reverse order; a vote that flips is none.
    Two,
}

impl From<Passes> for u32 {
    fn from(passes: Passes) -> Self {
        match passes {
            Passes::One => 1,
            Passes::Two => 2,
        }
    }
}

impl TryFrom<u32> for Passes {
    type Error = String;

    fn try_from(number: u32) -> Result<Self, String> {
        match number {
            1 => Ok(Self::One),
            2 => Ok(Self::Two),
            _ => Err(format!("`{number}` is neither 1 nor 2: a judge is asked once, or once more in reverse order")),
        }
    }
}

impl FromStr for Passes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number: u32 = text.trim().parse().map_err(|_| format!("`{text}` is neither 1 nor 2"))?;
        number.try_into()
    }
}

/// Whether a judge whose ballot is incomplete is asked for the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "bool", into = "bool")]
#[schemars(with = "bool")]
pub enum Repair {
    /// Once, for the missing part only.
    #[default]
    Once,
    /// Never.
    Never,
}

impl From<bool> for Repair {
    fn from(once: bool) -> Self {
        if once { Self::Once } else { Self::Never }
    }
}

impl From<Repair> for bool {
    fn from(repair: Repair) -> Self {
        repair == Repair::Once
    }
}

/// Which answers a judge does not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct OwnAnswers {
    /// The rule about its own.
    pub self_vote: SelfVote,
    /// The rule about those of its kin.
    pub recuse: Recuse,
}

impl From<SelfVote> for OwnAnswers {
    fn from(self_vote: SelfVote) -> Self {
        Self { self_vote, recuse: Recuse::None }
    }
}

/// All rules of a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct VoteRules {
    /// Which answers a judge does not see.
    pub own: OwnAnswers,
    /// What happens to text by which an author names itself.
    pub leaks: Leaks,
    /// How often each judge is asked.
    pub passes: Passes,
    /// Whether it is asked for what its ballot lacks.
    pub repair: Repair,
}

impl From<SelfVote> for VoteRules {
    fn from(self_vote: SelfVote) -> Self {
        Self { own: self_vote.into(), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_numbers_are_read_back_and_others_are_refused_with_the_choice() {
        for leaks in Leaks::ALL {
            assert_eq!(leaks.as_str().parse(), Ok(*leaks));
            assert_eq!(serde_json::to_value(leaks).unwrap(), leaks.as_str());
        }
        assert_eq!("hide".parse::<Leaks>(), Err("`hide` is none of `mask`, `flag`, `fail`".to_owned()));
        assert_eq!("2".parse(), Ok(Passes::Two));
        assert_eq!(serde_json::to_value(Passes::Two).unwrap(), 2);
        for wrong in ["0", "3", "-1", "two"] {
            assert!(wrong.parse::<Passes>().unwrap_err().contains(wrong), "{wrong}");
        }
        assert!(toml::from_str::<std::collections::BTreeMap<String, Passes>>("passes = 3").is_err());
        assert_eq!(serde_json::to_value(Repair::Never).unwrap(), false);
    }
}
