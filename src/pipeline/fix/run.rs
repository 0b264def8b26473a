//! A fix from beginning to end. What is to be done next follows from the session's record alone ([`Progress`]), so that a
//! first run, one that was killed anywhere, and one that a person has answered are the same loop.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use rand::CryptoRng;

use super::afterwards::keep;
use super::conclude::{Ended, finish, held};
use super::decide::Response;
use super::look::Reviews;
use super::place::Place;
use super::progress::{Progress, RoundEnd};
use super::report::{Asked, page};
use super::request::{Consent, FixPlan, FixRequest, TakeUncommitted};
use super::scope::Scope;
use super::select::{in_the_way, open_count, selected};
use super::stop::{LastAttempt, Limit, Progress as Measures, StopReason, stop_now};
use super::store::{Store, failed as git_failed};
use super::turn::{FixTurn, Repaired, begun_for, close};
use super::uncommitted::commit_uncommitted;
use crate::config::{ResolvedModel, SessionReuse, names_a_secret};
use crate::engine::{Context, Decision, Keeping, Outcome, Terms, end, record, show_last, written};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::fault::{self, Point};
use crate::findings::{FindingId, Findings, LedgerEntry};
use crate::git::{Git, RepoPath};
use crate::pipeline::declines::DeclineRegister;
use crate::pipeline::guard::{Watch, protect};
use crate::pipeline::review::{Surroundings, Texts, asked_text, begin_phase, grow, open_ledger};
use crate::prompts::{PromptName, Prompts};
use crate::runner::StopAll;
use crate::secrets::Redactor;
use crate::session::{
    AttemptEnd, Cast, Event, FixStep, GivenUp, NewPipeline, NewSession, Phase, Question, Session, SessionKind, waiting,
};

/// How long one question to git in the user's repository may take.
pub(super) const GIT_LIMIT: Duration = Duration::from_secs(120);

/// Reviews a change and repairs what is found, in a session of its own.
///
/// # Errors
/// The request cannot come to anything, or the session cannot be made or kept. What the fix comes to is in the outcome.
pub async fn fix<R: CryptoRng>(request: FixRequest, context: Context<'_>, rng: &mut R) -> Result<Outcome> {
    let quorum = request.check()?;
    request.review.check_budget()?;
    let plan = FixPlan::of(&request, quorum);
    let Context { services, control, observer, announce } = context;
    // The name that the branch will have is not known yet; what may be in its way is.
    Store::check_branch(&Git::new(&plan.fix.root, GIT_LIMIT), &branch_of("fix")).await?;
    let review = request.review;
    let asked = asked_text(&plan.review).replacen("# Review of", "# Fix of", 1);
    let new = NewSession {
        base: review.keeping.folder().unwrap_or(Path::new("")),
        kind: SessionKind::Fix,
        title: &review.title,
        input: asked.as_bytes(),
        task: None,
        models: Vec::new(),
        isolation: services.isolation(),
        prompts: hashes_of(&review.prompts, &plan),
        plan: Some(written(&plan)?),
        judges: review.judges.clone(),
        pipeline: Some(NewPipeline {
            cast: Cast { panel: review.models.clone(), fixer: Some(Box::new(request.fixer)) },
            subject: (plan.review.kind.file(), review.subject.text.as_bytes()),
        }),
    };
    let now = Timestamp::now();
    let session = match review.keeping {
        Keeping::Folder(_) => Session::create(new, now, rng)?,
        Keeping::Legacy => Session::create_temporary(new, now, rng)?,
    };
    announce(session.layout().root(), session.temporary());
    control.serve(session.layout());
    observer.enter(".");
    show_last(session.panel(), observer);
    let context = Context { services, control, observer, announce };
    go_on(session, &plan, &review.prompts, review.terms, false, context, rng).await
}

/// The hash of each template that a fix uses.
pub(super) fn hashes_of(
    prompts: &Prompts,
    plan: &FixPlan,
) -> std::collections::BTreeMap<String, crate::ids::Sha256Hash> {
    let mut hashes = Texts::hashes_of(prompts);
    let mut own = prompts.hashes_of(&[PromptName::Fix]);
    if plan.review.session_reuse == Some(SessionReuse::On) {
        own.extend(prompts.hashes_of(&[PromptName::ReviewAgain]));
    }
    hashes.extend(own.into_iter().map(|(name, hash)| (name.to_owned(), hash)));
    hashes
}

/// Does what is left of a fix, and closes its session.
pub(super) async fn go_on<R: CryptoRng>(
    mut session: Session,
    plan: &FixPlan,
    prompts: &Prompts,
    terms: Terms,
    failed: bool,
    context: Context<'_>,
    rng: &mut R,
) -> Result<Outcome> {
    let Context { services, control, observer, announce: _ } = context;
    let mut around = Surroundings::of(&session, services, terms, &mut *control, &mut *observer, rng);
    let called = services.reference(session.layout());
    let done = Fix { plan, prompts, failed, called: &called }.work(&mut session, &mut around).await;
    let stop = around.control.stop();
    let worktree = Place::new(session.layout().clone()).worktree();
    let (decision, text, problem) = match done {
        Ok(Some(Ended { decision, text })) => (decision, Some(text), None),
        Ok(None) => {
            let kept = if worktree.is_dir() {
                format!("; what the fixer did so far is kept in `{}`", worktree.display())
            } else {
                String::new()
            };
            let why = format!("the fix was stopped before its end{kept}; `team resume {called}` goes on");
            (Decision::NoDecision { why }, None, None)
        }
        Err(error) => (Decision::NoDecision { why: "the fix did not come to its end".to_owned() }, None, Some(error)),
    };
    let phases = Progress::of(session.panel().records()).phases();
    phases.into_iter().for_each(|phase| session.finish_phase(phase));
    // A limit that the fix itself ended by is no reason to call it cancelled.
    let stop = if matches!(decision, Decision::Fix { .. }) {
        stop.filter(|stop| matches!(stop, StopAll::Signal(_) | StopAll::Request))
    } else {
        stop
    };
    end(session, decision, text, problem, stop, services, observer)
}

/// The name of the branch that a fix comes to, in the session of this id.
pub(super) fn branch_of(session: &str) -> String {
    format!("team/{session}")
}

/// Records a step.
pub(super) fn step(session: &mut Session, step: FixStep, point: Point, around: &mut Surroundings<'_>) -> Result<()> {
    record(session.panel_mut(), Event::Fix { step: Box::new(step) }, &mut *around.observer)?;
    session.panel_mut().settle()?;
    fault::reach(point);
    Ok(())
}

/// What a fix works by.
pub(super) struct Fix<'a> {
    pub(super) plan: &'a FixPlan,
    pub(super) prompts: &'a Prompts,
    pub(super) failed: bool,
    /// How the session is named on a command line.
    pub(super) called: &'a str,
}

/// Who takes part.
struct Members {
    reviewers: Vec<ResolvedModel>,
    judges: Option<Vec<ResolvedModel>>,
    fixer: ResolvedModel,
}

impl Members {
    fn of(session: &Session) -> Result<Self> {
        let manifest = session.panel().manifest();
        let lacks = || Error::new(ErrorKind::Integrity, "the session's manifest names no reviewers or no fixer");
        let cast = manifest.cast.as_ref().ok_or_else(lacks)?;
        let fixer = cast.fixer.as_deref().ok_or_else(lacks)?.clone();
        Ok(Self { reviewers: cast.panel.clone(), judges: manifest.judges.clone(), fixer })
    }
}

impl Fix<'_> {
    /// Works until it is over, waits, or is stopped (`None`).
    async fn work(&self, session: &mut Session, around: &mut Surroundings<'_>) -> Result<Option<Ended>> {
        let plan = self.plan;
        let place = Place::new(session.layout().clone());
        let source = Git::new(&plan.fix.root, GIT_LIMIT);
        let store = Store::open(&place.repository(), &source).await?;
        let secrets = around.services.environment().iter().filter(|(name, _)| names_a_secret(&name.to_string_lossy()));
        let redactor = Redactor::new(secrets.filter_map(|(_, value)| value.to_str()));
        let members = Members::of(session)?;
        protect(Some(&plan.fix.root), around.services).await;
        self.begin(session, &store, around).await?;
        self.take_decision(session, around).await?;
        let reviews = Reviews {
            plan,
            prompts: self.prompts,
            store: &store,
            redactor: &redactor,
            reviewers: &members.reviewers,
            judges: members.judges.as_deref(),
            fixer: &members.fixer,
            failed: self.failed,
        };
        loop {
            let progress = Progress::of(session.panel().records());
            if let Some(reason) = progress.stopped {
                return finish(self, session, &store, &place, reason, &redactor, around).await.map(Some);
            }
            if let Some(waits) = waiting(session.panel().records()) {
                return Ok(Some(waits_for(waits.question.text)));
            }
            let findings = open_ledger(session)?.findings().clone();
            let open = open_count(&findings, plan.review.fail_on);
            if let Some(extent) = progress.review_due(open) {
                let stopped = around.control.stop().is_some()
                    || !reviews.hold(session, &progress, extent, around).await?
                    || around.is_stopped();
                if stopped && !self.stop_at_limit(session, around)? {
                    return Ok(None);
                }
                continue;
            }
            // What was begun is ended before anything else is decided.
            let next = match begun_for(session, progress.next_round())? {
                Some(chosen) => Next::Repair(chosen),
                None => self.next(session, &progress, &findings, around)?,
            };
            match next {
                Next::Stop(reason) => self.stop(session, reason, around)?,
                Next::Ask(why, ids) => {
                    let text = page(self.called, why, &ids, &findings, &progress);
                    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
                    let checkpoint = Some(serde_json::json!({ "why": why.as_str(), "findings": ids }));
                    let question = Question { text: text.clone(), choices: Vec::new(), checkpoint };
                    session.await_decision(question, Timestamp::now())?;
                    show_last(session.panel(), &mut *around.observer);
                    return Ok(Some(waits_for(text)));
                }
                Next::Consent(ids) => self.consent(session, &progress, &ids, around)?,
                Next::Repair(ids) => {
                    let turn =
                        Turning { fix: self, store: &store, place: &place, redactor: &redactor, members: &members };
                    if !turn.round(session, &progress, &findings, &ids, around).await?
                        && !self.stop_at_limit(session, around)?
                    {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Makes the commit that the work begins at, once.
    async fn begin(&self, session: &mut Session, store: &Store, around: &mut Surroundings<'_>) -> Result<()> {
        if Progress::of(session.panel().records()).begun.is_some() {
            return Ok(());
        }
        let work = &self.plan.fix;
        let head = store.commit_of(&work.head).await?;
        let start = match (work.uncommitted, store.tip().await?) {
            (TakeUncommitted::No, _) => head,
            // Made before the process that made it died: it is what was looked at.
            (TakeUncommitted::Yes, Some(tip)) => tip,
            (TakeUncommitted::Yes, None) => {
                let root = work.root.canonicalize()?;
                let sessions: Vec<_> = around
                    .services
                    .sessions()
                    .iter()
                    .filter_map(|folder| Some(folder.canonicalize().ok()?.strip_prefix(&root).ok()?.to_owned()))
                    .collect();
                let is_session = |path: &RepoPath| sessions.iter().any(|folder| path.as_path().starts_with(folder));
                let seconds = Timestamp::now().as_second();
                let taken = commit_uncommitted(store, &head, seconds, is_session).await?;
                for (path, why) in taken.iter().flat_map(|taken| &taken.left_out) {
                    around.observer.trouble(&format!("`{path}` is left out of the fix: {why}"));
                }
                taken.map_or(head, |taken| taken.commit)
            }
        };
        if store.tip().await?.is_none() {
            store.advance(None, &start).await?;
        }
        fault::reach(Point::FixTipMade);
        let begun = FixStep::Begun { from: work.from.clone(), head: start.as_str().to_owned() };
        step(session, begun, Point::FixBegun, around)
    }

    /// Takes what a person decided last into the ledger, as far as it is not there.
    async fn take_decision(&self, session: &mut Session, around: &mut Surroundings<'_>) -> Result<()> {
        let Some(response) = Response::last(session.panel().records()) else { return Ok(()) };
        let progress = Progress::of(session.panel().records());
        if waiting(session.panel().records()).is_some() || progress.stopped.is_some() || !progress.is_fresh_decision() {
            return Ok(());
        }
        let round = progress.reviews.last().map_or(1, |review| review.number);
        let mut ledger = open_ledger(session)?;
        let entries = response.entries(ledger.findings(), round);
        grow(session, &mut ledger, entries, around)?;
        let register = DeclineRegister::of(around.services.base());
        if let Err(error) = keep(&register, session.id(), &self.plan.review, ledger.findings(), &response).await {
            // It holds in this session all the same.
            around.observer.trouble(&error.chain());
        }
        match response.end {
            Some(end) => self.stop(session, end.reason(), around),
            None => Ok(()),
        }
    }

    /// Uses the user's consent for these findings.
    fn consent(
        &self,
        session: &mut Session,
        progress: &Progress,
        ids: &[FindingId],
        around: &mut Surroundings<'_>,
    ) -> Result<()> {
        let round = progress.reviews.last().map_or(1, |review| review.number);
        let response = Response {
            fix: ids.to_vec(),
            note: Some("consented beforehand (`--yes`)".to_owned()),
            ..Response::default()
        };
        let mut ledger = open_ledger(session)?;
        let entries: Vec<LedgerEntry> = response.entries(ledger.findings(), round);
        grow(session, &mut ledger, entries, around)?;
        let findings = ids.iter().map(ToString::to_string).collect();
        step(session, FixStep::Consented { findings }, Point::FixReviewed, around)
    }

    fn stop(&self, session: &mut Session, reason: StopReason, around: &mut Surroundings<'_>) -> Result<()> {
        let stopped = FixStep::Stopped { reason: reason.as_str().to_owned() };
        step(session, stopped, Point::FixStopped, around)
    }

    /// Whether what stopped the work is a limit of the user's, which then is the end of it.
    fn stop_at_limit(&self, session: &mut Session, around: &mut Surroundings<'_>) -> Result<bool> {
        let reason = match around.control.stop() {
            Some(StopAll::Budget) => StopReason::Budget,
            Some(StopAll::Deadline) => StopReason::Deadline,
            Some(StopAll::Signal(_) | StopAll::Request) | None => return Ok(false),
        };
        self.stop(session, reason, around)?;
        Ok(true)
    }

    /// What to do after a review.
    fn next(
        &self,
        session: &Session,
        progress: &Progress,
        findings: &Findings,
        around: &Surroundings<'_>,
    ) -> Result<Next> {
        let plan = self.plan;
        if held(session, progress)?.is_some_and(|held| held.is_short(&plan.review)) {
            return Ok(Next::Stop(StopReason::Inconclusive));
        }
        let in_the_way: Vec<FindingId> = in_the_way(findings, plan.review.fail_on).into_iter().collect();
        let chosen = selected(findings, &plan.fix.wanted)?;
        let last = match progress.last_end() {
            None => LastAttempt::None,
            Some(RoundEnd::Committed { .. }) => LastAttempt::Committed,
            Some(RoundEnd::GivenUp(GivenUp::Nothing)) => LastAttempt::Nothing,
            Some(RoundEnd::GivenUp(GivenUp::Refused)) => return Ok(Next::Ask(Asked::Refused, chosen)),
        };
        let open = progress.open(open_count(findings, plan.review.fail_on));
        let reached = |limit: StopAll| if around.control.stop() == Some(limit) { Limit::Reached } else { Limit::Open };
        let measures = Measures {
            open: &open,
            rounds: progress.ended_rounds(),
            // A person who decides that it goes on wants a round for it.
            max_rounds: plan.fix.max_rounds.saturating_add(progress.decisions),
            last,
            budget: reached(StopAll::Budget),
            deadline: reached(StopAll::Deadline),
        };
        let nothing_left = in_the_way.is_empty();
        let unasked = |ids: Vec<FindingId>| {
            if plan.fix.consent == Consent::OneRound && !progress.consented {
                Next::Consent(ids)
            } else {
                Next::Ask(Asked::Findings, ids)
            }
        };
        Ok(match stop_now(&measures) {
            // Nothing sustained is open; what the votes did not settle is never cleared by silence.
            Some(StopReason::Converged) if !nothing_left && chosen.is_empty() => unasked(in_the_way),
            Some(StopReason::Converged) if !nothing_left => Next::Repair(chosen),
            Some(StopReason::Plateau) => Next::Ask(Asked::Plateau, in_the_way),
            Some(reason) => Next::Stop(reason),
            None if chosen.is_empty() => unasked(in_the_way),
            None => Next::Repair(chosen),
        })
    }
}

/// What to do next.
enum Next {
    Stop(StopReason),
    Ask(Asked, Vec<FindingId>),
    Consent(Vec<FindingId>),
    Repair(Vec<FindingId>),
}

fn waits_for(page: String) -> Ended {
    let sentence = "it waits for a decision of yours; the page says what is to be decided".to_owned();
    Ended { decision: Decision::Fix { sentence, code: ExitCode::WAITING }, text: page }
}

/// A round of repairs.
struct Turning<'a> {
    fix: &'a Fix<'a>,
    store: &'a Store,
    place: &'a Place,
    redactor: &'a Redactor,
    members: &'a Members,
}

impl Turning<'_> {
    /// Makes the round that is next, or what is left of it. `false` where it was stopped.
    async fn round(
        &self,
        session: &mut Session,
        progress: &Progress,
        findings: &Findings,
        chosen: &[FindingId],
        around: &mut Surroundings<'_>,
    ) -> Result<bool> {
        let plan = self.fix.plan;
        let round = progress.next_round();
        let tip = progress.tip().ok_or_else(|| Error::internal("a repair before the work began"))?;
        let base = self.store.commit_of(tip).await?;
        let scope = self.scope(&base, findings, chosen).await?;
        let turn = FixTurn {
            work: &plan.fix,
            intent: plan.review.intent.as_deref(),
            prompts: self.fix.prompts,
            store: self.store,
            place: self.place,
            fixer: &self.members.fixer,
            round,
            base: &base,
            selected: chosen,
            findings,
            earlier: &plan.review.declined,
            scope: &scope,
            redactor: self.redactor,
            reuse: plan.review.session_reuse,
            failed: self.fix.failed,
        };
        begin_phase(session, Phase::Fix(round), around)?;
        let mut folder = turn.open(session, around).await?;
        let mut attempts: Vec<AttemptEnd> = progress.attempts(round).to_vec();
        let is_enough = |attempts: &[AttemptEnd]| {
            matches!(attempts.last(), Some(AttemptEnd::Sound { .. })) || attempts.len() >= FixTurn::ATTEMPTS as usize
        };
        let mut cancelled = false;
        while !cancelled && !is_enough(&attempts) {
            let number = u32::try_from(attempts.len()).unwrap_or(u32::MAX).saturating_add(1);
            let trouble = attempts.last().map(|last| super::report::told(last).join("\n"));
            let watch = Watch::begin(around.services).await;
            let repaired = turn.attempt(session, &mut folder, number, trouble.as_deref(), around).await?;
            let touched = match watch {
                Some(watch) => watch.end("the fixer and the checks").await,
                None => None,
            };
            touched.iter().for_each(|what| around.observer.trouble(what));
            let end = match repaired {
                Repaired::Stopped => {
                    close(session, Place::panel(round), folder, around)?;
                    return Ok(false);
                }
                Repaired::Ended(end) => end,
                Repaired::Cancelled => {
                    cancelled = true;
                    AttemptEnd::Failed { why: "the fixer was cancelled".to_owned() }
                }
            };
            attempts.push(end.clone());
            let attempted = FixStep::Attempted { round, attempt: number, end, touched };
            around.observer.enter(".");
            step(session, attempted, Point::FixAttempted, around)?;
        }
        close(session, Place::panel(round), folder, around)?;
        match attempts.last() {
            Some(AttemptEnd::Sound { commit, .. }) => {
                let commit = self.store.commit_of(commit).await?;
                if self.store.tip().await?.as_ref() != Some(&commit) {
                    self.store.advance(Some(&base), &commit).await?;
                }
                fault::reach(Point::FixAdvanced);
                self.claim(session, progress, chosen, commit.as_str(), around)?;
                let findings = chosen.iter().map(ToString::to_string).collect();
                let committed = FixStep::Committed { round, commit: commit.as_str().to_owned(), findings };
                step(session, committed, Point::FixCommitted, around)?;
            }
            _ => {
                turn.keep_left().await?;
                let is_nothing = attempts.iter().all(|end| matches!(end, AttemptEnd::Nothing));
                let why = if is_nothing { GivenUp::Nothing } else { GivenUp::Refused };
                step(session, FixStep::GivenUp { round, why }, Point::FixCommitted, around)?;
            }
        }
        Ok(true)
    }

    /// Puts into the ledger that the commit is said to mend these findings.
    fn claim(
        &self,
        session: &mut Session,
        progress: &Progress,
        chosen: &[FindingId],
        commit: &str,
        around: &mut Surroundings<'_>,
    ) -> Result<()> {
        let round = progress.reviews.last().map_or(1, |review| review.number);
        let mut ledger = open_ledger(session)?;
        let is_said = |id: &FindingId| {
            ledger.findings().get(*id).is_some_and(|record| record.commits.iter().any(|known| known == commit))
        };
        let claims = chosen.iter().filter(|id| !is_said(id));
        let entries: Vec<LedgerEntry> = claims
            .map(|finding| LedgerEntry::FixClaimed { finding: *finding, round, commit: commit.to_owned() })
            .collect();
        grow(session, &mut ledger, entries, around)
    }

    /// What may be changed: what is reviewed, where the findings are, and what the configuration names.
    async fn scope(&self, base: &crate::git::CommitId, findings: &Findings, chosen: &[FindingId]) -> Result<Scope> {
        let from = self.store.commit_of(&self.fix.plan.fix.from).await?;
        let changed = self.store.git().changed_files(&from, base).await.map_err(git_failed("list what is reviewed"))?;
        let reviewed = changed.into_iter().map(|file| file.path);
        let found = chosen.iter().filter_map(|id| findings.get(*id)?.finding.file.as_ref());
        let found = found.map(|file| RepoPath::new(file.as_bytes()));
        Scope::new(reviewed.chain(found), &self.fix.plan.fix.scope)
    }
}
