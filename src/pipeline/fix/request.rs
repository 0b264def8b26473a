//! What a fix is asked for, and how its session's record keeps that for whoever goes on with it.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::check::CheckKind;
use super::select::Wanted;
use super::turn::{FixTurn, SHOWN};
use crate::config::{ResolvedModel, Target};
use crate::engine::{Terms, WrittenTerms};
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::review::{ReviewPlan, ReviewRequest, ReviewWork};
use crate::session::{BranchBegin, Event, Record};

/// What a change is compared with, and from where it is repaired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The root of the user's work tree.
    pub root: PathBuf,
    /// The commit that the change is compared with.
    pub from: String,
    /// The commit that is checked out.
    pub head: String,
    /// Whether what is not committed is repaired as well.
    pub uncommitted: TakeUncommitted,
}

/// Whether what is not committed is repaired as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TakeUncommitted {
    /// It stays out of it.
    No,
    /// It is committed where the fixer works, and only there.
    Yes,
}

/// Whether a person consented beforehand to one round of repairs that it would be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// It is asked.
    Ask,
    /// To one round (`--yes`), and no more.
    OneRound,
}

/// A review, and the repair of what it finds.
#[derive(Debug, Clone)]
pub struct FixRequest {
    /// The review, whose terms are those of everything.
    pub review: ReviewRequest,
    /// Who repairs.
    pub fixer: ResolvedModel,
    /// Where it begins.
    pub start: Start,
    /// What of the findings is repaired: ids, or patterns of files; all where empty.
    pub only: Vec<String>,
    /// Only findings as bad as this.
    pub severity: Option<crate::config::Severity>,
    /// The most rounds of repairs.
    pub max_rounds: u32,
    /// The program that tests a result, and its arguments; empty for none.
    pub test: Vec<String>,
    /// The program that looks for bad style in it, and its arguments; empty for none.
    pub lint: Vec<String>,
    /// How long one of them may take; `None` for no limit.
    pub check_timeout: Option<Duration>,
    /// Patterns of files that may be changed besides those that are reviewed.
    pub scope: Vec<String>,
    /// The most bytes that are sent of a change.
    pub max_bytes: u64,
    /// Patterns of files that nobody needs to look at.
    pub ignore: Vec<String>,
    /// Whether a person consented beforehand.
    pub consent: Consent,
}

impl FixRequest {
    /// The turns that the fixer has in a round.
    pub const TURNS: u64 = FixTurn::ATTEMPTS as u64;

    /// The most bytes of files that a fixer without hands is shown.
    pub const SHOWN_BYTES: u64 = SHOWN as u64;

    /// Everybody who may be asked.
    #[must_use]
    pub fn asked(&self) -> Vec<&ResolvedModel> {
        self.review.asked().into_iter().chain([&self.fixer]).collect()
    }

    /// Refuses what cannot come to anything, before anybody is asked.
    pub fn check(&self) -> Result<u32> {
        self.wanted().check()?;
        super::scope::Scope::new([], &self.scope)?;
        if matches!(self.fixer.target, Target::Replay { .. }) && self.max_rounds > 1 {
            return Err(Error::usage(format!("the fixer `{}` is a recording, which repairs once", self.fixer.name))
                .hint("name a model, or `--max-rounds 1`"));
        }
        self.review.check()
    }

    pub(super) fn wanted(&self) -> Wanted {
        Wanted { only: self.only.clone(), severity: self.severity }
    }
}

/// A fix as the record of its session keeps it. It names no model: those are in the manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FixPlan {
    terms: WrittenTerms,
    pub(super) review: ReviewWork,
    pub(super) fix: FixWork,
}

/// What is to be done in a fix besides the reviews.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FixWork {
    pub(super) root: PathBuf,
    pub(super) from: String,
    pub(super) head: String,
    pub(super) uncommitted: TakeUncommitted,
    pub(super) wanted: Wanted,
    pub(super) max_rounds: u32,
    pub(super) test: Vec<String>,
    pub(super) lint: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) check_seconds: Option<u64>,
    pub(super) scope: Vec<String>,
    pub(super) max_bytes: u64,
    pub(super) ignore: Vec<String>,
    pub(super) consent: Consent,
}

impl FixPlan {
    pub(super) fn of(request: &FixRequest, quorum: u32) -> Self {
        let Start { root, from, head, uncommitted } = &request.start;
        let fix = FixWork {
            root: root.clone(),
            from: from.clone(),
            head: head.clone(),
            uncommitted: *uncommitted,
            wanted: request.wanted(),
            max_rounds: request.max_rounds,
            test: request.test.clone(),
            lint: request.lint.clone(),
            check_seconds: request.check_timeout.map(|limit| limit.as_secs().max(1)),
            scope: request.scope.clone(),
            max_bytes: request.max_bytes,
            ignore: request.ignore.clone(),
            consent: request.consent,
        };
        Self { terms: request.review.terms.into(), review: ReviewPlan::of(&request.review, quorum).review, fix }
    }

    /// The plan on record.
    pub(super) fn read(records: &[Record]) -> Result<Self> {
        let plan = match records.first().map(|record| &record.event) {
            Some(Event::Created { plan: Some(plan), .. }) => serde_json::from_value((**plan).clone()),
            _ => return Err(Error::new(ErrorKind::Integrity, "the session's record holds no plan of a fix")),
        };
        plan.map_err(|error| {
            Error::new(ErrorKind::Integrity, format!("the plan on the session's record cannot be read: {error}"))
        })
    }

    pub(super) fn terms(&self) -> Terms {
        self.terms.clone().into()
    }
}

impl FixWork {
    /// What the commit is that repairs begin at.
    pub(super) fn begins(&self, begin: &str) -> BranchBegin {
        match self.uncommitted {
            TakeUncommitted::Yes if begin != self.head => BranchBegin::Uncommitted,
            TakeUncommitted::Yes | TakeUncommitted::No => BranchBegin::CheckedOut,
        }
    }

    /// The checks of a result, in order.
    pub(super) fn checks(&self) -> Vec<(CheckKind, &[String])> {
        let both = [(CheckKind::Test, self.test.as_slice()), (CheckKind::Lint, self.lint.as_slice())];
        both.into_iter().filter(|(_, command)| !command.is_empty()).collect()
    }

    /// How long one of them may take.
    pub(super) fn check_limit(&self) -> Duration {
        self.check_seconds.map_or(Duration::from_secs(u64::from(u32::MAX)), Duration::from_secs)
    }
}
