//! What is left of a fix, and what a person decides about it.

use std::path::Path;

use jiff::Timestamp;
use rand::CryptoRng;

use super::decide::Response;
use super::progress::Progress;
use super::request::FixPlan;
use super::run::{go_on, hashes_of};
use crate::engine::{Context, Drifted, Outcome, ResumeOptions, show_last};
use crate::error::{Error, Result};
use crate::pipeline::review::{Rest, open_ledger};
use crate::session::{Session, waiting};

/// What is left of a fix.
pub struct LeftOfFix {
    plan: FixPlan,
    rest: Rest,
    is_over: bool,
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
        let rest =
            Rest::of(session, &plan.review, plan.terms(), drifted, |prompts| hashes_of(prompts, &plan), options)?;
        let progress = Progress::of(records);
        let state = session.panel().status().state;
        Ok(Self {
            rest,
            is_over: progress.stopped.is_some() && !state.is_active() && session.is_sealed(),
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
