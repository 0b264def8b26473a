//! `votes.json`: all ballots of a round, and everything else that the verdict is a function of.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{Leaks, Passes, Recuse, Repair, SelfVote, VoteRules};
use crate::error::{Error, ErrorKind};
use crate::ids::{FormatVersion, Sha256Hash, SlotId};
use crate::session::slot::SlotState;

use super::turns::{self, Outcome, Pass, RepairTurn, SecondPass};
use super::{
    Alias, AliasError, Assignment, Ballot, CastVote, ImportedJudge, LeakCount, Missing, MissingReason, Nonce, Note,
    PairVote, VoteVerdict, parse, read_reply,
};

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
    /// The rule about answers of kin.
    #[serde(default)]
    pub recuse: Recuse,
    /// What was done about text by which an author names itself.
    #[serde(default)]
    pub leaks: Leaks,
    /// How often each judge was asked.
    #[serde(default)]
    pub passes: Passes,
    /// Whether a judge was asked once more for what its ballot lacked.
    #[serde(default)]
    pub repair: Repair,
    /// The panel as it was configured.
    pub panel: Panel,
    /// Every slot of the panel, complete or not.
    pub candidates: Vec<Candidate>,
    /// Every judge of the round, complete or not.
    pub judges: Vec<JudgeVotes>,
    /// Where the ballots came from, when nobody was asked for them here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub imported: Option<Imports>,
}

/// Ballots from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Imports {
    /// The files, in the user's order.
    pub files: Vec<ImportedFile>,
    /// The pattern that they were read by; without one they are in the schema of this file.
    pub pattern: Option<String>,
}

/// One file of ballots from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportedFile {
    /// What the user called it.
    pub name: String,
    /// Its copy in the round's folder.
    pub kept: String,
    /// The hash of both.
    pub sha256: Sha256Hash,
}

impl ImportedFile {
    /// The name of the copy of the `number`-th file, from 1.
    #[must_use]
    pub fn kept_name(number: usize) -> String {
        format!("import-{number:02}.txt")
    }
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
    /// The size of its answer.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// How often the part of it that judges saw names its author.
    #[serde(skip_serializing_if = "LeakCount::is_empty", default)]
    pub leaks: LeakCount,
    /// Whether it was left out of the vote because it names its author (`--leaks fail`).
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub left_out: bool,
    /// How many of the configured judges may vote on it ([`super::Coverage::allowed`]).
    pub eligible_judges: u32,
}

impl Candidate {
    /// Whether judges vote on it.
    #[must_use]
    pub fn is_judged(&self) -> bool {
        self.state == SlotState::Completed && !self.left_out
    }
}

/// One judge and its ballots.
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
    /// Its judgements of two answers against each other; only in a round of imported ones.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub pairs: Vec<PairVote>,
    /// What came of asking for what is missing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repair: Option<RepairTurn>,
    /// The same answers in reverse order.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub second_pass: Option<SecondPass>,
}

/// Replies of one judge, to read its ballots again; `None` where a turn has none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Replies<'a> {
    /// To the first prompt.
    pub first: Option<&'a [u8]>,
    /// To the repair prompt after it.
    pub repair: Option<&'a [u8]>,
    /// To the prompt of the second pass.
    pub second: Option<&'a [u8]>,
    /// To the repair prompt after that.
    pub second_repair: Option<&'a [u8]>,
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
            pairs: Vec::new(),
            repair: None,
            second_pass: None,
            order,
        }
    }

    /// A judge from elsewhere; `response_sha256` is the hash of what is kept of it.
    #[must_use]
    pub fn imported(id: SlotId, response_sha256: Sha256Hash, judge: ImportedJudge) -> Self {
        let ImportedJudge { name: _, order, votes, pairs, missing, notes, state } = judge;
        let response_sha256 = Some(response_sha256);
        Self { state, response_sha256, order, votes, missing, notes, pairs, ..Self::without_votes(id, state, None) }
    }

    /// How the judge ended, all of its passes taken together.
    #[must_use]
    pub fn state(&self) -> SlotState {
        match &self.second_pass {
            Some(second) if self.state == SlotState::Completed => second.state,
            _ => self.state,
        }
    }

    fn first(&self) -> Pass<'_> {
        Pass {
            state: self.state,
            order: &self.order,
            votes: &self.votes,
            missing: &self.missing,
            repair: self.repair.as_ref(),
        }
    }

    fn second(&self) -> Option<Pass<'_>> {
        self.second_pass.as_ref().map(|second| Pass {
            state: second.state,
            order: &second.order,
            votes: &second.votes,
            missing: &second.missing,
            repair: second.repair.as_ref(),
        })
    }

    /// What the judge says about each answer that it was shown, all of its turns taken together.
    pub fn outcomes(&self) -> impl Iterator<Item = (SlotId, Outcome)> {
        let (first, second) = (self.first(), self.second());
        // Who compares two answers does not vote on one.
        let voted = if self.pairs.is_empty() { self.order.as_slice() } else { &[] };
        voted.iter().filter_map(move |answer| Some((*answer, turns::outcome(first, second, *answer)?)))
    }

    /// The votes of each pass with the answer's place in its prompt, whether they count in the end or not.
    #[must_use]
    pub fn by_place(&self) -> Vec<Vec<(SlotId, u32, VoteVerdict)>> {
        std::iter::once(self.first()).chain(self.second()).map(|pass| pass.by_place().collect()).collect()
    }

    /// The notes of all turns.
    #[must_use]
    pub fn all_notes(&self) -> Vec<Note> {
        let second = self.second_pass.as_ref();
        let mut notes = self.notes.clone();
        notes.extend(self.repair.iter().flat_map(turns::repair_notes));
        notes.extend(second.iter().flat_map(|second| second.notes.iter().cloned()));
        notes
            .extend(second.and_then(|second| second.repair.as_ref()).iter().flat_map(|turn| turns::repair_notes(turn)));
        notes
    }

    /// Adds what came of a repair turn of the pass that came last.
    pub fn add_repair(&mut self, turn: RepairTurn) {
        match &mut self.second_pass {
            Some(second) => second.repair = Some(turn),
            None => self.repair = Some(turn),
        }
    }

    /// Adds the second pass, which is itself read as one judge's ballot.
    pub fn add_second_pass(&mut self, pass: Self) {
        let Self { state, response_sha256, order, aliases, nonce, votes, missing, notes, .. } = pass;
        self.second_pass =
            Some(SecondPass { state, response_sha256, order, aliases, nonce, votes, missing, notes, repair: None });
    }

    /// What the pass that came last is asked for once more; `None` when nothing can be asked for.
    ///
    /// # Errors
    /// An answer of the order has no name.
    pub fn to_repair(&self) -> Result<Option<Assignment>, AliasError> {
        let (state, missing, assignment) = match &self.second_pass {
            Some(second) => (second.state, &second.missing, self.second_assignment()?),
            None => (self.state, &self.missing, self.assignment()?),
        };
        let Some(mut assignment) = assignment.filter(|_| state == SlotState::Completed) else { return Ok(None) };
        let wanted: BTreeSet<SlotId> = turns::repairable(missing).collect();
        assignment.shown.retain(|(answer, _)| wanted.contains(answer));
        Ok((!assignment.shown.is_empty()).then_some(assignment))
    }

    /// The same judge with every ballot read again from its `replies`: what must be on record. A judge from elsewhere was
    /// shown nothing here, and its first reply is what was kept of it.
    ///
    /// # Errors
    /// An answer of an order has no name.
    pub fn reread(&self, replies: Replies<'_>) -> Result<Self, AliasError> {
        let read = |id, state, assignment: Option<&Assignment>, reply: Option<&[u8]>| match (state, assignment, reply) {
            (SlotState::Completed, Some(assignment), Some(reply)) => {
                let ballot = parse(&String::from_utf8_lossy(reply), assignment);
                Self::completed(assignment, Sha256Hash::of(reply), ballot)
            }
            _ => Self::without_votes(id, state, assignment),
        };
        let repaired = |judge: &mut Self, turn: Option<&RepairTurn>, reply: Option<&[u8]>| {
            let Some(turn) = turn else { return Ok(()) };
            let Some(assignment) = judge.to_repair()? else { return Ok(()) };
            let reply = reply
                .filter(|_| turn.state == SlotState::Completed)
                .map(|reply| (Sha256Hash::of(reply), parse(&String::from_utf8_lossy(reply), &assignment)));
            judge.add_repair(RepairTurn::new(turn.state, &assignment, reply));
            Ok(())
        };
        let assignment = self.assignment()?;
        if let (None, Some(reply)) = (&assignment, replies.first)
            && let Ok(judge) = read_reply(reply)
        {
            return Ok(Self::imported(self.id, Sha256Hash::of(reply), judge));
        }
        let mut judge = read(self.id, self.state, assignment.as_ref(), replies.first);
        repaired(&mut judge, self.repair.as_ref(), replies.repair)?;
        if let Some(second) = &self.second_pass {
            judge.add_second_pass(read(self.id, second.state, self.second_assignment()?.as_ref(), replies.second));
            repaired(&mut judge, second.repair.as_ref(), replies.second_repair)?;
        }
        Ok(judge)
    }

    /// What the judge was shown, to read its reply again; `None` when it was not asked.
    ///
    /// # Errors
    /// An answer of the order has no name.
    pub fn assignment(&self) -> Result<Option<Assignment>, AliasError> {
        turns::assignment_of(self.id, self.nonce.as_ref(), &self.order, &self.aliases)
    }

    /// What it was shown in the second pass; `None` when there was none.
    ///
    /// # Errors
    /// An answer of the order has no name.
    pub fn second_assignment(&self) -> Result<Option<Assignment>, AliasError> {
        let Some(second) = &self.second_pass else { return Ok(None) };
        turns::assignment_of(self.id, second.nonce.as_ref(), &second.order, &second.aliases)
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
        let (kind, hint) = match &error {
            // A newer format is no broken one: the way out is a newer program.
            VotesError::Newer { .. } => (ErrorKind::Usage, Some("use a newer `team`")),
            VotesError::Json(_) | VotesError::Repeated(_) => (ErrorKind::Integrity, None),
        };
        let made = Self::new(kind, error.to_string()).with_source(error);
        match hint {
            Some(hint) => made.hint(hint),
            None => made,
        }
    }
}

impl Votes {
    /// The rules that it was voted by.
    #[must_use]
    pub fn rules(&self) -> VoteRules {
        let own = crate::config::OwnAnswers { self_vote: self.self_vote, recuse: self.recuse };
        VoteRules { own, leaks: self.leaks, passes: self.passes, repair: self.repair }
    }

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
