//! What a person decides, as entries of the ledger: functions of the findings and of the decision.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use super::stop::StopReason;
use crate::config::{Consensus, Severity};
use crate::error::{Error, Result};
use crate::findings::{
    Action, Finding, FindingId, FindingRecord, FindingState, Findings, LedgerEntry, Lines, Remark, Ruling, Witness,
};
use crate::session::{Event, Record};

/// The most characters of a finding's title.
const LONGEST_TITLE: usize = 160;
/// The most characters of a finding that a person adds.
const LONGEST_ADDED: usize = 4000;

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
    /// What was declined, and is open again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reopen: Vec<FindingId>,
    /// What the person found: `FILE:LINE: what is wrong`, or only what is wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<String>,
    /// Whether it ends here, and how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Ending>,
    /// What the person says about it; the fixer is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What the person says about one of the findings, instead of that.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<FindingId, String>,
    /// Who decides, as git calls that person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl Response {
    /// Whether nothing is decided.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { fix, decline, reopen, add, end, note: _, notes: _, by: _ } = self;
        end.is_none() && fix.is_empty() && decline.is_empty() && reopen.is_empty() && add.is_empty()
    }

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

    /// Refuses a note that would be cut: models are told of it in later rounds and runs.
    pub fn check_note(note: &str) -> Result<()> {
        let (length, most) = (note.trim().chars().count(), Remark::LONGEST);
        if length > most {
            return Err(Error::usage(format!("a note of {length} characters is too long: at most {most} are kept"))
                .hint("say it in fewer words; later rounds and runs are told of it"));
        }
        Ok(())
    }

    /// What the person says about `finding`; nothing where that is blank.
    #[must_use]
    pub fn note_on(&self, finding: FindingId) -> Option<&str> {
        let note = self.notes.get(&finding).or(self.note.as_ref())?.trim();
        (!note.is_empty()).then_some(note)
    }

    /// Refuses what does not fit the findings, before anything is written.
    pub fn check(&self, findings: &Findings) -> Result<()> {
        if self.is_empty() {
            return Err(Error::usage("nothing is decided")
                .hint("`--fix F01`, `--decline F02`, `--add \"src/a.rs:3: what is wrong\"`, or `--approve`, `--skip`, `--abort`"));
        }
        self.note.iter().chain(self.notes.values()).try_for_each(|note| Self::check_note(note))?;
        for (one, other, told) in [
            (&self.fix, &self.decline, "both repaired and declined"),
            (&self.reopen, &self.decline, "both opened again and declined"),
            (&self.reopen, &self.fix, "both opened again and repaired: `--fix` does both"),
        ] {
            if let Some(both) = one.iter().find(|id| other.contains(id)) {
                return Err(Error::usage(format!("{both} cannot be {told}")).hint("name it once"));
            }
        }
        for id in self.fix.iter().chain(&self.decline).chain(&self.reopen) {
            let record = known(findings, *id)?;
            let is_declined = record.state == FindingState::Declined;
            let fits = if self.fix.contains(id) {
                record.state.is_open() || is_declined || record.state == FindingState::Rejected
            } else if self.reopen.contains(id) {
                is_declined
            } else {
                record.state.is_open()
            };
            if !fits {
                let hint = if self.reopen.contains(id) {
                    "`--reopen` is for findings that were declined"
                } else {
                    "name findings that something is still to be done about"
                };
                return Err(Error::usage(format!("{id} is {} already", record.state)).hint(hint));
            }
        }
        self.add.iter().try_for_each(|text| added(text).map(drop))
    }

    /// What is still to be written into the ledger for it; what is there already is not written again.
    pub(super) fn entries(&self, findings: &Findings, round: u32) -> Vec<LedgerEntry> {
        let note = |finding: FindingId| self.note_on(finding).map(Remark::new);
        let by = |finding: FindingId| Witness::Person { note: note(finding) };
        let sustained = |finding: FindingId| {
            let by = by(finding);
            LedgerEntry::Sustained(Ruling { finding, round, by, consensus: Consensus::Unanimous })
        };
        let mut entries = Vec::new();
        for finding in &self.fix {
            let Some(record) = findings.get(*finding) else { continue };
            let is_decided =
                record.ruling.as_ref().is_some_and(|ruling| ruling.by == by(*finding) && ruling.round == round);
            match record.state {
                FindingState::Rejected | FindingState::Declined => {
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
                let note = note(*finding).unwrap_or_else(|| Remark::new(""));
                entries.push(LedgerEntry::Declined { finding: *finding, round, note, before: None });
            }
        }
        for finding in &self.reopen {
            if findings.get(*finding).is_some_and(|record| record.state == FindingState::Declined) {
                let why = note(*finding).unwrap_or_else(|| Remark::new("a person takes the decline back"));
                entries.push(LedgerEntry::Reopened { finding: *finding, round, why });
            }
        }
        let mut next = findings.next_id();
        for text in &self.add {
            let Ok(content) = added(text) else { continue };
            if findings.iter().any(|record| record.finding == content) {
                continue;
            }
            entries.push(LedgerEntry::Raised { finding: next, round, by: by(next), content, caused_by: None });
            entries.push(sustained(next));
            next = next.next();
        }
        entries
    }

    /// In words, for the report.
    #[must_use]
    pub fn told(&self) -> String {
        let ids = |ids: &[FindingId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let mut parts = Vec::new();
        if !self.fix.is_empty() {
            parts.push(format!("repair {}", ids(&self.fix)));
        }
        if !self.decline.is_empty() {
            parts.push(format!("leave {} as it is", ids(&self.decline)));
        }
        if !self.reopen.is_empty() {
            parts.push(format!("open {} again", ids(&self.reopen)));
        }
        match self.add.len() {
            0 => {}
            1 => parts.push("one finding added".to_owned()),
            count => parts.push(format!("{count} findings added")),
        }
        parts.extend(self.end.map(|end| {
            match end {
                Ending::Approve => "take what there is",
                Ending::Skip => "leave the rest as it is",
                Ending::Abort => "end it, and take nothing",
            }
            .to_owned()
        }));
        let notes = self.notes.iter().map(|(id, note)| format!("{id}: {note}"));
        parts.into_iter().chain(notes).collect::<Vec<_>>().join("; ")
    }
}

/// The record of a finding that is named, or the error that says which there are.
pub(super) fn known(findings: &Findings, id: FindingId) -> Result<&FindingRecord> {
    findings.get(id).ok_or_else(|| {
        let known: Vec<String> = findings.iter().map(|record| record.id.to_string()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Error::usage(format!("there is no finding {id}")).hint(format!("the findings are {known}"))
    })
}

/// A finding of a person's: where it is, if that is said, and what is wrong.
///
/// # Errors
/// Nothing is said, or what stands for a place is none.
fn added(text: &str) -> Result<Finding> {
    let shape = "write it like `src/a.rs:12: what is wrong`, `src/a.rs: what is wrong`, or only what is wrong";
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let plain = plain.trim();
    let length = plain.chars().count();
    if length > LONGEST_ADDED {
        return Err(Error::usage(format!("`--add` has {length} characters, and at most {LONGEST_ADDED} are kept"))
            .hint("say it in fewer words"));
    }
    // `Beware: it leaks` names no file.
    let is_place = |place: &str| !place.contains(' ') && place.contains(['/', '.', ':']);
    let split = plain.split_once(": ").or_else(|| plain.strip_suffix(':').map(|place| (place, "")));
    let (place, rest) = match split {
        Some((place, rest)) if is_place(place) => (Some(place), rest.trim()),
        _ => (None, plain),
    };
    if rest.is_empty() {
        return Err(Error::usage("`--add` says nothing").hint(shape));
    }
    let (file, lines) = match place.map(|place| place.rsplit_once(':').unwrap_or((place, ""))) {
        None => (None, None),
        Some((file, "")) => (Some(file), None),
        Some((file, words)) => {
            let (start, end) = words.split_once('-').unwrap_or((words, words));
            let lines = start.parse().ok().zip(end.parse().ok()).and_then(|(start, end)| Lines::new(start, end));
            let no_line = || Error::usage(format!("`--add`: `{words}` is no line of `{file}`")).hint(shape);
            (Some(file), Some(lines.ok_or_else(no_line)?))
        }
    };
    if let Some(file) = file {
        let is_inside = Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
        if file.is_empty() || !is_inside {
            return Err(Error::usage(format!("`--add`: `{file}` is no path inside of the repository"))
                .hint("name the file from the root of the repository"));
        }
    }
    Ok(Finding {
        severity: Severity::High,
        action: Action::AutoFix,
        file: file.map(str::to_owned),
        lines,
        title: rest.chars().take(LONGEST_TITLE).collect(),
        description: rest.to_owned(),
        evidence: String::new(),
        suggestion: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_adds_is_read_with_its_place_or_refused() {
        let place = |text: &str| added(text).unwrap().place();
        assert_eq!(place("src/a.rs:12: it leaks").as_deref(), Some("src/a.rs:12"));
        assert_eq!(place("src/a.rs:12-14: it leaks").as_deref(), Some("src/a.rs:12-14"));
        assert_eq!(place("a.rs: it leaks").as_deref(), Some("a.rs"));
        assert_eq!(place("Makefile:3: it leaks").as_deref(), Some("Makefile:3"));
        for text in ["it leaks", "Beware: it leaks", "in src/a.rs: it leaks"] {
            assert_eq!((place(text), added(text).unwrap().title.as_str()), (None, text));
        }
        for (text, told) in [
            ("", "says nothing"),
            (" \n", "says nothing"),
            ("src/a.rs:12:  ", "says nothing"),
            ("src/a.rs:0: it leaks", "`0` is no line of `src/a.rs`"),
            ("src/a.rs:x: it leaks", "`x` is no line of `src/a.rs`"),
            ("src/a.rs:9-3: it leaks", "`9-3` is no line"),
            ("../a.rs:1: it leaks", "no path inside of the repository"),
            ("/etc/passwd:1: it leaks", "no path inside of the repository"),
            (&"x".repeat(4001), "has 4001 characters"),
        ] {
            let error = added(text).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
