//! What is left of a review, and doing it as a first run does.

use std::sync::Arc;

use jiff::Timestamp;
use rand::CryptoRng;

use super::publish::published;
use super::request::{ReviewPlan, ReviewWork};
use super::run::{go_on, panel_of};
use super::texts::Texts;
use super::votes::ROUND;
use crate::config::ResolvedModel;
use crate::engine::{Context, Decision, Drifted, Outcome, ResumeOptions, Terms, drifted_prompts, show_since, total};
use crate::error::{Error, ErrorKind, Result};
use crate::prompts::Prompts;
use crate::session::{Drift, Ended, Session, SessionKind, SessionState, TakeUp};

/// What is left of a review.
pub struct Left {
    work: ReviewWork,
    prompts: Arc<Prompts>,
    terms: Terms,
    failed: bool,
    drift: Drift,
    asked: Vec<ResolvedModel>,
    state: SessionState,
    is_published: bool,
}

impl Left {
    /// Looks at what is left of `session`, whose lock the caller holds. Writes nothing.
    ///
    /// # Errors
    /// Something is not as it was and that is not accepted, or the record cannot be read.
    pub fn of(session: &Session, options: ResumeOptions) -> Result<Self> {
        let records = session.panel().records();
        let plan = ReviewPlan::read(records)?;
        let mut drifted = Drifted::new(session.layout(), records);
        drifted.look(records, session.layout())?;
        let panel = panel_of(&plan.review);
        if session.panel().has_inner(panel)? {
            let inner = session.panel().enter_inner(panel)?;
            inner.check_answers()?;
            drifted.look(inner.records(), inner.layout())?;
            drifted.look_at_turns(&inner)?;
            if let Some(round) = inner.enter_round(ROUND)? {
                round.check_answers()?;
                drifted.look(round.records(), round.layout())?;
                drifted.look_at_turns(&round)?;
            }
        }
        let prompts = plan.review.prompts(&mut drifted.found.differences)?;
        drifted.found.differences.extend(drifted_prompts(records, Texts::hashes_of(&prompts)));
        let drift = drifted.accept(session.id(), options.accept_drift)?;
        let manifest = session.panel().manifest();
        let Some(cast) = &manifest.cast else {
            return Err(Error::new(ErrorKind::Integrity, "the session's manifest names no reviewers"));
        };
        let asked = cast.panel.iter().chain(manifest.judges.iter().flatten()).cloned().collect();
        Ok(Self {
            terms: options.pace.over(plan.terms()),
            work: plan.review,
            prompts,
            failed: options.failed,
            drift,
            asked,
            state: session.panel().status().state,
            is_published: published(session)?.is_some(),
        })
    }

    /// Everybody that may be asked, or was.
    #[must_use]
    pub fn asked(&self) -> Vec<&ResolvedModel> {
        self.asked.iter().collect()
    }

    /// The terms that they are asked on.
    #[must_use]
    pub const fn terms(&self) -> Terms {
        self.terms
    }

    /// What is not as it was, and was accepted.
    #[must_use]
    pub fn drift(&self) -> &[String] {
        &self.drift.differences
    }

    /// Whether nothing is left but what a close writes, if that.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.is_published && !self.state.is_active() && !matches!(self.state, SessionState::Interrupted)
    }
}

/// Does what is left of a review, and closes its session.
pub async fn resume_review<R: CryptoRng>(
    mut session: Session,
    left: Left,
    context: Context<'_>,
    rng: &mut R,
) -> Result<Outcome> {
    let Context { services, control, observer, announce } = context;
    announce(session.layout().root(), None);
    control.serve(session.layout());
    observer.enter(".");
    let known = session.panel().records().len();
    let isolation = services.isolation();
    let how = TakeUp { failed: left.failed, drift: &left.drift, isolation: Some(&isolation), ended: Ended::GoesOn };
    session.take_up(how, Timestamp::now())?;
    show_since(session.panel(), known, observer);
    let context = Context { services, control, observer, announce };
    go_on(session, &left.work, &left.prompts, left.terms, left.failed, context, rng).await
}

/// What a review amounts to of which nothing is left to do. Writes what its close lacks.
pub fn finished_review(mut session: Session) -> Result<Outcome> {
    debug_assert!(session.kind() == SessionKind::Review);
    let layout = session.layout().clone();
    let (decision, verdict) = match published(&session)? {
        Some(before) => (before.decision, Some(before.text)),
        None => (Decision::NoDecision { why: "there is no verdict".to_owned() }, None),
    };
    if !session.is_sealed() {
        session.tell_money(total(&session));
        session.finish_close()?;
    }
    Ok(Outcome { layout, decision, verdict, stop: None })
}
