//! The rules of a round as they are recorded, by name: what the votes alone do not tell.

use std::collections::BTreeMap;

use crate::config::SelfVote;

const SELF_VOTE: &str = "selfVote";
const JUDGES: &str = "judges";

/// Where the judges of a round come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bench {
    /// They are the panel itself, so each has a seat of its own among the answers.
    Panel,
    /// They were named with `--judges`.
    Named,
}

impl Bench {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Panel => "panel",
            Self::Named => "named",
        }
    }
}

/// The rules of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RoundRules {
    /// Which answers a judge did not see because they are its own.
    pub(super) self_vote: SelfVote,
    /// Where the judges come from.
    pub(super) bench: Bench,
}

impl RoundRules {
    pub(super) fn to_map(self) -> BTreeMap<String, String> {
        [(SELF_VOTE, self.self_vote.as_str()), (JUDGES, self.bench.as_str())]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    }

    /// The rules on record; `None` where an earlier program recorded none.
    pub(super) fn of_map(rules: &BTreeMap<String, String>) -> Option<Self> {
        let self_vote = rules.get(SELF_VOTE)?.parse().ok()?;
        let bench = [Bench::Panel, Bench::Named]
            .into_iter()
            .find(|bench| rules.get(JUDGES) == Some(&bench.as_str().to_owned()))?;
        Some(Self { self_vote, bench })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_read_back_as_they_were_recorded() {
        for self_vote in SelfVote::ALL {
            for bench in [Bench::Panel, Bench::Named] {
                let rules = RoundRules { self_vote, bench };
                assert_eq!(RoundRules::of_map(&rules.to_map()), Some(rules));
            }
        }
        assert_eq!(RoundRules::of_map(&BTreeMap::new()), None);
    }
}
