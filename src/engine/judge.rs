//! A round of votes on a session's complete answers: assignment, prompts, judges, ballots, `votes.json`.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::sync::Arc;

use jiff::Timestamp;
use rand::CryptoRng;

use super::record::{record, show_last};
use super::services::Services;
use crate::config::{ResolvedModel, SelfVote, Target};
use crate::error::{Error, ErrorKind, Result};
use crate::fs;
use crate::ids::{FormatVersion, Sha256Hash, SlotId};
use crate::judging::{
    Answer, Assignment, BallotForm, Candidate, Coverage, Fitted, Judge, JudgePrompts, JudgeVotes, Panel, Votes, assign,
    check_panel, parse, schema,
};
use crate::prompts::Prompts;
use crate::runner::{Checks, Control, Limits, Observer, Purpose, SlotJob, run_panel};
use crate::session::slot::{Reason, SlotState};
use crate::session::{Event, Manifest, PanelFolder, Round, Session, SlotEnd, SlotError, Status};

/// Who judges, and how.
#[derive(Debug, Clone)]
pub struct JudgeRequest {
    /// The judges by name; `None` for the panel itself.
    pub judges: Option<Vec<ResolvedModel>>,
    /// Which answers a judge does not see because they are its own.
    pub self_vote: SelfVote,
    /// The texts sent to judges.
    pub prompts: Arc<Prompts>,
}

impl JudgeRequest {
    /// The judges of a panel of `models`, in order.
    #[must_use]
    pub fn judges_of(&self, models: &[ResolvedModel]) -> Vec<ResolvedModel> {
        self.judges.clone().unwrap_or_else(|| models.to_vec())
    }

    /// Refuses, before a run, a panel that would leave an answer without a judge.
    pub fn check(&self, models: &[ResolvedModel]) -> Result<Coverage> {
        self.check_complete(models, &vec![true; models.len()])
    }

    /// The same after a run: only the answers of the models that are `complete` need a judge.
    pub fn check_complete(&self, models: &[ResolvedModel], complete: &[bool]) -> Result<Coverage> {
        // The ids are drawn later; any one-to-one choice tells the same.
        let seats: Vec<SlotId> = SlotId::panel(models.len()).collect();
        let answers = seats
            .iter()
            .zip(models)
            .zip(complete)
            .filter(|(_, complete)| **complete)
            .map(|((id, model), _)| Answer { id: *id, identity: model.identity.clone() })
            .collect::<Vec<_>>();
        let judges = self.judges_of(models);
        let ids = SlotId::panel(judges.len());
        let judges = ids
            .zip(&judges)
            .enumerate()
            .map(|(index, (id, model))| Judge {
                id,
                identity: model.identity.clone(),
                seat: self.judges.is_none().then(|| seats[index]),
                context_tokens: model.settings.context,
            })
            .collect::<Vec<_>>();
        Ok(check_panel(&answers, &judges, self.self_vote)?)
    }
}

/// A round that ended, its ballots on disk.
#[derive(Debug)]
pub(super) struct RoundEnd {
    pub(super) round: Round,
    pub(super) folder: PanelFolder,
    pub(super) votes: Votes,
    pub(super) votes_hash: Sha256Hash,
    /// What a reader should know about the round.
    pub(super) notes: Vec<String>,
}

/// The hash of each text sent to judges, for the record.
pub(super) fn prompt_hashes(prompts: &Prompts) -> BTreeMap<String, Sha256Hash> {
    prompts.hashes().into_iter().map(|(name, hash)| (name.to_owned(), hash)).collect()
}

/// Everything that a round is run with.
pub(super) struct RoundContext<'a, R> {
    pub(super) services: &'a Services,
    pub(super) limits: Limits,
    pub(super) control: &'a mut Control,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) rng: &'a mut R,
}

/// Asks the judges and reads their ballots. Only COMPLETED answers with the recorded hash are shown.
pub(super) async fn run_round<R: CryptoRng>(
    session: &mut Session,
    request: &JudgeRequest,
    context: RoundContext<'_, R>,
) -> Result<RoundEnd> {
    let RoundContext { services, limits, control, observer, rng } = context;
    let manifest = session.panel().manifest().clone();
    let models: Vec<ResolvedModel> =
        manifest.shuffle_order.iter().filter_map(|slot| Some(manifest.member(*slot)?.resolved.clone())).collect();
    let texts = read_answers(session)?;
    if texts.len() < 2 {
        return Err(Error::new(
            ErrorKind::NoDecision,
            format!("{} of the {} slots completed; a vote needs two answers", texts.len(), models.len()),
        )
        .hint("`team status` shows what went wrong with the others"));
    }
    let answers: Vec<Answer> =
        texts.keys().map(|id| Answer { id: *id, identity: manifest.models[id].resolved.identity.clone() }).collect();
    let judge_models = request.judges_of(&models);
    if judge_models.is_empty() {
        return Err(Error::usage("no judges").hint("name judges with `--judges`"));
    }

    let (round, mut folder) = session.open_round(
        judge_models,
        services.isolation(),
        prompt_hashes(&request.prompts),
        Timestamp::now(),
        rng,
    )?;
    show_last(session.panel(), observer);
    observer.enter(&round.folder());
    show_last(&folder, observer);
    let judges = seated_judges(folder.manifest(), &manifest, request);
    let drawn = assign(&answers, &judges, request.self_vote, rng)?;
    let task = fs_err::read(session.layout().input())?;
    let prompts = JudgePrompts::new(&request.prompts, &task, texts.iter().map(|(id, text)| (*id, text.as_slice())));
    let models_of_judges = folder.manifest().clone();
    let form = |judge: SlotId| form_of(&models_of_judges.models[&judge].resolved);
    let fitted = prompts.fit(drawn, &judges, form).map_err(|e| Error::usage(e.to_string()))?;

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
        record(&mut folder, Event::SlotEnded { slot: judge, end: Box::new(end) }, observer)?;
    }
    let assignments: BTreeMap<SlotId, Assignment> =
        fitted.assignments.into_iter().map(|assignment| (assignment.judge, assignment)).collect();
    let mut jobs = Vec::new();
    for (judge, assignment) in &assignments {
        let path = folder.layout().prompt(*judge);
        let sha256 = write_prompt(&prompts, assignment, form(*judge), &path)?;
        record(&mut folder, Event::PromptWritten { judge: *judge, sha256 }, observer)?;
        jobs.push(SlotJob {
            id: *judge,
            model: models_of_judges.models[judge].resolved.clone(),
            prompt: path,
            purpose: Purpose::Ballot { schema: schema(assignment) },
        });
    }
    drop(prompts);
    drop(texts);

    let shared = services.shared(session.layout(), limits, Checks::default(), folder.manifest());
    run_panel(&mut folder, jobs, shared, services.at_once(), control, observer).await?;

    let lineup = Lineup { answers, judges, assignments };
    let slots = session.panel().status();
    let votes = read_ballots(&mut folder, round, request.self_vote, &lineup, slots, observer)?;
    let mut bytes = serde_json::to_vec_pretty(&votes).map_err(|e| Error::internal(e.to_string()))?;
    bytes.push(b'\n');
    fs::replace(&folder.layout().votes(), &bytes)?;
    Ok(RoundEnd { round, folder, votes, votes_hash: Sha256Hash::of(&bytes), notes })
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

fn seated_judges(round: &Manifest, panel: &Manifest, request: &JudgeRequest) -> Vec<Judge> {
    let judge = |(index, id): (usize, &SlotId)| {
        let model = &round.models[id].resolved;
        Judge {
            id: *id,
            identity: model.identity.clone(),
            seat: if request.judges.is_none() { panel.shuffle_order.get(index).copied() } else { None },
            context_tokens: model.settings.context,
        }
    };
    round.shuffle_order.iter().enumerate().map(judge).collect()
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

/// Providers that can are held to the JSON schema.
fn form_of(model: &ResolvedModel) -> BallotForm {
    match &model.target {
        Target::Http { provider, .. } if provider.json_schema => BallotForm::Json,
        Target::Local { .. } => BallotForm::Json,
        Target::Http { .. } | Target::Process { .. } | Target::Replay { .. } => BallotForm::Blocks,
    }
}

fn write_prompt(
    prompts: &JudgePrompts<'_>,
    assignment: &Assignment,
    form: BallotForm,
    path: &std::path::Path,
) -> Result<Sha256Hash> {
    let mut file = HashingFile::create(path)?;
    prompts.write(assignment, form, &mut file).map_err(|e| Error::new(ErrorKind::Io, e.to_string()))?;
    file.finish()
}

/// A new file whose hash is known when it is finished.
struct HashingFile {
    file: BufWriter<fs_err::File>,
    hasher: sha2::Sha256,
}

impl HashingFile {
    fn create(path: &std::path::Path) -> Result<Self> {
        Ok(Self { file: BufWriter::new(fs::create_exclusive(path)?), hasher: <sha2::Sha256 as sha2::Digest>::new() })
    }

    fn finish(mut self) -> Result<Sha256Hash> {
        self.file.flush()?;
        self.file.get_ref().sync_data()?;
        Ok(Sha256Hash::finish(self.hasher))
    }
}

impl Write for HashingFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(bytes)?;
        sha2::Digest::update(&mut self.hasher, &bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// Who judges what in a round.
struct Lineup {
    answers: Vec<Answer>,
    judges: Vec<Judge>,
    assignments: BTreeMap<SlotId, Assignment>,
}

/// Reads the ballots of the judges that completed; of the others nothing is read.
fn read_ballots(
    folder: &mut PanelFolder,
    round: Round,
    self_vote: SelfVote,
    lineup: &Lineup,
    slots: &Status,
    observer: &mut dyn Observer,
) -> Result<Votes> {
    let Lineup { answers, judges, assignments } = lineup;
    let mut votes_of_judges = Vec::new();
    let states: Vec<(SlotId, SlotState, Option<Sha256Hash>)> =
        folder.status().models.iter().map(|(id, entry)| (*id, entry.state, entry.sha256)).collect();
    for (judge, state, sha256) in states {
        let assignment = assignments.get(&judge);
        let judged = match (state, sha256, assignment) {
            (SlotState::Completed, Some(sha256), Some(assignment)) => {
                let bytes = fs_err::read(folder.layout().response(judge))?;
                let ballot = parse(&String::from_utf8_lossy(&bytes), assignment);
                let judged = JudgeVotes::completed(assignment, sha256, ballot);
                let event = Event::Ballot {
                    judge,
                    response: sha256,
                    votes: judged.votes.len() as u32,
                    missing: judged.missing.len() as u32,
                };
                record(folder, event, observer)?;
                judged
            }
            _ => JudgeVotes::without_votes(judge, state, assignment),
        };
        votes_of_judges.push(judged);
    }
    folder.settle()?;
    let eligible = Coverage::allowed(answers, judges, self_vote);
    let candidates = slots
        .models
        .iter()
        .map(|(id, entry)| Candidate {
            id: *id,
            state: entry.state,
            sha256: entry.sha256,
            eligible_judges: eligible.of(*id) as u32,
        })
        .collect::<Vec<_>>();
    let panel = Panel { slots: candidates.len() as u32, judges: votes_of_judges.len() as u32 };
    Ok(Votes { version: FormatVersion::CURRENT, round: round.0, self_vote, panel, candidates, judges: votes_of_judges })
}
