//! What judges say of findings: who sees which under which name, and the votes in a reply.
//!
//! As strict as ballots on answers, by the same readers: a vote counts only under a name that this judge was given, from a
//! `vote` block that stands for itself or the JSON that is the whole reply, with a whole word as verdict, and if the judge
//! does not contradict itself. Nothing is read from prose.

use std::fmt;

use rand::CryptoRng;
use rand::seq::SliceRandom;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::FindingId;
use super::text;
use crate::ids::SlotId;
use crate::judging::{
    Alias, Entry, MissingReason, Nonce, NoteKind, Subject, agreed, find_entries, is_repairable, json_entries, named,
    stated, words,
};

/// The most characters of the words of a note.
const LONGEST_NOTE: usize = 60;
/// Notes beyond these would only repeat themselves.
const MOST_NOTES: usize = 100;

/// What a judge says of one finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FindingVote {
    /// It is one.
    Sustain,
    /// It is none.
    Reject,
    /// A person should say.
    Ask,
}

impl FindingVote {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Sustain, Self::Reject, Self::Ask];

    /// The word of the ballot.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sustain => "SUSTAIN",
            Self::Reject => "REJECT",
            Self::Ask => "ASK",
        }
    }
}

impl fmt::Display for FindingVote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The vote that a word states, also as the same verb in the past.
fn vote_word(word: &str) -> Option<FindingVote> {
    match word.to_ascii_uppercase().as_str() {
        "SUSTAIN" | "SUSTAINED" => Some(FindingVote::Sustain),
        "REJECT" | "REJECTED" => Some(FindingVote::Reject),
        "ASK" | "ASKED" => Some(FindingVote::Ask),
        _ => None,
    }
}

/// What one judge sees of the findings of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingAssignment {
    /// The judge.
    pub judge: SlotId,
    /// The findings in the order of its prompt, each with its name there.
    pub shown: Vec<(FindingId, Alias)>,
    /// The code in the fences of its prompt.
    pub nonce: Nonce,
}

impl FindingAssignment {
    /// Shows `findings`, those that `judge` did not raise, in an order and under names of its own: a vote that somebody
    /// hides in a finding cannot name one of them.
    #[must_use]
    pub fn draw<R: CryptoRng + ?Sized>(judge: SlotId, findings: &[FindingId], rng: &mut R) -> Self {
        let mut order = findings.to_vec();
        order.shuffle(rng);
        let mut shown: Vec<(FindingId, Alias)> = Vec::with_capacity(order.len());
        for finding in order {
            let mut names = std::iter::repeat_with(|| Alias::draw(rng));
            let alias = names.find(|alias| shown.iter().all(|(_, other)| other != alias));
            shown.extend(alias.map(|alias| (finding, alias)));
        }
        Self { judge, shown, nonce: Nonce::draw(rng) }
    }

    /// The same judge with nothing but what `ballot` says nothing readable about, under the same names: what it is asked
    /// for once more. `None` where that is nothing. Two different votes on one finding are what the judge said, and asking
    /// again would be choosing between them.
    #[must_use]
    pub fn lacking(&self, ballot: &FindingBallot) -> Option<Self> {
        let lacks =
            |id: FindingId| ballot.missing.iter().any(|missing| missing.finding == id && is_repairable(missing.reason));
        let shown: Vec<_> = self.shown.iter().filter(|(id, _)| lacks(*id)).cloned().collect();
        (!shown.is_empty()).then(|| Self { shown, ..self.clone() })
    }

    /// The name of `finding` in this judge's prompt.
    #[must_use]
    pub fn alias_of(&self, finding: FindingId) -> Option<&Alias> {
        self.shown.iter().find(|(id, _)| *id == finding).map(|(_, alias)| alias)
    }

    /// The finding that is called `alias` in this judge's prompt.
    #[must_use]
    pub fn finding_of(&self, alias: &str) -> Option<FindingId> {
        self.shown.iter().find(|(_, known)| known.as_str() == alias).map(|(id, _)| *id)
    }
}

/// The JSON schema of the reply to `assignment`: an object `votes` with one property per name shown, so that every name
/// has exactly one vote by construction.
#[must_use]
pub fn finding_vote_schema(assignment: &FindingAssignment) -> Value {
    let words: Vec<&str> = FindingVote::ALL.iter().map(|vote| vote.as_str()).collect();
    let vote = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["verdict", "confidence", "summary"],
        "properties": {
            "verdict": { "type": "string", "enum": words },
            "confidence": { "type": "integer", "minimum": 1, "maximum": 10 },
            "summary": { "type": "string" }
        }
    });
    let aliases: Vec<&str> = assignment.shown.iter().map(|(_, alias)| alias.as_str()).collect();
    let votes: Map<String, Value> = aliases.iter().map(|alias| ((*alias).to_owned(), vote.clone())).collect();
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["votes"],
        "properties": {
            "votes": {
                "type": "object",
                "additionalProperties": false,
                "required": aliases,
                "properties": votes
            }
        }
    })
}

/// One vote of one judge on a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingCast {
    /// The finding.
    pub finding: FindingId,
    /// The vote.
    pub verdict: FindingVote,
    /// 1 to 10; `None` when the judge gave none that can be read.
    #[schemars(range(min = 1, max = 10))]
    pub confidence: Option<u8>,
    /// Its reason, in its own words, made harmless.
    pub summary: String,
}

/// A finding that a judge saw and did not validly vote on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingMissing {
    /// The finding.
    pub finding: FindingId,
    /// Why there is no vote.
    pub reason: MissingReason,
}

/// Something about a judge's reply that a reader should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingBallotNote {
    /// What it is.
    pub kind: NoteKind,
    /// The finding concerned, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub finding: Option<FindingId>,
    /// The judge's own words, shortened, where they explain it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<String>,
}

/// All that one judge's reply says of findings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingBallot {
    /// The valid votes, in the order in which the findings were shown.
    pub votes: Vec<FindingCast>,
    /// The findings without one, in the same order.
    pub missing: Vec<FindingMissing>,
    /// What a reader should know.
    pub notes: Vec<FindingBallotNote>,
}

impl FindingBallot {
    /// That of a judge which did not complete: no votes.
    #[must_use]
    pub fn of_failed(assignment: &FindingAssignment) -> Self {
        let reason = MissingReason::JudgeFailed;
        let missing =
            assignment.shown.iter().map(|(finding, _)| FindingMissing { finding: *finding, reason }).collect();
        Self { missing, ..Self::default() }
    }

    fn note(&mut self, kind: NoteKind, finding: Option<FindingId>, text: Option<&str>) {
        if self.notes.len() < MOST_NOTES {
            let text = text.map(|text| text::line(text, LONGEST_NOTE).text);
            self.notes.push(FindingBallotNote { kind, finding, text });
        }
    }
}

/// Reads the reply of `assignment`'s judge. The caller gives complete replies only: a judge that failed has no votes.
#[must_use]
pub fn read_finding_votes(reply: &str, assignment: &FindingAssignment) -> FindingBallot {
    let mut ballot = FindingBallot::default();
    let entries = find_entries(reply, Subject::Finding, json_entries, |kind, text| ballot.note(kind, None, text));
    let mut known = 0;
    let mut by_finding: Vec<(FindingId, Vec<Entry>)> =
        assignment.shown.iter().map(|(id, _)| (*id, Vec::new())).collect();
    for entry in entries {
        match named(&entry, |name| assignment.finding_of(name)) {
            Ok(finding) => {
                known += 1;
                if let Some((_, entries)) = by_finding.iter_mut().find(|(id, _)| *id == finding) {
                    entries.push(entry);
                }
            }
            Err(kind) => ballot.note(kind, None, entry.response.as_deref()),
        }
    }
    for (finding, mut entries) in by_finding {
        let outcome = match (entries.is_empty(), known) {
            (true, 0) => Err(MissingReason::NoBallot),
            (true, _) => Err(MissingReason::NotVoted),
            (false, _) => agreed(&entries, |value| stated(value, vote_word)),
        };
        let repeated = entries.len() > 1;
        // The last of several equal ballots is what the judge came to.
        match (outcome, entries.pop()) {
            (Ok(verdict), Some(entry)) => {
                if repeated {
                    ballot.note(NoteKind::Repeated, Some(finding), None);
                }
                let said = words(&entry, |kind, text| ballot.note(kind, Some(finding), text));
                let summary = text::line(&said.summary, said.summary.len()).text;
                ballot.votes.push(FindingCast { finding, verdict, confidence: said.confidence, summary });
            }
            (Err(reason), _) => ballot.missing.push(FindingMissing { finding, reason }),
            (Ok(_), None) => ballot.missing.push(FindingMissing { finding, reason: MissingReason::NotVoted }),
        }
    }
    ballot
}

/// Why there is no vote on a finding, in words.
#[must_use]
pub const fn describe_missing(reason: MissingReason) -> &'static str {
    match reason {
        MissingReason::NotVoted => "no vote on this finding",
        other => other.describe(),
    }
}
