//! The findings of a session, by what became of them.

use std::collections::BTreeMap;

use super::super::model::Seat;
use super::model::{FindingCard, FindingGroup, FindingVoteRow};
use super::panels::Panels;
use crate::findings::{
    FindingId, FindingRecord, FindingState, FindingTally, FindingVote, Findings, LedgerEntry, LedgerLine,
    ReviewVerdict, Witness, describe_missing,
};
use crate::secrets::Redactor;

/// The most findings that a report shows, the worst of each group first.
pub(super) const MOST: usize = 500;

/// The most that is told of what happened to one finding.
const MOST_HISTORY: usize = 40;

/// The groups, in the order in which a person wants them.
const GROUPS: [(FindingState, &str, &str, &str); 7] = [
    (FindingState::Sustained, "sustained", "Sustained", "The votes, or a person, say that these are faults."),
    (
        FindingState::NeedsPerson,
        "person",
        "Needs a person",
        "The votes do not settle these. They stay open until a person does.",
    ),
    (FindingState::Raised, "raised", "Not voted on", "These were found, and nobody has voted on them yet."),
    (
        FindingState::FixClaimed,
        "claimed",
        "Said to be mended",
        "A commit is said to mend these; no review has confirmed it yet.",
    ),
    (FindingState::Verified, "mended", "Mended", "These were faults, and a later review did not find them any more."),
    (FindingState::Declined, "declined", "Declined", "A person decided to leave these as they are."),
    (FindingState::Rejected, "rejected", "Rejected", "The votes say that these are no faults."),
];

/// The short form of a commit's name.
pub(super) fn short(commit: &str) -> String {
    commit.chars().take(12).collect()
}

/// The findings in groups, and how many there was no room for.
pub(super) fn groups(
    findings: &Findings,
    history: &mut BTreeMap<FindingId, Vec<String>>,
    verdict: Option<&ReviewVerdict>,
    panels: &Panels<'_>,
    redactor: &Redactor,
) -> (Vec<FindingGroup>, usize) {
    let mut room = MOST;
    let mut groups = Vec::new();
    for (state, kind, title, told) in GROUPS {
        let mut records: Vec<&FindingRecord> = findings.iter().filter(|record| record.state == state).collect();
        let consensus = |record: &FindingRecord| record.ruling.as_ref().map(|ruling| ruling.consensus);
        records.sort_by(|one, other| {
            let worst = other.finding.severity.cmp(&one.finding.severity);
            worst.then_with(|| consensus(other).cmp(&consensus(one))).then(one.id.cmp(&other.id))
        });
        let shown = records.len().min(room);
        room -= shown;
        let mut card = |record: &FindingRecord| {
            let told = history.remove(&record.id).unwrap_or_default();
            card(record, told, verdict, panels, redactor)
        };
        let findings: Vec<FindingCard> = records[..shown].iter().map(|record| card(record)).collect();
        if !findings.is_empty() {
            groups.push(FindingGroup { kind, title, told, open: state.is_open(), findings });
        }
    }
    (groups, findings.iter().count() - (MOST - room))
}

fn card(
    record: &FindingRecord,
    history: Vec<String>,
    verdict: Option<&ReviewVerdict>,
    panels: &Panels<'_>,
    redactor: &Redactor,
) -> FindingCard {
    let finding = &record.finding;
    let named = verdict.and_then(|_| match &record.raised_by {
        Witness::Panel { folder, slots } => {
            let named = slots.iter().map(|slot| match panels.reviewer(folder, *slot) {
                Some(name) => format!("{slot} ({})", redactor.text(&name)),
                None => slot.to_string(),
            });
            Some(named.collect::<Vec<_>>().join(", "))
        }
        Witness::Person { .. } | Witness::Votes { .. } => None,
    });
    let consensus =
        record.ruling.as_ref().filter(|_| record.judged().is_some() && record.state != FindingState::NeedsPerson);
    FindingCard {
        id: record.id.to_string(),
        severity: finding.severity.as_str(),
        action: finding.action.as_str(),
        state: record.state.as_str(),
        consensus: consensus.map(|ruling| ruling.consensus.to_string()),
        blocks: verdict.is_some_and(|verdict| verdict.blocking.contains(&record.id)),
        place: finding.place().map(|place| redactor.text(&place)),
        title: redactor.text(&finding.title),
        description: redactor.text(&finding.description),
        evidence: redactor.text(&finding.evidence),
        suggestion: redactor.text(&finding.suggestion),
        raised: raised(record, named.as_deref()),
        counted: record.tally().map(counted),
        votes: votes(record, panels, redactor),
        note: record.note.as_ref().map(|note| redactor.text(note.as_str())).filter(|note| !note.trim().is_empty()),
        caused_by: record.caused_by.as_deref().map(short),
        history: history.into_iter().map(|line| redactor.text(&line)).collect(),
    }
}

/// Who raised it, in a sentence; `named` are the seats, once they may be told.
fn raised(record: &FindingRecord, named: Option<&str>) -> String {
    let named = named.map(|named| format!(": {named}")).unwrap_or_default();
    match (&record.raised_by, record.tally()) {
        (Witness::Person { .. }, _) => "Added by a person".to_owned(),
        // It was voted on again because it was open, and nobody raised it again.
        (_, Some(FindingTally { raised: 0, .. })) => format!("Raised by nobody in the last vote; before{named}"),
        (_, Some(FindingTally { raised, panel, .. })) => format!("Raised by {raised} of {panel} reviewers{named}"),
        (_, None) if record.raisers().len() == 1 => format!("Raised by one reviewer{named}"),
        (_, None) => format!("Raised by {} reviewers{named}", record.raisers().len()),
    }
}

/// How many say what of it, in words.
fn counted(tally: FindingTally) -> String {
    let mut parts = Vec::new();
    for (count, word) in [(tally.sustain, "sustain"), (tally.reject, "reject"), (tally.ask, "ask a person")] {
        if count > 0 {
            parts.push(format!("{count} {word}"));
        }
    }
    if parts.is_empty() { "nobody voted on it".to_owned() } else { parts.join(", ") }
}

/// The votes of the last ballot on it, those that are missing too.
fn votes(record: &FindingRecord, panels: &Panels<'_>, redactor: &Redactor) -> Vec<FindingVoteRow> {
    let Some(Witness::Votes { folder, votes, .. }) = record.ruling.as_ref().map(|ruling| &ruling.by) else {
        return Vec::new();
    };
    let seat = |judge| Seat { id: judge, name: panels.judge(folder, judge) };
    let Some(ballots) = panels.ballots(folder) else {
        // The words are in another file, which is not as it was recorded.
        let row =
            |vote: &crate::findings::LedgerVote| row(seat(vote.judge), vote.verdict, vote.confidence, String::new());
        return votes.iter().map(row).collect();
    };
    let of = |judge: &crate::findings::JudgeOnFindings| {
        let said = judge.said();
        if let Some(vote) = said.votes.iter().find(|vote| vote.finding == record.id) {
            return Some(row(seat(judge.id), vote.verdict, vote.confidence, redactor.text(&vote.summary)));
        }
        let missing = said.missing.iter().find(|missing| missing.finding == record.id)?;
        Some(FindingVoteRow {
            judge: seat(judge.id),
            kind: "missing",
            sign: "?",
            words: "no valid vote",
            confidence: None,
            reason: describe_missing(missing.reason).to_owned(),
        })
    };
    ballots.judges.iter().filter_map(of).collect()
}

fn row(judge: Seat, verdict: FindingVote, confidence: Option<u8>, reason: String) -> FindingVoteRow {
    let (kind, sign, words) = match verdict {
        FindingVote::Sustain => ("sustain", "✓", "sustains"),
        FindingVote::Reject => ("reject", "✗", "rejects"),
        FindingVote::Ask => ("ask", "○", "asks a person"),
    };
    FindingVoteRow { judge, kind, sign, words, confidence, reason }
}

/// What happened to each finding, in order and in words.
pub(super) fn history(ledger: &[u8]) -> BTreeMap<FindingId, Vec<String>> {
    let mut history: BTreeMap<FindingId, Vec<String>> = BTreeMap::new();
    for line in ledger.split(|byte| *byte == b'\n') {
        let Ok(LedgerLine { entry, .. }) = serde_json::from_slice(line) else { continue };
        let Some(finding) = entry.finding() else { continue };
        let told = history.entry(finding).or_default();
        if told.len() < MOST_HISTORY {
            told.extend(happened(&entry));
        }
    }
    history
}

fn happened(entry: &LedgerEntry) -> Option<String> {
    let ruled = |what: &str, ruling: &crate::findings::Ruling| match &ruling.by {
        Witness::Votes { tally, .. } => {
            format!("review {}: {what} by {} to {}, {}", ruling.round, tally.sustain, tally.reject, ruling.consensus)
        }
        Witness::Person { .. } => "a person says that it is to be repaired".to_owned(),
        Witness::Panel { .. } => format!("review {}: {what}", ruling.round),
    };
    Some(match entry {
        LedgerEntry::Opened { .. } => return None,
        LedgerEntry::Raised { round, by: Witness::Panel { slots, .. }, .. } => {
            let who = if slots.len() == 1 { "one reviewer".to_owned() } else { format!("{} reviewers", slots.len()) };
            format!("review {round}: raised by {who}")
        }
        LedgerEntry::Raised { .. } => "added by a person".to_owned(),
        LedgerEntry::Sustained(ruling) => ruled("sustained", ruling),
        LedgerEntry::Rejected(ruling) => ruled("rejected", ruling),
        LedgerEntry::NeedsPerson(ruling) => ruled("not settled", ruling),
        LedgerEntry::FixClaimed { commit, .. } => format!("commit {} is said to mend it", short(commit)),
        LedgerEntry::Verified { round, .. } => format!("review {round}: not there any more"),
        LedgerEntry::Declined { note, .. } if note.as_str().trim().is_empty() => "declined by a person".to_owned(),
        LedgerEntry::Declined { note, .. } => format!("declined by a person: {}", note.as_str()),
        LedgerEntry::Reopened { why, .. } => format!("opened again: {}", why.as_str()),
    })
}
