//! How far a fix has come: a fold of its session's record, and of nothing else.

use super::stop::StopReason;
use crate::session::{AttemptEnd, Event, FixStep, GivenUp, Record, ReviewExtent};

/// A review that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reviewed {
    pub(super) number: u32,
    pub(super) commit: String,
    pub(super) extent: ReviewExtent,
    pub(super) open: u32,
    pub(super) usable: u32,
}

/// A round of repairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Round {
    pub(super) number: u32,
    pub(super) attempts: Vec<AttemptEnd>,
    /// What of the user's own files changed during an attempt, in words.
    pub(super) touched: Vec<String>,
    pub(super) end: Option<RoundEnd>,
}

/// How a round of repairs ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RoundEnd {
    /// With a commit, which is said to mend these findings.
    Committed { commit: String, findings: Vec<String> },
    /// Without one.
    GivenUp(GivenUp),
}

/// How far a fix has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// The commit that the change is compared with, and the one that repairs begin at.
    pub(super) begun: Option<(String, String)>,
    pub(super) reviews: Vec<Reviewed>,
    pub(super) rounds: Vec<Round>,
    /// How many reviews and rounds there were when a person last decided: what was before is no reason to stop.
    decided_after: (usize, usize),
    /// How often a person decided that it goes on.
    pub(super) decisions: u32,
    /// Whether the user's consent was used.
    pub(super) consented: bool,
    pub(super) stopped: Option<StopReason>,
    /// The branch, and what it names.
    pub(super) published: Option<(String, String)>,
}

impl Progress {
    /// Of a session with these records.
    pub(super) fn of(records: &[Record]) -> Self {
        let mut progress = Self::default();
        for record in records {
            match &record.event {
                Event::Fix { step } => progress.take(step),
                Event::Decided { .. } => {
                    progress.decisions += 1;
                    progress.decided_after = (progress.reviews.len(), progress.rounds.len());
                }
                _ => {}
            }
        }
        progress
    }

    fn round(&mut self, number: u32) -> &mut Round {
        let at = self.rounds.iter().position(|round| round.number == number).unwrap_or_else(|| {
            self.rounds.push(Round { number, attempts: Vec::new(), touched: Vec::new(), end: None });
            self.rounds.len() - 1
        });
        &mut self.rounds[at]
    }

    fn take(&mut self, step: &FixStep) {
        match step {
            FixStep::Begun { from, head } => self.begun = Some((from.clone(), head.clone())),
            FixStep::Reviewed { review, commit, extent, open, usable } => self.reviews.push(Reviewed {
                number: *review,
                commit: commit.clone(),
                extent: *extent,
                open: *open,
                usable: *usable,
            }),
            FixStep::Attempted { round, end, touched, .. } => {
                let round = self.round(*round);
                round.attempts.push(end.clone());
                round.touched.extend(touched.clone());
            }
            FixStep::Committed { round, commit, findings } => {
                let end = RoundEnd::Committed { commit: commit.clone(), findings: findings.clone() };
                self.round(*round).end = Some(end);
            }
            FixStep::GivenUp { round, why } => self.round(*round).end = Some(RoundEnd::GivenUp(*why)),
            FixStep::Consented { .. } => self.consented = true,
            FixStep::Stopped { reason } => self.stopped = StopReason::of_word(reason),
            FixStep::Published { branch, commit } => self.published = Some((branch.clone(), commit.clone())),
        }
    }

    /// The newest commit; none before the work began.
    pub(super) fn tip(&self) -> Option<&str> {
        self.commits().last().copied().or_else(|| self.begun.as_ref().map(|(_, head)| head.as_str()))
    }

    /// The commit before the newest.
    pub(super) fn before_tip(&self) -> Option<&str> {
        let mut commits = self.commits();
        commits.pop();
        commits.last().copied().or_else(|| self.begun.as_ref().map(|(_, head)| head.as_str()))
    }

    /// The commits that were made, the oldest first.
    pub(super) fn commits<'r>(&'r self) -> Vec<&'r str> {
        let commit = |round: &'r Round| match &round.end {
            Some(RoundEnd::Committed { commit, .. }) => Some(commit.as_str()),
            Some(RoundEnd::GivenUp(_)) | None => None,
        };
        self.rounds.iter().filter_map(commit).collect()
    }

    /// The review that is still to be made before anything is decided, if one is: of what was committed since the last
    /// one; and where that leaves nothing open, of all of it, by reviewers who have seen nothing of it.
    /// `open` is how many sustained findings at or above the bar are open now: people may have decided since the last one.
    pub(super) fn review_due(&self, open: u32) -> Option<ReviewExtent> {
        let Some(last) = self.reviews.last() else { return Some(ReviewExtent::Full) };
        if self.tip().is_some_and(|tip| tip != last.commit) {
            return Some(ReviewExtent::Delta);
        }
        (last.extent == ReviewExtent::Delta && open == 0).then_some(ReviewExtent::Full)
    }

    /// How many were open after each review since a person last decided, the one that was decided about included; the last as it is now.
    pub(super) fn open(&self, now: u32) -> Vec<u32> {
        let since = self.reviews.iter().skip(self.decided_after.0.saturating_sub(1));
        let mut open: Vec<u32> = since.map(|review| review.open).collect();
        match open.last_mut() {
            Some(last) => *last = now,
            None => open.push(now),
        }
        open
    }

    /// The round of repairs that goes on, or the next one.
    pub(super) fn next_round(&self) -> u32 {
        match self.rounds.last() {
            Some(Round { number, end: None, .. }) => *number,
            Some(Round { number, .. }) => number + 1,
            None => 1,
        }
    }

    /// How many rounds of repairs ended.
    pub(super) fn ended_rounds(&self) -> u32 {
        u32::try_from(self.rounds.iter().filter(|round| round.end.is_some()).count()).unwrap_or(u32::MAX)
    }

    /// How the last round ended, where no person has decided since.
    pub(super) fn last_end(&self) -> Option<&RoundEnd> {
        self.rounds.get(self.decided_after.1..)?.last()?.end.as_ref()
    }

    /// Whether nothing was done since a person last decided.
    pub(super) fn is_fresh_decision(&self) -> bool {
        self.decisions > 0 && self.decided_after == (self.reviews.len(), self.rounds.len())
    }

    /// The attempts of a round so far.
    pub(super) fn attempts(&self, round: u32) -> &[AttemptEnd] {
        self.rounds.iter().find(|known| known.number == round).map_or(&[], |round| &round.attempts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(steps: &[FixStep]) -> Progress {
        let mut progress = Progress::default();
        steps.iter().for_each(|step| progress.take(step));
        progress
    }

    fn reviewed(review: u32, commit: &str, extent: ReviewExtent, open: u32) -> FixStep {
        FixStep::Reviewed { review, commit: commit.to_owned(), extent, open, usable: 2 }
    }

    fn committed(round: u32, commit: &str) -> FixStep {
        FixStep::Committed { round, commit: commit.to_owned(), findings: vec!["F01".to_owned()] }
    }

    #[test]
    fn what_was_committed_is_looked_at_and_what_seems_done_is_looked_at_as_a_whole() {
        let begun = FixStep::Begun { from: "a".to_owned(), head: "b".to_owned() };
        let mut steps = vec![begun];
        assert_eq!(progress(&steps).review_due(0), Some(ReviewExtent::Full));
        steps.push(reviewed(1, "b", ReviewExtent::Full, 2));
        assert_eq!(progress(&steps).review_due(2), None);
        assert_eq!((progress(&steps).tip(), progress(&steps).next_round()), (Some("b"), 1));
        steps.push(committed(1, "c"));
        assert_eq!(progress(&steps).review_due(2), Some(ReviewExtent::Delta));
        assert_eq!((progress(&steps).tip(), progress(&steps).before_tip()), (Some("c"), Some("b")));
        steps.push(reviewed(2, "c", ReviewExtent::Delta, 0));
        assert_eq!(progress(&steps).review_due(0), Some(ReviewExtent::Full));
        steps.push(reviewed(3, "c", ReviewExtent::Full, 0));
        assert_eq!(progress(&steps).review_due(0), None);
        assert_eq!(progress(&steps).open(0), [2, 0, 0]);
    }

    #[test]
    fn a_decision_starts_the_reasons_to_stop_anew() {
        let mut progress =
            progress(&[reviewed(1, "b", ReviewExtent::Full, 2), FixStep::GivenUp { round: 1, why: GivenUp::Refused }]);
        assert_eq!(progress.last_end(), Some(&RoundEnd::GivenUp(GivenUp::Refused)));
        progress.decided_after = (1, 1);
        assert_eq!(progress.last_end(), None);
        assert_eq!(progress.open(1), [1]);
        assert_eq!(progress.next_round(), 2);
        progress.take(&committed(2, "c"));
        assert!(matches!(progress.last_end(), Some(RoundEnd::Committed { .. })));
    }
}
