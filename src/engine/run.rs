//! The main job: a session is made, its slots answer, judges vote, the verdict is published, the session is closed.

use std::path::Path;

use jiff::Timestamp;
use rand::CryptoRng;

use super::bill::total;
use super::flat::earlier_copies;
use super::import::{ImportRequest, import_round};
use super::judge::JudgeRequest;
use super::keeping::Keeping;
use super::outcome::{Decision, Outcome};
use super::plan::{ChosenBy, RunPlan, Terms, written};
use super::publish::{Published, publish, published, voted};
use super::record::{record, show_last};
use super::round::{Opened, Otherwise, RoundContext, prompt_hashes, run_round};
use super::services::{Panel, Services};
use super::vote::{VoteWork, conclude, refuse_votes};
use super::workspace::{Selection, Stand, ready};
use crate::config::{ResolvedModel, Target};
use crate::error::{Error, ErrorKind, Result};
use crate::judging::task_schema;
use crate::money::Usd;
use crate::runner::{Checks, Control, Meter, Observer, Purpose, SlotJob, StopAll, least_cost, run_panel};
use crate::session::slot::{Reason, SlotState};
use crate::session::{
    Event, Layout, NewSession, Phase, Round, RoundStand, Session, SessionKind, SessionState, SlotStatus, Status, Why,
};

/// What to run.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// The kind of session.
    pub kind: SessionKind,
    /// Where the session is kept.
    pub keeping: Keeping,
    /// The text that names it.
    pub title: String,
    /// The prompt of every slot.
    pub input: String,
    /// The panel, in the user's order.
    pub models: Vec<ResolvedModel>,
    /// What chose it, for the record.
    pub chosen: Option<ChosenBy>,
    /// The terms that everybody is asked on.
    pub terms: Terms,
    /// What makes text usable.
    pub checks: Checks,
    /// Whether a missing slot makes the run fail.
    pub strict: bool,
    /// Whether and how the answers are judged.
    pub judge: Option<JudgeRequest>,
    /// What the verdict should say about the panel (a demo, a recording).
    pub notes: Vec<String>,
    /// The files that programs see a snapshot of.
    pub workspace: Option<Selection>,
}

/// What surrounds a command: prepared services, signals, who watches.
pub struct Context<'a> {
    /// Prepared for the panel and the judges.
    pub services: &'a Services,
    /// Signals, requests, the deadline.
    pub control: &'a mut Control,
    /// Shows what happens.
    pub observer: &'a mut dyn Observer,
    /// Told the session's folder as soon as it exists, and why it is not where it was wanted if it is not.
    pub announce: &'a mut dyn FnMut(&Path, Option<&str>),
}

/// Runs a panel, and judges it when asked to.
pub async fn run<R: CryptoRng>(request: RunRequest, context: Context<'_>, rng: &mut R) -> Result<Outcome> {
    begin(request, None, context, rng).await
}

/// Makes a session and does in it what was asked for; with `vote` the panel votes on the task itself.
pub(super) async fn begin<R: CryptoRng>(
    request: RunRequest,
    vote: Option<VoteWork>,
    context: Context<'_>,
    rng: &mut R,
) -> Result<Outcome> {
    let Context { services, control, observer, announce } = context;
    check_budget(&request)?;
    let now = Timestamp::now();
    let prompts = match (&vote, &request.judge) {
        (Some(vote), _) => vote.prompt_hashes(),
        (None, judge) => judge.as_ref().map(|judge| prompt_hashes(&judge.prompts)).unwrap_or_default(),
    };
    let plan = written(&RunPlan::of(&request, vote.as_ref()))?;
    let new = NewSession {
        base: request.keeping.folder().unwrap_or(Path::new("")),
        kind: request.kind,
        title: &request.title,
        input: request.input.as_bytes(),
        task: vote.as_ref().and_then(|vote| vote.task.as_deref()).map(str::as_bytes),
        models: request.models,
        isolation: services.isolation(),
        prompts,
        plan: Some(plan),
        judges: request.judge.as_ref().and_then(|judge| judge.judges.clone()),
        pipeline: None,
    };
    let session = match request.keeping {
        Keeping::Folder(_) => Session::create(new, now, rng)?,
        Keeping::Legacy => Session::create_temporary(new, now, rng)?,
    };
    announce(session.layout().root(), session.temporary());
    control.serve(session.layout());
    observer.enter(".");
    show_last(session.panel(), observer);
    let work = Work {
        terms: request.terms,
        checks: request.checks,
        strict: request.strict,
        judge: request.judge.map(Ballots::Asked),
        vote,
        opened: None,
        notes: request.notes,
        workspace: request.workspace.map_or(Stand::Nothing, |selection| Stand::Selected(Box::new(selection))),
    };
    go_on(session, &work, services, control, observer, rng).await
}

/// Refuses a budget of which one member cannot even be asked. While the run goes on it would be seen which one that is.
fn check_budget(request: &RunRequest) -> Result<()> {
    let Some(most) = request.terms.max_cost else { return Ok(()) };
    refuse_too_dear(most, &request.models, request.input.len() as u64)
}

/// Refuses a budget that does not pay for a prompt of so many bytes to one of `models`.
pub(crate) fn refuse_too_dear(most: Usd, models: &[ResolvedModel], prompt_bytes: u64) -> Result<()> {
    let least = |model| least_cost(model, prompt_bytes);
    let Some(dear) = models.iter().find(|model| least(model) > most) else { return Ok(()) };
    let why =
        format!("`--max-cost {most}` does not pay for asking `{}`: its prompt alone is {}", dear.name, least(dear));
    Err(Error::usage(why).hint("raise it, or leave the model out").hint("`--estimate` says what all of it would cost"))
}

/// The same of the judges of a finished run.
///
/// A judge sees at least the task and the shortest of the complete answers; which ones exactly would tell its own.
fn check_judges_budget(session: &Session, ballots: &Ballots, terms: Terms) -> Result<()> {
    let (Ballots::Asked(request), Some(most)) = (ballots, terms.max_cost) else { return Ok(()) };
    let (manifest, status) = (session.panel().manifest(), session.panel().status());
    let models: Vec<ResolvedModel> =
        manifest.shuffle_order.iter().filter_map(|slot| Some(manifest.member(*slot)?.resolved.clone())).collect();
    let task = fs_err::metadata(session.layout().input())?.len();
    let shortest = status.models.values().filter_map(|entry| entry.output_size).min().unwrap_or(0);
    let prompt = task.saturating_add(shortest.min(MOST_SHOWN));
    refuse_too_dear(most, &request.judges_of(&models), prompt)
}

/// Of an answer as many bytes are shown to a judge in any case, when it has them.
const MOST_SHOWN: u64 = 32 << 10;

/// What is to be done in a session that exists.
pub(super) struct Work {
    pub(super) terms: Terms,
    pub(super) checks: Checks,
    pub(super) strict: bool,
    /// Whether the answers are judged, and by whom.
    pub(super) judge: Option<Ballots>,
    /// The vote on the task that the panel is asked for.
    pub(super) vote: Option<VoteWork>,
    /// The round that was begun before.
    pub(super) opened: Option<Opened>,
    pub(super) notes: Vec<String>,
    /// What programs work in.
    pub(super) workspace: Stand,
}

/// Asks the slots whose turn has not come, judges when that is asked for and not done, and closes the session: a first
/// run as well as one that is resumed.
pub(super) async fn go_on<R: CryptoRng>(
    mut session: Session,
    work: &Work,
    services: &Services,
    control: &mut Control,
    observer: &mut dyn Observer,
    rng: &mut R,
) -> Result<Outcome> {
    control.limit_cost(Meter::new(work.terms.max_cost, total(&session).known_usd));
    let ran = run_slots(&mut session, services, work, control, observer).await;
    session.finish_phase(Phase::Run);
    if let Some(vote) = &work.vote {
        return conclude(session, vote, work, ran.err(), services, control, observer).await;
    }
    let complete = session.panel().status().count(SlotState::Completed);
    let all = session.panel().status().models.len();
    let mut decision = if complete == 0 || (work.strict && complete < all) {
        Decision::NothingUsable { complete, all }
    } else {
        Decision::Answers { complete, all }
    };
    let mut verdict = None;
    let mut problem = ran.err();
    if let (Some(judge), Decision::Answers { .. }, None, None) = (&work.judge, &decision, &problem, control.stop()) {
        let round = RoundContext { services, terms: work.terms, control, observer, rng };
        match judged(&mut session, judge, work, round).await {
            Ok(published) => {
                decision = published.decision;
                verdict = Some(published.text);
            }
            Err(error) if error.kind() == ErrorKind::NoDecision => {
                decision = Decision::NoDecision { why: error.to_string() }
            }
            Err(error) => problem = Some(error),
        }
    } else if work.judge.is_none()
        && problem.is_none()
        && let Some(before) = stands(&mut session)?
    {
        decision = before.decision;
        verdict = Some(before.text);
    } else if let (Some(_), Decision::Answers { .. }) = (&work.judge, &decision) {
        decision = Decision::NoDecision { why: "the answers were not judged".to_owned() };
    }
    end(session, decision, verdict, problem, control.stop(), services, observer)
}

/// The verdict on the answers: the one that is out already, that of the round that was begun, or that of a new round.
async fn judged<R: CryptoRng>(
    session: &mut Session,
    ballots: &Ballots,
    work: &Work,
    context: RoundContext<'_, R>,
) -> Result<Published> {
    let RoundContext { services, terms, control, observer, rng } = context;
    let mut opened = None;
    if let Some(RoundStand { round, published: is_published, is_outdated, .. }) = session.newest_round()?
        && work.opened.is_some_and(|opened| opened.round == round)
    {
        if is_outdated {
            // Answers have come that its judges were not shown.
            abandon(session, round)?;
        } else if is_published && let Some(before) = stands(session)? {
            return Ok(before);
        } else if let Some(end) = voted(session, round)? {
            session.finish_phase(Phase::Judge);
            let published = publish(session, end, services, observer)?;
            session.finish_phase(Phase::Verdict);
            return Ok(published);
        } else {
            opened = work.opened;
        }
    }
    let first = RoundContext { services, terms, control: &mut *control, observer: &mut *observer, rng: &mut *rng };
    match (judge_session(session, ballots, opened, first, &work.notes).await, opened) {
        (Err(error), Some(Opened { round, otherwise: Otherwise::Anew, .. })) if error.kind() == ErrorKind::Drifted => {
            abandon(session, round)?;
            observer.enter(".");
            show_last(session.panel(), observer);
            let ended = format!("round {} was ended and another held: {error}", round.0);
            let notes: Vec<String> = work.notes.iter().cloned().chain([ended]).collect();
            let anew = RoundContext { services, terms, control, observer, rng };
            judge_session(session, ballots, None, anew, &notes).await
        }
        (judged, _) => judged,
    }
}

/// The verdict that was published before and still stands.
pub(super) fn stands(session: &mut Session) -> Result<Option<Published>> {
    let before = published(session)?;
    if before.is_some() {
        session.finish_phase(Phase::Judge);
        session.finish_phase(Phase::Verdict);
        session.name_models();
    }
    Ok(before)
}

/// Ends a round that nobody goes on with.
pub(super) fn abandon(session: &mut Session, round: Round) -> Result<()> {
    let mut folder = session.enter_round(round)?;
    let now = Timestamp::now();
    folder.end_lost(now)?;
    folder.end_turns(now)?;
    session.close_round(round, folder, SessionState::Cancelled, now)?;
    Ok(())
}

/// Judges a session that was run before, in a new round.
pub async fn judge<R: CryptoRng>(
    layout: Layout,
    request: &JudgeRequest,
    terms: Terms,
    context: Context<'_>,
    rng: &mut R,
) -> Result<Outcome> {
    judge_again(layout, &Ballots::Asked(request.clone()), terms, context, rng).await
}

/// Counts ballots from elsewhere, in a new round of a session that was run before. Nobody is asked.
pub async fn import<R: CryptoRng>(
    layout: Layout,
    request: &ImportRequest,
    context: Context<'_>,
    rng: &mut R,
) -> Result<Outcome> {
    judge_again(layout, &Ballots::Imported(request.clone()), Terms::default(), context, rng).await
}

/// Where the ballots of a round come from.
#[derive(Debug, Clone)]
pub(super) enum Ballots {
    /// Judges are asked for them.
    Asked(JudgeRequest),
    /// They were made elsewhere.
    Imported(ImportRequest),
}

impl Ballots {
    /// Why a session goes on for them.
    const fn why(&self) -> Why {
        match self {
            Self::Asked(_) => Why::Judge,
            Self::Imported(_) => Why::Import,
        }
    }
}

/// Fails where there are not two answers to compare.
///
/// # Errors
/// Fewer than two are complete, which is no decision.
pub fn enough_answers(status: &Status) -> Result<()> {
    let answers = match status.count(SlotState::Completed) {
        0 => "no answer is",
        1 => "one answer is",
        _ => return Ok(()),
    };
    let why = format!("{answers} complete; a vote needs two");
    Err(Error::new(ErrorKind::NoDecision, why).hint("`team status` shows what went wrong with the others"))
}

async fn judge_again<R: CryptoRng>(
    layout: Layout,
    ballots: &Ballots,
    terms: Terms,
    context: Context<'_>,
    rng: &mut R,
) -> Result<Outcome> {
    let Context { services, control, observer, announce } = context;
    let mut session = Session::open(layout)?;
    refuse_votes(session.id(), session.panel().records())?;
    if let Some(waiting) = session.waiting() {
        let what = format!("session `{}` waits for a decision: {}", session.id(), waiting.question.text);
        return Err(Error::usage(what).hint("its answers can be judged once that is decided"));
    }
    let status = session.panel().status();
    let unfinished = status.models.iter().find(|(_, entry)| !entry.state.is_terminal());
    if unfinished.is_some() || status.state.is_active() || status.state == SessionState::Interrupted {
        let slot = unfinished.map(|(slot, _)| format!(": slot {slot} has not ended")).unwrap_or_default();
        return Err(Error::usage(format!("session `{}` was interrupted{slot}", session.id()))
            .hint(format!(
                "`team resume {}` finishes it, votes that were begun included",
                services.reference(session.layout())
            ))
            .hint("judging an unfinished panel would favour the fast"));
    }
    enough_answers(session.panel().status())?;
    session.check_rounds()?;
    check_judges_budget(&session, ballots, terms)?;
    let notes = earlier_copies(&session)?;
    announce(session.layout().root(), None);
    session.reopen(ballots.why(), Timestamp::now())?;
    control.limit_cost(Meter::new(terms.max_cost, Usd::ZERO));
    control.serve(session.layout());
    observer.enter(".");
    show_last(session.panel(), observer);
    let round = RoundContext { services, terms, control, observer, rng };
    let (decision, verdict, problem) = match judge_session(&mut session, ballots, None, round, &notes).await {
        Ok(published) => (published.decision, Some(published.text), None),
        Err(error) if error.kind() == ErrorKind::NoDecision => {
            (Decision::NoDecision { why: error.to_string() }, None, None)
        }
        Err(error) => (Decision::NoDecision { why: "the votes were not counted".to_owned() }, None, Some(error)),
    };
    end(session, decision, verdict, problem, control.stop(), services, observer)
}

async fn run_slots(
    session: &mut Session,
    services: &Services,
    work: &Work,
    control: &mut Control,
    observer: &mut dyn Observer,
) -> Result<()> {
    let manifest = session.panel().manifest().clone();
    let input = session.layout().input();
    let jobs: Vec<SlotJob> = manifest
        .models
        .iter()
        .filter(|(id, _)| {
            session.panel().status().models.get(*id).is_some_and(|entry| entry.state == SlotState::Pending)
        })
        .map(|(id, member)| SlotJob {
            id: *id,
            model: member.resolved.clone(),
            prompt: input.clone(),
            purpose: match work.vote {
                Some(_) => Purpose::Ballot { schema: task_schema() },
                None => Purpose::Answer,
            },
            conversation: None,
        })
        .collect();
    if jobs.is_empty() {
        return Ok(());
    }
    let workspace = match jobs.iter().any(|job| matches!(job.model.target, Target::Process { .. })) {
        true => ready(session, &work.workspace, services, control, observer).await?,
        false => None,
    };
    let panel = Panel { session: session.layout(), manifest: &manifest, workspace };
    let shared = services.shared(panel, work.terms.limits, work.checks.clone());
    let folder = session.panel_mut();
    record(folder, Event::PhaseStarted { phase: Phase::Run }, observer)?;
    Ok(run_panel(folder, jobs, shared, services.at_once(), control, observer).await?)
}

async fn judge_session<R: CryptoRng>(
    session: &mut Session,
    ballots: &Ballots,
    opened: Option<Opened>,
    context: RoundContext<'_, R>,
    notes: &[String],
) -> Result<Published> {
    let RoundContext { services, terms, control, observer, rng } = context;
    let round = RoundContext { services, terms, control: &mut *control, observer: &mut *observer, rng };
    let mut end = match ballots {
        Ballots::Asked(request) => run_round(session, request, opened, round).await?,
        Ballots::Imported(request) => import_round(session, request, opened.map(|opened| opened.round), round)?,
    };
    session.finish_phase(Phase::Judge);
    end.notes.extend_from_slice(notes);
    if control.stop().is_none() && is_unpaid(end.folder.status()) {
        control.note_stop(StopAll::Budget);
    }
    if let Some(stop) = control.stop() {
        let status = end.folder.status().clone();
        let last = session.close_round(end.round, end.folder, stopped_state(stop), Timestamp::now())?;
        observer.event(&last, &status);
        observer.enter(".");
        show_last(session.panel(), observer);
        return Err(Error::new(ErrorKind::NoDecision, "judging was stopped before every judge was done"));
    }
    let published = publish(session, end, services, observer)?;
    session.finish_phase(Phase::Verdict);
    Ok(published)
}

/// Whether the budget left a judge unasked and no other one was heard: a verdict would tell who wrote what for nothing.
fn is_unpaid(judges: &Status) -> bool {
    let unpaid = |entry: &SlotStatus| entry.error.as_ref().is_some_and(|error| error.reason == Reason::Budget);
    judges.count(SlotState::Completed) == 0 && judges.models.values().any(unpaid)
}

/// How what was stopped is closed.
pub(crate) const fn stopped_state(stop: StopAll) -> SessionState {
    match stop {
        StopAll::Signal(_) | StopAll::Request | StopAll::Budget => SessionState::Cancelled,
        StopAll::Deadline => SessionState::Failed,
    }
}

/// Closes the session; what went wrong before is not hidden by what goes wrong in the close, nor the other way round.
pub(crate) fn end(
    mut session: Session,
    decision: Decision,
    verdict: Option<String>,
    problem: Option<Error>,
    stop: Option<StopAll>,
    services: &Services,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    let layout = session.layout().clone();
    let state = match (stop, &decision) {
        (Some(StopAll::Signal(_) | StopAll::Request | StopAll::Budget), _) => SessionState::Cancelled,
        (_, Decision::NothingUsable { complete: 0, .. }) => SessionState::Failed,
        (_, Decision::Reviewed(verdict)) if verdict.seats.usable == 0 => SessionState::Failed,
        // What it was to come to is not there; `resume` goes on with it.
        _ if problem.is_some() && session.kind() != SessionKind::Team => SessionState::Failed,
        _ => SessionState::Completed,
    };
    observer.enter(".");
    session.tell_money(total(&session));
    let status = session.panel().status().clone();
    let closed = session.close(state, Timestamp::now());
    if let Ok(last) = &closed {
        observer.event(last, &status);
    }
    observer.closed(state);
    let root = layout.root().display();
    let problem = match (problem, closed) {
        (None, Ok(_)) => return Ok(Outcome { layout, decision, verdict, stop }),
        // Going on would end as this did; its own hints say what does not.
        (Some(error), _) if error.kind() == ErrorKind::Drifted => error,
        (Some(error), _) if !layout.root().is_dir() => error.hint("nothing of it is kept; run it again"),
        (Some(error), _) => {
            let session = services.reference(&layout);
            error.hint(format!("what is complete is kept in `{root}`; `team resume {session}` goes on"))
        }
        (None, Err(error)) => Error::from(error).hint(format!("`{root}` may not show how the session ended")),
    };
    Err(match stop {
        // A signal weighs more in the exit code; what went wrong is told all the same.
        Some(StopAll::Signal(signal)) => {
            let weightier = Error::new(ErrorKind::Signal(signal), problem.chain());
            problem.hints().iter().fold(weightier, |error, hint| error.hint(hint))
        }
        _ => problem,
    })
}
