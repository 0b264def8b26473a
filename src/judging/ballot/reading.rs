//! From the ballots found in a reply to one vote per answer, or none with its reason.

use crate::ids::SlotId;
use crate::judging::Assignment;

use super::field::{Confidence, Subject, confidence, verdict};
use super::{
    Ballot, CastVote, Entry, Missing, MissingReason, Note, NoteKind, TaskBallot, TaskVote, VoteVerdict, blocks,
    blocks_called, json, whole_json,
};

const LONGEST_SUMMARY: usize = 2000;
const LONGEST_ISSUE: usize = 500;
const MOST_ISSUES: usize = 30;
/// Notes beyond these would only repeat themselves.
const MOST_NOTES: usize = 50;
const LONGEST_NOTE: usize = 60;

/// Reads the reply of `assignment`'s judge. The caller gives complete replies only: a judge that failed has no votes.
#[must_use]
pub fn parse(text: &str, assignment: &Assignment) -> Ballot {
    let mut ballot = Ballot::default();
    let entries = ballot.find(text, json::entries);
    let mut by_answer: Vec<(SlotId, Vec<Entry>)> = assignment.shown.iter().map(|(id, _)| (*id, Vec::new())).collect();
    let mut known = 0;
    for entry in entries {
        let Some(answer) = ballot.named(&entry, assignment) else { continue };
        known += 1;
        if let Some((_, entries)) = by_answer.iter_mut().find(|(id, _)| *id == answer) {
            entries.push(entry);
        }
    }
    for (answer, entries) in by_answer {
        let outcome = match (entries.is_empty(), known) {
            (true, 0) => Err(MissingReason::NoBallot),
            (true, _) => Err(MissingReason::NotVoted),
            (false, _) => agreed(&entries, verdict),
        };
        match outcome {
            Ok(verdict) => {
                if entries.len() > 1 {
                    ballot.note(NoteKind::Repeated, Some(answer), None);
                }
                // The last of several equal ballots is what the judge came to.
                if let Some(entry) = entries.into_iter().next_back() {
                    ballot.cast(answer, verdict, entry);
                }
            }
            Err(reason) => ballot.missing.push(Missing { answer, reason }),
        }
    }
    ballot
}

/// Reads the reply of a member that was asked to vote on the task itself. A ballot that names an answer is none on it.
#[must_use]
pub fn parse_task(text: &str) -> TaskBallot {
    let mut ballot = Ballot::default();
    let mut entries = ballot.find(text, json::task_entries);
    entries.retain(|entry| {
        if let Some(response) = entry.response.as_deref() {
            ballot.note(NoteKind::NamesAnswer, None, Some(response));
        }
        entry.response.is_none()
    });
    let outcome = if entries.is_empty() { Err(MissingReason::NoBallot) } else { agreed(&entries, verdict) };
    if outcome.is_ok() && entries.len() > 1 {
        ballot.note(NoteKind::Repeated, None, None);
    }
    let vote = outcome.and_then(|verdict| {
        // The last of several equal votes is what the member came to.
        let entry = entries.pop().ok_or(MissingReason::NoBallot)?;
        let Words { confidence, summary, key_issues } = ballot.words(None, &entry);
        Ok(TaskVote { verdict, confidence, summary, key_issues })
    });
    TaskBallot { vote, notes: ballot.notes }
}

/// What a ballot says besides its verdict.
pub(crate) struct Words {
    pub(crate) confidence: Option<u8>,
    pub(crate) summary: String,
    key_issues: Vec<String>,
}

/// The one verdict of all ballots for the same thing, as `verdict` reads one.
pub(crate) fn agreed<T: Copy + PartialEq>(
    entries: &[Entry],
    verdict: impl Fn(&str) -> Option<T>,
) -> Result<T, MissingReason> {
    let verdicts: Vec<Option<T>> =
        entries.iter().flat_map(|entry| &entry.verdicts).map(|value| verdict(value)).collect();
    match verdicts.split_first() {
        None | Some((None, [])) => Err(MissingReason::UnclearVerdict),
        Some((first, rest)) if rest.iter().any(|other| other != first) => Err(MissingReason::Contradiction),
        Some((first, _)) => first.ok_or(MissingReason::UnclearVerdict),
    }
}

/// The ballots in `text`, the reply of somebody who votes on `subject`s: those of its `vote` blocks, or those that `read`
/// reads when all of it is JSON. What a reader should know goes to `note`, with the words that explain it.
pub(crate) fn find_entries(
    text: &str,
    subject: Subject,
    read: fn(&str) -> Option<Vec<Entry>>,
    mut note: impl FnMut(NoteKind, Option<&str>),
) -> Vec<Entry> {
    let text = text.trim_start_matches('\u{feff}');
    let found = blocks_called("vote", text);
    let mut entries: Vec<Entry> = found.named.iter().flat_map(|block| blocks::entries(block, subject)).collect();
    if found.quoted > 0 {
        note(NoteKind::QuotedBallot, None);
    }
    match whole_json(text) {
        Some(text) => match read(text) {
            Some(more) => entries.extend(more),
            None => note(NoteKind::BadJson, Some(text)),
        },
        // JSON beside prose or blocks may be the task's or an answer's.
        None if found.json.iter().any(|text| read(text).is_some_and(|quoted| !quoted.is_empty())) => {
            note(NoteKind::QuotedBallot, None);
        }
        None => {}
    }
    entries
}

/// What `entry` is on: exactly one of the names that `of` knows, as a whole word in upper case; else what to note.
pub(crate) fn named<T: PartialEq>(entry: &Entry, of: impl Fn(&str) -> Option<T>) -> Result<T, NoteKind> {
    let Some(response) = entry.response.as_deref() else { return Err(NoteKind::UnclearAlias) };
    let words = response.split(|c: char| !c.is_alphanumeric());
    let mut named: Vec<T> = words.filter_map(|word| of(&word.to_ascii_uppercase())).collect();
    named.dedup();
    match (named.pop(), named.is_empty()) {
        (Some(one), true) => Ok(one),
        (None, _) => Err(NoteKind::UnknownAlias),
        (Some(_), false) => Err(NoteKind::UnclearAlias),
    }
}

/// What `entry` says besides its verdict, within bounds. What a reader should know goes to `note`.
pub(crate) fn words(entry: &Entry, mut note: impl FnMut(NoteKind, Option<&str>)) -> Words {
    let given = entry.confidence.as_deref();
    let confidence = match confidence(given.unwrap_or_default()) {
        Confidence::Exact(value) => Some(value),
        Confidence::Adjusted(value) => {
            note(NoteKind::ConfidenceAdjusted, given);
            Some(value)
        }
        Confidence::None => {
            note(NoteKind::NoConfidence, given);
            None
        }
    };
    let summary = shortened(&entry.summary, LONGEST_SUMMARY);
    let key_issues: Vec<String> =
        entry.issues.iter().take(MOST_ISSUES).map(|issue| shortened(issue, LONGEST_ISSUE)).collect();
    if summary.len() < entry.summary.len()
        || key_issues.len() < entry.issues.len()
        || key_issues.iter().zip(&entry.issues).any(|(kept, given)| kept.len() < given.len())
    {
        note(NoteKind::Shortened, None);
    }
    Words { confidence, summary, key_issues }
}

impl Ballot {
    fn find(&mut self, text: &str, read: fn(&str) -> Option<Vec<Entry>>) -> Vec<Entry> {
        find_entries(text, Subject::Answer, read, |kind, text| self.note(kind, None, text))
    }

    fn note(&mut self, kind: NoteKind, answer: Option<SlotId>, text: Option<&str>) {
        if self.notes.len() < MOST_NOTES {
            let text = text.map(|text| shortened(text, LONGEST_NOTE));
            self.notes.push(Note { kind, answer, text });
        }
    }

    /// The answer that `entry` names.
    fn named(&mut self, entry: &Entry, assignment: &Assignment) -> Option<SlotId> {
        match named(entry, |name| assignment.answer_of(name)) {
            Ok(answer) => Some(answer),
            Err(kind) => {
                self.note(kind, None, entry.response.as_deref());
                None
            }
        }
    }

    fn cast(&mut self, answer: SlotId, verdict: VoteVerdict, entry: Entry) {
        let Words { confidence, summary, key_issues } = self.words(Some(answer), &entry);
        self.votes.push(CastVote { answer, verdict, confidence, summary, key_issues });
    }

    fn words(&mut self, answer: Option<SlotId>, entry: &Entry) -> Words {
        words(entry, |kind, text| self.note(kind, answer, text))
    }
}

fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => text[..end].to_owned(),
        None => text.to_owned(),
    }
}
