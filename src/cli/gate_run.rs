//! What a gate does before and after its panel is asked. Everything is decided before: the commits, the base's settings,
//! the panel, what is sent.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::args::GateArgs;
use super::context::Context;
use super::estimate;
use super::gate_outputs::Outputs;
use super::members::lack;
use super::panel::{conclude_silently, prepare, prompts, resolve, terms};
use super::review::{estimated, intent_of};
use crate::config::{Config, GateKind, GateSettings, GateSubject, ResolvedModel, names_a_secret};
use crate::engine::{self, Estimate, Keeping, Outcome, VoteRequest};
use crate::error::{Error, ExitCode, Result};
use crate::findings::{EarlierDeclines, MissingSeats};
use crate::git::{CommitId, Git};
use crate::pipeline::gate::{
    AtBase, Facts, Head, HeadWatch, Looked, Place, Revisions, Subject, ask_failed, check_prompts, check_trust, look,
    settings_among, settings_at, task_text,
};
use crate::pipeline::review::{self, ReviewRequest, Source};
use crate::prompts::Prompts;
use crate::report::ci::{FindingsReport, SubjectReport};
use crate::runner::Checks;
use crate::secrets::Redactor;
use crate::session::SessionKind;

/// How long one question to git may take.
const GIT_LIMIT: Duration = Duration::from_secs(120);

/// How the gate's work ended.
pub(super) enum Ended {
    /// Nobody was to be asked.
    Estimated(ExitCode),
    /// There was nothing to look at, for this reason.
    Unchanged(String),
    /// Nothing of what there was could be looked at.
    Unseen,
    /// The panel was asked.
    Asked {
        /// What it came to.
        outcome: Box<Outcome>,
        /// What a review found.
        found: Option<FindingsReport>,
        /// Where `HEAD` is now.
        head: Head,
    },
}

/// The panel of a gate.
struct Members {
    models: Vec<ResolvedModel>,
    /// Of a review: who votes on the findings, where that is not the panel itself.
    judges: Option<Vec<ResolvedModel>>,
}

/// What a panel is asked about, and how.
struct Ask<'a> {
    watch: Arc<HeadWatch>,
    args: &'a GateArgs,
    config: Config,
    members: Members,
    prompts: Prompts,
    prompts_dir: Option<PathBuf>,
    title: String,
    notes: Vec<String>,
}

/// Does a gate's work; what it learns on the way is in `facts`.
pub(super) async fn run(args: &GateArgs, context: &Context, outputs: &mut Outputs, facts: &mut Facts) -> Result<Ended> {
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
    let gate = config.settings().gate.clone();
    facts.kind = gate.kind;
    facts.omitted = gate.omitted;
    facts.set_origins(&config);
    for told in &facts.by_variables {
        context.printer.note(told);
    }
    if !args.estimate {
        outputs.add(&gate.outputs, context)?;
    }
    check_options(args, &gate)?;
    let changed = git.changed_files(&revisions.merge_base, &revisions.head).await.map_err(ask_failed)?;
    facts.settings_changed = settings_among(&changed);
    warn(context, &git, &revisions, facts).await?;

    let members = members(context, &config, has_project_file, &facts.settings_changed)?;
    let asked: Vec<ResolvedModel> = members.asked().cloned().collect();
    check_trust(&git, &root, &context.cwd, &revisions.base, &asked, &gate.command, &context.environment).await?;
    let secrets = context.environment.iter().filter(|(name, _)| names_a_secret(&name.to_string_lossy()));
    let redactor = Redactor::new(secrets.filter_map(|(_, value)| value.to_str()));
    let place =
        Place { git: &git, root: &root, revisions: &revisions, redactor: &redactor, environment: &context.environment };
    let looked = match gate.subject {
        // An estimate starts nothing.
        GateSubject::Command if args.estimate => {
            Looked::At(Subject::Command { text: String::new(), ended: String::new() })
        }
        _ => look(&place, &gate, &changed, facts).await?,
    };
    let subject = match looked {
        Looked::At(subject) => subject,
        Looked::Unchanged(why) => return Ok(Ended::Unchanged(why)),
        Looked::Unseen => return Ok(Ended::Unseen),
    };
    let Some(told) = facts.subject.clone() else { return Err(Error::internal("the gate forgot what it looks at")) };
    if let Some(dir) = &args.prompts {
        check_prompts(&git, &root, &context.cwd.join(dir), &revisions.base).await?;
    }
    let (prompts, prompts_dir) = prompts(context, args.prompts.as_deref())?;
    let left = gate.deadline.map(|deadline| deadline.saturating_sub(started.elapsed()).max(Duration::from_millis(1)));
    let config = config.with_limits(left, gate.max_cost);
    let title = title(&git, &revisions).await;
    let watch = Arc::new(HeadWatch::new(git.clone(), gate.kind, revisions.head.clone()));
    let ask =
        Ask { watch: Arc::clone(&watch), args, config, members, prompts, prompts_dir, title, notes: facts.notes() };
    let asked = match gate.kind {
        GateKind::Vote => ask.vote(context, &told, &subject).await?,
        GateKind::Review => ask.review(context, &told, subject, &root).await?,
    };
    let (outcome, found) = match asked {
        Asked::Estimated(code) => return Ok(Ended::Estimated(code)),
        Asked::Ended(outcome, found) => (outcome, found),
    };
    Ok(Ended::Asked { outcome, found, head: watch.now().await })
}

/// What came of asking.
enum Asked {
    /// Nobody was to be asked.
    Estimated(ExitCode),
    /// The panel was asked; of a review also what it found.
    Ended(Box<Outcome>, Option<FindingsReport>),
}

impl Ask<'_> {
    /// Lets the panel vote.
    async fn vote(self, context: &Context, told: &SubjectReport, subject: &Subject) -> Result<Asked> {
        let Self { watch, args, config, members, prompts, prompts_dir, title, notes } = self;
        let settings = config.settings();
        let request = VoteRequest {
            kind: SessionKind::Gate,
            keeping: Keeping::Folder(settings.sessions_dir.clone()),
            title,
            task: task_text(&prompts, told, subject)?,
            models: members.models,
            chosen: None,
            threshold: settings.gate.threshold.unwrap_or(settings.threshold),
            quorum: settings.gate.quorum.map(std::num::NonZeroU32::get),
            repair: settings.vote.repair,
            strict: args.strict,
            terms: terms(settings, args.require_blind),
            checks: Checks::default(),
            prompts: Arc::new(prompts),
            prompts_dir,
            notes,
        };
        request.check()?;
        if args.estimate {
            let bytes = request.prompts.longest().saturating_add(request.task.len()) as u64;
            // Of a command that was not run, so much may come.
            let more = if settings.gate.subject == GateSubject::Command { settings.gate.max_bytes } else { 0 };
            let estimate = Estimate::of_vote(&request.models, (bytes, bytes.saturating_add(more)), request.repair);
            return estimate::show(context, &estimate).map(Asked::Estimated);
        }
        let asked: Vec<_> = request.models.iter().collect();
        let prepared = prepare(context, &config, &asked, request.keeping.folder(), args.require_blind).await?;
        let prepared = prepared.with_last_look(watch);
        let work = async |context: engine::Context<'_>| engine::vote(request, context, &mut rand::rng()).await;
        let voted = conclude_silently(context, prepared, work).await?;
        Ok(Asked::Ended(Box::new(voted), None))
    }

    /// Has it reviewed.
    async fn review(
        self,
        context: &Context,
        told: &SubjectReport,
        subject: Subject,
        root: &std::path::Path,
    ) -> Result<Asked> {
        let Self { watch, args, config, members, prompts, prompts_dir, title, notes } = self;
        let settings = config.settings();
        let mut subject = review::Subject::of_gate(subject, told, root)
            .ok_or_else(|| Error::internal("a gate is to review what a command printed"))?;
        if args.review.no_workspace {
            subject.source = Source::Nothing;
        }
        let request = ReviewRequest {
            kind: SessionKind::Gate,
            keeping: Keeping::Folder(settings.sessions_dir.clone()),
            title,
            subject,
            intent: args.review.intent.as_deref().map(|intent| intent_of(intent, context)).transpose()?,
            models: members.models,
            judges: members.judges,
            own: settings.vote.own,
            leaks: settings.vote.leaks,
            fail_on: settings.review.fail_on,
            quorum: settings.gate.quorum.map(std::num::NonZeroU32::get),
            missing: if args.strict { MissingSeats::Refused } else { MissingSeats::Tolerated },
            session_reuse: settings.session_reuse,
            terms: terms(settings, args.require_blind),
            prompts: Arc::new(prompts),
            prompts_dir,
            notes,
            // A gate goes by the base and by what is reviewed, and by nothing that a person said elsewhere.
            declined: EarlierDeclines::default(),
        };
        request.check()?;
        if args.estimate {
            return estimate::show(context, &estimated(&request, &config)).map(Asked::Estimated);
        }
        let asked = request.asked();
        let prepared = prepare(context, &config, &asked, request.keeping.folder(), args.require_blind).await?;
        let prepared = prepared.with_last_look(watch);
        let work = async |context: engine::Context<'_>| review::review(request, context, &mut rand::rng()).await;
        let outcome = conclude_silently(context, prepared, work).await?;
        let found = match &outcome.decision {
            engine::Decision::Reviewed(verdict) => Some(review::found(&outcome.layout, verdict)?),
            _ => None,
        };
        Ok(Asked::Ended(Box::new(outcome), found))
    }
}

/// Refuses options of one kind of gate where it is of the other, and a review of what a command prints.
fn check_options(args: &GateArgs, gate: &GateSettings) -> Result<()> {
    let kind = gate.kind.as_str();
    let wrong = |option: &str, other: &str| {
        Err(Error::usage(format!("`{option}` is of a {other}, and this gate is a {kind}"))
            .hint(format!("leave it out, or ask for a {other}: `--kind {other}`"))
            .hint("without `--kind`, `gate.kind` of the base says which it is"))
    };
    match gate.kind {
        GateKind::Review if args.threshold.is_some() => return wrong("--threshold", "vote"),
        GateKind::Review if gate.subject == GateSubject::Command => {
            return Err(Error::usage("what a command prints is voted on, and not reviewed")
                .hint("have it voted on: `--kind vote`, or `kind = \"vote\"` in `[gate]` of the base"));
        }
        GateKind::Review => {}
        GateKind::Vote => {
            let review = &args.review;
            let given = [
                ("--judges", !review.judges.is_empty()),
                ("--fail-on", review.fail_on.is_some()),
                ("--intent", review.intent.is_some()),
                ("--no-workspace", review.no_workspace),
            ];
            if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
                return wrong(option, "review");
            }
        }
    }
    Ok(())
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

impl Members {
    /// Everybody who may be asked.
    fn asked(&self) -> impl Iterator<Item = &ResolvedModel> {
        self.models.iter().chain(self.judges.iter().flatten())
    }
}

/// Who votes or reviews: every one of them must be there to be asked.
fn members(context: &Context, config: &Config, has_project_file: bool, changed: &[String]) -> Result<Members> {
    let gate = &config.settings().gate;
    let names = if gate.panel.is_empty() {
        config.panel().map_err(|error| {
            let branch_has_one = changed.iter().any(|path| path.ends_with(crate::config::PROJECT_FILE));
            let error = if branch_has_one && !has_project_file {
                error.hint("the base has no `team.toml`: that of the branch counts when it is merged")
            } else {
                error
            };
            let of_review = if gate.kind == GateKind::Review { ", `[review]`" } else { "" };
            error.hint(format!(
                "a gate takes `panel` from `[gate]`{of_review} or `team.toml` of the base, `TEAM_PANEL`, or `-m`"
            ))
        })?
    } else {
        &gate.panel
    };
    let judges =
        Some(&config.settings().review.judges).filter(|names| gate.kind == GateKind::Review && !names.is_empty());
    let judges = judges.map(|names| resolve(context, config, names)).transpose()?;
    let members = Members { models: resolve(context, config, names)?, judges };
    let lacks: BTreeSet<String> = members
        .asked()
        .filter_map(|model| Some(format!("{}: {}", model.name, lack(model, &context.environment)?)))
        .collect();
    if lacks.is_empty() {
        return Ok(members);
    }
    let lacks: Vec<String> = lacks.into_iter().collect();
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
