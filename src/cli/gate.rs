//! `team gate`: a panel votes on what a branch changes, for CI.
//!
//! Everything is decided before anybody is asked: the commits, the base's settings, the panel, what is sent. However it
//! ends, a report is made and every output written.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::args::GateArgs;
use super::context::Context;
use super::gate_outputs::Outputs;
use super::members::lack;
use super::panel::{conclude_silently, prepare, prompts, resolve, terms};
use crate::config::{Config, GateSubject, ResolvedModel, names_a_secret};
use crate::engine::{self, Keeping, Outcome, VoteRequest};
use crate::error::{Error, ExitCode, Result};
use crate::git::{CommitId, Git};
use crate::pipeline::gate::{
    AtBase, Facts, Head, Looked, Place, Revisions, ask_failed, check_prompts, check_trust, concluded, look,
    needs_person, refused, settings_among, settings_at, task_text, unchanged,
};
use crate::report::ci::{GateOutcome, GateReport, SubjectReport};
use crate::runner::Checks;
use crate::secrets::Redactor;
use crate::session::SessionKind;

/// How long one question to git may take.
const GIT_LIMIT: Duration = Duration::from_secs(120);

/// Runs the gate.
pub(super) async fn gate(args: &GateArgs, context: &Context) -> Result<ExitCode> {
    let mut outputs = Outputs::of(&args.outputs, context)?;
    let mut facts = Facts::default();
    let ended = run(args, context, &mut outputs, &mut facts).await;
    let (report, verdict, error) = match ended {
        Ok(Ended::Unchanged(why)) => (unchanged(facts, &why), None, None),
        Ok(Ended::Unseen) => (needs_person(facts), None, None),
        Ok(Ended::Voted(outcome, head)) => {
            let report = concluded(facts, &outcome, &head);
            (report, outcome.verdict, None)
        }
        Err(error) => (refused(facts, &error), None, Some(error)),
    };
    finish(context, &outputs, &report, verdict.as_deref(), error)
}

/// Shows a report and writes it wherever it is wanted. `error` is what ended the command before its end.
pub(super) fn finish(
    context: &Context,
    outputs: &Outputs,
    report: &GateReport,
    verdict: Option<&str>,
    error: Option<Error>,
) -> Result<ExitCode> {
    show(context, outputs, report, verdict)?;
    let written = outputs.write(report, context);
    match (error, written) {
        // What ended the command weighs more than where it is written.
        (Some(error), written) => {
            if let Err(other) = written {
                context.printer.error(&other);
            }
            Err(error)
        }
        (None, Err(other)) if report.outcome.passes() => Err(other),
        (None, written) => {
            if let Err(other) = written {
                context.printer.error(&other);
            }
            Ok(report_code(report))
        }
    }
}

/// How the gate's work ended.
enum Ended {
    /// There was nothing to look at, for this reason.
    Unchanged(String),
    /// Nothing of what there was could be looked at.
    Unseen,
    /// The panel was asked.
    Voted(Box<Outcome>, Head),
}

/// The exit code that the report says.
fn report_code(report: &GateReport) -> ExitCode {
    match report.exit_code {
        0 => ExitCode::DONE,
        1 => ExitCode::BAR_NOT_MET,
        3 => ExitCode::NO_DECISION,
        4 => ExitCode::NOTHING_USABLE,
        code if code > 128 => ExitCode::signal(i32::from(code) - 128),
        _ => ExitCode::INTERNAL,
    }
}

/// Standard output: the verdict, or the whole report with `--json`. What it amounts to goes to standard error.
fn show(context: &Context, outputs: &Outputs, report: &GateReport, verdict: Option<&str>) -> Result<()> {
    let printer = &context.printer;
    if context.global.json {
        let text = serde_json::to_string_pretty(report)
            .map_err(|error| Error::internal("cannot write JSON").with_source(error))?;
        // A workflow command may stand anywhere in a line; in a JSON string the same can be written otherwise.
        printer.line(if outputs.is_github() { text.replace("##[", "##\\u005b") } else { text })?;
    } else if let Some(verdict) = verdict.filter(|_| !outputs.has_stdout()) {
        printer.document(verdict)?;
    }
    // The error tells itself.
    if report.outcome == GateOutcome::Failed && report.ruling.is_none() && report.session.is_none() {
        return Ok(());
    }
    let tell = |text: &str| if report.outcome.passes() { printer.note(text) } else { printer.shortfall(text) };
    tell(&report.summary);
    report.details.iter().for_each(|detail| tell(detail));
    if let Some(session) = &report.session {
        printer.note(format!("session: {}", session.display()));
    }
    Ok(())
}

async fn run(args: &GateArgs, context: &Context, outputs: &mut Outputs, facts: &mut Facts) -> Result<Ended> {
    let started = Instant::now();
    let (git, root) = repository(context).await?;
    let revisions = Revisions::find(&git, args.base.as_deref(), &context.environment).await?;
    facts.subject = Some(subject_report(&revisions));
    let mut flags = context.global.settings();
    args.apply(&mut flags);
    let AtBase { config, has_project_file } =
        settings_at(&git, &root, &context.cwd, &revisions.base, &context.environment, flags).await?;
    for warning in config.warnings() {
        context.printer.warning(warning);
    }
    facts.set_origins(&config);
    for told in &facts.by_variables {
        context.printer.note(told);
    }
    let gate = config.settings().gate.clone();
    facts.omitted = gate.omitted;
    outputs.add(&gate.outputs, context)?;
    let changed = git.changed_files(&revisions.merge_base, &revisions.head).await.map_err(ask_failed)?;
    facts.settings_changed = settings_among(&changed);
    warn(context, &git, &revisions, facts).await?;

    let models = panel(context, &config, has_project_file, &facts.settings_changed)?;
    check_trust(&git, &root, &context.cwd, &revisions.base, &models, &gate.command, &context.environment).await?;
    let secrets = context.environment.iter().filter(|(name, _)| names_a_secret(&name.to_string_lossy()));
    let redactor = Redactor::new(secrets.filter_map(|(_, value)| value.to_str()));
    let place =
        Place { git: &git, root: &root, revisions: &revisions, redactor: &redactor, environment: &context.environment };
    let subject = match look(&place, &gate, &changed, facts).await? {
        Looked::At(subject) => subject,
        Looked::Unchanged(why) => return Ok(Ended::Unchanged(why)),
        Looked::Unseen => return Ok(Ended::Unseen),
    };
    let Some(told) = &facts.subject else { return Err(Error::internal("the gate forgot what it looks at")) };
    if let Some(dir) = &args.prompts {
        check_prompts(&git, &root, &context.cwd.join(dir), &revisions.base).await?;
    }
    let (prompts, prompts_dir) = prompts(context, args.prompts.as_deref())?;
    let task = task_text(&prompts, told, &subject)?;
    let left = gate.deadline.map(|deadline| deadline.saturating_sub(started.elapsed()).max(Duration::from_millis(1)));
    let config = config.with_limits(left, gate.max_cost);
    let request = VoteRequest {
        kind: SessionKind::Gate,
        keeping: Keeping::Folder(config.settings().sessions_dir.clone()),
        title: title(&git, &revisions).await,
        task,
        models,
        chosen: None,
        threshold: gate.threshold.unwrap_or(config.settings().threshold),
        quorum: gate.quorum.map(std::num::NonZeroU32::get),
        repair: config.settings().vote.repair,
        strict: args.strict,
        terms: terms(config.settings(), args.require_blind),
        checks: Checks::default(),
        prompts: Arc::new(prompts),
        prompts_dir,
        notes: facts.notes(),
    };
    request.check()?;
    let members: Vec<_> = request.models.iter().collect();
    let prepared = prepare(context, &config, &members, request.keeping.folder(), args.require_blind).await?;
    let voted =
        conclude_silently(context, prepared, async |context| engine::vote(request, context, &mut rand::rng()).await)
            .await?;
    // Where git does not say, the votes are not known to be about what is there.
    let now = git.commit("HEAD").await.ok().flatten();
    let head = if now.as_ref() == Some(&revisions.head) { Head::Same } else { Head::Moved(now) };
    Ok(Ended::Voted(Box::new(voted), head))
}

/// Git at the root of the work tree, a real path.
async fn repository(context: &Context) -> Result<(Git, PathBuf)> {
    let here = Git::new(&context.cwd, GIT_LIMIT);
    let root = here.work_tree().await.map_err(ask_failed)?.ok_or_else(|| {
        Error::usage(format!("`{}` is not in a git work tree, so there is nothing to compare", context.cwd.display()))
            .hint("run the gate in a clone of the repository")
    })?;
    let root = root.canonicalize()?;
    Ok((Git::new(&root, GIT_LIMIT), root))
}

fn subject_report(revisions: &Revisions) -> SubjectReport {
    SubjectReport {
        what: GateSubject::Diff,
        name: None,
        base: revisions.base_name.clone(),
        base_commit: revisions.base.to_string(),
        merge_base: revisions.merge_base.to_string(),
        head: revisions.head.to_string(),
        pull_request_head: revisions.pull_request_head.as_ref().map(CommitId::to_string),
    }
}

async fn warn(context: &Context, git: &Git, revisions: &Revisions, facts: &mut Facts) -> Result<()> {
    if git.has_changes().await.map_err(ask_failed)? {
        facts.warnings.push("changes that are not committed were not looked at".to_owned());
    }
    if revisions.shallow {
        facts.warnings.push("the clone is shallow: the change may be taken for larger than it is".to_owned());
    }
    for warning in &facts.warnings {
        context.printer.warning(warning);
    }
    for path in &facts.settings_changed {
        context.printer.warning(format!("the branch changes `{path}`; the gate goes by the base's"));
    }
    Ok(())
}

/// Who votes: every one of them must be there to be asked.
fn panel(context: &Context, config: &Config, has_project_file: bool, changed: &[String]) -> Result<Vec<ResolvedModel>> {
    let gate = &config.settings().gate;
    let names = if gate.panel.is_empty() {
        config.panel().map_err(|error| {
            let branch_has_one = changed.iter().any(|path| path.ends_with(crate::config::PROJECT_FILE));
            let error = if branch_has_one && !has_project_file {
                error.hint("the base has no `team.toml`: that of the branch counts when it is merged")
            } else {
                error
            };
            error.hint("a gate takes `panel` from `[gate]` or `team.toml` of the base, `TEAM_PANEL`, or `-m`")
        })?
    } else {
        &gate.panel
    };
    let models = resolve(context, config, names)?;
    let lacks: Vec<String> = models
        .iter()
        .filter_map(|model| Some(format!("{}: {}", model.name, lack(model, &context.environment)?)))
        .collect();
    if lacks.is_empty() {
        return Ok(models);
    }
    let error = Error::usage(format!("the gate's panel cannot be asked here: {}", lacks.join("; ")))
        .hint("give the job the key or the program, or take the model out of the panel")
        .hint("`team doctor` checks a panel");
    let fork = context.environment.text("GITHUB_ACTIONS").is_some();
    Err(if fork { error.hint("a pull request from a fork is given no secrets") } else { error })
}

/// What the session is named after.
async fn title(git: &Git, revisions: &Revisions) -> String {
    let branch = git.symbolic("HEAD").await.ok().flatten();
    let branch = branch.and_then(|branch| branch.strip_prefix("refs/heads/").map(str::to_owned));
    branch.unwrap_or_else(|| revisions.head.short().to_owned())
}
