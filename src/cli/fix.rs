//! `team fix`: a review, and the repair of what it finds on a branch of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::args::FixArgs;
use super::asking::can_ask;
use super::choosing::remember;
use super::context::Context;
use super::estimate;
use super::gate::finish;
use super::gate_outputs::Outputs;
use super::panel::{conclude_silently, prepare, prompts, resolve, terms, warn_of_missing};
use super::respond;
use super::review::{Reviewers, declined, intent_of, judges, judging, reviewers};
use crate::config::{Config, FileSettings, PROJECT_FILE, ResolvedModel, names_a_secret};
use crate::engine::{self, Keeping, Outcome};
use crate::error::{Error, ExitCode, Result};
use crate::findings::MissingSeats;
use crate::git::{Git, RepoPath};
use crate::pipeline::estimate_fix;
use crate::pipeline::fix::{self, Consent, FixRequest, Start, TakeUncommitted};
use crate::pipeline::gate::{Revisions, ask_failed, settings_at};
use crate::pipeline::review::{self, Look, ReviewRequest, Source, Subject, Target};
use crate::secrets::Redactor;
use crate::session::{Catalogue, SessionKind};

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

/// Reviews and repairs. However it ends, a report is made and every output written.
pub(super) async fn fix(args: &FixArgs, context: &Context) -> Result<ExitCode> {
    // An estimate writes nothing.
    let estimate = args.who.choice.estimate;
    let outputs = if estimate { Outputs::none() } else { Outputs::of(&args.outputs, context)? };
    let (report, text, error) = match work(args, context).await {
        Ok(Ended::Estimated(code)) => return Ok(code),
        Err(error) if estimate => return Err(error),
        Ok(Ended::Fixed(outcome, Shown::No)) => (fix::reported(&outcome)?, outcome.verdict, None),
        Ok(Ended::Fixed(outcome, Shown::Already)) => (fix::reported(&outcome)?, None, None),
        Err(error) => (fix::not_begun(&error), None, Some(error)),
    };
    finish(context, &outputs, &report, text.as_deref(), error)
}

/// How the command ended.
enum Ended {
    /// Nobody was to be asked.
    Estimated(ExitCode),
    /// The panel was asked.
    Fixed(Box<Outcome>, Shown),
}

/// Whether what it came to was printed.
enum Shown {
    /// It is still to be.
    No,
    /// Before somebody was asked.
    Already,
}

async fn work(args: &FixArgs, context: &Context) -> Result<Ended> {
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
        session_reuse: settings.session_reuse,
        terms: terms(settings, args.rules.require_blind),
        prompts: Arc::new(prompts),
        prompts_dir,
        notes,
        declined: declined(context, config, &subject).await?,
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
        let whole = estimate_fix(&request, &judging(&request.review, config));
        return estimate::show(context, &whole).map(Ended::Estimated);
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
    let work = async |context: engine::Context<'_>| fix::fix(request, context, &mut rand::rng()).await;
    let outcome = conclude_silently(context, prepared, work).await?;
    // `--yes` consents to one round and no more: then it waits, whoever is there.
    if outcome.exit_code() != ExitCode::WAITING || args.repairs.yes || !can_ask(context) {
        return Ok(Ended::Fixed(Box::new(outcome), Shown::No));
    }
    context.printer.document(outcome.verdict.as_deref().unwrap_or_default())?;
    let called = Catalogue::new(&settings.sessions_dir).reference(&outcome.layout);
    let terms = respond::Terms::of(false, &args.pace);
    let outcome = respond::decide(&outcome.layout, &called, &terms, context).await?.unwrap_or(outcome);
    let shown = if outcome.exit_code() == ExitCode::WAITING { Shown::Already } else { Shown::No };
    Ok(Ended::Fixed(Box::new(outcome), shown))
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
