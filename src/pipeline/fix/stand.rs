//! How a fix stands, for who looks at it: from its session's record, and from nothing else.

use super::progress::Progress;
use super::request::FixPlan;
use super::stop::StopReason;
use crate::session::{BranchBegin, Record, branch_commands};

/// How a fix stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixStand {
    /// How many reviews were made.
    pub reviews: usize,
    /// How many rounds of repairs were begun.
    pub repairs: usize,
    /// How many commits they came to.
    pub commits: usize,
    /// Why it ended, where it has.
    pub stopped: Option<StopReason>,
    /// The branch in the user's repository, where one was made.
    pub branch: Option<FixBranch>,
}

/// The branch that a fix came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixBranch {
    /// Its name.
    pub name: String,
    /// The commit that it names.
    pub commit: String,
    /// The commit that the repairs begin at.
    pub begin: String,
    /// What that commit is.
    pub kind: BranchBegin,
}

impl FixStand {
    /// Of a session with these records.
    #[must_use]
    pub fn of(records: &[Record]) -> Self {
        let progress = Progress::of(records);
        let begin = progress.begun.as_ref().map(|(_, head)| head.clone()).unwrap_or_default();
        let kind = FixPlan::read(records).map_or(BranchBegin::CheckedOut, |plan| plan.fix.begins(&begin));
        Self {
            reviews: progress.reviews.len(),
            repairs: progress.rounds.len(),
            commits: progress.commits().len(),
            stopped: progress.stopped,
            branch: progress.published.map(|(name, commit)| FixBranch { name, commit, begin, kind }),
        }
    }
}

impl FixBranch {
    /// The commands that take it, take the repairs without what was not committed before, and drop it.
    #[must_use]
    pub fn commands(&self) -> [String; 3] {
        branch_commands(&self.name, &self.begin, self.kind)
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::session::{Event, FixStep};

    #[test]
    fn a_branch_is_told_with_the_commands_for_it() {
        let steps = [
            FixStep::Begun { from: "a".repeat(40), head: "b".repeat(40) },
            FixStep::Committed { round: 1, commit: "c".repeat(40), findings: vec!["F01".to_owned()] },
            FixStep::Stopped { reason: "converged".to_owned() },
            FixStep::Published { branch: "team/fix-x".to_owned(), commit: "c".repeat(40) },
        ];
        let records: Vec<Record> = (1..)
            .zip(steps)
            .map(|(seq, step)| {
                let event = Event::Fix { step: Box::new(step) };
                Record { seq, prev: None, at: Timestamp::UNIX_EPOCH, event }
            })
            .collect();
        let stand = FixStand::of(&records);
        assert_eq!((stand.reviews, stand.repairs, stand.commits), (0, 1, 1));
        assert_eq!(stand.stopped, Some(StopReason::Converged));
        assert_eq!(
            stand.branch.unwrap().commands(),
            ["git merge team/fix-x", "git cherry-pick bbbbbbbbbbbb..team/fix-x", "git branch -D team/fix-x"]
        );
        assert_eq!(FixStand::of(&records[..1]).branch, None);
    }
}
