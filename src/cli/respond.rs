//! `team respond`: what a person decides about a fix that waits, or about findings of a session that has ended. And a fix
//! that goes on after it was cut off, which may wait for such a decision.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::args::{PaceArgs, RespondArgs, ResumeArgs};
use super::asking::{ask, can_ask};
use super::context::Context;
use super::panel::{Prepared, conclude, conclude_silently, show_outcome};
use super::resume::{pace, prepare_again};
use crate::engine::{self, Outcome, ResumeOptions};
use crate::error::{Error, ExitCode, Result};
use crate::findings::FindingId;
use crate::git::Git;
use crate::pipeline::fix::{self, Ending, LeftOfFix, Response, check_response, decide_afterwards, finished_fix};
use crate::pipeline::gate::ask_failed;
use crate::session::{Catalogue, Layout, Session, SessionKind, SessionState, View};

/// How long one question to git may take.
const GIT_LIMIT: Duration = Duration::from_secs(120);

/// Goes on with a fix that was cut off or stopped.
pub(super) async fn resume_fix(
    session: Session,
    called: &str,
    args: &ResumeArgs,
    context: &Context,
) -> Result<ExitCode> {
    let mut terms = Terms::of(args.accept_drift, &args.pace);
    terms.options.failed = args.failed;
    let left = left_of(&session, &terms, context).await?;
    if left.is_over() {
        context.printer.note(format!("nothing is left to do in `{}`", session.id()));
        let outcome = finished_fix(&session)?;
        show_outcome(context, &outcome, called)?;
        return Ok(outcome.exit_code());
    }
    if let Some(to_decide) = left.waits() {
        context.printer.document(&to_decide.page)?;
        context.printer.note(format!("`{}` waits for a decision; `team respond {called}` answers", session.id()));
        let layout = session.layout().clone();
        drop((left, session));
        return decide_and_show(&layout, called, &terms, context).await;
    }
    context.printer.note(format!("going on with `{}`", session.id()));
    let prepared = prepare_again(context, &session, &left.rest().asked(), left.rest().terms()).await?;
    let resumed =
        conclude(context, prepared, async |context| fix::resume_fix(session, left, context, &mut rand::rng()).await)
            .await?;
    after(&resumed, called, &terms, context).await
}

/// What is said on the command line besides the decision.
pub(super) struct Terms {
    options: ResumeOptions,
    repository: Option<PathBuf>,
}

impl Terms {
    /// Those of a command that goes on with a fix.
    pub(super) fn of(accept_drift: bool, limits: &PaceArgs) -> Self {
        Self { options: ResumeOptions { failed: false, accept_drift, pace: pace(limits) }, repository: None }
    }
}

/// Asks a person on a terminal what is to be decided, as long as there is something, and goes on with the fix; the page of
/// the first decision is on the screen. Gives what it came to; `None` where nothing was decided.
pub(super) async fn decide(layout: &Layout, called: &str, terms: &Terms, context: &Context) -> Result<Option<Outcome>> {
    let mut last = None;
    while can_ask(context) {
        let session = Session::open(layout.clone())?;
        let left = left_of(&session, terms, context).await?;
        let Some(to_decide) = left.waits().cloned() else { break };
        // Nobody is kept from it meanwhile: the answer may come from another terminal.
        drop((left, session));
        if last.is_some() {
            context.printer.document(&to_decide.page)?;
        }
        let Some(response) = ask(&to_decide, context).await? else { break };
        let session = Session::open(layout.clone())?;
        let left = left_of(&session, terms, context).await?;
        if left.waits() != Some(&to_decide) {
            return Err(Error::usage(format!("`{}` was decided about elsewhere meanwhile", session.id()))
                .hint("`team status` shows how it stands"));
        }
        let (prepared, response) = prepared(&session, &left, response, called, context).await?;
        let work = async |context: engine::Context<'_>| {
            fix::respond(session, left, &response, context, &mut rand::rng()).await
        };
        let outcome = conclude_silently(context, prepared, work).await?;
        let waits = outcome.exit_code() == ExitCode::WAITING;
        last = Some(outcome);
        if !waits {
            break;
        }
    }
    Ok(last)
}

/// The same for a command that shows what it came to.
async fn decide_and_show(layout: &Layout, called: &str, terms: &Terms, context: &Context) -> Result<ExitCode> {
    let Some(outcome) = decide(layout, called, terms, context).await? else { return Ok(ExitCode::WAITING) };
    if outcome.exit_code() != ExitCode::WAITING {
        show_outcome(context, &outcome, called)?;
    }
    Ok(outcome.exit_code())
}

/// The exit code of a fix whose outcome was shown; one that waits goes on where a person is there to decide.
async fn after(outcome: &Outcome, called: &str, terms: &Terms, context: &Context) -> Result<ExitCode> {
    match outcome.exit_code() {
        ExitCode::WAITING => decide_and_show(&outcome.layout, called, terms, context).await,
        code => Ok(code),
    }
}

/// All that it takes to go on with a fix that waits, by this decision, which is checked.
async fn prepared(
    session: &Session,
    left: &LeftOfFix,
    mut response: Response,
    called: &str,
    context: &Context,
) -> Result<(Prepared, Response)> {
    check_response(session, &response)?;
    response.by = person(left.root(), context).await;
    let prepared = prepare_again(context, session, &left.rest().asked(), left.rest().terms()).await?;
    context.printer.note(format!("going on with `{called}`"));
    Ok((prepared, response))
}

/// What is left, with the repository where it is now: where it was, else around the current folder.
async fn left_of(session: &Session, terms: &Terms, context: &Context) -> Result<LeftOfFix> {
    let Terms { options, repository } = terms;
    let (options, named) = (*options, repository.as_ref());
    let named = named.map(|path| context.cwd.join(path));
    let left = LeftOfFix::of(session, options, named.as_deref())?;
    for difference in left.rest().drift() {
        context.printer.warning(difference);
    }
    let left = if named.is_some() || left.root().is_dir() {
        left
    } else {
        let here = Git::new(&context.cwd, GIT_LIMIT).work_tree().await.map_err(ask_failed)?;
        let here = here.ok_or_else(|| {
            Error::usage(format!("the repository is not at `{}` any more", left.root().display()))
                .hint("run this in a clone of it, or name it with `--repository`")
        })?;
        LeftOfFix::of(session, options, Some(&here))?
    };
    if let Some(moved) = left.check_repository().await? {
        context.printer.warning(moved);
    }
    Ok(left)
}

/// Takes a person's decision.
pub(super) async fn respond(args: &RespondArgs, context: &Context) -> Result<ExitCode> {
    let config = context.load(context.global.settings())?;
    let catalogue = Catalogue::new(&config.settings().sessions_dir);
    let layout = catalogue.find(&args.session.session)?;
    let mut response = response(args);
    if has_ended(&layout)? {
        response.by = person(&context.cwd, context).await;
        let base = context.cwd.join(&config.settings().sessions_dir);
        decide_afterwards(&layout, &base, &response).await?;
        context.printer.note(format!(
            "kept for later reviews and fixes of the branch: {}; `{}` stays as it ended",
            response.told(),
            layout.name()
        ));
        return Ok(ExitCode::DONE);
    }
    let session = Session::open(layout)?;
    let called = catalogue.reference(session.layout());
    let repository = args.repository.clone();
    let terms = Terms { repository, ..Terms::of(args.accept_drift, &args.pace) };
    let left = left_of(&session, &terms, context).await?;
    if response.is_empty() && response.note.is_none() {
        let Some(to_decide) = left.waits() else { return check_response(&session, &response).map(|()| ExitCode::DONE) };
        context.printer.document(&to_decide.page)?;
        let layout = session.layout().clone();
        drop((left, session));
        return decide_and_show(&layout, &called, &terms, context).await;
    }
    let (prepared, response) = prepared(&session, &left, response, &called, context).await?;
    let outcome = conclude(context, prepared, async |context| {
        fix::respond(session, left, &response, context, &mut rand::rng()).await
    })
    .await?;
    after(&outcome, &called, &terms, context).await
}

/// So often is looked at a session that others take up and let go.
const LOOKS: usize = 5;

/// Whether nothing goes on in it or waits any more, so that its findings can only be decided about for later runs.
///
/// # Errors
/// It is no review and no fix; or it has not ended, and waits for nobody.
fn has_ended(layout: &Layout) -> Result<bool> {
    // Somebody else may be at work in it, and let go of it between two looks: what is read then is of neither.
    for _ in 0..LOOKS {
        let View { meta, status, owner, .. } = View::read(layout.clone())?;
        let id = &meta.session_id;
        if !matches!(meta.kind, SessionKind::Fix | SessionKind::Review) {
            return Err(Error::usage(format!(
                "`{id}` is neither a fix nor a review, so there is nothing to decide in it"
            ))
            .hint("`team list` names the sessions"));
        }
        match status.state {
            // Whoever owns it is named by the lock.
            _ if owner.is_some() => drop(Session::open(layout.clone())?),
            SessionState::AwaitingDecision => return Ok(false),
            SessionState::Completed => return Ok(true),
            _ => {}
        }
    }
    Err(Error::usage(format!("`{}` waits for no decision: it was cut off or stopped before its end", layout.name()))
        .hint("`team resume` goes on with it, and then it may wait for one"))
}

/// Who decides, as git calls that person, else as the system does.
async fn person(folder: &Path, context: &Context) -> Option<String> {
    let named = Git::new(folder, GIT_LIMIT).user_name().await.ok().flatten();
    let named = named.or_else(|| context.environment.text("USER").map(str::to_owned));
    named.map(|name| crate::report::without_controls(&name).chars().take(100).collect())
}

/// What was named, in that order; named twice it is one.
fn each_once(named: &[FindingId]) -> Vec<FindingId> {
    let mut seen = BTreeSet::new();
    named.iter().copied().filter(|id| seen.insert(*id)).collect()
}

fn response(args: &RespondArgs) -> Response {
    let RespondArgs { fix, decline, reopen, add, approve, skip, abort, note, .. } = args;
    let end = match (approve, skip, abort) {
        (true, ..) => Some(Ending::Approve),
        (_, true, _) => Some(Ending::Skip),
        (.., true) => Some(Ending::Abort),
        _ => None,
    };
    let [fix, decline, reopen] = [fix, decline, reopen].map(|named| each_once(named));
    Response { fix, decline, reopen, add: add.clone(), end, note: note.clone(), ..Response::default() }
}
