//! Files in the schema of `votes.json`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::names::{NamedBy, shortened};
use super::{AnswerNames, ImportError, ImportedJudge};
use crate::ids::{FormatVersion, Sha256Hash, SlotId};
use crate::judging::{CastVote, JudgeVotes, Missing, MissingReason, PairVote, PairWinner, VoteVerdict};
use crate::session::slot::SlotState;

/// What of the schema a file from elsewhere must or may have. Whatever else is there is passed over.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    version: FormatVersion,
    #[serde(default)]
    candidates: Vec<Candidate>,
    judges: Vec<Value>,
}

#[derive(Deserialize)]
struct Candidate {
    id: String,
    sha256: Option<Sha256Hash>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Judge {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    state: Option<SlotState>,
    #[serde(default)]
    order: Vec<String>,
    #[serde(default)]
    votes: Vec<Vote>,
    #[serde(default)]
    pairs: Vec<Pair>,
}

impl Judge {
    /// What it calls the answers.
    fn answers(&self) -> impl Iterator<Item = &String> {
        let votes = self.votes.iter().map(|vote| &vote.answer);
        self.order.iter().chain(votes).chain(self.pairs.iter().flat_map(|pair| [&pair.first, &pair.second]))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Vote {
    answer: String,
    verdict: VoteVerdict,
    #[serde(default)]
    confidence: Option<u8>,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    key_issues: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pair {
    first: String,
    second: String,
    winner: PairWinner,
}

/// The judges of a file in the schema of `votes.json`. `file` names it in errors.
///
/// Where the file says which texts were judged (`candidates` with their hashes), an answer is found by its hash, so that
/// ids drawn elsewhere do not matter and another text is never taken for it. Second passes and repair turns count as
/// they did there: a judge's [`JudgeVotes::outcomes`].
///
/// # Errors
/// The file is not of the schema or of a newer version, or names something that is no answer of this session.
pub fn read_json(file: &str, bytes: &[u8], answers: &AnswerNames) -> Result<Vec<ImportedJudge>, ImportError> {
    let read: File = serde_json::from_slice(bytes).map_err(|error| {
        let place = format!("{file}:{}:{}", error.line(), error.column());
        ImportError::new(place, format!("is not in the schema of `votes.json`: {error}"))
    })?;
    if read.version > FormatVersion::CURRENT {
        let newest = FormatVersion::CURRENT.0;
        return Err(ImportError::new(
            file,
            format!("has version {}; this program reads up to {newest}", read.version.0),
        ));
    }
    let hashes: BTreeMap<String, Sha256Hash> =
        read.candidates.into_iter().filter_map(|candidate| Some((candidate.id, candidate.sha256?))).collect();
    let same = answers.with_hashes(&hashes);
    let find = |name: &str, place: &str| match hashes.get(name) {
        Some(hash) => same.get(name).copied().ok_or_else(|| {
            ImportError::new(
                place,
                format!("answer {} was another text there: no answer here has its hash {hash}", shortened(name)),
            )
        }),
        None => answers.find(name).map_err(|what| ImportError::new(place, what)),
    };
    let named_by = |name: &str| if hashes.contains_key(name) { NamedBy::Answer } else { NamedBy::of(name) };
    read.judges.into_iter().enumerate().map(|(index, value)| judge(file, index, value, find, named_by)).collect()
}

fn judge(
    file: &str,
    index: usize,
    value: Value,
    find: impl Fn(&str, &str) -> Result<SlotId, ImportError>,
    named_by: impl Fn(&str) -> NamedBy,
) -> Result<ImportedJudge, ImportError> {
    let place = format!("{file}: judges[{index}]");
    // A judge of a round of ours may have several turns; what they come to is what counted there.
    let turns = value.get("secondPass").is_some() || value.get("repair").is_some();
    let read: Judge =
        serde_json::from_value(value.clone()).map_err(|error| ImportError::new(&*place, error.to_string()))?;
    let name = read.name.clone().or_else(|| read.id.clone()).unwrap_or_else(|| format!("{}", index + 1));
    let mut known = None;
    for answer in read.answers() {
        named_by(answer).note(&mut known, &name).map_err(|what| ImportError::new(&*place, what))?;
    }
    let mut judge = ImportedJudge {
        name,
        order: Vec::new(),
        votes: Vec::new(),
        pairs: Vec::new(),
        missing: Vec::new(),
        notes: Vec::new(),
        state: read.state.unwrap_or(SlotState::Completed),
    };
    let votes: Vec<(String, Result<CastVote, MissingReason>)> = if turns {
        let ours: JudgeVotes =
            serde_json::from_value(value).map_err(|error| ImportError::new(&*place, error.to_string()))?;
        judge.state = ours.state();
        outcomes(&ours)
    } else {
        let cast = |(at, vote): (usize, Vote)| {
            let confidence = vote.confidence.map(|confidence| confidence.clamp(1, 10));
            let answer = find(&vote.answer, &format!("{place}.votes[{at}]"))?;
            let Vote { verdict, summary, key_issues, .. } = vote;
            Ok((vote.answer, Ok(CastVote { answer, verdict, confidence, summary, key_issues })))
        };
        read.votes.into_iter().enumerate().map(cast).collect::<Result<_, ImportError>>()?
    };
    for (at, name) in read.order.iter().enumerate() {
        judge.order.push(find(name, &format!("{place}.order[{at}]"))?);
    }
    for (at, (name, vote)) in votes.into_iter().enumerate() {
        let answer = find(&name, &format!("{place}.votes[{at}]"))?;
        if judge.votes.iter().any(|earlier| earlier.answer == answer) {
            let what = format!("judge `{}` has two votes on answer {}", shortened(&judge.name), shortened(&name));
            return Err(ImportError::new(format!("{place}.votes[{at}]"), what));
        }
        if !judge.order.contains(&answer) {
            judge.order.push(answer);
        }
        match vote {
            Ok(vote) => judge.votes.push(CastVote { answer, ..vote }),
            Err(reason) => judge.missing.push(Missing { answer, reason }),
        }
    }
    for (at, pair) in read.pairs.into_iter().enumerate() {
        let place = format!("{place}.pairs[{at}]");
        let (first, second) = (find(&pair.first, &place)?, find(&pair.second, &place)?);
        let judgement = PairVote { first, second, winner: pair.winner };
        super::text::add_pair(&mut judge, judgement, &pair.first).map_err(|what| ImportError::new(place, what))?;
    }
    let unvoted: Vec<SlotId> = judge
        .order
        .iter()
        .copied()
        .filter(|answer| judge.pairs.is_empty() && !judge.votes.iter().any(|vote| vote.answer == *answer))
        .filter(|answer| !judge.missing.iter().any(|missing| missing.answer == *answer))
        .collect();
    judge.missing.extend(unvoted.into_iter().map(|answer| Missing { answer, reason: MissingReason::NotVoted }));
    Ok(judge)
}

/// What the turns of a judge of ours came to, by the names of its file.
fn outcomes(judge: &JudgeVotes) -> Vec<(String, Result<CastVote, MissingReason>)> {
    use crate::judging::Outcome;
    let outcome = |(answer, outcome): (SlotId, Outcome)| {
        let vote = match outcome {
            Outcome::Vote { vote, .. } => Ok(vote),
            Outcome::Inconsistent { .. } => Err(MissingReason::Contradiction),
            Outcome::Missing(reason) => Err(reason),
        };
        (answer.to_string(), vote)
    };
    judge.outcomes().map(outcome).collect()
}

/// What was kept of a judge when it was imported.
///
/// # Errors
/// The text is not what [`ImportedJudge::to_reply`] writes.
pub fn read_reply(reply: &[u8]) -> serde_json::Result<ImportedJudge> {
    serde_json::from_slice(reply)
}
