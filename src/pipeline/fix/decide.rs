//! What a person decides, as entries of the ledger: functions of the findings and of the decision.

use serde::{Deserialize, Serialize};

use super::stop::StopReason;
use crate::config::{Consensus, Severity};
use crate::error::{Error, Result};
use crate::findings::{
    Action, Finding, FindingId, FindingState, Findings, LedgerEntry, Lines, Remark, Ruling, Witness,
};
use crate::session::{Event, Record};

/// The most characters of a finding's title.
const LONGEST_TITLE: usize = 160;

/// How a person has it end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// What there is is taken as it is.
    Approve,
    /// What is still to be decided stays as it is.
    Skip,
    /// Nothing of it is wanted.
    Abort,
}

impl Ending {
    /// Why it then ended.
    pub(super) const fn reason(self) -> StopReason {
        match self {
            Self::Approve => StopReason::Approved,
            Self::Skip => StopReason::Skipped,
            Self::Abort => StopReason::Aborted,
        }
    }
}

/// What a person decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Response {
    /// What is to be repaired.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fix: Vec<FindingId>,
    /// What is left as it is, for good.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decline: Vec<FindingId>,
    /// What the person found: `FILE:LINE: what is wrong`, or only what is wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<String>,
    /// Whether it ends here, and how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Ending>,
    /// What the person says about it; the fixer is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Response {
    /// As the session's record keeps it.
    pub(super) fn written(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| Error::internal(error.to_string()))
    }

    /// The last one on record.
    pub(super) fn last(records: &[Record]) -> Option<Self> {
        records.iter().rev().find_map(|record| match &record.event {
            Event::Decided { choice, .. } => Some(serde_json::from_str(choice).ok()),
            _ => None,
        })?
    }

    /// Refuses what does not fit the findings, before anything is written.
    pub fn check(&self, findings: &Findings) -> Result<()> {
        if *self == Self::default()
            || (self.end.is_none() && self.fix.is_empty() && self.decline.is_empty() && self.add.is_empty())
        {
            return Err(Error::usage("nothing is decided")
                .hint("`--fix F01`, `--decline F02`, `--add \"src/a.rs:3: what is wrong\"`, or `--approve`, `--skip`, `--abort`"));
        }
        if let Some(both) = self.fix.iter().find(|id| self.decline.contains(id)) {
            return Err(Error::usage(format!("{both} cannot be both repaired and declined")).hint("name it once"));
        }
        for id in self.fix.iter().chain(&self.decline) {
            let Some(record) = findings.get(*id) else {
                let known: Vec<String> = findings.iter().map(|record| record.id.to_string()).collect();
                return Err(Error::usage(format!("there is no finding {id}")).hint(format!(
                    "the findings are {}",
                    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
                )));
            };
            let fits = record.state.is_open() || self.fix.contains(id) && record.state == FindingState::Rejected;
            if !fits {
                return Err(Error::usage(format!("{id} is {} already", record.state))
                    .hint("name findings that something is still to be done about"));
            }
        }
        for text in &self.add {
            if added(text).title.is_empty() {
                return Err(Error::usage("`--add` says nothing").hint("write it like `src/a.rs:12: what is wrong`"));
            }
        }
        Ok(())
    }

    /// What is still to be written into the ledger for it; what is there already is not written again.
    pub(super) fn entries(&self, findings: &Findings, round: u32) -> Vec<LedgerEntry> {
        let note = self.note.as_deref().filter(|note| !note.trim().is_empty()).map(Remark::new);
        let by = Witness::Person { note: note.clone() };
        let sustained = |finding| {
            LedgerEntry::Sustained(Ruling { finding, round, by: by.clone(), consensus: Consensus::Unanimous })
        };
        let mut entries = Vec::new();
        for finding in &self.fix {
            let Some(record) = findings.get(*finding) else { continue };
            let is_decided = record.ruling.as_ref().is_some_and(|ruling| ruling.by == by && ruling.round == round);
            match record.state {
                FindingState::Rejected => {
                    let why = Remark::new("a person wants it repaired");
                    entries.push(LedgerEntry::Reopened { finding: *finding, round, why });
                    entries.push(sustained(*finding));
                }
                FindingState::Raised | FindingState::NeedsPerson | FindingState::Sustained if !is_decided => {
                    entries.push(sustained(*finding));
                }
                _ => {}
            }
        }
        for finding in &self.decline {
            if findings.get(*finding).is_some_and(|record| record.state.is_open()) {
                let note = note.clone().unwrap_or_else(|| Remark::new(""));
                entries.push(LedgerEntry::Declined { finding: *finding, round, note });
            }
        }
        let mut next = findings.next_id();
        for text in &self.add {
            let content = added(text);
            if findings.iter().any(|record| record.finding == content) {
                continue;
            }
            entries.push(LedgerEntry::Raised { finding: next, round, by: by.clone(), content, caused_by: None });
            entries.push(sustained(next));
            next = next.next();
        }
        entries
    }

    /// In words, for the report.
    pub(super) fn told(&self) -> String {
        let ids = |ids: &[FindingId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let mut parts = Vec::new();
        if !self.fix.is_empty() {
            parts.push(format!("repair {}", ids(&self.fix)));
        }
        if !self.decline.is_empty() {
            parts.push(format!("leave {} as it is", ids(&self.decline)));
        }
        if !self.add.is_empty() {
            parts.push(format!("{} findings added", self.add.len()));
        }
        parts.extend(self.end.map(|end| {
            match end {
                Ending::Approve => "take what there is",
                Ending::Skip => "leave the rest as it is",
                Ending::Abort => "end it, and take nothing",
            }
            .to_owned()
        }));
        parts.join("; ")
    }
}

/// A finding of a person's: where it is, if that is said, and what is wrong.
fn added(text: &str) -> Finding {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let plain = plain.trim();
    let (place, rest) = match plain.split_once(": ") {
        Some((place, rest)) if !place.contains(' ') => (Some(place), rest),
        _ => (None, plain),
    };
    let (file, lines) = match place.and_then(|place| place.rsplit_once(':')) {
        Some((file, line)) => match line.parse().ok().and_then(|line| Lines::new(line, line)) {
            Some(lines) => (Some(file.to_owned()), Some(lines)),
            None => (place.map(str::to_owned), None),
        },
        None => (place.map(str::to_owned), None),
    };
    Finding {
        severity: Severity::High,
        action: Action::AutoFix,
        file,
        lines,
        title: rest.trim().chars().take(LONGEST_TITLE).collect(),
        description: rest.trim().to_owned(),
        evidence: String::new(),
        suggestion: String::new(),
    }
}
