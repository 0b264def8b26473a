//! What `run`, `judge`, `run-and-judge`, `vote` and `demo` share: from the command line to the engine and back.
//!
//! Everything is validated here, before the first side effect: names, limits, patterns, prompts, the rule about judges.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::args::{JudgingArgs, LimitArgs};
use super::choosing::choose_judges;
use super::context::Context;
use super::members::lack;
use super::printer::{Printer, Verbosity};
use crate::capture::Pattern;
use crate::config::{Config, Models, ResolvedModel, Settings, Target};
use crate::engine::{self, Decision, FLAT_FOLDER, Folders, JudgeRequest, Outcome, Services, Terms, local_server};
use crate::error::{Error, ExitCode, Result};
use crate::isolation::{Level, OVERRIDE_VARIABLE, Preference, probe};
use crate::prompts::Prompts;
use crate::report::{
    Both, JsonLines, LiveLines, PlainLines, SessionPlace, Silent, Starts, TroubleLines, Written, unanswered,
};
use crate::runner::{Checks, Control, Limits, Observer, StopAll, is_metered};
use crate::session::{View, is_temporary};
use crate::slots::local::Progress;
use crate::verdict::task_summary;

/// The models behind `names`, in order.
pub(super) fn resolve(context: &Context, config: &Config, names: &[String]) -> Result<Vec<ResolvedModel>> {
    Models::new(config, &context.environment).resolve_all(names)
}

/// The user's limits.
pub(super) fn limits(settings: &Settings) -> Limits {
    Limits {
        timeout: settings.timeout,
        idle_timeout: settings.idle_timeout,
        jobs: settings.jobs.map(std::num::NonZeroUsize::get),
        retries: settings.retries,
    }
}

/// The terms of a command.
pub(super) fn terms(settings: &Settings, require_blind: bool) -> Terms {
    Terms { limits: limits(settings), deadline: settings.deadline, max_cost: settings.max_cost, require_blind }
}

/// How answers are judged.
pub(super) async fn judge_request(context: &Context, config: &Config, judging: &JudgingArgs) -> Result<JudgeRequest> {
    let judges = choose_judges(context, config).await?;
    let (prompts, prompts_dir) = prompts(context, judging.prompts.as_deref())?;
    Ok(JudgeRequest { judges, rules: config.settings().vote, prompts: Arc::new(prompts), prompts_dir })
}

/// The texts sent to models, and the folder that the user's own among them were read from, absolute.
pub(super) fn prompts(context: &Context, own: Option<&Path>) -> Result<(Prompts, Option<PathBuf>)> {
    let prompts = Prompts::load(own).map_err(|error| {
        Error::config(error.to_string()).hint("`--prompts DIR` holds copies of the files that it replaces")
    })?;
    Ok((prompts, own.map(|dir| context.cwd.join(dir))))
}

/// What makes text usable.
pub(super) fn checks(limits: &LimitArgs) -> Result<Checks> {
    let pattern = limits.require_pattern.as_deref().map(Pattern::new).transpose().map_err(|error| {
        Error::usage(format!("`--require-pattern`: {error}")).hint("nothing was started; correct the pattern")
    })?;
    Ok(Checks { min_bytes: limits.min_bytes, pattern })
}

/// Says of each of `models`, in the user's own words and before anything is made, what it lacks on this machine. It is
/// asked all the same, and only its own slot fails.
///
/// The order must be the user's: that of a session's slots would say which slot is whose.
pub(super) fn warn_of_missing<'a>(context: &Context, models: impl IntoIterator<Item = &'a ResolvedModel>) {
    let mut told: Vec<&str> = Vec::new();
    for model in models {
        if told.contains(&model.name.as_str()) {
            continue;
        }
        told.push(&model.name);
        if let Some(lack) = lack(model, &context.environment) {
            context.printer.warning(format!("{lack}: {} cannot answer", model.name));
        }
    }
}

/// Fails where the system's temporary folder cannot be used: what slots are kept apart by is made there.
pub(super) fn temporary_folder() -> Result<()> {
    crate::fs::temporary_place().map(drop).map_err(|error| {
        Error::config(error.to_string()).hint("make that folder, or set `TMPDIR` to one that is there")
    })
}

/// Everything prepared for a panel: signals taken over, the self-test done, the local model's server started.
pub(super) struct Prepared {
    pub(super) control: Control,
    pub(super) services: Services,
}

impl Prepared {
    /// Has this look once more at what the panel was asked about, before the verdict is out.
    pub(super) fn with_last_look(self, look: Arc<dyn engine::LastLook>) -> Self {
        Self { services: self.services.with_last_look(look), ..self }
    }
}

/// Prepares to ask `models`; `own` is the folder that the session is in or is made in, where that is not the configured one.
pub(super) async fn prepare(
    context: &Context,
    config: &Config,
    models: &[&ResolvedModel],
    own: Option<&Path>,
    require_blind: bool,
) -> Result<Prepared> {
    let printer = &context.printer;
    // Only programs can look around.
    let programs = models.iter().any(|model| matches!(model.target, Target::Process { .. }));
    if programs {
        temporary_folder()?;
    }
    let mut control =
        Control::listen(config.settings().deadline).map_err(|source| Error::io("cannot listen to signals", source))?;
    let preference = Preference::parse(context.environment.get(OVERRIDE_VARIABLE))
        .map_err(|error| Error::config(error.to_string()))?;
    let probe = probe(preference, None);
    let mechanism = probe.mechanism;
    if programs && mechanism.files() < Level::Enforced {
        if require_blind {
            return Err(Error::usage(format!(
                "`--require-blind`: session files are kept from slots by {} only ({mechanism})",
                mechanism.files()
            ))
            .hint("`team doctor` says which step of what would keep them is refused here")
            .hint("leave the option out to run all the same; the verdict says how far blindness holds"));
        }
        printer.note(format!(
            "blindness: session files {}, processes {} ({mechanism})",
            kept(mechanism.files()),
            kept(mechanism.processes())
        ));
    }
    if config.settings().max_cost.is_some() {
        // In the order of the alphabet: theirs may be that of the slots.
        let unknown = models.iter().filter(|model| !is_metered(model)).map(|model| format!("`{}`", model.name));
        let unknown: Vec<String> = unknown.collect::<BTreeSet<_>>().into_iter().collect();
        if !unknown.is_empty() {
            printer.warning(format!(
                "`--max-cost` cannot meter {} while they answer: no `price` is configured for them; what they report \
                 themselves counts when they end",
                unknown.join(", ")
            ));
        }
    }
    let mut progress = |step: Progress| printer.note(step.to_string());
    let local = local_server(models, &mut control, &mut progress).await?;
    let folders = Folders { current: &context.cwd, sessions: &config.settings().sessions_dir, own };
    let services = Services::new(models, Arc::new(context.environment.clone()), folders, probe, local)?;
    Ok(Prepared { control, services })
}

/// The same where nobody is asked, so that nothing needs to be kept apart.
pub(super) fn prepare_without_models(context: &Context, config: &Config) -> Result<Prepared> {
    let control =
        Control::listen(config.settings().deadline).map_err(|source| Error::io("cannot listen to signals", source))?;
    let folders = Folders { current: &context.cwd, sessions: &config.settings().sessions_dir, own: None };
    let services =
        Services::new(&[], Arc::new(context.environment.clone()), folders, probe(Preference::default(), None), None)?;
    Ok(Prepared { control, services })
}

/// How well something is kept, in a sentence.
const fn kept(level: Level) -> &'static str {
    match level {
        Level::Enforced => "out of reach",
        Level::Partial => "kept in part",
        Level::Convention => "by convention only",
    }
}

/// Starts show as live lines; who asks for more has them told too.
pub(super) const fn starts(verbosity: Verbosity) -> Starts {
    match verbosity {
        Verbosity::Verbose => Starts::Told,
        Verbosity::Quiet | Verbosity::Normal => Starts::Silent,
    }
}

/// Who watches for people: live lines on a terminal, plain lines elsewhere.
fn people(context: &Context) -> Box<dyn Observer> {
    let printer = &context.printer;
    match (printer.verbosity(), printer.live_messages()) {
        (Verbosity::Quiet, _) if context.caller.is_some() => Box::new(TroubleLines(std::io::stderr())),
        (Verbosity::Quiet, _) => Box::new(Silent),
        (verbosity, Some(ink)) => {
            Box::new(LiveLines::new(std::io::stderr(), ink, starts(verbosity), context.aside.clone()))
        }
        (_, None) => Box::new(PlainLines::new(std::io::stderr(), Instant::now())),
    }
}

/// Who watches: people, and with `--json` whoever reads events on standard output.
fn observer(context: &Context, place: &SessionPlace) -> (Box<dyn Observer>, Option<Written>) {
    let people = people(context);
    if !context.global.json {
        return (people, None);
    }
    let (events, written) = JsonLines::new(std::io::stdout(), place.clone());
    (Box::new(Both(people, events)), Some(written))
}

/// Runs `work` with everything prepared, stops the local server, and prints what came out.
pub(super) async fn conclude(
    context: &Context,
    prepared: Prepared,
    work: impl AsyncFnOnce(engine::Context<'_>) -> Result<Outcome>,
) -> Result<Outcome> {
    let place = SessionPlace::default();
    let (mut observer, written) = observer(context, &place);
    let outcome = carry_out(context, prepared, &mut *observer, &place, work).await;
    drop(observer);
    let (outcome, session) = outcome?;
    if let Some(written) = written {
        written.check().map_err(|source| Error::io("cannot write to standard output", source))?;
    }
    show_outcome(context, &outcome, &session)?;
    Ok(outcome)
}

/// The same for a command that prints something of its own.
pub(super) async fn conclude_silently(
    context: &Context,
    prepared: Prepared,
    work: impl AsyncFnOnce(engine::Context<'_>) -> Result<Outcome>,
) -> Result<Outcome> {
    let place = SessionPlace::default();
    // A program that this is a part of follows the events; what is printed in the end is no concern of theirs.
    let (mut observer, written) = match context.caller {
        Some(_) => observer(context, &place),
        None => (people(context), None),
    };
    let (outcome, _) = carry_out(context, prepared, &mut *observer, &place, work).await?;
    drop(observer);
    if let Some(written) = written {
        written.check().map_err(|source| Error::io("cannot write to standard output", source))?;
    }
    Ok(outcome)
}

/// Gives what came out, and what names its session on a command line.
async fn carry_out(
    context: &Context,
    prepared: Prepared,
    observer: &mut dyn Observer,
    place: &SessionPlace,
    work: impl AsyncFnOnce(engine::Context<'_>) -> Result<Outcome>,
) -> Result<(Outcome, String)> {
    let printer = &context.printer;
    let Prepared { mut control, services } = prepared;
    let mut announce = |folder: &Path, refused: Option<&str>| {
        if let Some(reason) = refused {
            printer.alert(format!(
                "the session is kept in a temporary folder, for it cannot be made where it should be: {reason}; {}",
                to_keep(folder)
            ));
        }
        printer.note(format!("session: {}", folder.display()));
        place.set(folder);
    };
    let result =
        work(engine::Context { services: &services, control: &mut control, observer, announce: &mut announce }).await;
    services.stop().await;
    let outcome = result?;
    let session = services.reference(&outcome.layout);
    Ok((outcome, session))
}

/// How a session in a temporary folder is kept, in a sentence.
fn to_keep(folder: &Path) -> String {
    format!("to keep it, move `{}` to a folder of your own", folder.display())
}

/// Prints the verdict, or where the session is, and what it amounts to. `session` is what names it on a command line.
pub(super) fn show_outcome(context: &Context, outcome: &Outcome, session: &str) -> Result<()> {
    if !context.global.json {
        match &outcome.verdict {
            Some(verdict) => context.printer.document(verdict)?,
            None => context.printer.line(outcome.layout.root().display().to_string())?,
        }
    }
    explain(&context.printer, outcome, session);
    leave_temporary(context, outcome, session)
}

/// The last words of a command: what it amounts to, where a person may not see it in the data.
///
/// With `-q` nothing was told on the way, so slots that failed are told here if the command does.
fn explain(printer: &Printer, outcome: &Outcome, session: &str) {
    let failed = outcome.exit_code() != ExitCode::DONE;
    let tell = |text: String| if failed { printer.shortfall(text) } else { printer.note(text) };
    if let Some(stop) = outcome.stop {
        tell(format!(
            "stopped ({}); what was complete is kept, and `team resume {session}{}` goes on",
            stop.cause(),
            if stop == StopAll::Budget { " --max-cost USD" } else { "" }
        ));
    }
    let status = format!("`team status {session}`");
    match &outcome.decision {
        Decision::Answers { complete, all } if complete < all => {
            printer.note(format!("{complete} of {all} slots completed; {status} says why the others did not"));
        }
        Decision::Answers { .. } | Decision::Ranking => {}
        Decision::NothingUsable { complete, all } => {
            let what = if *complete == 0 { "nothing usable" } else { "`--strict`" };
            tell(format!("{what}: {complete} of {all} slots completed; {status} says why"));
        }
        Decision::Voted { verdict, short, .. } => {
            tell(task_summary(verdict));
            if *short {
                let missing = verdict.votes.missing;
                let all = verdict.votes.panel;
                tell(format!("`--strict`: {missing} of {all} members have no vote; {status} says why"));
            }
        }
        Decision::Reviewed(verdict) => tell(verdict.sentence.clone()),
        Decision::Fix { sentence, .. } => tell(sentence.clone()),
        Decision::NoDecision { why } => tell(format!("no decision: {why}")),
    }
    if failed && printer.verbosity() == Verbosity::Quiet {
        tell_unanswered(printer, outcome);
    }
    let folder = outcome.layout.root();
    if outcome.verdict.is_some() {
        printer.note(format!("session: {}", folder.display()));
    }
}

/// What becomes of a session in a temporary folder: where it is, or with `--legacy` its results under flat names.
fn leave_temporary(context: &Context, outcome: &Outcome, session: &str) -> Result<()> {
    let printer = &context.printer;
    let folder = outcome.layout.root();
    if !is_temporary(folder) {
        return Ok(());
    }
    let where_it_is = format!("the session is in a temporary folder; {}", to_keep(folder));
    if !engine::wants_flat_copies(&outcome.layout)? {
        // What was told at the beginning may be far up by now.
        printer.warning(where_it_is);
        return Ok(());
    }
    if outcome.verdict.is_none() {
        printer.note(format!(
            "there is no verdict, so nothing is copied to `{FLAT_FOLDER}/`: the names there would tell who wrote what"
        ));
        if matches!(outcome.decision, Decision::Answers { complete: 2.., .. }) && outcome.stop.is_none() {
            printer.note(format!("`team judge {session}` holds the votes, and copies the results then"));
        }
    } else {
        let copied = engine::copy_flat(&outcome.layout, &context.cwd.join(FLAT_FOLDER)).map_err(|error| {
            error
                .hint(format!("nothing is lost: the session is in `{}`", folder.display()))
                .hint(format!("`team resume {session}` copies what is missing once that is mended"))
        })?;
        for path in copied {
            printer.note(format!("copied: {}", path.strip_prefix(&context.cwd).unwrap_or(&path).display()));
        }
    }
    printer.note(where_it_is);
    Ok(())
}

/// A line for each slot and judge without an answer.
fn tell_unanswered(printer: &Printer, outcome: &Outcome) {
    // Why the command failed is told already; a session that cannot be read is `team status`'s to tell.
    let Ok(view) = View::read(outcome.layout.clone()) else { return };
    let round = view.round.as_ref().map(|(_, status)| status);
    for line in [Some(view.panel()), round].into_iter().flatten().flat_map(unanswered) {
        printer.shortfall(line);
    }
}
