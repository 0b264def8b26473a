//! What a review found, as CI systems are told.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{GateOutcome, GateReport};
use crate::findings::{
    Consensus, FailOn, FindingId, FindingRecord, FindingState, FindingTally, ReviewDecision, ReviewVerdict, Severity,
    Witness, fingerprints,
};
use crate::ids::{Sha256Hash, SlotId};

/// The model behind each seat of a panel, by the panel's folder.
pub type PanelNames = BTreeMap<String, BTreeMap<SlotId, String>>;

/// What a review found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingsReport {
    /// What does not pass.
    pub fail_on: FailOn,
    /// Every finding, the worst first.
    pub findings: Vec<FindingReport>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingReport {
    /// Its id in the session.
    pub id: FindingId,
    /// How bad it is.
    pub severity: Severity,
    /// How it stands.
    pub state: FindingState,
    /// How far those who voted agree; `null` where nobody did.
    pub consensus: Option<Consensus>,
    /// Whether it is in the way.
    pub blocking: bool,
    /// The file; `null` where it is about none.
    pub file: Option<String>,
    /// The first line.
    pub line: Option<u32>,
    /// The last line.
    pub end_line: Option<u32>,
    /// What it is.
    pub title: String,
    /// What is wrong.
    pub description: String,
    /// What shows it.
    pub evidence: String,
    /// What would mend it.
    pub suggestion: String,
    /// The models that raised it.
    pub raised_by: Vec<String>,
    /// The count of the vote on it; `null` where there was none.
    pub votes: Option<FindingTally>,
    /// By this it is known in later runs.
    pub fingerprint: Sha256Hash,
}

impl FindingsReport {
    /// The report of `records`, the findings that `verdict` is about. `names` says which model each seat of a panel is: it
    /// is used when the vote is over.
    #[must_use]
    pub fn new(verdict: &ReviewVerdict, records: &[&FindingRecord], names: &PanelNames) -> Self {
        let raisers = |record: &FindingRecord| match &record.raised_by {
            Witness::Panel { folder, slots } => {
                let names = names.get(folder);
                slots.iter().filter_map(|slot| names?.get(slot).cloned()).collect()
            }
            Witness::Votes { .. } | Witness::Person { .. } => Vec::new(),
        };
        let found: Vec<_> = records.iter().map(|record| &record.finding).collect();
        let prints = fingerprints(&found);
        let mut findings: Vec<FindingReport> = records
            .iter()
            .zip(prints)
            .map(|(record, fingerprint)| {
                let finding = &record.finding;
                FindingReport {
                    id: record.id,
                    severity: finding.severity,
                    state: record.state,
                    consensus: record.ruling.as_ref().map(|ruling| ruling.consensus),
                    blocking: verdict.blocking.contains(&record.id),
                    file: finding.file.clone(),
                    line: finding.lines.map(|lines| lines.start),
                    end_line: finding.lines.map(|lines| lines.end),
                    title: finding.title.clone(),
                    description: finding.description.clone(),
                    evidence: finding.evidence.clone(),
                    suggestion: finding.suggestion.clone(),
                    raised_by: raisers(record),
                    votes: record.tally(),
                    fingerprint,
                }
            })
            .collect();
        findings.sort_by(|one, other| other.severity.cmp(&one.severity).then(one.id.cmp(&other.id)));
        Self { fail_on: verdict.fail_on, findings }
    }
}

impl FindingReport {
    /// Whether it is one: sustained, and not yet shown to be mended.
    #[must_use]
    pub const fn is_sustained(&self) -> bool {
        matches!(self.state, FindingState::Sustained | FindingState::FixClaimed)
    }

    /// The id of its rule in reports: one for each severity, so that a host can sort and hide by it.
    pub(super) const fn rule(&self) -> &'static str {
        rule(self.severity)
    }

    /// All that is said of it, in lines.
    pub(super) fn told(&self) -> String {
        let mut out = format!("{}\n\n{}\n", self.title, self.description);
        for (name, said) in [("Evidence", &self.evidence), ("Suggestion", &self.suggestion)] {
            if !said.is_empty() {
                out.push_str(&format!("\n{name}: {said}\n"));
            }
        }
        out.push_str(&format!("\n{}\n", self.standing()));
        out
    }

    /// How it stands, in words.
    pub(super) fn standing(&self) -> String {
        let consensus = self.consensus.map(|consensus| format!(", {consensus}")).unwrap_or_default();
        let votes = self.votes.map(|tally| {
            let FindingTally { panel, raised, sustain, reject, ask } = tally;
            format!("; raised by {raised} of {panel}; votes: {sustain} sustain, {reject} reject, {ask} ask")
        });
        format!("{} {}: {}{consensus}{}", self.id, self.severity, self.state, votes.unwrap_or_default())
    }
}

/// The id of the rule for findings of this severity.
pub(super) const fn rule(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "team-review/critical",
        Severity::High => "team-review/high",
        Severity::Medium => "team-review/medium",
        Severity::Low => "team-review/low",
        Severity::Info => "team-review/info",
    }
}

impl GateReport {
    /// The findings that were shown to be mended, the worst first.
    pub fn mended(&self) -> impl Iterator<Item = &FindingReport> {
        let all = self.findings.iter().flat_map(|report| &report.findings);
        all.filter(|finding| finding.state == FindingState::Verified)
    }

    /// The findings that are ones, the worst first.
    pub fn sustained(&self) -> impl Iterator<Item = &FindingReport> {
        self.findings.iter().flat_map(|report| &report.findings).filter(|finding| finding.is_sustained())
    }

    /// Where `finding` is shown: its file and lines, else where the gate itself is shown.
    pub(super) fn place_of<'a>(&'a self, finding: &'a FindingReport) -> (&'a str, u32, u32) {
        match &finding.file {
            Some(file) => {
                let line = finding.line.unwrap_or(1);
                (file, line, finding.end_line.unwrap_or(line))
            }
            None => (self.place(), 1, 1),
        }
    }
}

impl From<ReviewDecision> for GateOutcome {
    fn from(decision: ReviewDecision) -> Self {
        match decision {
            ReviewDecision::Passed => Self::Approved,
            ReviewDecision::Blocked => Self::Rejected,
            ReviewDecision::NeedsPerson | ReviewDecision::Inconclusive => Self::NoDecision,
            ReviewDecision::NothingUsable => Self::Failed,
        }
    }
}
