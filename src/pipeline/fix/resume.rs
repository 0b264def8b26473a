//! What is left of a fix, and what a person decides about it.

use std::path::Path;

use jiff::Timestamp;
use rand::CryptoRng;

use super::decide::{Ending, Response};
use super::progress::Progress;
use super::request::FixPlan;
use super::run::{GIT_LIMIT, branch_of, go_on, hashes_of};
use super::stop::StopReason;
use super::store::Store;
use crate::engine::{Context, Drifted, Outcome, ResumeOptions, show_last};
use crate::error::{Error, Result};
use crate::git::Git;
use crate::pipeline::review::{Rest, open_ledger};
use crate::session::{Event, Session, SessionState, waiting};

/// What is left of a fix.
pub struct LeftOfFix {
    plan: FixPlan,
    rest: Rest,
    is_over: bool,
    /// Whether the branch is made, or none is wanted.
    has_branch: bool,
    waits: Option<String>,
}

impl LeftOfFix {
    /// Looks at what is left of `session`, whose lock the caller holds. Writes nothing. `root` is where the repository is
    /// now, where that is another place than it was.
    ///
    /// # Errors
    /// Something is not as it was and that is not accepted, or the record cannot be read.
    pub fn of(session: &Session, options: ResumeOptions, root: Option<&Path>) -> Result<Self> {
        let records = session.panel().records();
        let mut plan = FixPlan::read(records)?;
        if let Some(root) = root {
            plan.fix.root = root.to_owned();
        }
        let mut drifted = Drifted::new(session.layout(), records);
        drifted.look(records, session.layout())?;
        let rest = Rest::of(session, &plan.review, plan.terms(), drifted, hashes_of, options)?;
        let progress = Progress::of(records);
        let state = session.panel().status().state;
        Ok(Self {
            rest,
            // One whose result could not be handed over has no verdict, or failed after it.
            is_over: progress.stopped.is_some()
                && records.iter().any(|record| matches!(record.event, Event::Verdict { .. }))
                && state == SessionState::Completed
                && session.is_sealed(),
            has_branch: progress.published.is_some() || progress.stopped == Some(StopReason::Aborted),
            waits: waiting(records).map(|waiting| waiting.question.text),
            plan,
        })
    }

    /// Who is asked, and how.
    #[must_use]
    pub const fn rest(&self) -> &Rest {
        &self.rest
    }

    /// Whether nothing is left to do.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// The page of what a person is to decide, where that is what it waits for.
    #[must_use]
    pub fn waits(&self) -> Option<&str> {
        self.waits.as_deref()
    }

    /// Fails, before anything is written, where the user's repository cannot take the result.
    async fn check_source(&self, session: &Session) -> Result<()> {
        if self.has_branch {
            return Ok(());
        }
        let source = Git::new(&self.plan.fix.root, GIT_LIMIT);
        Store::check_source(&source, &self.plan.fix.head, &branch_of(session.id())).await
    }

    /// The root of the user's work tree.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.plan.fix.root
    }
}

/// Does what is left of a fix, and closes its session.
pub async fn resume_fix<R: CryptoRng>(
    mut session: Session,
    left: LeftOfFix,
    mut context: Context<'_>,
    rng: &mut R,
) -> Result<Outcome> {
    left.check_source(&session).await?;
    left.rest.take_up(&mut session, &mut context)?;
    let Rest { prompts, terms, failed, .. } = &left.rest;
    go_on(session, &left.plan, prompts, *terms, *failed, context, rng).await
}

/// Looks whether `response` fits what the session waits for. Writes nothing.
///
/// # Errors
/// Nothing is waited for, or it does not fit.
pub fn check_response(session: &Session, response: &Response) -> Result<()> {
    if waiting(session.panel().records()).is_none() {
        return Err(
            Error::usage(format!("`{}` waits for no decision", session.id())).hint("`team status` shows how it stands")
        );
    }
    let ledger = open_ledger(session)?;
    response.check(ledger.findings())
}

/// Decides what the session waits for, and goes on with it.
pub async fn respond<R: CryptoRng>(
    mut session: Session,
    left: LeftOfFix,
    response: &Response,
    context: Context<'_>,
    rng: &mut R,
) -> Result<Outcome> {
    check_response(&session, response)?;
    if response.end != Some(Ending::Abort) {
        left.check_source(&session).await?;
    }
    let Context { services, control, observer, announce } = context;
    announce(session.layout().root(), None);
    control.serve(session.layout());
    observer.enter(".");
    session.decide(&response.written()?, response.note.as_deref(), Timestamp::now())?;
    show_last(session.panel(), observer);
    let context = Context { services, control, observer, announce };
    let Rest { prompts, terms, failed, .. } = &left.rest;
    go_on(session, &left.plan, prompts, *terms, *failed, context, rng).await
}
