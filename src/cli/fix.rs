//! `team fix`: a review, and the repair of what it finds on a branch of its own. `team respond`: what a person decides
//! about one that waits.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::args::{FixArgs, RespondArgs, ResumeArgs};
use super::choosing::remember;
use super::context::Context;
use super::estimate;
use super::panel::{conclude, prepare, prompts, resolve, show_outcome, terms, warn_of_missing};
use super::resume::{pace, prepare_again};
use super::review::{Reviewers, intent_of, judges, reviewers};
use crate::config::{Config, FileSettings, PROJECT_FILE, ResolvedModel, names_a_secret};
use crate::engine::{Estimate, Keeping, ResumeOptions};
use crate::error::{Error, ExitCode, Result};
use crate::findings::MissingSeats;
use crate::git::{Git, RepoPath};
use crate::pipeline::fix::{
    self, Consent, Ending, FixRequest, LeftOfFix, Response, Start, TakeUncommitted, check_response, finished_fix,
};
use crate::pipeline::gate::{Revisions, ask_failed, settings_at};
use crate::pipeline::review::{self, Look, ReviewRequest, Source, Subject, Target};
use crate::secrets::Redactor;
use crate::session::{Catalogue, Session, SessionKind};

/// How long one question to git may take.
const GIT_LIMIT: Duration = Duration::from_secs(120);

/// What is repaired, and by whose settings.
struct Place {
    root: PathBuf,
    start: Start,
    target: Target,
    /// In words.
    told: Option<String>,
    config: Config,
}

/// Reviews and repairs.
pub(super) async fn fix(args: &FixArgs, context: &Context) -> Result<ExitCode> {
    let mut flags = context.global.settings();
    args.apply(&mut flags);
    let place = place(args, context, flags).await?;
    let config = &place.config;
    for warning in config.warnings() {
        context.printer.warning(warning);
    }
    let settings = config.settings();
    let subject = subject(&place, context, args.rules.no_workspace).await?;
    let intent = args.who.intent.as_deref().map(|intent| intent_of(intent, context)).transpose()?;
    let Reviewers { models, notes, chosen } = reviewers(context, config, &args.who.choice).await?;
    let judges = judges(context, config).await?;
    let fixer = fixer(context, config)?;
    let (prompts, prompts_dir) = prompts(context, args.rules.prompts.as_deref())?;
    let review = ReviewRequest {
        kind: SessionKind::Fix,
        keeping: Keeping::Folder(settings.sessions_dir.clone()),
        title: args.name.clone().unwrap_or_else(|| title(&place.root, context)),
        intent,
        models,
        judges,
        own: settings.vote.own,
        leaks: settings.vote.leaks,
        fail_on: settings.review.fail_on,
        quorum: settings.review.quorum.map(std::num::NonZeroU32::get),
        missing: if args.rules.strict { MissingSeats::Refused } else { MissingSeats::Tolerated },
        terms: terms(settings, args.rules.require_blind),
        prompts: Arc::new(prompts),
        prompts_dir,
        notes,
        subject,
    };
    let request = FixRequest {
        review,
        fixer,
        start: place.start.clone(),
        only: args.repairs.only.clone(),
        severity: args.repairs.severity,
        max_rounds: settings.fix.max_rounds,
        test: settings.fix.test.clone(),
        lint: settings.fix.lint.clone(),
        check_timeout: settings.fix.check_timeout,
        scope: settings.fix.scope.clone(),
        max_bytes: settings.review.max_bytes,
        ignore: settings.review.ignore.clone(),
        consent: if args.repairs.yes { Consent::OneRound } else { Consent::Ask },
    };
    request.check()?;
    if args.who.choice.estimate {
        return estimate::show(context, &estimated(&request));
    }
    if let Some(chosen) = &chosen {
        remember(context, config, &args.who.choice, chosen)?;
    }
    if request.test.is_empty() && request.lint.is_empty() {
        context.printer.warning("no check is configured: `test` and `lint` of `[fix]`, or `--test COMMAND`");
    }
    let asked = request.asked();
    warn_of_missing(context, asked.iter().copied());
    let folder = request.review.keeping.folder();
    let prepared = prepare(context, config, &asked, folder, args.rules.require_blind).await?;
    let fixed = conclude(context, prepared, async |context| fix::fix(request, context, &mut rand::rng()).await).await?;
    Ok(fixed.exit_code())
}

/// The repository and the commits, and the settings of the base: what is run is not for the branch to say.
async fn place(args: &FixArgs, context: &Context, flags: FileSettings) -> Result<Place> {
    let here = Git::new(&context.cwd, GIT_LIMIT);
    let root = here.work_tree().await.map_err(ask_failed)?.ok_or_else(|| {
        Error::usage(format!("`{}` is not in a git work tree, and a fix is a branch", context.cwd.display()))
            .hint("run it in a clone of the repository; `team review` reviews files without git")
    })?;
    let root = root.canonicalize()?;
    let git = Git::new(&root, GIT_LIMIT);
    let head = git.commit("HEAD").await.map_err(ask_failed)?.ok_or_else(|| {
        Error::usage("there is no commit here yet, and a fix begins at one").hint("commit the change first")
    })?;
    let found = Revisions::find(&git, args.base.as_deref(), &context.environment).await;
    let (from, told, base) = match (found, args.worktree) {
        (Ok(found), false) => {
            let (from, to) = (found.merge_base.short(), head.short());
            let told = format!("the change from `{}` ({from}) to `HEAD` ({to})", found.base_name);
            (found.merge_base, Some(told), found.base)
        }
        (Ok(found), true) => (head.clone(), None, found.base),
        // What is not committed is compared with the last commit, which then is trusted too.
        (Err(_), true) => (head.clone(), None, head.clone()),
        (Err(error), false) => {
            return Err(Error::new(error.kind(), error.to_string())
                .hint("name what to compare with: `team fix --base main`")
                .hint("or repair what is not committed: `--worktree`"));
        }
    };
    let tracked = git.entry_at(&head, &RepoPath::new(PROJECT_FILE)).await.map_err(ask_failed)?;
    let config = if tracked.is_some() {
        settings_at(&git, &root, &context.cwd, &base, &context.environment, flags).await?.config
    } else {
        // It is no part of the branch, so it is the user's own.
        context.load(flags)?
    };
    let target = if args.worktree { Target::Worktree } else { Target::Diff(Some(format!("{from}..{head}"))) };
    if !args.worktree && git.has_changes().await.map_err(ask_failed)? {
        context.printer.warning("changes that are not committed are left out; `--worktree` repairs them");
    }
    let uncommitted = if args.worktree { TakeUncommitted::Yes } else { TakeUncommitted::No };
    let start =
        Start { root: root.clone(), from: from.as_str().to_owned(), head: head.as_str().to_owned(), uncommitted };
    Ok(Place { root, start, target, told, config })
}

async fn subject(place: &Place, context: &Context, no_workspace: bool) -> Result<Subject> {
    let settings = place.config.settings();
    let secrets = context.environment.iter().filter(|(name, _)| names_a_secret(&name.to_string_lossy()));
    let redactor = Redactor::new(secrets.filter_map(|(_, value)| value.to_str()));
    let sessions = [context.cwd.join(&settings.sessions_dir)];
    let look = Look {
        target: &place.target,
        paths: &[],
        cwd: &place.root,
        environment: &context.environment,
        redactor: &redactor,
        max_bytes: settings.review.max_bytes,
        ignore: &settings.review.ignore,
        sessions: &sessions,
    };
    let mut subject = review::look(&look).await?;
    if let Some(told) = &place.told {
        subject.told.clone_from(told);
    }
    if no_workspace {
        subject.source = Source::Nothing;
    }
    subject.warnings.retain(|warning| !warning.contains("not committed"));
    for warning in &subject.warnings {
        context.printer.warning(warning);
    }
    Ok(subject)
}

fn fixer(context: &Context, config: &Config) -> Result<ResolvedModel> {
    let name = config.settings().fix.fixer.clone().ok_or_else(|| {
        Error::usage("nobody is named who repairs")
            .hint("`--fixer claude`, or `fixer` in `[fix]` of `team.toml` (of the base, where that is tracked)")
    })?;
    let mut found = resolve(context, config, std::slice::from_ref(&name))?;
    found.pop().ok_or_else(|| Error::internal(format!("`{name}` resolved to nothing")))
}

/// What the session is called where the user does not say.
fn title(root: &Path, context: &Context) -> String {
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| context.cwd.display().to_string())
}

/// What the first review would cost: how many rounds follow is not known.
fn estimated(request: &FixRequest) -> Estimate {
    let bytes = request.review.prompts.longest().saturating_add(request.review.subject.text.len()) as u64;
    Estimate::of(&request.review.models, bytes, None, bytes)
}

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
        let outcome = finished_fix(&session)?;
        show_outcome(context, &outcome, called)?;
        return Ok(outcome.exit_code());
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
    if left.root().is_dir() {
        return Ok(left);
    }
    let here = Git::new(&context.cwd, GIT_LIMIT).work_tree().await.map_err(ask_failed)?;
    let here = here.ok_or_else(|| {
        Error::usage(format!("the repository is not at `{}` any more", left.root().display()))
            .hint("run this in a clone of it, or name it with `--repository`")
    })?;
    LeftOfFix::of(session, options, Some(&here))
}

/// Takes a person's decision.
pub(super) async fn respond(args: &RespondArgs, context: &Context) -> Result<ExitCode> {
    let config = context.load(context.global.settings())?;
    let catalogue = Catalogue::new(&config.settings().sessions_dir);
    let session = Session::open(catalogue.find(&args.session.session)?)?;
    let called = catalogue.reference(session.layout());
    if session.kind() != SessionKind::Fix {
        return Err(Error::usage(format!("`{}` is no fix, so it waits for no decision", session.id()))
            .hint("`team list` names the sessions"));
    }
    let options = ResumeOptions { failed: false, accept_drift: args.accept_drift, pace: pace(&args.pace) };
    let left = left_of(&session, options, args.repository.as_deref(), context).await?;
    let response = response(args);
    if response == Response::default() {
        let Some(page) = left.waits() else { return check_response(&session, &response).map(|()| ExitCode::DONE) };
        context.printer.document(page)?;
        return Ok(ExitCode::WAITING);
    }
    check_response(&session, &response)?;
    let prepared = prepare_again(context, &session, &left.rest().asked(), left.rest().terms()).await?;
    context.printer.note(format!("going on with `{called}`"));
    let responded = conclude(context, prepared, async |context| {
        fix::respond(session, left, &response, context, &mut rand::rng()).await
    })
    .await?;
    Ok(responded.exit_code())
}

fn response(args: &RespondArgs) -> Response {
    let RespondArgs { fix, decline, add, approve, skip, abort, note, .. } = args;
    let end = match (approve, skip, abort) {
        (true, ..) => Some(Ending::Approve),
        (_, true, _) => Some(Ending::Skip),
        (.., true) => Some(Ending::Abort),
        _ => None,
    };
    Response { fix: fix.clone(), decline: decline.clone(), add: add.clone(), end, note: note.clone() }
}
