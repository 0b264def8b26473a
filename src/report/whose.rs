//! Whose turn it is in a review or a fix, and how its findings stand: for `team status` and `team list`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::findings::{FindingState, LedgerRead};
use crate::session::{InnerKind, Phase, SessionState, View};

/// Who is at work in a review or a fix, or is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Actor {
    /// The reviewers.
    Reviewers,
    /// Those who vote on what was found.
    Judges,
    /// Who repairs.
    Fixer,
    /// You.
    Person,
}

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WhoseTurn {
    /// Who.
    actor: Actor,
    /// In which review, or round of repairs, from 1; `null` before the first.
    number: Option<u32>,
    /// Whether the review is the one that certifies the result.
    certifies: bool,
}

impl WhoseTurn {
    /// Of a review or a fix that is at work or waits; `None` of everything else.
    pub(super) fn of(view: &View) -> Option<Self> {
        let panel = view.inner.as_ref().map(|(panel, _)| *panel);
        let number = panel.map(|panel| panel.number);
        let certifies = view.status.phase == Phase::Certify;
        let state = view.state();
        if state == SessionState::AwaitingDecision {
            return Some(Self { actor: Actor::Person, number, certifies: false });
        }
        let panel = panel.filter(|_| state.is_active())?;
        let votes = view.round.as_ref().is_some_and(|(_, status)| status.state.is_active());
        let actor = match panel.kind {
            InnerKind::Fix => Actor::Fixer,
            InnerKind::PlanReview | InnerKind::ImplReview if votes => Actor::Judges,
            InnerKind::PlanReview | InnerKind::ImplReview => Actor::Reviewers,
        };
        Some(Self { actor, number, certifies: certifies && actor != Actor::Fixer })
    }

    /// In words; `called` names the session on a command line.
    pub(super) fn told(self, called: &str) -> String {
        let number = self.number.unwrap_or(1);
        let last = if self.certifies { ", which certifies the result" } else { "" };
        match self.actor {
            Actor::Reviewers => format!("the reviewers' turn, in review {number}{last}"),
            Actor::Judges => format!("the judges' turn, on what review {number} found{last}"),
            Actor::Fixer => format!("the fixer's turn, in round {number} of repairs"),
            Actor::Person => format!("your turn: `team respond {called}` says what is to be decided"),
        }
    }
}

/// How the findings of a review or a fix stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FindingCounts {
    /// How many were found or added.
    found: usize,
    /// Those that something is still to be done about.
    open: usize,
    /// Those that were mended.
    mended: usize,
    /// Those that a person declined.
    declined: usize,
}

impl FindingCounts {
    /// By the ledger; `None` where there is none that can be read.
    pub(super) fn of(view: &View) -> Option<Self> {
        let findings = LedgerRead::read(&view.layout.ledger()).ok()?.findings;
        let count =
            |wanted: &dyn Fn(FindingState) -> bool| findings.iter().filter(|record| wanted(record.state)).count();
        Some(Self {
            found: count(&|_| true),
            open: count(&|state| state.is_open()),
            mended: count(&|state| state == FindingState::Verified),
            declined: count(&|state| state == FindingState::Declined),
        })
    }

    /// In a few words.
    pub(super) fn told(self) -> String {
        match self.found {
            0 => "nothing found".to_owned(),
            found => format!("{} of {found} open", self.open),
        }
    }
}
