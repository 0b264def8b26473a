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
use crate::findings::{FindingRecord, Findings, LedgerRead};
use crate::git::Git;
use crate::pipeline::gate::ask_failed;
use crate::pipeline::review::{Rest, check_failed};
use crate::session::{Event, InnerKind, Record, Session, SessionState, waiting};

/// What a fix waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct ToDecide {
    /// The page that says so.
    pub page: String,
    /// The findings that it is about, as they stand.
    pub findings: Vec<FindingRecord>,
}

impl ToDecide {
    /// What the session of this record waits for, if it does; `findings` are those of its ledger.
    fn of(records: &[Record], findings: &Findings) -> Option<Self> {
        let question = waiting(records)?.question;
        let named = question.checkpoint.as_ref().and_then(|checkpoint| checkpoint.get("findings")?.as_array());
        let ids = named.into_iter().flatten().filter_map(|id| id.as_str()?.parse().ok());
        let findings = ids.filter_map(|id| findings.get(id).cloned()).collect();
        Some(Self { page: question.text, findings })
    }
}

/// What is left of a fix.
pub struct LeftOfFix {
    plan: FixPlan,
    rest: Rest,
    is_over: bool,
    /// Whether the branch is made, or none is wanted.
    has_branch: bool,
    waits: Option<ToDecide>,
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
        let newest = records.iter().rev().find_map(|record| match record.event {
            Event::PanelOpened { panel } if panel.kind != InnerKind::Fix => Some(panel),
            _ => None,
        });
        if let (true, Some(panel)) = (options.failed, newest) {
            check_failed(session, panel, "the next review of the fix asks every reviewer; `team fix` begins anew")?;
        }
        let state = session.panel().status().state;
        Ok(Self {
            rest,
            // One whose result could not be handed over has no verdict, or failed after it.
            is_over: progress.stopped.is_some()
                && records.iter().any(|record| matches!(record.event, Event::Verdict { .. }))
                && state == SessionState::Completed
                && session.is_sealed(),
            has_branch: progress.published.is_some() || progress.stopped == Some(StopReason::Aborted),
            waits: ToDecide::of(records, &read_ledger(session)?),
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

    /// What a person is to decide, where that is what it waits for.
    #[must_use]
    pub const fn waits(&self) -> Option<&ToDecide> {
        self.waits.as_ref()
    }

    /// Fails, before anything is written, where the user's repository cannot take the result.
    async fn check_branch(&self, session: &Session) -> Result<()> {
        if self.has_branch {
            return Ok(());
        }
        let source = Git::new(&self.plan.fix.root, GIT_LIMIT);
        Store::check_branch(&source, &branch_of(session.id())).await
    }

    /// The root of the user's work tree.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.plan.fix.root
    }

    /// Looks whether the repository is there and has what the fix is about, and tells where that has moved on. Writes
    /// nothing.
    ///
    /// # Errors
    /// It is no repository, or another one.
    pub async fn check_repository(&self) -> Result<Option<String>> {
        let root = self.root();
        let named = "name it with `--repository`, or run this in a clone of it";
        let git = Git::new(root, GIT_LIMIT);
        let is_repository = root.is_dir() && git.work_tree().await.map_err(ask_failed)?.is_some();
        if !is_repository {
            return Err(
                Error::usage(format!("`{}` is not the repository of the fix any more", root.display())).hint(named)
            );
        }
        let head = &self.plan.fix.head;
        if git.commit(head).await.map_err(ask_failed)?.is_none() {
            return Err(Error::usage(format!("commit `{head}` is not in the repository at `{}`", root.display()))
                .hint(format!("it is what the fix is of: `git fetch` may bring it; or {named}")));
        }
        let now = git.commit("HEAD").await.map_err(ask_failed)?;
        let moved = now.filter(|now| now.as_str() != head);
        let short = head.get(..12).unwrap_or(head);
        Ok(moved
            .map(|now| format!("`HEAD` is at {} now; the fix goes on from {short}, which was reviewed", now.short())))
    }
}

/// The findings of the session; nothing is written.
fn read_ledger(session: &Session) -> Result<Findings> {
    let path = session.layout().ledger();
    // Before the first review there is none.
    if path.symlink_metadata().is_err() {
        return Ok(Findings::default());
    }
    Ok(LedgerRead::read(&path)?.findings)
}

/// Does what is left of a fix, and closes its session.
pub async fn resume_fix<R: CryptoRng>(
    mut session: Session,
    left: LeftOfFix,
    mut context: Context<'_>,
    rng: &mut R,
) -> Result<Outcome> {
    left.check_branch(&session).await?;
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
    response.check(&read_ledger(session)?)
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
        left.check_branch(&session).await?;
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
