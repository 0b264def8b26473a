//! The vote on what was found: each judge sees what is reviewed and the findings that it did not raise itself, under names
//! of its own. Owner of `votes.json` and `verdict.json` in the round's folder.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use jiff::Timestamp;
use serde::Serialize;

use super::round::Surroundings;
use super::texts::Texts;
use crate::config::{OwnAnswers, ResolvedModel};
use crate::engine::{Asking, Bench, Chance, Question, answer_of, ask, record, seated_judges, show_last, stopped_state};
use crate::error::{Error, Result};
use crate::fault::{self, Point};
use crate::findings::{
    FindingAssignment, FindingBallot, FindingId, FindingStandings, FindingVotes, Identified, JudgeOnFindings, Severity,
    finding_vote_schema, read_finding_votes,
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
    let over = folder.enter_round(ROUND)?.filter(is_over);
    let taken = match over {
        Some(over) => Some(over),
        None => folder.take_up_round(ROUND, how, now)?,
    };
    let mut round = match taken {
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
        raised: FindingVotes::raised_of(findings),
        judges: said.into_values().collect(),
    };
    let stop = around.control.stop();
    let stopped = around.is_stopped();
    if !stopped {
        write_once(&mut round, "votes.json", &json(&votes)?, Point::VotesWritten, around)?;
        let standings =
            FindingStandings { version: FormatVersion::CURRENT, findings: votes.standings(&severities(findings)) };
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

/// Whether the vote is over: what it came to is written, and its record closed.
fn is_over(round: &PanelFolder) -> bool {
    let written = |event: &Event| matches!(event, Event::FileWritten { file, .. } if file == "verdict.json");
    round.status().state == SessionState::Completed && round.records().iter().any(|record| written(&record.event))
}

/// How bad each finding is.
pub(super) fn severities(findings: &[Identified]) -> BTreeMap<FindingId, Severity> {
    findings.iter().map(|found| (found.id, found.merged.finding.severity)).collect()
}

/// The findings that `judge` may vote on, by id: none that it raised, and none whose authors it may not judge.
fn shown_to(judge: &Judge, findings: &[Identified], panel: &Manifest, own: OwnAnswers) -> Vec<FindingId> {
    let may_judge = |seat: &SlotId| {
        let answer = panel.member(*seat).map(|member| answer_of(*seat, &member.resolved));
        judge.seat != Some(*seat) && answer.is_some_and(|answer| may_vote(own, judge, &answer))
    };
    let shown = findings.iter().filter(|found| found.merged.raised_by.iter().all(may_judge)).map(|found| found.id);
    // In an order that whoever checks it knows.
    shown.collect::<BTreeSet<_>>().into_iter().collect()
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
