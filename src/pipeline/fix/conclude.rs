//! The end of a fix: the branch, the verdict, the report.

use super::decide::Response;
use super::look::certifiers;
use super::place::Place;
use super::progress::Progress;
use super::report::{Report, mended, said_of, unseen_told};
use super::run::{Fix, branch_of, step};
use super::seen::seen;
use super::stop::StopReason;
use super::store::{Store, remove};
use super::turn::put_aside;
use crate::config::ResolvedModel;
use crate::engine::{Decision, Outcome, record, total};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::fault::{self, Point};
use crate::findings::{Findings, LedgerRead, MissingSeats, ReviewResult, decide_review};
use crate::ids::FormatVersion;
use crate::pipeline::declines;
use crate::pipeline::review::{ROUND, ReviewWork, Surroundings, open_ledger, published, put_out, spent};
use crate::pipeline::roles;
use crate::secrets::Redactor;
use crate::session::{Event, FixStep, PanelFolder, Phase, Record, ReviewExtent, Session};

/// How it ended, and what is printed.
pub(super) struct Ended {
    pub(super) decision: Decision,
    pub(super) text: String,
}

/// Gives the user the branch, and writes down what it came to. What was done already is not done again.
pub(super) async fn finish(
    fix: &Fix<'_>,
    session: &mut Session,
    store: &Store,
    place: &Place,
    reason: StopReason,
    redactor: &Redactor,
    around: &mut Surroundings<'_>,
) -> Result<Ended> {
    let plan = fix.plan;
    let progress = Progress::of(session.panel().records());
    if let (Some(tip), None, false) = (progress.commits().last(), &progress.published, reason == StopReason::Aborted) {
        let commit = store.commit_of(tip).await?;
        let branch = branch_of(session.id());
        store.publish(&branch, &commit).await?;
        fault::reach(Point::FixBranchMade);
        let published = FixStep::Published { branch, commit: commit.as_str().to_owned() };
        step(session, published, Point::FixPublished, around)?;
    }
    let progress = Progress::of(session.panel().records());
    clear(session, &progress, store, place).await?;
    let findings = open_ledger(session)?.findings().clone();
    let cast = session.panel().manifest().cast.clone();
    let (panel, fixer) = cast.map_or_else(|| (Vec::new(), None), |cast| (cast.panel, cast.fixer));
    let held = held(session, &progress)?;
    let (seats, usable) = held.as_ref().map_or((panel.len(), 0), |held| (held.seats, held.usable));
    let verdict = decide_review(findings.judged(), plan.review.fail_on, plan.review.seats(seats, usable));
    let mut notes = plan.review.notes.clone();
    let last = progress.reviews.last();
    if !progress.commits().is_empty() && last.is_none_or(|last| Some(last.commit.as_str()) != progress.tip()) {
        notes.push("the last commit was not reviewed".to_owned());
    } else if let (Some(fixer), Some(last), false) = (&fixer, last, progress.commits().is_empty()) {
        notes.extend(uncertified(last.extent, &panel, session.panel().manifest().judges.as_deref(), fixer));
    }
    notes.extend(
        place
            .kept(progress.next_round())
            .iter()
            .map(|folder| format!("what the fixer did there and is in no commit is kept in {folder} of the session")),
    );
    let files = seen(store, plan, &progress, redactor).await?;
    notes.extend(declines::told(&findings, &plan.review.declined));
    let decisions: Vec<String> = session.panel().records().iter().filter_map(decided).collect();
    let spent = spent(&total(session));
    let members = members(session, &progress)?;
    let conversations = roles::told(session)?;
    let report = Report {
        session: session.id(),
        plan,
        progress: &progress,
        findings: &findings,
        verdict: &verdict,
        reason,
        decisions: &decisions,
        members: &members,
        conversations: &conversations,
        notes: &notes,
        files: &files,
        spent: &spent,
    };
    let text = around.services.open_scrub().text_for(None, &report.text());
    let (sentence, code) = amounts_to(reason, &verdict, &progress, &findings);
    if !session.panel().records().iter().any(|record| matches!(record.event, Event::Verdict { .. })) {
        let panel = held.map_or_else(String::new, |held| held.folder);
        write(session, ReviewResult { version: FormatVersion::CURRENT, panel, verdict }, &text, around)?;
    }
    if let Some(told) = unseen_told(&files) {
        around.observer.trouble(&format!("{told}; `report.md` names them"));
    }
    Ok(Ended { decision: Decision::Fix { sentence, code }, text })
}

/// What the review that was the last one does not certify.
fn uncertified(
    extent: ReviewExtent,
    panel: &[ResolvedModel],
    judges: Option<&[ResolvedModel]>,
    fixer: &ResolvedModel,
) -> Vec<String> {
    if extent == ReviewExtent::Delta {
        return vec!["the last repair was reviewed, but no fresh panel looked at all of the result".to_owned()];
    }
    let is_among = |members: &[ResolvedModel]| {
        let is_own = |place: &usize| members.get(*place).is_some_and(|model| model.identity == fixer.identity);
        certifiers(members, fixer).iter().any(is_own)
    };
    let told = |who: &str| format!("the fixer's own model is among {who}: no two others were there");
    let panel = is_among(panel).then(|| told("those who certified the result"));
    let judges = judges.is_some_and(is_among).then(|| told("the judges of those who certified the result"));
    panel.into_iter().chain(judges).collect()
}

/// The last review that a panel made.
pub(super) struct Held {
    folder: String,
    seats: usize,
    usable: usize,
}

impl Held {
    /// Whether too few of its reviewers can be read to say anything.
    pub(super) fn is_short(&self, work: &ReviewWork) -> bool {
        let is_refused = work.missing == MissingSeats::Refused && self.usable < self.seats;
        is_refused || u32::try_from(self.usable).is_ok_and(|usable| usable < work.quorum)
    }
}

/// The last review that a panel made; a change that came to nothing is looked at by nobody.
pub(super) fn held(session: &Session, progress: &Progress) -> Result<Option<Held>> {
    for review in progress.reviews.iter().rev() {
        let panel = Place::review(review.number);
        if session.panel().has_inner(panel)? {
            let seats = session.panel().enter_inner(panel)?.manifest().models.len();
            let usable = (review.usable as usize).min(seats);
            return Ok(Some(Held { folder: panel.folder(), seats, usable }));
        }
    }
    Ok(None)
}

/// Who took part in each panel, by the ids that they had in it. Names come with the end.
fn members(session: &Session, progress: &Progress) -> Result<Vec<String>> {
    let listed = |folder: &PanelFolder| {
        let members = folder.manifest().models.iter();
        members.map(|(slot, member)| format!("{slot} {}", member.model)).collect::<Vec<_>>().join(", ")
    };
    let mut lines = Vec::new();
    for review in &progress.reviews {
        let panel = Place::review(review.number);
        if !session.panel().has_inner(panel)? {
            continue;
        }
        let folder = session.panel().enter_inner(panel)?;
        let judges =
            folder.enter_round(ROUND)?.map(|judges| format!("; judges {}", listed(&judges))).unwrap_or_default();
        lines.push(format!("review {}: reviewers {}{judges}", review.number, listed(&folder)));
    }
    let fixer = session.panel().manifest().cast.as_ref().and_then(|cast| cast.fixer.as_ref());
    lines.extend(fixer.map(|fixer| format!("fixer: {}", fixer.name)));
    Ok(lines)
}

/// Puts aside what the fixer had done in a round that was not ended, and removes the folders that are left.
async fn clear(session: &Session, progress: &Progress, store: &Store, place: &Place) -> Result<()> {
    let is_begun = |round: &u32| session.panel().has_inner(Place::panel(*round)).unwrap_or(false);
    let mut rounds = std::iter::once(progress.next_round()).chain(progress.rounds.last().map(|round| round.number));
    if let (Some(round), Some(tip)) = (rounds.find(is_begun), progress.tip()) {
        put_aside(store, place, round, &store.commit_of(tip).await?).await?;
    }
    // What is committed is in the repository; these are disposable.
    [place.worktree(), place.checks()].iter().try_for_each(|folder| remove(folder))
}

/// What a fix came to of which nothing is left to do.
///
/// # Errors
/// The verdict or the ledger is not as it was recorded.
pub fn finished_fix(session: &Session) -> Result<Outcome> {
    let lacks = || Error::new(ErrorKind::Integrity, "the session's record holds no verdict of a fix");
    let before = published(session)?.ok_or_else(lacks)?;
    let progress = Progress::of(session.panel().records());
    let (Decision::Reviewed(verdict), Some(reason)) = (before.decision, progress.stopped) else { return Err(lacks()) };
    let findings = LedgerRead::read(&session.layout().ledger()).map(|read| read.findings).unwrap_or_default();
    let (sentence, code) = amounts_to(reason, &verdict, &progress, &findings);
    let decision = Decision::Fix { sentence, code };
    Ok(Outcome { layout: session.layout().clone(), decision, verdict: Some(before.text), stop: None })
}

/// What a person decided, in words.
fn decided(record: &Record) -> Option<String> {
    let Event::Decided { choice, note, .. } = &record.event else { return None };
    let response: Response = serde_json::from_str(choice).ok()?;
    let note = note.as_deref().filter(|note| !note.trim().is_empty());
    Some(note.map_or_else(|| response.told(), |note| format!("{}: {note}", response.told())))
}

/// The sentence and the exit code of the command.
fn amounts_to(
    reason: StopReason,
    verdict: &crate::findings::ReviewVerdict,
    progress: &Progress,
    findings: &Findings,
) -> (String, ExitCode) {
    let code = match reason {
        StopReason::Approved => ExitCode::DONE,
        StopReason::Aborted => ExitCode::NO_DECISION,
        _ => verdict.decision.exit_code(),
    };
    let result = match (&progress.published, mended(findings)) {
        (Some((branch, _)), 1) => format!("1 finding mended, on branch `{branch}`"),
        (Some((branch, _)), mended) => format!("{mended} findings mended, on branch `{branch}`"),
        (None, _) => "no repair".to_owned(),
    };
    (format!("{} {result}; {}", reason.sentence(), said_of(verdict, findings)), code)
}

/// Writes the verdict and the report, and puts them on record.
fn write(session: &mut Session, result: ReviewResult, report: &str, around: &mut Surroundings<'_>) -> Result<()> {
    around.observer.enter(".");
    record(session.panel_mut(), Event::PhaseStarted { phase: Phase::Report }, &mut *around.observer)?;
    put_out(session, &result, report, report, around)?;
    let phases = Progress::of(session.panel().records()).phases();
    phases.into_iter().chain([Phase::Report]).for_each(|phase| session.finish_phase(phase));
    Ok(())
}
