//! How a fix went: a fold of the steps on its session's record, for people and programs.

use schemars::JsonSchema;
use serde::Serialize;

use crate::session::{
    AttemptEnd, BRANCH_COMMANDS_DO, BranchBegin, Event, FixStep, GivenUp, Record, ReviewExtent, branch_commands,
};

/// How a fix went.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FixRecord {
    /// The commit that the change is compared with; `null` before the work began.
    pub from: Option<String>,
    /// The commit that repairs begin at.
    pub head: Option<String>,
    /// The reviews, in order.
    pub reviews: Vec<FixReview>,
    /// The rounds of repairs, in order.
    pub rounds: Vec<FixRound>,
    /// Findings whose repair was consented to beforehand (`--yes`).
    pub consented: Vec<String>,
    /// Why it ended, as a word; `null` where it did not yet.
    pub stopped: Option<String>,
    /// The new branch in the user's repository.
    pub branch: Option<FixBranch>,
    /// What the commit is that repairs begin at.
    #[serde(skip)]
    pub begins: BranchBegin,
}

/// A review that was made of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FixReview {
    /// Its number, from 1.
    pub review: u32,
    /// What was looked at.
    pub commit: String,
    /// How much of it.
    pub extent: ReviewExtent,
    /// How many sustained findings at or above the bar were open after it.
    pub open: u32,
    /// How many reviewers gave a review that can be read.
    pub usable: u32,
}

/// A round of repairs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FixRound {
    /// Its number, from 1.
    pub round: u32,
    /// The attempts, in order.
    pub attempts: Vec<AttemptEnd>,
    /// The commit that it ended with; `null` where there is none.
    pub commit: Option<String>,
    /// The findings that the commit is said to mend.
    pub findings: Vec<String>,
    /// Why it ended without one.
    pub given_up: Option<GivenUp>,
}

/// A branch, and what it names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FixBranch {
    /// Its name.
    pub name: String,
    /// The commit.
    pub commit: String,
}

impl FixRecord {
    /// Of a session with these records.
    #[must_use]
    pub fn of(records: &[Record]) -> Self {
        let mut fix = Self::default();
        for record in records {
            if let Event::Fix { step } = &record.event {
                fix.take(step);
            }
        }
        let plan = records.first().and_then(|first| match &first.event {
            Event::Created { plan: Some(plan), .. } => plan.get("fix"),
            _ => None,
        });
        let of_plan = |name: &str| plan?.get(name)?.as_str();
        // Where nothing was left to commit, repairs begin at what was checked out.
        if of_plan("uncommitted") == Some("yes") && of_plan("head") != fix.head.as_deref() {
            fix.begins = BranchBegin::Uncommitted;
        }
        fix
    }

    fn take(&mut self, step: &FixStep) {
        match step {
            FixStep::Begun { from, head } => {
                self.from = Some(from.clone());
                self.head = Some(head.clone());
            }
            FixStep::Reviewed { review, commit, extent, open, usable } => self.reviews.push(FixReview {
                review: *review,
                commit: commit.clone(),
                extent: *extent,
                open: *open,
                usable: *usable,
            }),
            FixStep::Attempted { round, end, .. } => self.round(*round).attempts.push(end.clone()),
            FixStep::Committed { round, commit, findings } => {
                let round = self.round(*round);
                round.commit = Some(commit.clone());
                round.findings.clone_from(findings);
            }
            FixStep::GivenUp { round, why } => self.round(*round).given_up = Some(*why),
            FixStep::Consented { findings } => self.consented.extend(findings.iter().cloned()),
            FixStep::Stopped { reason } => self.stopped = Some(reason.clone()),
            FixStep::Published { branch, commit } => {
                self.branch = Some(FixBranch { name: branch.clone(), commit: commit.clone() });
            }
        }
    }

    fn round(&mut self, number: u32) -> &mut FixRound {
        let at = self.rounds.iter().position(|round| round.round == number).unwrap_or_else(|| {
            self.rounds.push(FixRound { round: number, ..FixRound::default() });
            self.rounds.len() - 1
        });
        &mut self.rounds[at]
    }

    /// The commands for what there is of a result, each with what it does.
    #[must_use]
    pub fn commands(&self) -> Vec<(String, &'static str)> {
        let Some(FixBranch { name, .. }) = &self.branch else { return Vec::new() };
        // What does not look like a branch of ours is not offered to a shell.
        if !name.starts_with("team/") || name.chars().any(char::is_control) {
            return Vec::new();
        }
        let is_hex = |text: &&String| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let Some(begin) = self.head.as_ref().filter(is_hex) else { return Vec::new() };
        branch_commands(name, begin, self.begins).into_iter().zip(BRANCH_COMMANDS_DO).collect()
    }

    /// How many commits were made.
    #[must_use]
    pub fn commits(&self) -> usize {
        self.rounds.iter().filter(|round| round.commit.is_some()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_offered_for_a_branch_of_ours_only() {
        let published = |name: &str| FixRecord {
            head: Some("b".repeat(40)),
            branch: Some(FixBranch { name: name.to_owned(), commit: "c".repeat(40) }),
            ..FixRecord::default()
        };
        let commands: Vec<String> =
            published("team/fix-x").commands().into_iter().map(|(command, _)| command).collect();
        let expected = ["git merge team/fix-x", "git cherry-pick bbbbbbbbbbbb..team/fix-x", "git branch -D team/fix-x"];
        assert_eq!(commands, expected);
        assert!(published("main").commands().is_empty() && published("team/x\n").commands().is_empty());
        assert_eq!(published("team/$(x)").commands()[0].0, "git merge 'team/$(x)'");
    }

    #[test]
    fn attempts_belong_to_their_round_and_a_round_ends_with_a_commit_or_without() {
        let mut fix = FixRecord::default();
        let attempted = |round, attempt, end| FixStep::Attempted { round, attempt, end, touched: None };
        for step in [
            FixStep::Begun { from: "a".to_owned(), head: "b".to_owned() },
            attempted(1, 1, AttemptEnd::Nothing),
            attempted(1, 2, AttemptEnd::Sound { commit: "c".to_owned(), checks: Vec::new() }),
            FixStep::Committed { round: 1, commit: "c".to_owned(), findings: vec!["F02".to_owned()] },
            attempted(2, 1, AttemptEnd::Nothing),
            FixStep::GivenUp { round: 2, why: GivenUp::Nothing },
        ] {
            fix.take(&step);
        }
        assert_eq!((fix.commits(), fix.commands().len()), (1, 0));
        assert_eq!(fix.rounds.iter().map(|round| round.attempts.len()).collect::<Vec<_>>(), [2, 1]);
        assert_eq!((fix.rounds[0].commit.as_deref(), fix.rounds[0].given_up), (Some("c"), None));
        assert_eq!((fix.rounds[1].commit.as_deref(), fix.rounds[1].given_up), (None, Some(GivenUp::Nothing)));
    }
}
