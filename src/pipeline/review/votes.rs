//! The vote on what was found: each judge sees what is reviewed and the findings that it did not raise itself, under names
//! of its own. Owner of `votes.json` and `verdict.json` in the round's folder.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::round::Surroundings;
use super::texts::Texts;
use crate::config::{OwnAnswers, ResolvedModel};
use crate::engine::{Asking, Bench, Chance, Question, answer_of, ask, record, seated_judges, show_last, stopped_state};
use crate::error::{Error, Result};
use crate::fault::{self, Point};
use crate::findings::{
    FindingAssignment, FindingBallot, FindingId, FindingTally, FindingVote, Identified, Judged, finding_vote_schema,
    read_finding_votes,
};
use crate::fs;
use crate::ids::{FormatVersion, Sha256Hash, SlotId};
use crate::judging::{BallotForm, Judge, may_vote};
use crate::runner::Purpose;
use crate::session::slot::{Reason, SlotState};
use crate::session::{
    Drift, Ended, Event, Manifest, NewRound, PanelFolder, Round, SessionState, SlotEnd, SlotError, TakeUp,
};

/// The one vote of a panel on what it found.
pub(in crate::pipeline) const ROUND: Round = Round(1);

/// The contents of a review's `votes.json`: who could vote on what, and the ballots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingVotes {
    /// The version of this format.
    pub version: FormatVersion,
    /// How many seats the panel has that raised the findings.
    pub panel: u32,
    /// Each finding, and the seats that raised it.
    pub raised: BTreeMap<FindingId, BTreeSet<SlotId>>,
    /// The judges.
    pub judges: Vec<JudgeOnFindings>,
}

/// What one judge says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JudgeOnFindings {
    /// The judge.
    pub id: SlotId,
    /// How its turn ended.
    pub state: SlotState,
    /// The hash of its reply, where there is one.
    pub response_sha256: Option<Sha256Hash>,
    /// What it was shown.
    pub shown: Vec<FindingId>,
    /// Its votes.
    pub ballot: FindingBallot,
}

/// The contents of a review's `judging/verdict.json`: what the votes say of each finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingStandings {
    /// The version of this format.
    pub version: FormatVersion,
    /// Each finding.
    pub findings: Vec<FindingStanding>,
}

/// What the votes say of one finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingStanding {
    /// The finding, and what is to be made of it.
    #[serde(flatten)]
    pub judged: Judged,
    /// How many say what.
    pub tally: FindingTally,
}

impl FindingVotes {
    /// How many say what of `finding`.
    #[must_use]
    pub fn tally(&self, finding: FindingId) -> FindingTally {
        let raised = self.raised.get(&finding).map_or(0, BTreeSet::len);
        let cast = self.judges.iter().flat_map(|judge| &judge.ballot.votes).filter(|vote| vote.finding == finding);
        let empty = FindingTally {
            panel: self.panel,
            raised: u32::try_from(raised).unwrap_or(u32::MAX),
            ..FindingTally::default()
        };
        cast.fold(empty, |tally, vote| match vote.verdict {
            FindingVote::Sustain => FindingTally { sustain: tally.sustain + 1, ..tally },
            FindingVote::Reject => FindingTally { reject: tally.reject + 1, ..tally },
            FindingVote::Ask => FindingTally { ask: tally.ask + 1, ..tally },
        })
    }

    /// What they say of each of `findings`.
    #[must_use]
    pub fn standings(&self, findings: &[Identified]) -> Vec<FindingStanding> {
        let of = |found: &Identified| {
            let tally = self.tally(found.id);
            let judged = Judged {
                id: found.id,
                severity: found.merged.finding.severity,
                standing: tally.standing(),
                consensus: tally.consensus(),
            };
            FindingStanding { judged, tally }
        };
        findings.iter().map(of).collect()
    }

    /// The ballots of nobody: what was found in a review in which no vote was held.
    #[must_use]
    pub fn none(panel: u32, findings: &[Identified]) -> Self {
        Self { version: FormatVersion::CURRENT, panel, raised: raised_of(findings), judges: Vec::new() }
    }
}

fn raised_of(findings: &[Identified]) -> BTreeMap<FindingId, BTreeSet<SlotId>> {
    findings.iter().map(|found| (found.id, found.merged.raised_by.clone())).collect()
}

/// The vote of one judge.
struct Ballot<'a> {
    assignment: FindingAssignment,
    findings: &'a [Identified],
    texts: &'a Texts<'a>,
}

impl Question for Ballot<'_> {
    type Ballot = FindingBallot;

    fn asked(&self) -> SlotId {
        self.assignment.judge
    }

    fn write(&self, form: BallotForm, out: &mut impl Write) -> Result<()> {
        let text = self.texts.vote(&self.assignment, self.findings, form)?;
        out.write_all(text.as_bytes())
            .map_err(|source| Error::io(format!("cannot write the prompt of {}", self.asked()), source))
    }

    fn purpose(&self) -> Purpose {
        Purpose::Ballot { schema: finding_vote_schema(&self.assignment) }
    }

    fn read(&self, reply: &str) -> FindingBallot {
        read_finding_votes(reply, &self.assignment)
    }

    fn read_event(judge: SlotId, response: Sha256Hash, ballot: &FindingBallot) -> Event {
        let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        Event::Ballot { judge, response, votes: count(ballot.votes.len()), missing: count(ballot.missing.len()) }
    }

    const INSTEAD: &'static str = "`team review` reviews anew, in a session of its own";
}

/// Who votes.
pub(super) struct Voters<'a> {
    /// By name; `None` where the reviewers themselves vote.
    pub(super) named: Option<&'a [ResolvedModel]>,
    /// Whose findings are kept from whom, besides those that a judge raised itself.
    pub(super) own: OwnAnswers,
}

/// Has the findings voted on, in a round inside of `folder`. Goes on where one that was begun was left. `None` where it
/// was stopped before every judge was done.
pub(super) async fn hold_vote(
    folder: &mut PanelFolder,
    findings: &[Identified],
    voters: &Voters<'_>,
    texts: &Texts<'_>,
    around: &mut Surroundings<'_>,
    failed: bool,
) -> Result<Option<FindingVotes>> {
    let panel = folder.manifest().clone();
    let now = Timestamp::now();
    let isolation = around.services.isolation();
    let path = format!("{}/{}", folder.inner().map(|panel| panel.folder()).unwrap_or_default(), ROUND.folder());
    let how = TakeUp { failed, drift: &Drift::NONE, isolation: Some(&isolation), ended: Ended::StaysClosed };
    let mut round = match folder.take_up_round(ROUND, how, now)? {
        Some(round) => round,
        None => {
            let members = panel.shuffle_order.iter().filter_map(|slot| panel.member(*slot));
            let own: Vec<ResolvedModel> = members.map(|member| member.resolved.clone()).collect();
            let new = NewRound {
                judges: voters.named.map_or(own, <[_]>::to_vec),
                isolation: isolation.clone(),
                prompts: texts.judge_hashes(),
                rules: BTreeMap::from([("selfVote".to_owned(), voters.own.self_vote.to_string())]),
                plan: None,
            };
            let (_, round) = folder.open_round(around.kind, new, now, &mut &mut *around.rng)?;
            show_last(folder, &mut *around.observer);
            round
        }
    };
    around.observer.enter(&path);
    show_last(&round, &mut *around.observer);
    let bench = if voters.named.is_some() { Bench::Named } else { Bench::Panel };
    let judges = seated_judges(round.manifest(), &panel, bench);
    let chance = Chance::of(round.manifest());
    let mut questions = Vec::new();
    for judge in &judges {
        let shown = shown_to(judge, findings, &panel, voters.own);
        if shown.is_empty() {
            leave_out(&mut round, judge.id, around)?;
            continue;
        }
        let assignment =
            FindingAssignment::draw(judge.id, &shown, &mut chance.rng(&format!("findings of {}", judge.id)));
        questions.push(Ballot { assignment, findings, texts });
    }
    let mut asking = Asking {
        services: around.services,
        session: around.session.clone(),
        limits: around.terms.limits,
        workspace: None,
        control: &mut *around.control,
        observer: &mut *around.observer,
    };
    let mut replies = ask(&mut round, &questions, &mut asking).await?;
    let mut said: BTreeMap<SlotId, JudgeOnFindings> = BTreeMap::new();
    for Ballot { assignment, .. } in &questions {
        let (state, found) = match replies.remove(&assignment.judge) {
            Some(reply) => (reply.state, reply.ballot),
            None => (SlotState::Pending, None),
        };
        let shown = assignment.shown.iter().map(|(id, _)| *id).collect();
        let (response_sha256, ballot) = match found {
            Some((hash, ballot)) => (Some(hash), ballot),
            None => (None, FindingBallot::of_failed(assignment)),
        };
        said.insert(assignment.judge, JudgeOnFindings { id: assignment.judge, state, response_sha256, shown, ballot });
    }
    for (judge, entry) in &round.status().models {
        said.entry(*judge).or_insert_with(|| JudgeOnFindings {
            id: *judge,
            state: entry.state,
            response_sha256: None,
            shown: Vec::new(),
            ballot: FindingBallot::default(),
        });
    }
    let votes = FindingVotes {
        version: FormatVersion::CURRENT,
        panel: u32::try_from(panel.models.len()).unwrap_or(u32::MAX),
        raised: raised_of(findings),
        judges: said.into_values().collect(),
    };
    let stop = around.control.stop();
    let stopped = around.is_stopped();
    if !stopped {
        write_once(&mut round, "votes.json", &json(&votes)?, Point::VotesWritten, around)?;
        let standings = FindingStandings { version: FormatVersion::CURRENT, findings: votes.standings(findings) };
        write_once(&mut round, "verdict.json", &json(&standings)?, Point::VerdictJson, around)?;
    }
    let state = stop.filter(|_| stopped).map_or(SessionState::Completed, stopped_state);
    let status = round.status().clone();
    let last = folder.close_round(ROUND, round, state, Timestamp::now())?;
    around.observer.event(&last, &status);
    if let Some(panel) = folder.inner() {
        around.observer.enter(&panel.folder());
    }
    show_last(folder, &mut *around.observer);
    Ok((!stopped).then_some(votes))
}

/// The findings that `judge` may vote on: none that it raised, and none whose authors it may not judge.
fn shown_to(judge: &Judge, findings: &[Identified], panel: &Manifest, own: OwnAnswers) -> Vec<FindingId> {
    let may_judge = |seat: &SlotId| {
        let answer = panel.member(*seat).map(|member| answer_of(*seat, &member.resolved));
        judge.seat != Some(*seat) && answer.is_some_and(|answer| may_vote(own, judge, &answer))
    };
    findings.iter().filter(|found| found.merged.raised_by.iter().all(may_judge)).map(|found| found.id).collect()
}

/// Ends the turn of a judge that has nothing to vote on.
fn leave_out(round: &mut PanelFolder, judge: SlotId, around: &mut Surroundings<'_>) -> Result<()> {
    if round.status().models.get(&judge).is_none_or(|entry| entry.state != SlotState::Pending) {
        return Ok(());
    }
    let why = "every finding is one that it raised itself, so there is nothing that it may vote on";
    let next_step = "nothing is to be done: the other judges vote".to_owned();
    let error = SlotError { next_step, ..SlotError::new(Reason::Cancelled, why) };
    let end = Box::new(SlotEnd::without_answer(0, error));
    record(round, Event::SlotEnded { slot: judge, end }, &mut *around.observer)
}

fn json(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| Error::internal(error.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes a file of `folder` and puts it on record, unless it is.
pub(in crate::pipeline) fn write_once(
    folder: &mut PanelFolder,
    file: &str,
    bytes: &[u8],
    written: Point,
    around: &mut Surroundings<'_>,
) -> Result<()> {
    let event = Event::FileWritten { file: file.to_owned(), sha256: Sha256Hash::of(bytes) };
    if folder.records().iter().any(|record| record.event == event) {
        return Ok(());
    }
    fs::replace(&folder.layout().root().join(file), bytes)?;
    fault::reach(written);
    record(folder, event, &mut *around.observer)?;
    Ok(folder.settle()?)
}
