//! `team review`: a panel reviews a plan, a change or files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::{ChoiceArgs, ReviewArgs, TargetArgs};
use super::choosing::{Chosen, choose, remember};
use super::context::Context;
use super::estimate;
use super::gate::finish;
use super::gate_outputs::Outputs;
use super::names::{self, Given, Named};
use super::panel::{conclude_silently, prepare, prompts, terms, warn_of_missing};
use crate::config::{Config, Origin, ResolvedModel, names_a_secret};
use crate::engine::{self, Directives, Estimate, Input, JudgeRequest, Keeping, Outcome};
use crate::error::{Error, ExitCode, Result};
use crate::findings::{EarlierDeclines, MissingSeats};
use crate::pipeline::declines::{DeclineRegister, FoundDeclines};
use crate::pipeline::estimate_review;
use crate::pipeline::review::{self, Look, ReviewRequest, Source, Subject, Target};
use crate::secrets::Redactor;
use crate::session::SessionKind;

/// Holds a review. However it ends, a report is made and every output written.
pub(super) async fn review(args: &ReviewArgs, context: &Context) -> Result<ExitCode> {
    // An estimate writes nothing.
    let outputs = if args.who.choice.estimate { Outputs::none() } else { Outputs::of(&args.outputs, context)? };
    let (report, verdict, error) = match hold(args, context).await {
        Ok(Ended::Estimated(code)) => return Ok(code),
        Err(error) if args.who.choice.estimate => return Err(error),
        Ok(Ended::Reviewed(outcome)) => (review::reported(&outcome)?, outcome.verdict, None),
        Err(error) => (review::not_held(&error), None, Some(error)),
    };
    finish(context, &outputs, &report, verdict.as_deref(), error)
}

/// How the command ended.
enum Ended {
    /// Nobody was to be asked.
    Estimated(ExitCode),
    /// The panel was asked.
    Reviewed(Box<Outcome>),
}

async fn hold(args: &ReviewArgs, context: &Context) -> Result<Ended> {
    let mut flags = context.global.settings();
    args.apply(&mut flags);
    let config = context.load(flags)?;
    let settings = config.settings();
    let target = target(&args.target, &args.paths);
    let secrets = context.environment.iter().filter(|(name, _)| names_a_secret(&name.to_string_lossy()));
    let redactor = Redactor::new(secrets.filter_map(|(_, value)| value.to_str()));
    let look = Look {
        target: &target,
        paths: &args.paths,
        cwd: &context.cwd,
        environment: &context.environment,
        redactor: &redactor,
        max_bytes: settings.review.max_bytes,
        ignore: &settings.review.ignore,
        sessions: std::slice::from_ref(&settings.sessions_dir),
    };
    let mut subject = review::look(&look).await?;
    if args.rules.no_workspace {
        subject.source = Source::Nothing;
    }
    for warning in &subject.warnings {
        context.printer.warning(warning);
    }
    let intent = args.who.intent.as_deref().map(|intent| intent_of(intent, context)).transpose()?;
    let panel = reviewers(context, &config, &args.who.choice).await?;
    let judges = judges(context, &config).await?;
    let (prompts, prompts_dir) = prompts(context, args.rules.prompts.as_deref())?;
    let keeping = keeping(args, &subject, context, &settings.sessions_dir)?;
    let request = ReviewRequest {
        kind: SessionKind::Review,
        keeping,
        title: args.name.clone().unwrap_or_else(|| title(&target, &args.paths)),
        intent,
        models: panel.models.clone(),
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
        notes: panel.notes.clone(),
        declined: declined(context, &config, &subject).await?,
        subject,
    };
    request.check()?;
    if args.who.choice.estimate {
        return estimate::show(context, &estimated(&request, &config)).map(Ended::Estimated);
    }
    if let Some(chosen) = &panel.chosen {
        remember(context, &config, &args.who.choice, chosen)?;
    }
    let asked = request.asked();
    warn_of_missing(context, asked.iter().copied());
    let prepared = prepare(context, &config, &asked, request.keeping.folder(), args.rules.require_blind).await?;
    let work = async |context: engine::Context<'_>| review::review(request, context, &mut rand::rng()).await;
    conclude_silently(context, prepared, work).await.map(|outcome| Ended::Reviewed(Box::new(outcome)))
}

/// What people declined in earlier sessions, as far as it holds for `subject`; what there is to warn of is said.
pub(super) async fn declined(context: &Context, config: &Config, subject: &Subject) -> Result<EarlierDeclines> {
    let register = DeclineRegister::of(&context.cwd.join(&config.settings().sessions_dir));
    let FoundDeclines { declines, warnings } = register.at(subject.point.as_ref()).await?;
    warnings.iter().for_each(|warning| context.printer.warning(warning));
    match declines.iter().len() {
        0 => {}
        1 => context.printer.note("one finding was declined before; it is not raised again unless it is worse"),
        count => context
            .printer
            .note(format!("{count} findings were declined before; they are not raised again unless they are worse")),
    }
    Ok(declines)
}

fn target(args: &TargetArgs, paths: &[PathBuf]) -> Target {
    match args {
        TargetArgs { plan: Some(plan), .. } => Target::Plan(plan.clone()),
        TargetArgs { diff: Some(range), .. } => Target::Diff(range.clone()),
        TargetArgs { staged: true, .. } => Target::Staged,
        TargetArgs { worktree: true, .. } => Target::Worktree,
        _ if !paths.is_empty() => Target::Files,
        _ => Target::Diff(None),
    }
}

/// What the session is called where the user does not say.
fn title(target: &Target, paths: &[PathBuf]) -> String {
    let name = |path: &Path| path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match target {
        Target::Plan(plan) => name(plan),
        Target::Files => paths.first().map(|path| name(path)).unwrap_or_default(),
        Target::Diff(range) => range.clone().unwrap_or_else(|| "branch".to_owned()),
        Target::Staged => "staged".to_owned(),
        Target::Worktree => "worktree".to_owned(),
    }
}

/// One existing file is that file, `-` is standard input; anything else is the text itself.
pub(super) fn intent_of(intent: &str, context: &Context) -> Result<String> {
    let path = context.cwd.join(intent);
    let text = if intent == "-" {
        std::io::read_to_string(std::io::stdin())
            .map_err(|source| Error::usage("`--intent`: standard input cannot be read").with_source(source))?
    } else if path.is_file() {
        fs_err::read_to_string(&path).map_err(|source| Error::usage("`--intent` cannot be read").with_source(source))?
    } else if !intent.contains(char::is_whitespace) && (intent.contains('/') || intent.ends_with(".md")) {
        return Err(Error::usage(format!("`--intent`: there is no file `{intent}`")).hint("correct its path"));
    } else {
        intent.to_owned()
    };
    if text.trim().is_empty() {
        return Err(Error::usage("`--intent` is empty").hint("say what the change is meant to do, or leave it out"));
    }
    Ok(text)
}

/// The reviewers, and what chose them where that was not `[review]` or `-m`.
pub(super) struct Reviewers {
    pub(super) models: Vec<ResolvedModel>,
    pub(super) notes: Vec<String>,
    pub(super) chosen: Option<Chosen>,
}

pub(super) async fn reviewers(context: &Context, config: &Config, choice: &ChoiceArgs) -> Result<Reviewers> {
    let names = &config.settings().review.panel;
    if names.is_empty() {
        // The kind of task is known here, where a panel is configured for it.
        let chosen = choose(context, config, choice, "review").await?;
        return Ok(Reviewers { models: chosen.models.clone(), notes: chosen.notes(), chosen: Some(chosen) });
    }
    let Named { models, .. } =
        names::find(context, config, names, given(config, &["review", "panel"]), "review.panel").await?;
    Ok(Reviewers { models, notes: Vec::new(), chosen: None })
}

pub(super) async fn judges(context: &Context, config: &Config) -> Result<Option<Vec<ResolvedModel>>> {
    let names = &config.settings().review.judges;
    if names.is_empty() {
        return Ok(None);
    }
    let given = given(config, &["review", "judges"]);
    Ok(Some(names::find(context, config, names, given, "review.judges").await?.models))
}

fn given(config: &Config, keys: &[&str]) -> Given {
    match config.origin(keys) {
        Some(Origin::Flag | Origin::Variable(_)) => Given::ByHand,
        _ => Given::Kept,
    }
}

/// A caller's folder has a place for each kind of review.
fn keeping(args: &ReviewArgs, subject: &review::Subject, context: &Context, configured: &Path) -> Result<Keeping> {
    let nothing = Input { text: String::new(), directives: Directives::default() };
    let keeping = Keeping::of(&nothing, args.session_path.as_deref(), false, &context.cwd, configured)?;
    Ok(match (keeping, &args.session_path) {
        (Keeping::Folder(folder), Some(_)) => Keeping::Folder(folder.join("reviews").join(subject.phase.as_str())),
        (keeping, _) => keeping,
    })
}

/// What a review would send and cost.
pub(super) fn estimated(request: &ReviewRequest, config: &Config) -> Estimate {
    estimate_review(request, &judging(request, config))
}

/// Who votes on the findings, and how.
pub(super) fn judging(request: &ReviewRequest, config: &Config) -> JudgeRequest {
    JudgeRequest {
        judges: request.judges.clone(),
        rules: config.settings().vote,
        prompts: Arc::clone(&request.prompts),
        prompts_dir: None,
    }
}
