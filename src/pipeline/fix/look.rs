//! The reviews of a fix: the first one of the whole change, then of what each repair changed, at the end of all of it by
//! reviewers who know nothing of the repairs.

use jiff::Timestamp;

use super::place::Place;
use super::progress::Progress;
use super::request::FixPlan;
use super::select::open_count;
use super::store::{Store, failed};
use crate::config::ResolvedModel;
use crate::engine::{record, show_last, stopped_state};
use crate::error::{Error, ErrorKind, Result};
use crate::fault::{self, Point};
use crate::findings::{
    Claim, FindingState, Findings, Identified, Merged, OpenFinding, ReviewPrompt, Seen, Sight, review_again_prompt,
    review_prompt,
};
use crate::git::CommitId;
use crate::judging::{Nonce, PromptError};
use crate::pipeline::gate::{Limits, look_at_diff};
use crate::pipeline::review::{
    ReviewWork, RoundOutcome, RoundRequest, Source, Surroundings, TalkRound, Talks, Texts, consolidate, declined,
    hold_round, omitted, open_ledger, sees_files, subject_text, take_snapshot, unusable,
};
use crate::pipeline::roles;
use crate::prompts::Prompts;
use crate::secrets::Redactor;
use crate::session::{Event, FixStep, ReviewExtent, Role, Session, SessionState};

/// What a review of a fix needs.
pub(super) struct Reviews<'a> {
    pub(super) plan: &'a FixPlan,
    pub(super) prompts: &'a Prompts,
    pub(super) store: &'a Store,
    pub(super) redactor: &'a Redactor,
    pub(super) reviewers: &'a [ResolvedModel],
    pub(super) judges: Option<&'a [ResolvedModel]>,
    pub(super) fixer: &'a ResolvedModel,
    pub(super) failed: bool,
}

/// What makes a prompt of a review.
type ReviewText = fn(&Prompts, &ReviewPrompt<'_>, &Nonce) -> std::result::Result<String, PromptError>;

/// Who of `members` certifies a result, by place: not the fixer's model, where two others remain.
pub(super) fn certifiers(members: &[ResolvedModel], fixer: &ResolvedModel) -> Vec<usize> {
    let is_other = |place: &usize| members.get(*place).is_some_and(|model| model.identity != fixer.identity);
    let all = 0..members.len();
    let others: Vec<usize> = all.clone().filter(is_other).collect();
    if others.len() >= 2 { others } else { all.collect() }
}

fn at(members: &[ResolvedModel], places: &[usize]) -> Vec<ResolvedModel> {
    places.iter().filter_map(|place| members.get(*place).cloned()).collect()
}

/// What is looked at.
struct Subject {
    work: ReviewWork,
    text: String,
}

impl Reviews<'_> {
    /// Holds the review that is due, and puts it on record. `false` where it was stopped.
    pub(super) async fn hold(
        &self,
        session: &mut Session,
        progress: &Progress,
        extent: ReviewExtent,
        around: &mut Surroundings<'_>,
    ) -> Result<bool> {
        let number = u32::try_from(progress.reviews.len()).unwrap_or(u32::MAX).saturating_add(1);
        let panel = Place::review(number);
        let tip = self.commit(progress.tip()).await?;
        let is_first = progress.reviews.is_empty();
        let is_last = !is_first && extent == ReviewExtent::Full;
        let Some(Subject { work, text }) = self.subject(session, progress, extent, &tip, around).await? else {
            // There is nothing left of the change: nothing can be wrong with it.
            let all = u32::try_from(self.reviewers.len()).unwrap_or(u32::MAX);
            let open = open_count(open_ledger(session)?.findings(), self.plan.review.fail_on);
            return self.reviewed(session, number, &tip, extent, open, all, around).map(|()| true);
        };
        let all: Vec<usize> = (0..self.reviewers.len()).collect();
        let asked = if is_last { certifiers(self.reviewers, self.fixer) } else { all };
        let models = at(self.reviewers, &asked);
        // Nor does it vote on what it was to mend.
        let judges = self
            .judges
            .map(|judges| if is_last { at(judges, &certifiers(judges, self.fixer)) } else { judges.to_vec() });
        if models.iter().chain(judges.iter().flatten()).any(sees_files) {
            let (services, control) = (around.services, &mut *around.control);
            around.workspace = take_snapshot(session, &work.source, services, control, &mut *around.observer).await?;
            if around.is_stopped() {
                return Ok(false);
            }
        }
        let omitted = omitted(&work);
        let sight = if around.workspace.is_some() { Sight::Snapshot } else { Sight::Prompt };
        let artefact = Texts::artefact_of(&work, &text, &omitted, sight);
        let findings = open_ledger(session)?.findings().clone();
        // Whoever certifies looks without being told what was found.
        let open = if is_last { Vec::new() } else { open_of(&findings) };
        let declined = declined(&findings, &work.declined, number);
        let ask = ReviewPrompt { artefact, open: &open, declined: &declined };
        let mut written = |prompt: ReviewText| {
            let nonce = Nonce::draw(&mut &mut *around.rng);
            prompt(self.prompts, &ask, &nonce).map_err(|error| unusable(&error))
        };
        let input = if session.panel().has_inner(panel)? {
            fs_err::read_to_string(session.layout().inner(panel).input())?
        } else {
            written(review_prompt)?
        };
        // Somebody who knows the whole change is told what is new in it.
        let again = (extent == ReviewExtent::Delta).then(|| written(review_again_prompt)).transpose()?;
        let seats = roles::seats(session.panel().manifest(), Role::Reviewer, self.reviewers.len());
        let talks = self.plan.review.session_reuse.map(|reuse| Talks {
            reuse,
            of: asked.iter().filter_map(|place| seats.get(*place).copied()).collect(),
            round: again.as_deref().map_or(TalkRound::Begins, TalkRound::GoesOn),
        });
        let claimed = claimed_of(&findings);
        let known = findings.known();
        let caused_by = (extent == ReviewExtent::Delta).then(|| tip.as_str());
        let request = RoundRequest {
            panel,
            models: &models,
            judges: judges.as_deref(),
            own: work.own(),
            texts: Texts {
                prompts: self.prompts,
                input: &input,
                artefact,
                leaks: work.leaks,
                scan: Texts::scan_of(&models),
                declined: &declined,
            },
            known: &known,
            claimed: &claimed,
            declined: &work.declined,
            caused_by,
            talks,
            failed: self.failed,
        };
        match hold_round(session, &request, around).await? {
            RoundOutcome::Ended(mut round) => {
                let usable = round.seats.values().filter(|seat| seat.read().is_some()).count();
                let usable = u32::try_from(usable).unwrap_or(u32::MAX);
                consolidate(session, &work, &mut round, around)?;
                let ledger = open_ledger(session)?;
                close(session, panel, round.folder, SessionState::Completed, around)?;
                let open = open_count(ledger.findings(), self.plan.review.fail_on);
                self.reviewed(session, number, &tip, extent, open, usable, around)?;
                Ok(true)
            }
            RoundOutcome::Stopped(folder) => {
                let state = around.control.stop().map_or(SessionState::Cancelled, stopped_state);
                close(session, panel, *folder, state, around)?;
                Ok(false)
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one event")]
    fn reviewed(
        &self,
        session: &mut Session,
        review: u32,
        tip: &CommitId,
        extent: ReviewExtent,
        open: u32,
        usable: u32,
        around: &mut Surroundings<'_>,
    ) -> Result<()> {
        let step = FixStep::Reviewed { review, commit: tip.as_str().to_owned(), extent, open, usable };
        record(session.panel_mut(), Event::Fix { step: Box::new(step) }, &mut *around.observer)?;
        session.panel_mut().settle()?;
        fault::reach(Point::FixReviewed);
        Ok(())
    }

    async fn commit(&self, hash: Option<&str>) -> Result<CommitId> {
        let hash = hash.ok_or_else(|| Error::internal("a review before the work began"))?;
        self.store.commit_of(hash).await
    }

    /// What is looked at; `None` where a change has come to nothing.
    async fn subject(
        &self,
        session: &mut Session,
        progress: &Progress,
        extent: ReviewExtent,
        tip: &CommitId,
        around: &mut Surroundings<'_>,
    ) -> Result<Option<Subject>> {
        let plan = self.plan;
        if progress.reviews.is_empty() {
            let text = subject_text(session, &plan.review, around)?;
            return Ok(Some(Subject { work: plan.review.clone(), text }));
        }
        let from = match extent {
            ReviewExtent::Full => plan.fix.from.as_str(),
            ReviewExtent::Delta => progress.before_tip().unwrap_or(plan.fix.from.as_str()),
        };
        let from = self.store.commit_of(from).await?;
        let git = self.store.git();
        let files = git.changed_files(&from, tip).await.map_err(failed("list what was changed"))?;
        if files.is_empty() {
            return Ok(None);
        }
        let limits = Limits {
            max_bytes: plan.fix.max_bytes,
            ignore: &plan.fix.ignore,
            section: "review",
            sessions: &[],
            redactor: self.redactor,
        };
        let coverage = look_at_diff(git, (&from, tip), &files, &limits).await?;
        if coverage.text.is_empty() {
            return Err(Error::new(ErrorKind::NoDecision, "nothing of what was repaired can be sent to reviewers")
                .hint("raise `max_bytes` of `[review]`, or look at it yourself"));
        }
        let told = match extent {
            ReviewExtent::Full => format!("the change from {} to {}, repairs included", from.short(), tip.short()),
            ReviewExtent::Delta => format!("the repair from {} to {}", from.short(), tip.short()),
        };
        let mut work = plan.review.clone();
        work.told = told;
        work.head = Some(tip.as_str().to_owned());
        work.files = coverage.files;
        work.source = Source::Commit { root: git.folder().to_owned(), commit: tip.as_str().to_owned() };
        Ok(Some(Subject { work, text: coverage.text }))
    }
}

/// Open findings as claims, the worst first.
fn open_of(findings: &Findings) -> Vec<OpenFinding<'_>> {
    let mut open: Vec<OpenFinding<'_>> = findings
        .open()
        .map(|record| OpenFinding {
            id: record.id,
            finding: &record.finding,
            claim: if record.state == FindingState::FixClaimed { Claim::Mended } else { Claim::Open },
        })
        .collect();
    open.sort_by_key(|open| (std::cmp::Reverse(open.finding.severity), open.id));
    open
}

/// What a commit is said to mend.
fn claimed_of(findings: &Findings) -> Vec<Identified> {
    let claimed = findings.iter().filter(|record| record.state == FindingState::FixClaimed);
    claimed
        .map(|record| Identified {
            id: record.id,
            seen: Seen::Again,
            merged: Merged { finding: record.finding.clone(), raised_by: Default::default(), said: Vec::new() },
        })
        .collect()
}

fn close(
    session: &mut Session,
    panel: crate::session::InnerPanel,
    folder: crate::session::PanelFolder,
    state: SessionState,
    around: &mut Surroundings<'_>,
) -> Result<()> {
    let status = folder.status().clone();
    let last = session.panel_mut().close_inner(panel, folder, state, Timestamp::now())?;
    around.observer.event(&last, &status);
    around.observer.enter(".");
    show_last(session.panel(), &mut *around.observer);
    Ok(())
}
