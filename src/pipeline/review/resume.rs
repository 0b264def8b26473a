//! What is left of a review, and doing it as a first run does.

use rand::CryptoRng;

use super::again::check_failed;
use super::publish::published;
use super::request::{ReviewPlan, ReviewWork};
use super::rest::Rest;
use super::run::{go_on, panel_of};
use super::texts::Texts;
use super::votes::ROUND;
use crate::engine::{Context, Decision, Drifted, Outcome, ResumeOptions, total};
use crate::error::Result;
use crate::session::{Session, SessionKind, SessionState};

/// What is left of a review.
pub struct Left {
    work: ReviewWork,
    rest: Rest,
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
        if options.failed {
            check_failed(session, panel, "`team review` reviews anew, in a session of its own")?;
        }
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
        let rest = Rest::of(session, &plan.review, plan.terms(), drifted, Texts::hashes_of, options)?;
        Ok(Self {
            work: plan.review,
            rest,
            state: session.panel().status().state,
            is_published: published(session)?.is_some(),
        })
    }

    /// Who is asked, and how.
    #[must_use]
    pub const fn rest(&self) -> &Rest {
        &self.rest
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
    mut context: Context<'_>,
    rng: &mut R,
) -> Result<Outcome> {
    left.rest.take_up(&mut session, &mut context)?;
    let Rest { prompts, terms, failed, .. } = &left.rest;
    go_on(session, &left.work, prompts, *terms, *failed, context, rng).await
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
