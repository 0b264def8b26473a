//! The rules of a round as they are recorded, by name: what the votes are counted by, and what they alone do not tell.

use std::collections::BTreeMap;

use crate::config::{Leaks, OwnAnswers, Passes, Recuse, Repair, VoteRules};
use crate::judging::LEAK_SCAN;

const SELF_VOTE: &str = "selfVote";
const JUDGES: &str = "judges";
const RECUSE: &str = "recuse";
const LEAKS: &str = "leaks";
const LEAK_SCAN_NAME: &str = "leakScan";
const PASSES: &str = "passes";
const REPAIR: &str = "repair";

/// Where the judges of a round come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bench {
    /// They are the panel itself, so each has a seat of its own among the answers.
    Panel,
    /// They were named with `--judges`.
    Named,
    /// They were asked elsewhere, and their ballots imported.
    Imported,
}

impl Bench {
    const ALL: [Self; 3] = [Self::Panel, Self::Named, Self::Imported];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Panel => "panel",
            Self::Named => "named",
            Self::Imported => "imported",
        }
    }
}

/// The rules of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RoundRules {
    /// Those of the vote.
    pub(super) votes: VoteRules,
    /// Where the judges come from.
    pub(super) bench: Bench,
}

/// How a round counted what answers say about their authors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counted {
    /// Not at all: an earlier program.
    Nothing,
    /// By the scan of this number.
    By(u32),
}

impl RoundRules {
    pub(super) fn to_map(self) -> BTreeMap<String, String> {
        let VoteRules { own, leaks, passes, repair } = self.votes;
        [
            (SELF_VOTE, own.self_vote.to_string()),
            (RECUSE, own.recuse.to_string()),
            (LEAKS, leaks.to_string()),
            (LEAK_SCAN_NAME, LEAK_SCAN.to_string()),
            (PASSES, u32::from(passes).to_string()),
            (REPAIR, bool::from(repair).to_string()),
            (JUDGES, self.bench.as_str().to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// The rules on record; `None` where an earlier program recorded none. A rule that it did not have is the one that it
    /// went by.
    pub(super) fn of_map(rules: &BTreeMap<String, String>) -> Option<Self> {
        let bench = Bench::ALL.into_iter().find(|bench| rules.get(JUDGES).is_some_and(|on| on == bench.as_str()))?;
        let rule = |name: &str| rules.get(name).map(String::as_str);
        let votes = VoteRules {
            own: OwnAnswers {
                self_vote: rule(SELF_VOTE)?.parse().ok()?,
                recuse: rule(RECUSE).map_or(Some(Recuse::None), |word| word.parse().ok())?,
            },
            leaks: rule(LEAKS).map_or(Some(Leaks::default()), |word| word.parse().ok())?,
            passes: rule(PASSES).map_or(Some(Passes::One), |number| number.parse().ok())?,
            repair: rule(REPAIR).map_or(Some(Repair::Never), |word| Some(word.parse::<bool>().ok()?.into()))?,
        };
        Some(Self { votes, bench })
    }
}

impl Counted {
    pub(super) fn of_map(rules: &BTreeMap<String, String>) -> Self {
        let scan = rules.get(LEAK_SCAN_NAME).and_then(|number| number.parse().ok());
        scan.map_or(Self::Nothing, Self::By)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SelfVote;

    #[test]
    fn rules_read_back_as_they_were_recorded() {
        for (self_vote, bench) in SelfVote::ALL.into_iter().zip(Bench::ALL.into_iter().cycle()) {
            for (leaks, recuse) in Leaks::ALL.iter().zip(Recuse::ALL.iter().cycle()) {
                for (passes, repair) in [(Passes::One, Repair::Once), (Passes::Two, Repair::Never)] {
                    let own = OwnAnswers { self_vote, recuse: *recuse };
                    let rules = RoundRules { votes: VoteRules { own, leaks: *leaks, passes, repair }, bench };
                    assert_eq!(RoundRules::of_map(&rules.to_map()), Some(rules));
                    assert_eq!(Counted::of_map(&rules.to_map()), Counted::By(LEAK_SCAN));
                }
            }
        }
        assert_eq!(RoundRules::of_map(&BTreeMap::new()), None);
    }

    #[test]
    fn rules_of_a_program_that_had_fewer_are_those_that_it_went_by() {
        let old = [("selfVote", "slot"), ("judges", "panel")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let rules = RoundRules::of_map(&old.clone().into()).unwrap();
        assert_eq!((rules.bench, rules.votes.own), (Bench::Panel, SelfVote::Slot.into()));
        assert_eq!((rules.votes.passes, rules.votes.repair), (Passes::One, Repair::Never));
        assert_eq!(Counted::of_map(&old.into()), Counted::Nothing);
    }
}
