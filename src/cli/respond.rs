//! `team respond`: what a person decides about a fix that waits, or about findings of a session that has ended. And a fix
//! that goes on after it was cut off, which may wait for such a decision.

use std::path::Path;
use std::time::Duration;

use super::args::{RespondArgs, ResumeArgs};
use super::context::Context;
use super::panel::conclude;
use super::resume::{pace, prepare_again};
use crate::engine::ResumeOptions;
use crate::error::{Error, ExitCode, Result};
use crate::git::Git;
use crate::pipeline::fix::{self, Ending, LeftOfFix, Response, check_response, decide_afterwards};
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
    let options = ResumeOptions { failed: args.failed, accept_drift: args.accept_drift, pace: pace(&args.pace) };
    let left = left_of(&session, options, None, context).await?;
    if left.is_over() {
        context.printer.note(format!("nothing is left to do in `{}`", session.id()));
        context.printer.document(&fs_err::read_to_string(session.layout().report()).unwrap_or_default())?;
        return Ok(ExitCode::DONE);
    }
    if let Some(page) = left.waits() {
        context.printer.document(page)?;
        context.printer.note(format!("`{}` waits for a decision; `team respond {called}` answers", session.id()));
        return Ok(ExitCode::WAITING);
    }
    context.printer.note(format!("going on with `{}`", session.id()));
    let prepared = prepare_again(context, &session, &left.rest().asked(), left.rest().terms()).await?;
    let resumed =
        conclude(context, prepared, async |context| fix::resume_fix(session, left, context, &mut rand::rng()).await)
            .await?;
    Ok(resumed.exit_code())
}

/// What is left, with the repository where it is now: where it was, else around the current folder.
async fn left_of(
    session: &Session,
    options: ResumeOptions,
    named: Option<&Path>,
    context: &Context,
) -> Result<LeftOfFix> {
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
    let options = ResumeOptions { failed: false, accept_drift: args.accept_drift, pace: pace(&args.pace) };
    let left = left_of(&session, options, args.repository.as_deref(), context).await?;
    if response.is_empty() && response.note.is_none() {
        let Some(page) = left.waits() else { return check_response(&session, &response).map(|()| ExitCode::DONE) };
        context.printer.document(page)?;
        return Ok(ExitCode::WAITING);
    }
    check_response(&session, &response)?;
    response.by = person(left.root(), context).await;
    let prepared = prepare_again(context, &session, &left.rest().asked(), left.rest().terms()).await?;
    context.printer.note(format!("going on with `{called}`"));
    let responded = conclude(context, prepared, async |context| {
        fix::respond(session, left, &response, context, &mut rand::rng()).await
    })
    .await?;
    Ok(responded.exit_code())
}

/// Whether nothing goes on in it or waits any more, so that its findings can only be decided about for later runs.
///
/// # Errors
/// It is no review and no fix; or it has not ended, and waits for nobody.
fn has_ended(layout: &Layout) -> Result<bool> {
    let View { meta, status, owner, .. } = View::read(layout.clone())?;
    let id = &meta.session_id;
    if !matches!(meta.kind, SessionKind::Fix | SessionKind::Review) {
        return Err(Error::usage(format!("`{id}` is neither a fix nor a review, so there is nothing to decide in it"))
            .hint("`team list` names the sessions"));
    }
    match status.state {
        SessionState::AwaitingDecision => Ok(false),
        SessionState::Completed => Ok(true),
        // Whoever owns it is named by the lock.
        _ if owner.is_some() => Session::open(layout.clone()).map(|_| true).map_err(Into::into),
        _ => Err(Error::usage(format!("`{id}` waits for no decision: it was cut off or stopped before its end"))
            .hint("`team resume` goes on with it, and then it may wait for one")),
    }
}

/// Who decides, as git calls that person, else as the system does.
async fn person(folder: &Path, context: &Context) -> Option<String> {
    let named = Git::new(folder, GIT_LIMIT).user_name().await.ok().flatten();
    let named = named.or_else(|| context.environment.text("USER").map(str::to_owned));
    named.map(|name| crate::report::without_controls(&name).chars().take(100).collect())
}

fn response(args: &RespondArgs) -> Response {
    let RespondArgs { fix, decline, reopen, add, approve, skip, abort, note, .. } = args;
    let end = match (approve, skip, abort) {
        (true, ..) => Some(Ending::Approve),
        (_, true, _) => Some(Ending::Skip),
        (.., true) => Some(Ending::Abort),
        _ => None,
    };
    let (fix, decline, reopen) = (fix.clone(), decline.clone(), reopen.clone());
    Response { fix, decline, reopen, add: add.clone(), end, note: note.clone(), by: None }
}
