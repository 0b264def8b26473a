//! `team gate`: a panel votes on what a branch changes, for CI.
//!
//! Everything is decided before anybody is asked: the commits, the base's settings, the panel, what is sent. However it
//! ends, a report is made and every output written.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::args::GateArgs;
use super::context::Context;
use super::gate_outputs::Outputs;
use super::members::lack;
use super::panel::{conclude_silently, prepare, resolve, terms};
use crate::config::{Config, GateSettings, GateSubject, ResolvedModel, names_a_secret};
use crate::engine::{self, Outcome, VoteRequest};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::git::{ChangedFile, CommitId, Git, RepoPath};
use crate::pipeline::gate::{
    AtBase, Facts, Head, Limits, Revisions, Subject, check_trust, concluded, look_at_diff, needs_person, refused,
    run_command, settings_among, settings_at, task_text, unchanged,
};
use crate::prompts::Prompts;
use crate::report::ci::{GateReport, SubjectReport};
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
    show(context, &outputs, &report, verdict.as_deref())?;
    let written = outputs.write(&report, context);
    match (error, written) {
        // What ended the gate weighs more than where it is written.
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
            Ok(report_code(&report))
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
    } else if let Some(verdict) = verdict {
        printer.document(verdict)?;
    }
    // The error tells itself.
    if report.outcome == crate::report::ci::GateOutcome::Failed && report.ruling.is_none() && report.session.is_none() {
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
    let gate = config.settings().gate.clone();
    facts.omitted = gate.omitted;
    if let Some(most) = gate.max_cost {
        // A limit that is not kept is worse than none.
        return Err(Error::config(format!("`gate.max_cost` is {most}, and what members spend is not metered yet"))
            .hint("take it out of the base, and limit the panel, `deadline` and `max_bytes` instead"));
    }
    outputs.add(&gate.outputs, context)?;
    let changed =
        git.changed_files(&revisions.merge_base, &revisions.head).await.map_err(|error| asked("what changed", error))?;
    facts.settings_changed = settings_among(&changed);
    warn(context, &git, &revisions, facts).await?;

    let models = panel(context, &config, has_project_file, &facts.settings_changed)?;
    check_trust(&git, &root, &context.cwd, &revisions.base, &models, &gate.command, &context.environment).await?;
    let secrets = context.environment.iter().filter(|(name, _)| names_a_secret(&name.to_string_lossy()));
    let redactor = Redactor::new(secrets.filter_map(|(_, value)| value.to_str()));
    let place = Place { git: &git, root: &root, revisions: &revisions, redactor: &redactor };
    let subject = match look(context, &place, &gate, &changed, facts).await? {
        Looked::At(subject) => subject,
        Looked::Nothing(ended) => return Ok(ended),
    };
    let Some(told) = &facts.subject else { return Err(Error::internal("the gate forgot what it looks at")) };
    let prompts = Prompts::load(None).map_err(|error| Error::internal(error.to_string()))?;
    let task = task_text(&prompts, told, &subject)?;
    let left = gate.deadline.map(|deadline| deadline.saturating_sub(started.elapsed()).max(Duration::from_millis(1)));
    let config = config.with_deadline(left);
    let request = VoteRequest {
        kind: SessionKind::Gate,
        base: config.settings().sessions_dir.clone(),
        title: title(&git, &revisions).await,
        task,
        models,
        threshold: gate.threshold.unwrap_or(config.settings().threshold),
        quorum: gate.quorum.map(std::num::NonZeroU32::get),
        strict: args.strict,
        terms: terms(config.settings(), args.require_blind),
        checks: Checks::default(),
        prompts: Arc::new(prompts),
        prompts_dir: None,
        notes: facts.notes(),
    };
    request.check()?;
    let members: Vec<_> = request.models.iter().collect();
    let prepared = prepare(context, &config, &members, Some(&request.base), args.require_blind).await?;
    let voted = conclude_silently(context, prepared, async |context| {
        engine::vote(request, context, &mut rand::rng()).await
    })
    .await?;
    // Where git does not say, the votes are not known to be about what is there.
    let now = git.commit("HEAD").await.ok().flatten();
    let head = if now.as_ref() == Some(&revisions.head) { Head::Same } else { Head::Moved(now) };
    Ok(Ended::Voted(Box::new(voted), head))
}

/// Git at the root of the work tree, a real path.
async fn repository(context: &Context) -> Result<(Git, PathBuf)> {
    let here = Git::new(&context.cwd, GIT_LIMIT);
    let root = here.work_tree().await.map_err(|error| asked("for the work tree", error))?.ok_or_else(|| {
        Error::usage(format!("`{}` is not in a git work tree, so there is nothing to compare", context.cwd.display()))
            .hint("run the gate in a clone of the repository")
    })?;
    let root = root.canonicalize()?;
    Ok((Git::new(&root, GIT_LIMIT), root))
}

fn asked(what: &str, error: crate::git::GitError) -> Error {
    let owner = error.to_string().contains("dubious ownership");
    let error = Error::usage(format!("cannot ask git {what}")).with_source(error);
    if owner {
        return error.hint("the folder is another user's: `git config --global --add safe.directory \"$PWD\"` trusts it");
    }
    error.hint("the gate needs a git repository with its whole history (`fetch-depth: 0`)")
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
    if git.has_changes().await.map_err(|error| asked("what is not committed", error))? {
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
fn panel(
    context: &Context,
    config: &Config,
    has_project_file: bool,
    changed: &[String],
) -> Result<Vec<ResolvedModel>> {
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

/// Where a gate works.
struct Place<'a> {
    git: &'a Git,
    root: &'a Path,
    revisions: &'a Revisions,
    redactor: &'a Redactor,
}

/// What came of looking.
enum Looked {
    /// There is something to vote on.
    At(Subject),
    /// There is nothing.
    Nothing(Ended),
}

async fn look(
    context: &Context,
    place: &Place<'_>,
    gate: &GateSettings,
    changed: &[ChangedFile],
    facts: &mut Facts,
) -> Result<Looked> {
    match gate.subject {
        GateSubject::Diff => look_at_change(place, gate, changed, facts).await,
        GateSubject::Plan => look_at_plan(place, gate, facts).await,
        GateSubject::Command => look_at_command(context, place, gate, facts).await,
    }
}

async fn look_at_change(
    place: &Place<'_>,
    gate: &GateSettings,
    changed: &[ChangedFile],
    facts: &mut Facts,
) -> Result<Looked> {
    let revisions = place.revisions;
    if changed.is_empty() {
        let why = format!("nothing changed between `{}` and `HEAD` ({})", revisions.base_name, revisions.head.short());
        return Ok(Looked::Nothing(Ended::Unchanged(why)));
    }
    let limits = Limits { max_bytes: gate.max_bytes, ignore: &gate.ignore, redactor: place.redactor };
    let coverage = look_at_diff(place.git, revisions, changed, &limits).await?;
    facts.files.clone_from(&coverage.files);
    if !coverage.text.is_empty() {
        return Ok(Looked::At(Subject::Diff(coverage)));
    }
    let ignored = |file: &crate::report::ci::SeenFile| file.omitted == Some(crate::report::ci::OmissionReason::Ignored);
    Ok(Looked::Nothing(if coverage.files.iter().all(ignored) {
        Ended::Unchanged("every file that changed is one that `gate.ignore` of the base names".to_owned())
    } else {
        Ended::Unseen
    }))
}

async fn look_at_plan(place: &Place<'_>, gate: &GateSettings, facts: &mut Facts) -> Result<Looked> {
    use std::os::unix::ffi::OsStrExt;
    let Some(plan) = &gate.plan else { return Err(Error::config("`gate.what` is `plan`, and there is no `gate.plan`")) };
    // The file need not be in the work tree; its folder is, or nothing of that name is in the commit either.
    let real = match (plan.parent().map(Path::canonicalize), plan.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => plan.clone(),
    };
    let inside = real.strip_prefix(place.root).map_err(|_| {
        Error::usage(format!("the plan `{}` is not in this repository", plan.display()))
            .hint("name a file of the repository")
    })?;
    let path = RepoPath::new(inside.as_os_str().as_bytes());
    if let Some(told) = &mut facts.subject {
        (told.what, told.name) = (GateSubject::Plan, Some(path.to_string()));
    }
    let head = &place.revisions.head;
    let entry = place.git.entry_at(head, &path).await.map_err(|error| asked("for the plan", error))?;
    let entry = entry.filter(|entry| entry.kind == crate::git::EntryKind::File).ok_or_else(|| {
        Error::usage(format!("commit {} has no file `{path}`", head.short())).hint("commit the plan, or correct its path")
    })?;
    let bytes = place.git.content(&entry, gate.max_bytes).await.map_err(|error| {
        Error::new(ErrorKind::NoDecision, format!("the plan `{path}` cannot be sent"))
            .with_source(error)
            .hint("raise `gate.max_bytes`, or shorten the plan")
    })?;
    let text = text_of(place.redactor, bytes, &format!("the plan `{path}`"))?;
    Ok(Looked::At(Subject::Plan { text }))
}

async fn look_at_command(
    context: &Context,
    place: &Place<'_>,
    gate: &GateSettings,
    facts: &mut Facts,
) -> Result<Looked> {
    if let Some(told) = &mut facts.subject {
        (told.what, told.name) = (GateSubject::Command, Some(gate.command.join(" ")));
    }
    let output =
        run_command(&gate.command, place.root, &context.environment, gate.max_bytes, gate.deadline).await?;
    if output.cut {
        let why = format!("`gate.command` printed more than {} bytes", gate.max_bytes);
        return Err(Error::new(ErrorKind::NoDecision, why).hint("raise `gate.max_bytes`, or have it print less"));
    }
    let text = text_of(place.redactor, output.stdout, "what `gate.command` printed")?;
    Ok(Looked::At(Subject::Command { text, ended: place.redactor.text(&output.ended) }))
}

/// The text that is sent, without keys.
fn text_of(redactor: &Redactor, bytes: Vec<u8>, what: &str) -> Result<String> {
    let text = String::from_utf8(redactor.bytes(&bytes)).ok().filter(|text| !text.contains('\0'));
    text.ok_or_else(|| {
        Error::new(ErrorKind::NoDecision, format!("{what} is no text")).hint("only UTF-8 can be sent")
    })
}

/// What the session is named after.
async fn title(git: &Git, revisions: &Revisions) -> String {
    let branch = git.symbolic("HEAD").await.ok().flatten();
    let branch = branch.and_then(|branch| branch.strip_prefix("refs/heads/").map(str::to_owned));
    branch.unwrap_or_else(|| revisions.head.short().to_owned())
}
