//! How a finding stands after what the ledger says of it.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    DeclineOrigin, Finding, FindingId, FindingTally, Judged, Known, LedgerEntry, Remark, Ruling, Standing, Witness,
};
use crate::config::Consensus;
use crate::ids::SlotId;

/// The state of a finding. It leaves only by a positive record: rejected, verified or declined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// Found, and not voted on.
    Raised,
    /// It is one.
    Sustained,
    /// The votes do not say.
    NeedsPerson,
    /// A commit is said to mend it; nobody has looked yet.
    FixClaimed,
    /// It is none.
    Rejected,
    /// It is not there any more.
    Verified,
    /// A person decided to leave it.
    Declined,
}

impl FindingState {
    /// Every one.
    pub const ALL: [Self; 7] = [
        Self::Raised,
        Self::Sustained,
        Self::NeedsPerson,
        Self::FixClaimed,
        Self::Rejected,
        Self::Verified,
        Self::Declined,
    ];

    /// Whether something is still to be done about it.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Raised | Self::Sustained | Self::NeedsPerson | Self::FixClaimed)
    }

    /// In words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Raised => "not voted on",
            Self::Sustained => "sustained",
            Self::NeedsPerson => "needs a person",
            Self::FixClaimed => "said to be mended",
            Self::Rejected => "rejected",
            Self::Verified => "mended",
            Self::Declined => "declined",
        }
    }
}

impl fmt::Display for FindingState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the ledger says of one finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingRecord {
    /// Its id.
    pub id: FindingId,
    /// What was last said of it, with the worst severity of all rounds.
    pub finding: Finding,
    /// How it stands.
    pub state: FindingState,
    /// The round in which it was found.
    pub first_round: u32,
    /// The last round in which it was found.
    pub last_round: u32,
    /// Who last found it.
    pub raised_by: Witness,
    /// The last ruling; `null` before the first.
    pub ruling: Option<Ruling>,
    /// The commits that were said to mend it, in order.
    pub commits: Vec<String>,
    /// The commit of ours that brought it, where one did.
    pub caused_by: Option<String>,
    /// The last words of a person about it.
    pub note: Option<Remark>,
    /// Where it was declined, if that was in an earlier session of the branch; kept when it is reopened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declined_before: Option<DeclineOrigin>,
    /// Earlier versions of what was said of it.
    #[serde(skip)]
    versions: Vec<Finding>,
}

impl FindingRecord {
    /// What the verdict goes by; nothing where it was mended or declined.
    ///
    /// What was not voted on needs a person, and a claim that it is mended clears nothing.
    #[must_use]
    pub fn judged(&self) -> Option<Judged> {
        let standing = match self.state {
            FindingState::Raised | FindingState::NeedsPerson => Standing::NeedsPerson,
            FindingState::Sustained | FindingState::FixClaimed => Standing::Sustained,
            FindingState::Rejected => Standing::Rejected,
            FindingState::Verified | FindingState::Declined => return None,
        };
        let consensus = match standing {
            Standing::NeedsPerson => Consensus::Divergent,
            _ => self.ruling.as_ref().map_or(Consensus::Divergent, |ruling| ruling.consensus),
        };
        Some(Judged { id: self.id, severity: self.finding.severity, standing, consensus })
    }

    /// The count of the last vote on it.
    #[must_use]
    pub fn tally(&self) -> Option<FindingTally> {
        match &self.ruling.as_ref()?.by {
            Witness::Votes { tally, .. } => Some(*tally),
            Witness::Panel { .. } | Witness::Person { .. } => None,
        }
    }

    /// The seats that last raised it, where a panel did.
    #[must_use]
    pub fn raisers(&self) -> &[SlotId] {
        match &self.raised_by {
            Witness::Panel { slots, .. } => slots,
            Witness::Votes { .. } | Witness::Person { .. } => &[],
        }
    }
}

/// All findings of a session as its ledger leaves them, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Findings(BTreeMap<FindingId, FindingRecord>);

/// An entry cannot follow what the ledger says already.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IllegalEntry {
    /// The finding is not in a state in which that can happen to it.
    #[error("finding {finding} cannot be `{entry}`: {}", state.map_or("nobody found it", FindingState::as_str))]
    Move {
        /// The finding.
        finding: FindingId,
        /// What was to be said.
        entry: &'static str,
        /// Its state; none where there is no such finding.
        state: Option<FindingState>,
    },
    /// An id is skipped.
    #[error("finding {finding} is not the next one, which is {next}")]
    Id {
        /// The id.
        finding: FindingId,
        /// The next one.
        next: FindingId,
    },
    /// Somebody says what is not theirs to say.
    #[error("finding {finding} cannot be `{entry}` by {by}")]
    By {
        /// The finding.
        finding: FindingId,
        /// What was to be said.
        entry: &'static str,
        /// By whom.
        by: &'static str,
    },
    /// A ruling is not what its own votes come to.
    #[error("finding {finding} cannot be `{entry}`: the votes say `{standing}`, {consensus}")]
    Count {
        /// The finding.
        finding: FindingId,
        /// What was to be said.
        entry: &'static str,
        /// What the votes say.
        standing: Standing,
        /// How far they agree.
        consensus: Consensus,
    },
    /// The ledger is begun a second time.
    #[error("the ledger is begun already")]
    Opened,
}

/// The state of a finding after `entry`; `None` where that cannot happen to one in `state`.
#[must_use]
pub fn finding_transition(state: Option<FindingState>, entry: &LedgerEntry) -> Option<FindingState> {
    use FindingState::{Declined, FixClaimed, NeedsPerson, Raised, Rejected, Sustained, Verified};
    match (entry, state) {
        (LedgerEntry::Raised { .. }, None) => Some(Raised),
        // Found again, it stays what it is; what was closed is reopened first.
        (LedgerEntry::Raised { .. }, Some(state)) if state.is_open() => Some(state),
        (LedgerEntry::Sustained(_), Some(Raised | Sustained | NeedsPerson)) => Some(Sustained),
        (LedgerEntry::Rejected(_), Some(Raised | Sustained | NeedsPerson)) => Some(Rejected),
        (LedgerEntry::NeedsPerson(_), Some(Raised | Sustained | NeedsPerson)) => Some(NeedsPerson),
        (LedgerEntry::FixClaimed { .. }, Some(Sustained | FixClaimed)) => Some(FixClaimed),
        (LedgerEntry::Verified { .. }, Some(Sustained | NeedsPerson | FixClaimed)) => Some(Verified),
        (LedgerEntry::Declined { .. }, Some(state)) if state.is_open() => Some(Declined),
        // The claim did not hold; the vote did.
        (LedgerEntry::Reopened { .. }, Some(FixClaimed)) => Some(Sustained),
        (LedgerEntry::Reopened { .. }, Some(Rejected | Verified | Declined)) => Some(Raised),
        _ => None,
    }
}

impl Findings {
    /// Each finding, by id.
    pub fn iter(&self) -> impl Iterator<Item = &FindingRecord> {
        self.0.values()
    }

    /// One finding.
    #[must_use]
    pub fn get(&self, id: FindingId) -> Option<&FindingRecord> {
        self.0.get(&id)
    }

    /// Those that something is still to be done about.
    pub fn open(&self) -> impl Iterator<Item = &FindingRecord> {
        self.iter().filter(|record| record.state.is_open())
    }

    /// What a verdict goes by.
    #[must_use]
    pub fn judged(&self) -> Vec<Judged> {
        self.iter().filter_map(FindingRecord::judged).collect()
    }

    /// The id of the next new finding.
    #[must_use]
    pub fn next_id(&self) -> FindingId {
        self.0.keys().next_back().map_or(FindingId::FIRST, |last| last.next())
    }

    /// By what findings are known again in a later round.
    #[must_use]
    pub fn known(&self) -> Known {
        let mut known = Known::new();
        for record in self.iter() {
            let said = record.versions.iter().chain([&record.finding]).cloned();
            if record.state == FindingState::Declined {
                known.add_declined(record.id, said);
            } else {
                known.add(record.id, said);
            }
        }
        known
    }

    /// Takes in `entry`.
    ///
    /// # Errors
    /// It cannot follow what is said already; then nothing is changed.
    pub fn apply(&mut self, entry: &LedgerEntry) -> Result<(), IllegalEntry> {
        let finding = entry.finding().ok_or(IllegalEntry::Opened)?;
        let state = self.get(finding).map(|record| record.state);
        let illegal = || IllegalEntry::Move { finding, entry: entry.as_str(), state };
        let next = finding_transition(state, entry).ok_or_else(illegal)?;
        check_witness(finding, entry)?;
        if let LedgerEntry::Raised { round, by, content, caused_by, .. } = entry {
            return self.raise(finding, *round, by, content, caused_by.as_ref(), next);
        }
        let record = self.0.get_mut(&finding).ok_or_else(illegal)?;
        record.state = next;
        let by = match entry {
            LedgerEntry::Opened { .. } | LedgerEntry::Raised { .. } => None,
            LedgerEntry::Sustained(ruling) | LedgerEntry::Rejected(ruling) | LedgerEntry::NeedsPerson(ruling) => {
                record.ruling = Some(ruling.clone());
                Some(&ruling.by)
            }
            LedgerEntry::FixClaimed { commit, .. } => {
                record.commits.push(commit.clone());
                None
            }
            LedgerEntry::Verified { by, .. } => Some(by),
            LedgerEntry::Declined { note, before, .. } => {
                record.note = Some(note.clone());
                record.declined_before.clone_from(before);
                None
            }
            // Why is said by the program, and is no word of a person's.
            LedgerEntry::Reopened { .. } => None,
        };
        if let Some(Witness::Person { note: Some(note) }) = by {
            record.note = Some(note.clone());
        }
        Ok(())
    }

    fn raise(
        &mut self,
        id: FindingId,
        round: u32,
        by: &Witness,
        content: &Finding,
        caused_by: Option<&String>,
        state: FindingState,
    ) -> Result<(), IllegalEntry> {
        let next = self.next_id();
        match self.0.get_mut(&id) {
            Some(record) => {
                let severity = record.finding.severity.max(content.severity);
                let before = std::mem::replace(&mut record.finding, Finding { severity, ..content.clone() });
                record.versions.push(before);
                record.last_round = round;
                record.raised_by = by.clone();
            }
            None if id == next => {
                let record = FindingRecord {
                    id,
                    finding: content.clone(),
                    state,
                    first_round: round,
                    last_round: round,
                    raised_by: by.clone(),
                    ruling: None,
                    commits: Vec::new(),
                    caused_by: caused_by.cloned(),
                    note: None,
                    declined_before: None,
                    versions: Vec::new(),
                };
                self.0.insert(id, record);
            }
            None => return Err(IllegalEntry::Id { finding: id, next }),
        }
        Ok(())
    }
}

/// Whether who says it may, and whether votes say what is made of them.
fn check_witness(finding: FindingId, entry: &LedgerEntry) -> Result<(), IllegalEntry> {
    let refused = |by: &Witness| {
        let by = match by {
            Witness::Panel { .. } => "a panel",
            Witness::Votes { .. } => "votes",
            Witness::Person { .. } => "a person",
        };
        Err(IllegalEntry::By { finding, entry: entry.as_str(), by })
    };
    let (ruling, wanted) = match entry {
        LedgerEntry::Raised { by: by @ Witness::Votes { .. }, .. } => return refused(by),
        LedgerEntry::Sustained(ruling) => (ruling, Standing::Sustained),
        LedgerEntry::Rejected(ruling) => (ruling, Standing::Rejected),
        LedgerEntry::NeedsPerson(ruling) => (ruling, Standing::NeedsPerson),
        _ => return Ok(()),
    };
    match &ruling.by {
        by @ Witness::Panel { .. } => refused(by),
        // A person declines; that a person is needed is nothing that a person says.
        by @ Witness::Person { .. } if wanted != Standing::Sustained => refused(by),
        Witness::Person { .. } => Ok(()),
        Witness::Votes { tally, .. } => {
            let (standing, consensus) = (tally.standing(), tally.consensus());
            if standing == wanted && consensus == ruling.consensus {
                Ok(())
            } else {
                Err(IllegalEntry::Count { finding, entry: entry.as_str(), standing, consensus })
            }
        }
    }
}
