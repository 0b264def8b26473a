//! A round of votes on a session's complete answers: assignment, prompts, turns of the judges, `votes.json`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rand::rngs::StdRng;
use rand::{CryptoRng, SeedableRng};

use super::ask::{About, Asking, JudgeQuestion, ask, form_of};
use super::judge::{JudgeRequest, answer_of, seated_judges};
use super::plan::{RoundPlan, Terms, written};
use super::record::{record, show_last, show_since};
use super::services::Services;
use super::shown::{Shown, leak_scan};
use crate::config::{Passes, Repair, ResolvedModel, VoteRules};
use crate::error::{Error, ErrorKind, Result};
use crate::fault::{self, Point};
use crate::fs;
use crate::ids::{FormatVersion, Sha256Hash, SlotId};
use crate::judging::{
    Answer, Assignment, Candidate, CopyRules, Coverage, Fitted, Judge, JudgePrompts, JudgeVotes, Panel, RepairTurn,
    Votes, assign,
};
use crate::prompts::{PromptName, Prompts};
use crate::runner::{Control, Observer};
use crate::session::slot::{Reason, SlotState, Usage};
use crate::session::{
    Drift, Ended, Event, Manifest, NewRound, NewTurn, PanelFolder, Round, Session, SessionKind, SessionState, SlotEnd,
    SlotError, Status, TakeUp, Turn, usage_by_slot,
};

/// A round that ended, its ballots on disk.
#[derive(Debug)]
pub(super) struct RoundEnd {
    pub(super) round: Round,
    pub(super) folder: PanelFolder,
    pub(super) votes: Votes,
    pub(super) votes_hash: Sha256Hash,
    /// How the second pass ended, where there was one.
    pub(super) second_pass: Option<Status>,
    /// What a reader should know about the round.
    pub(super) notes: Vec<String>,
}

/// The hash of each text sent to judges, for the record.
pub(super) fn prompt_hashes(prompts: &Prompts) -> BTreeMap<String, Sha256Hash> {
    prompts.hashes_of(&PromptName::OF_JUDGES).into_iter().map(|(name, hash)| (name.to_owned(), hash)).collect()
}

/// A round that was opened before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opened {
    pub(super) round: Round,
    /// Whether judges that ended with an error of their own are asked again.
    pub(super) failed: bool,
    /// What is done where a judge would not be asked what it was asked before.
    pub(super) otherwise: Otherwise,
}

/// What is done with a round in which a judge would not be asked what it was asked before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Otherwise {
    /// Nothing: that is an error.
    Refuse,
    /// It is ended, and a new one is held: whoever resumes has accepted that not all is as it was.
    Anew,
}

/// Everything that a round is run with.
pub(super) struct RoundContext<'a, R> {
    pub(super) services: &'a Services,
    pub(super) terms: Terms,
    pub(super) control: &'a mut Control,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) rng: &'a mut R,
}

/// Asks the judges and reads their ballots. Only COMPLETED answers with the recorded hash are shown.
///
/// The round is a new one, or goes on where one that was `opened` before was left: its judges keep their ids, prompts and
/// names for the answers, for what was drawn in it is drawn from its manifest's nonce.
pub(super) async fn run_round<R: CryptoRng>(
    session: &mut Session,
    request: &JudgeRequest,
    opened: Option<Opened>,
    context: RoundContext<'_, R>,
) -> Result<RoundEnd> {
    let RoundContext { services, terms, control, observer, rng } = context;
    let rules = request.rules;
    let manifest = session.panel().manifest().clone();
    let models: Vec<ResolvedModel> =
        manifest.shuffle_order.iter().filter_map(|slot| Some(manifest.member(*slot)?.resolved.clone())).collect();
    let texts = read_answers(session)?;
    if texts.len() < 2 {
        return Err(too_few(format!("{} of the {} slots completed", texts.len(), models.len()))
            .hint("`team status` shows what went wrong with the others"));
    }
    let judge_models = request.judges_of(&models);
    if judge_models.is_empty() {
        return Err(Error::usage("no judges").hint("name judges with `--judges`"));
    }
    let task = fs_err::read(session.layout().input())?;
    let scan = leak_scan(&models);
    let copies = CopyRules { scan: &scan, leaks: rules.leaks };
    let prompts =
        JudgePrompts::new(&request.prompts, &task, texts.iter().map(|(id, text)| (*id, text.as_slice())), copies);
    drop(texts);
    let shown = Shown::of(prompts.copies().map(|copy| (copy.id, copy.leaks)), rules.leaks);
    let answers: Vec<Answer> =
        shown.judged().filter_map(|id| Some(answer_of(id, &manifest.member(id)?.resolved))).collect();
    if answers.len() < 2 {
        let left = answers.len();
        let of = shown.len();
        return Err(too_few(format!(
            "{left} of {of} answers do not name their author, and `--leaks fail` leaves out those that do"
        ))
        .hint("`--leaks mask` hides the names from the judges instead"));
    }

    let kind = session.meta().kind;
    let hashes = prompt_hashes(&request.prompts);
    let now = Timestamp::now();
    let (round, mut folder) = match opened {
        Some(Opened { round, failed, .. }) => {
            let mut folder = session.enter_round(round)?;
            observer.enter(&round.folder());
            let known = folder.records().len();
            let isolation = services.isolation();
            let how = TakeUp { failed, drift: &Drift::NONE, isolation: Some(&isolation), ended: Ended::GoesOn };
            folder.take_up(how, now)?;
            show_since(&folder, known, observer);
            (round, folder)
        }
        None => {
            let new = NewRound {
                judges: judge_models,
                isolation: services.isolation(),
                prompts: hashes.clone(),
                rules: request.round_rules().to_map(),
                plan: Some(written(&RoundPlan::of(request, terms))?),
            };
            let (round, folder) = session.open_round(new, now, rng)?;
            show_last(session.panel(), observer);
            observer.enter(&round.folder());
            show_last(&folder, observer);
            (round, folder)
        }
    };
    let judges = seated_judges(folder.manifest(), &manifest, request.round_rules().bench);
    let chance = Chance::of(folder.manifest());
    let drawn = assign(&answers, &judges, rules.own, &mut chance.rng("assignment"))?;
    let seats = folder.manifest().clone();
    let fitted = prompts
        .fit(drawn, &judges, |judge| seats.member(judge).map(|member| form_of(&member.resolved)).unwrap_or_default())
        .map_err(|e| Error::usage(e.to_string()))?;

    let mut notes = Vec::new();
    notes.extend(fitted.refused.iter().map(ToString::to_string));
    notes.extend(prompts.copies().filter(|copy| copy.left_out > 0).map(|copy| {
        format!("answer {} was cut for the judges: {} bytes of its middle were not shown", copy.id, copy.left_out)
    }));
    notes.extend(fitted.left_out.iter().map(|(judge, left)| {
        let left: Vec<String> = left.iter().map(ToString::to_string).collect();
        format!("judge {judge} did not see {}: its declared context is too small", left.join(", "))
    }));
    notes.extend(Coverage::assigned(&answers, &fitted.assignments).note());
    for (judge, end) in unasked(&judges, &fitted) {
        if folder.status().models.get(&judge).is_none_or(|entry| entry.state != SlotState::Pending) {
            continue;
        }
        record(&mut folder, Event::SlotEnded { slot: judge, end: Box::new(end) }, observer)?;
    }

    let mut turns = Turns {
        asking: Asking {
            services,
            session: session.layout().clone(),
            limits: terms.limits,
            workspace: None,
            control,
            observer,
        },
        prompts: &prompts,
        round,
        kind,
        hashes,
        contexts: judges.iter().map(|judge| (judge.id, judge.context_tokens)).collect(),
        notes,
        second_pass: None,
        failed: opened.is_some_and(|opened| opened.failed),
    };
    let mut ballots: BTreeMap<SlotId, JudgeVotes> = BTreeMap::new();
    turns.pass(&mut folder, &round.folder(), fitted.assignments.clone(), rules.repair, &mut ballots).await?;
    if rules.passes == Passes::Two {
        turns.second_pass(&mut folder, &fitted.assignments, rules.repair, &mut ballots, &chance).await?;
    }
    let Turns { notes, second_pass, .. } = turns;
    for (judge, entry) in &folder.status().models {
        ballots.entry(*judge).or_insert_with(|| JudgeVotes::without_votes(*judge, entry.state, None));
    }
    let eligible = Coverage::allowed(&answers, &judges, rules.own);
    let votes = votes_of(round, rules, session.panel().status(), &shown, &eligible, ballots.into_values().collect());
    let votes_hash = write_votes(&mut folder, &votes)?;
    Ok(RoundEnd { round, folder, votes, votes_hash, second_pass, notes })
}

/// Writes `votes.json`; gives its hash.
pub(super) fn write_votes(folder: &mut PanelFolder, votes: &Votes) -> Result<Sha256Hash> {
    folder.settle()?;
    let mut bytes = serde_json::to_vec_pretty(votes).map_err(|e| Error::internal(e.to_string()))?;
    bytes.push(b'\n');
    fs::replace(&folder.layout().votes(), &bytes)?;
    fault::reach(Point::VotesWritten);
    Ok(Sha256Hash::of(&bytes))
}

/// What is drawn in a round, again the same whenever it is drawn: from the manifest's nonce, which nobody but `team` sees.
pub(crate) struct Chance {
    nonce: String,
}

impl Chance {
    pub(crate) fn of(manifest: &Manifest) -> Self {
        Self { nonce: manifest.nonce.clone() }
    }

    pub(crate) fn rng(&self, purpose: &str) -> StdRng {
        StdRng::from_seed(*Sha256Hash::of(format!("{purpose} {}", self.nonce).as_bytes()).bytes())
    }
}

/// There is nothing to compare.
pub(super) fn too_few(what: String) -> Error {
    Error::new(ErrorKind::NoDecision, format!("{what}; a vote needs two answers"))
}

/// The complete answers, each checked against the hash on record: nothing planted or changed is judged.
fn read_answers(session: &Session) -> Result<BTreeMap<SlotId, Vec<u8>>> {
    let mut texts = BTreeMap::new();
    for (slot, entry) in &session.panel().status().models {
        let Some(bytes) = entry.read_answer(session.layout(), *slot)? else { continue };
        texts.insert(*slot, bytes);
    }
    Ok(texts)
}

/// The ends of the judges that are not asked, each with its reason.
fn unasked(judges: &[Judge], fitted: &Fitted) -> Vec<(SlotId, SlotEnd)> {
    let asked = |judge: SlotId| fitted.assignments.iter().any(|assignment| assignment.judge == judge);
    let end = |judge: &Judge| {
        let (reason, detail, next_step) = match fitted.refused.iter().find(|refused| refused.judge == judge.id) {
            Some(refused) => (
                Reason::ContextTooLong,
                refused.to_string(),
                "raise the judge's declared `context`, or name a judge with a larger one",
            ),
            None => (
                Reason::Cancelled,
                "every complete answer is its own, so there is nothing that it may judge".to_owned(),
                "name judges of another model with `--judges`, or use `--self-vote slot`",
            ),
        };
        SlotEnd::without_answer(0, SlotError { next_step: next_step.to_owned(), ..SlotError::new(reason, detail) })
    };
    judges.iter().filter(|judge| !asked(judge.id)).map(|judge| (judge.id, end(judge))).collect()
}

/// The turns of a round's judges.
struct Turns<'a, 'p> {
    asking: Asking<'a>,
    prompts: &'a JudgePrompts<'p>,
    round: Round,
    kind: SessionKind,
    hashes: BTreeMap<String, Sha256Hash>,
    contexts: BTreeMap<SlotId, Option<u64>>,
    notes: Vec<String>,
    second_pass: Option<Status>,
    failed: bool,
}

impl Turns<'_, '_> {
    /// Asks once, and once more for what is missing. `path` names the folder for whoever watches.
    async fn pass(
        &mut self,
        folder: &mut PanelFolder,
        path: &str,
        assignments: Vec<Assignment>,
        repair: Repair,
        ballots: &mut BTreeMap<SlotId, JudgeVotes>,
    ) -> Result<()> {
        let questions: Vec<(Assignment, About)> =
            assignments.into_iter().map(|assignment| (assignment, About::All)).collect();
        let mut replies = ask(folder, &asked(self.prompts, &questions), &mut self.asking).await?;
        for (assignment, _) in &questions {
            let judge = assignment.judge;
            let Some(reply) = replies.remove(&judge) else { continue };
            let voted = match reply.ballot {
                Some((hash, ballot)) => JudgeVotes::completed(assignment, hash, ballot),
                None => JudgeVotes::without_votes(judge, reply.state, Some(assignment)),
            };
            match ballots.get_mut(&judge) {
                Some(first) => first.add_second_pass(voted),
                None => drop(ballots.insert(judge, voted)),
            }
        }
        if repair == Repair::Once {
            self.repair(folder, path, questions.iter().map(|(assignment, _)| assignment.judge), ballots).await?;
        }
        Ok(())
    }

    /// Asks the same `judges` for the votes that their ballots lack; nobody, when none lacks any.
    async fn repair(
        &mut self,
        folder: &mut PanelFolder,
        path: &str,
        judges: impl Iterator<Item = SlotId>,
        ballots: &mut BTreeMap<SlotId, JudgeVotes>,
    ) -> Result<()> {
        let mut questions = Vec::new();
        for judge in judges {
            let wanted = ballots.get(&judge).map(JudgeVotes::to_repair).transpose();
            let Some(assignment) = wanted.map_err(|e| Error::internal(e.to_string()))?.flatten() else { continue };
            let reply = fs_err::read(folder.layout().response(judge))?;
            let context_tokens = self.contexts.get(&judge).copied().flatten();
            questions.push((assignment, About::Rest { reply, context_tokens }));
        }
        if questions.is_empty() || self.asking.control.stop().is_some() {
            return Ok(());
        }
        let mut turn = self.open(folder, Turn::Repair, path, &questions)?;
        let mut replies = ask(&mut turn, &asked(self.prompts, &questions), &mut self.asking).await?;
        for (assignment, _) in &questions {
            let judge = assignment.judge;
            let Some(reply) = replies.remove(&judge) else { continue };
            let repaired = RepairTurn::new(reply.state, assignment, reply.ballot);
            let usage = usage_by_slot(turn.manifest(), turn.records()).remove(&judge);
            self.notes.push(repair_note(judge, &repaired, usage));
            if let Some(ballot) = ballots.get_mut(&judge) {
                ballot.add_repair(repaired);
            }
        }
        self.close(folder, Turn::Repair, path, turn)
    }

    /// Asks the judges that completed the first pass again, with their answers in reverse order.
    async fn second_pass(
        &mut self,
        folder: &mut PanelFolder,
        first: &[Assignment],
        repair: Repair,
        ballots: &mut BTreeMap<SlotId, JudgeVotes>,
        chance: &Chance,
    ) -> Result<()> {
        // The votes of the others do not count whatever they would say now.
        let completed = |assignment: &&Assignment| {
            ballots.get(&assignment.judge).is_some_and(|ballot| ballot.state == SlotState::Completed)
        };
        let reversed = |first: &Assignment| first.reversed(&mut chance.rng(&format!("second pass {}", first.judge)));
        let again: Vec<Assignment> = first.iter().filter(completed).map(reversed).collect();
        if again.is_empty() || self.asking.control.stop().is_some() {
            return Ok(());
        }
        let questions: Vec<(Assignment, About)> =
            again.iter().map(|assignment| (assignment.clone(), About::All)).collect();
        let path = self.round.folder();
        let mut turn = self.open(folder, Turn::SecondPass, &path, &questions)?;
        let inside = format!("{path}/{}", Turn::SecondPass.folder());
        self.pass(&mut turn, &inside, again, repair, ballots).await?;
        self.second_pass = Some(turn.status().clone());
        self.close(folder, Turn::SecondPass, &path, turn)
    }

    fn open(
        &mut self,
        folder: &mut PanelFolder,
        turn: Turn,
        path: &str,
        questions: &[(Assignment, About)],
    ) -> Result<PanelFolder> {
        let judges: Vec<SlotId> = questions.iter().map(|(assignment, _)| assignment.judge).collect();
        let new = NewTurn {
            kind: self.kind,
            round: Some(self.round),
            turn,
            judges: &judges,
            isolation: self.asking.services.isolation(),
            prompts: self.hashes.clone(),
            failed: self.failed,
        };
        let opened = folder.open_turn(new, Timestamp::now())?;
        show_last(folder, &mut *self.asking.observer);
        self.asking.observer.enter(&format!("{path}/{}", turn.folder()));
        show_last(&opened, &mut *self.asking.observer);
        Ok(opened)
    }

    fn close(&mut self, folder: &mut PanelFolder, turn: Turn, path: &str, opened: PanelFolder) -> Result<()> {
        let state = self.asking.control.stop().map_or(SessionState::Completed, super::run::stopped_state);
        let status = opened.status().clone();
        let last = folder.close_turn(turn, opened, state, Timestamp::now())?;
        let observer = &mut *self.asking.observer;
        observer.event(&last, &status);
        observer.enter(path);
        show_last(folder, observer);
        Ok(())
    }
}

fn asked<'a, 'p>(prompts: &'a JudgePrompts<'p>, questions: &'a [(Assignment, About)]) -> Vec<JudgeQuestion<'a, 'p>> {
    questions.iter().map(|(assignment, about)| JudgeQuestion { prompts, assignment, about }).collect()
}

/// What a repair turn was for, what came of it, and what it cost where that is known.
fn repair_note(judge: SlotId, turn: &RepairTurn, usage: Option<Usage>) -> String {
    let asked: Vec<String> = turn.asked.iter().map(ToString::to_string).collect();
    let votes = turn.votes.len();
    let mut note = format!(
        "judge {judge} was asked once more for its votes on {}: {votes} of {} came",
        asked.join(", "),
        asked.len()
    );
    if let Some((input, output)) = usage.and_then(|usage| Some((usage.input_tokens?, usage.output_tokens?))) {
        note.push_str(&format!(", for {input} tokens of prompt and {output} of output"));
    }
    note
}

/// The contents of `votes.json`: who stood for election, and the ballots.
pub(super) fn votes_of(
    round: Round,
    rules: VoteRules,
    slots: &Status,
    shown: &Shown,
    eligible: &Coverage,
    judges: Vec<JudgeVotes>,
) -> Votes {
    let candidates = slots
        .models
        .iter()
        .map(|(id, entry)| {
            let (leaks, left_out) = shown.of_answer(*id);
            Candidate {
                id: *id,
                state: entry.state,
                sha256: entry.sha256,
                bytes: entry.output_size,
                leaks,
                left_out,
                eligible_judges: eligible.of(*id) as u32,
            }
        })
        .collect::<Vec<_>>();
    let panel = Panel { slots: candidates.len() as u32, judges: judges.len() as u32 };
    Votes {
        version: FormatVersion::CURRENT,
        round: round.0,
        self_vote: rules.own.self_vote,
        recuse: rules.own.recuse,
        leaks: rules.leaks,
        passes: rules.passes,
        repair: rules.repair,
        panel,
        candidates,
        judges,
        imported: None,
    }
}
