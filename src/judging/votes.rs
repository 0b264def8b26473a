//! `votes.json`: all ballots of a round, and everything else that the verdict is a function of.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::SelfVote;
use crate::error::{Error, ErrorKind};
use crate::ids::{FormatVersion, Sha256Hash, SlotId};
use crate::session::slot::SlotState;

use super::{Alias, AliasError, Assignment, Ballot, CastVote, Missing, MissingReason, Nonce, Note};

/// All that was voted in a round. It names no model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Votes {
    /// The format.
    pub version: FormatVersion,
    /// Which round this is, from 1.
    pub round: u32,
    /// The rule about own answers.
    pub self_vote: SelfVote,
    /// The panel as it was configured.
    pub panel: Panel,
    /// Every slot of the panel, complete or not.
    pub candidates: Vec<Candidate>,
    /// Every judge of the round, complete or not.
    pub judges: Vec<JudgeVotes>,
}

/// The configured numbers: quorum and majority are of these, not of what survived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Panel {
    /// Slots asked for an answer.
    pub slots: u32,
    /// Judges asked for votes.
    pub judges: u32,
}

/// One slot of the panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// Its id.
    pub id: SlotId,
    /// How it ended; only COMPLETED answers are judged.
    pub state: SlotState,
    /// The hash of its answer.
    pub sha256: Option<Sha256Hash>,
    /// How many of the configured judges may vote on it ([`super::Coverage::allowed`]).
    pub eligible_judges: u32,
}

/// One judge and its ballot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JudgeVotes {
    /// Its id in the round.
    pub id: SlotId,
    /// How it ended; only votes of COMPLETED judges count.
    pub state: SlotState,
    /// The hash of its reply.
    pub response_sha256: Option<Sha256Hash>,
    /// The answers in the order of its prompt.
    pub order: Vec<SlotId>,
    /// Their names in its prompt.
    pub aliases: BTreeMap<SlotId, Alias>,
    /// The code in its prompt's fences.
    pub nonce: Option<Nonce>,
    /// Its valid votes.
    pub votes: Vec<CastVote>,
    /// The answers it saw without voting validly, and why.
    pub missing: Vec<Missing>,
    /// What a reader should know about its reply.
    pub notes: Vec<Note>,
}

impl JudgeVotes {
    /// A judge that completed with this `ballot`.
    #[must_use]
    pub fn completed(assignment: &Assignment, response_sha256: Sha256Hash, ballot: Ballot) -> Self {
        let Ballot { votes, missing, notes } = ballot;
        Self {
            state: SlotState::Completed,
            response_sha256: Some(response_sha256),
            votes,
            missing,
            notes,
            ..Self::without_votes(assignment.judge, SlotState::Completed, Some(assignment))
        }
    }

    /// A judge that ended as `state`; whatever partial text it left is not read. `assignment` is what it was shown, or
    /// `None` when it could not be asked.
    #[must_use]
    pub fn without_votes(id: SlotId, state: SlotState, assignment: Option<&Assignment>) -> Self {
        let shown = assignment.map_or(&[][..], |assignment| &assignment.shown);
        let order: Vec<SlotId> = shown.iter().map(|(answer, _)| *answer).collect();
        Self {
            id,
            state,
            response_sha256: None,
            aliases: shown.iter().cloned().collect(),
            nonce: assignment.map(|assignment| assignment.nonce.clone()),
            votes: Vec::new(),
            missing: order.iter().map(|&answer| Missing { answer, reason: MissingReason::JudgeFailed }).collect(),
            notes: Vec::new(),
            order,
        }
    }

    /// What the judge was shown, to read its reply again; `None` when it was not asked.
    ///
    /// # Errors
    /// An answer of the order has no name.
    pub fn assignment(&self) -> Result<Option<Assignment>, AliasError> {
        let Some(nonce) = self.nonce.clone() else { return Ok(None) };
        let shown = self
            .order
            .iter()
            .map(|id| match self.aliases.get(id) {
                Some(alias) => Ok((*id, alias.clone())),
                None => Err(AliasError::absent(*id)),
            })
            .collect::<Result<_, _>>()?;
        Ok(Some(Assignment { judge: self.id, shown, nonce }))
    }
}

/// A `votes.json` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum VotesError {
    /// It is not of the format.
    #[error("`votes.json` is not valid")]
    Json(#[from] serde_json::Error),
    /// A newer program wrote it.
    #[error("`votes.json` has version {found}; this program reads up to version {}", FormatVersion::CURRENT.0)]
    Newer {
        /// The version found.
        found: u32,
    },
    /// Two candidates or two judges share an id, so a ballot would count twice.
    #[error("`votes.json` holds id {0} twice")]
    Repeated(SlotId),
}

impl From<VotesError> for Error {
    fn from(error: VotesError) -> Self {
        Self::new(ErrorKind::Integrity, error.to_string()).with_source(error)
    }
}

impl Votes {
    /// Reads `votes.json`.
    ///
    /// # Errors
    /// The bytes are not of the format, or of a newer one, or an id is used twice.
    pub fn from_json(bytes: &[u8]) -> Result<Self, VotesError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: FormatVersion,
        }
        // Read first: a newer format may have fields of other shapes.
        let Versioned { version } = serde_json::from_slice(bytes)?;
        if version > FormatVersion::CURRENT {
            return Err(VotesError::Newer { found: version.0 });
        }
        let votes: Self = serde_json::from_slice(bytes)?;
        let mut candidates = BTreeSet::new();
        let mut judges = BTreeSet::new();
        let repeated = votes.candidates.iter().map(|candidate| candidate.id).find(|id| !candidates.insert(*id));
        let repeated = repeated.or_else(|| votes.judges.iter().map(|judge| judge.id).find(|id| !judges.insert(*id)));
        repeated.map_or(Ok(votes), |id| Err(VotesError::Repeated(id)))
    }
}
