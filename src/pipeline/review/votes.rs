//! The vote on what was found: each judge sees what is reviewed and the findings that it did not raise itself, under names
//! of its own. Owner of `votes.json` and `verdict.json` in the round's folder.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::round::Surroundings;
use super::texts::{Disputed, Texts};
use crate::config::{OwnAnswers, ResolvedModel, Target};
use crate::engine::{Asking, Bench, Chance, Question, answer_of, ask, record, seated_judges, show_last, stopped_state};
use crate::error::{Error, Result};
use crate::fault::{self, Point};
use crate::findings::{
    FindingAssignment, FindingBallot, FindingId, FindingRepair, FindingStandings, FindingVotes, Identified,
    JudgeOnFindings, Severity, Sight, finding_vote_schema, read_finding_votes,
};
use crate::fs;
use crate::ids::{FormatVersion, Sha256Hash, SlotId};
use crate::judging::{BallotForm, Judge, may_vote};
use crate::runner::{Purpose, Workspace};
use crate::session::slot::{Reason, SlotState};
use crate::session::{
    Drift, Ended, Event, Manifest, NewRound, NewTurn, PanelFolder, Round, SessionState, SlotEnd, SlotError, TakeUp,
    Turn,
};

/// The one vote of a panel on what it found.
pub(in crate::pipeline) const ROUND: Round = Round(1);

/// The vote of one judge.
struct Ballot<'a> {
    assignment: FindingAssignment,
    about: &'a Disputed<'a>,
    texts: &'a Texts<'a>,
    sight: Sight,
    /// What it said before, where it is asked for what that lacks.
    reply: Option<Vec<u8>>,
}

impl Question for Ballot<'_> {
    type Ballot = FindingBallot;

    fn asked(&self) -> SlotId {
        self.assignment.judge
    }

    fn write(&self, form: BallotForm, out: &mut impl Write) -> Result<()> {
        let text = self.texts.vote(&self.assignment, self.about, self.sight, form, self.reply.as_deref())?;
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
    /// The findings that what is reviewed is said to mend.
    pub(super) claimed: &'a [Identified],
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
    let workspace = around.workspace.clone();
    let about =
        Disputed::new(findings, voters.claimed, &texts.artefact, workspace.as_deref(), &around.services.redactor());
    let mut questions = Vec::new();
    for judge in &judges {
        let shown = shown_to(judge, findings, &panel, voters.own);
        if shown.is_empty() {
            leave_out(&mut round, judge.id, around)?;
            continue;
        }
        let assignment =
            FindingAssignment::draw(judge.id, &shown, &mut chance.rng(&format!("findings of {}", judge.id)));
        let sight = sight_of(round.manifest(), judge.id, workspace.as_ref());
        questions.push(Ballot { assignment, about: &about, texts, sight, reply: None });
    }
    let mut replies = ask(&mut round, &questions, &mut asking(around)).await?;
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
        let judge = assignment.judge;
        said.insert(judge, JudgeOnFindings { id: judge, state, response_sha256, shown, ballot, repair: None });
    }
    repair(&mut round, questions, &mut said, &path, around, failed).await?;
    for (judge, entry) in &round.status().models {
        said.entry(*judge).or_insert_with(|| JudgeOnFindings {
            id: *judge,
            state: entry.state,
            response_sha256: None,
            shown: Vec::new(),
            ballot: FindingBallot::default(),
            repair: None,
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

/// Asks those once more whose replies lack votes that can be read, for these votes only, in a turn of its own. There is one
/// such turn.
async fn repair(
    round: &mut PanelFolder,
    questions: Vec<Ballot<'_>>,
    said: &mut BTreeMap<SlotId, JudgeOnFindings>,
    path: &str,
    around: &mut Surroundings<'_>,
    failed: bool,
) -> Result<()> {
    let opened = round.records().iter().find_map(|record| match &record.event {
        Event::TurnOpened { turn: Turn::Repair, judges } => Some(judges.clone()),
        _ => None,
    });
    let mut again = Vec::new();
    for question in questions {
        let judge = question.assignment.judge;
        let Some(voted) = said.get(&judge).filter(|voted| voted.response_sha256.is_some()) else { continue };
        let Some(assignment) = question.assignment.lacking(&voted.ballot) else { continue };
        if opened.as_ref().is_none_or(|opened| opened.contains(&judge)) {
            let reply = crate::fs::read_plain(round.layout().response(judge))?;
            again.push(Ballot { assignment, reply: Some(reply), ..question });
        }
    }
    if again.is_empty() || opened.is_none() && around.control.stop().is_some() {
        return Ok(());
    }
    let asked: Vec<SlotId> = again.iter().map(|question| question.assignment.judge).collect();
    let new = NewTurn {
        kind: around.kind,
        round: Some(ROUND),
        turn: Turn::Repair,
        judges: opened.as_deref().unwrap_or(&asked),
        isolation: around.services.isolation(),
        prompts: again.first().map(|question| question.texts.judge_hashes()).unwrap_or_default(),
        failed,
    };
    let mut turn = round.open_turn(new, Timestamp::now())?;
    show_last(round, &mut *around.observer);
    around.observer.enter(&format!("{path}/{}", Turn::Repair.folder()));
    show_last(&turn, &mut *around.observer);
    let mut replies = ask(&mut turn, &again, &mut asking(around)).await?;
    for Ballot { assignment, .. } in &again {
        let Some(reply) = replies.remove(&assignment.judge) else { continue };
        if let Some(voted) = said.get_mut(&assignment.judge) {
            voted.repair = Some(FindingRepair::new(reply.state, assignment, reply.ballot));
        }
    }
    let state = around.control.stop().map_or(SessionState::Completed, stopped_state);
    let status = turn.status().clone();
    let last = round.close_turn(Turn::Repair, turn, state, Timestamp::now())?;
    around.observer.event(&last, &status);
    around.observer.enter(path);
    show_last(round, &mut *around.observer);
    Ok(())
}

/// Judges that are programs see what reviewers see.
fn asking<'a>(around: &'a mut Surroundings<'_>) -> Asking<'a> {
    Asking {
        services: around.services,
        session: around.session.clone(),
        limits: around.terms.limits,
        workspace: around.workspace.clone(),
        control: &mut *around.control,
        observer: &mut *around.observer,
    }
}

/// What `judge` can look at.
fn sight_of(round: &Manifest, judge: SlotId, workspace: Option<&Arc<Workspace>>) -> Sight {
    let is_program = round.member(judge).is_some_and(|member| sees_files(&member.resolved));
    if is_program && workspace.is_some() { Sight::Snapshot } else { Sight::Prompt }
}

/// Whether `model` is a program, which can look at files.
pub(in crate::pipeline) const fn sees_files(model: &ResolvedModel) -> bool {
    matches!(model.target, Target::Process { .. })
}

/// Whether the vote is over: what it came to is written, and its record closed.
pub(super) fn is_over(round: &PanelFolder) -> bool {
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
