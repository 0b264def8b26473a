//! Which findings are repaired next, and which a person is asked about: functions of the ledger.

use std::collections::BTreeSet;

use globset::GlobSet;
use serde::{Deserialize, Serialize};

use crate::config::{FailOn, Severity};
use crate::error::{Error, Result};
use crate::findings::{Action, FindingId, FindingRecord, FindingState, Findings, Witness};
use crate::pipeline::gate::exact_set;

/// What the user wants repaired.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Wanted {
    /// Only these findings, by id or by patterns of files; all where empty.
    pub(crate) only: Vec<String>,
    /// Only findings as bad as this; `None` for all.
    pub(crate) severity: Option<Severity>,
}

impl Wanted {
    /// Refuses a pattern that is none.
    pub(crate) fn check(&self) -> Result<()> {
        self.patterns().map(drop)
    }

    fn patterns(&self) -> Result<GlobSet> {
        let patterns: Vec<&String> = self.only.iter().filter(|only| only.parse::<FindingId>().is_err()).collect();
        exact_set(&patterns).map_err(|error| {
            Error::usage(format!("`--only`: {error}")).hint("write the id of a finding (`F01`), or files like `src/**`")
        })
    }

    fn takes(&self, patterns: &GlobSet, record: &FindingRecord) -> bool {
        let severity = self.severity.is_none_or(|severity| record.finding.severity >= severity);
        let by_id = self.only.iter().any(|only| only.parse() == Ok(record.id));
        let by_file = record.finding.file.as_ref().is_some_and(|file| patterns.is_match(file));
        severity && (self.only.is_empty() || by_id || by_file)
    }
}

/// Whether a person decided that it is to be repaired.
fn is_decided(record: &FindingRecord) -> bool {
    record.ruling.as_ref().is_some_and(|ruling| matches!(ruling.by, Witness::Person { .. }))
}

/// What is repaired next: sustained findings that need nobody's decision, and those about which it was made. The worst
/// first.
pub(super) fn selected(findings: &Findings, wanted: &Wanted) -> Result<Vec<FindingId>> {
    let patterns = wanted.patterns()?;
    let mut chosen: Vec<&FindingRecord> = findings
        .iter()
        .filter(|record| record.state == FindingState::Sustained)
        .filter(|record| {
            is_decided(record) || record.finding.action == Action::AutoFix && wanted.takes(&patterns, record)
        })
        .collect();
    chosen.sort_by_key(|record| (std::cmp::Reverse(record.finding.severity), record.id));
    Ok(chosen.into_iter().map(|record| record.id).collect())
}

/// What stands between the result and the bar, and no repair was made of: sustained findings that meet it, and findings
/// that could and that the votes did not settle.
pub(super) fn in_the_way(findings: &Findings, fail_on: FailOn) -> BTreeSet<FindingId> {
    let waits = |record: &&FindingRecord| match record.state {
        FindingState::Sustained => {
            let consensus = record.ruling.as_ref().map(|ruling| ruling.consensus);
            is_decided(record) || consensus.is_some_and(|consensus| fail_on.is_met(record.finding.severity, consensus))
        }
        FindingState::Raised | FindingState::NeedsPerson => record.finding.severity >= fail_on.severity,
        FindingState::FixClaimed | FindingState::Rejected | FindingState::Verified | FindingState::Declined => false,
    };
    findings.iter().filter(waits).map(|record| record.id).collect()
}

/// How many sustained findings that meet the bar are open; a claim that one is mended closes nothing.
pub(super) fn open_count(findings: &Findings, fail_on: FailOn) -> u32 {
    let meets = |record: &&FindingRecord| {
        let is_open = matches!(record.state, FindingState::Sustained | FindingState::FixClaimed);
        let consensus = record.ruling.as_ref().map(|ruling| ruling.consensus);
        is_open && consensus.is_some_and(|consensus| fail_on.is_met(record.finding.severity, consensus))
    };
    u32::try_from(findings.iter().filter(meets).count()).unwrap_or(u32::MAX)
}
