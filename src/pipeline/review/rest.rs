//! What is left of a review or of a fix, as far as it does not matter which: whoever goes on with one is asked on the terms
//! on record, with the prompts on record, unless the user says otherwise.

use std::sync::Arc;

use jiff::Timestamp;

use super::request::ReviewWork;
use super::round::Hashes;
use crate::config::ResolvedModel;
use crate::engine::{Context, Drifted, ResumeOptions, Terms, drifted_prompts, show_since};
use crate::error::{Error, ErrorKind, Result};
use crate::prompts::Prompts;
use crate::session::{Drift, Ended, Session, TakeUp};

/// Who is asked, how, and what is not as it was.
pub struct Rest {
    pub(in crate::pipeline) prompts: Arc<Prompts>,
    pub(in crate::pipeline) terms: Terms,
    /// Whether those are asked again that ended with an error of their own.
    pub(in crate::pipeline) failed: bool,
    drift: Drift,
    asked: Vec<ResolvedModel>,
}

impl Rest {
    /// Of `session`, whose review is `work`, on `terms`; `drifted` has looked at its folders, and `hashes` are those of the
    /// templates that it uses.
    ///
    /// # Errors
    /// Something is not as it was and that is not accepted, or the record cannot be read.
    pub(in crate::pipeline) fn of(
        session: &Session,
        work: &ReviewWork,
        terms: Terms,
        mut drifted: Drifted<'_>,
        hashes: impl Fn(&Prompts) -> Hashes,
        options: ResumeOptions,
    ) -> Result<Self> {
        let prompts = work.prompts(&mut drifted.found.differences)?;
        drifted.found.differences.extend(drifted_prompts(session.panel().records(), hashes(&prompts)));
        let drift = drifted.accept(session.id(), options.accept_drift)?;
        let manifest = session.panel().manifest();
        let Some(cast) = &manifest.cast else {
            return Err(Error::new(ErrorKind::Integrity, "the session's manifest names no reviewers"));
        };
        let asked = cast.panel.iter().chain(manifest.judges.iter().flatten()).chain(cast.fixer.as_deref());
        let (terms, failed) = (options.pace.over(terms), options.failed);
        Ok(Self { prompts, terms, failed, drift, asked: asked.cloned().collect() })
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

    /// Makes `session` this process's own again, and shows so.
    pub(in crate::pipeline) fn take_up(&self, session: &mut Session, context: &mut Context<'_>) -> Result<()> {
        let Context { services, control, observer, announce } = context;
        announce(session.layout().root(), None);
        control.serve(session.layout());
        observer.enter(".");
        let known = session.panel().records().len();
        let isolation = services.isolation();
        let how = TakeUp { failed: self.failed, drift: &self.drift, isolation: Some(&isolation), ended: Ended::GoesOn };
        session.take_up(how, Timestamp::now())?;
        show_since(session.panel(), known, *observer);
        Ok(())
    }
}
