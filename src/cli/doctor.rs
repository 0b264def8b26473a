//! `team doctor`: whether everything is ready, in a list that ends in one decisive line.

use std::path::Path;
use std::time::Duration;

use futures::future::LocalBoxFuture;
use serde::Serialize;

use super::args::DoctorArgs;
use super::context::Context;
use super::found;
use super::inventory::LocalModel;
use super::members;
use super::names;
use crate::config::{Config, Models, ResolvedModel};
use crate::error::{Error, ExitCode};
use crate::git::Git;

/// How long git may take to answer.
const GIT_LIMIT: Duration = Duration::from_secs(10);
/// Descriptors that one slot needs while it runs: pipes, logs, its answer, with room.
const DESCRIPTORS_PER_SLOT: u64 = 16;
/// Below this, a session may not fit.
const LITTLE_SPACE: u64 = 200 * 1024 * 1024;
/// Below this, it will not.
const NO_SPACE: u64 = 5 * 1024 * 1024;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// It works, but something should be known.
    Warning,
    /// It does not work.
    Failed,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    level: Level,
    text: String,
    hint: Option<String>,
}

impl Finding {
    /// As it should be.
    pub fn good(text: impl Into<String>) -> Self {
        Self { level: Level::Ok, text: text.into(), hint: None }
    }

    /// It works, but something should be known.
    pub fn warned(text: impl Into<String>) -> Self {
        Self { level: Level::Warning, text: text.into(), hint: None }
    }

    /// It does not work.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { level: Level::Failed, text: text.into(), hint: None }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// How it came out.
    #[must_use]
    pub const fn level(&self) -> Level {
        self.level
    }
}

/// Asks each model one short question; one finding for each, in order.
pub type DeepProbe<'a> = dyn Fn(Vec<ResolvedModel>) -> LocalBoxFuture<'a, Vec<Finding>> + 'a;

/// What other modules find out.
#[derive(Clone, Copy)]
pub(super) struct Hooks<'a> {
    /// Whether the managed local model is here.
    pub(super) local: Option<&'a dyn Fn() -> LocalModel>,
    /// What keeps slots apart on this machine.
    pub(super) isolation: Option<&'a dyn Fn() -> Finding>,
    /// Asks the models, for `--deep`.
    pub(super) deep: Option<&'a DeepProbe<'a>>,
}

#[derive(Debug, Serialize)]
struct Check {
    name: String,
    #[serde(flatten)]
    finding: Finding,
}

#[derive(Debug, Serialize)]
struct Report {
    version: u32,
    ready: bool,
    summary: String,
    checks: Vec<Check>,
}

/// Runs all checks; 0 when ready, 2 when not.
pub(super) async fn doctor(context: &Context, args: &DoctorArgs, hooks: &Hooks<'_>) -> Result<ExitCode, Error> {
    let report = Report::of(examine(context, args, hooks).await);
    if context.global.json {
        context.printer.json(&report)?;
    } else {
        context.printer.document(&report.text())?;
    }
    Ok(if report.ready { ExitCode::DONE } else { ExitCode::USAGE })
}

async fn examine(context: &Context, args: &DoctorArgs, hooks: &Hooks<'_>) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut add = |name: &str, finding: Finding| checks.push(Check { name: name.to_owned(), finding });
    let config = match Config::load(&context.cwd, &context.environment, context.global.settings()) {
        Ok(config) => config,
        Err(error) => {
            let error = Error::from(error);
            let finding = Finding::failed(error.to_string());
            add(
                "configuration",
                match error.hints().first() {
                    Some(hint) => finding.hint(hint),
                    None => finding,
                },
            );
            return checks;
        }
    };
    let files: Vec<String> = config.files().iter().map(ToString::to_string).collect();
    let files = if files.is_empty() { "no file; built-in settings".to_owned() } else { files.join(", ") };
    add(
        "configuration",
        match config.warnings() {
            [] => Finding::good(files),
            warnings => Finding::warned(warnings.join("; ")),
        },
    );
    let sessions = &config.settings().sessions_dir;
    add("sessions", writable(sessions));
    add("disk", space(sessions));
    add("temporary", temporary());

    let models = Models::new(&config, &context.environment);
    let mut listed: Vec<&String> = Vec::new();
    let settings = config.settings();
    let kinds = settings.contexts.values().filter_map(|entry| entry.panel.as_ref());
    let configured: Vec<&String> =
        settings.panel.iter().chain(kinds.clone().flatten()).chain(&settings.judges).collect();
    let found = match args.models.is_empty() && settings.panel.is_empty() {
        true => found::panel(context, &config).await.into_iter().map(|model| model.name).collect(),
        false => Vec::new(),
    };
    let panels = kinds.map(Vec::len).chain([settings.panel.len(), found.len()]);
    let slots = if args.models.is_empty() { panels.max().unwrap_or(0) } else { args.models.len() };
    // Whoever names models wants to know about those.
    let asked: Vec<&String> = match args.models.is_empty() {
        true => configured.into_iter().chain(&found).collect(),
        false => args.models.iter().collect(),
    };
    let asked_any = !asked.is_empty();
    for name in asked {
        if !listed.contains(&name) {
            listed.push(name);
        }
    }
    if args.models.is_empty()
        && let Err(error) = config.panel()
    {
        let hint = "name some with `-m`, or write `panel` into `team.toml`: `team init` begins one";
        let finding = match found.as_slice() {
            [] if asked_any => Finding::warned("only kinds of tasks have a panel; for others none is found here"),
            [] => Finding::failed(error.to_string()),
            found => {
                Finding::warned(format!("none is configured; a run asks what is found here: {}", found.join(", ")))
            }
        };
        add("panel", finding.hint(hint));
    }
    let local = hooks.local.map(|look| look());
    let looked = futures::future::join_all(listed.iter().map(|name| async {
        match models.resolve(name) {
            Ok(model) => {
                let finding = members::look_at(&model, &context.environment, local.as_ref()).await;
                (finding, Some(model))
            }
            Err(error) => {
                let finding = Finding::failed(error.to_string());
                let hint = error.hints().into_iter().next();
                (
                    match hint {
                        Some(hint) => finding.hint(hint),
                        None => finding,
                    },
                    None,
                )
            }
        }
    }))
    .await;
    let mut usable = Vec::new();
    // Where nobody can be asked the name is not what is wrong.
    let within_reach = looked.iter().filter(|(finding, _)| finding.level < Level::Failed && !settings.offline);
    let within_reach: Vec<ResolvedModel> = within_reach.filter_map(|(_, model)| model.clone()).collect();
    let unknown = names::unknown(context, &within_reach).await;
    for (name, (finding, model)) in listed.iter().zip(looked) {
        let wrong = unknown.iter().find(|wrong| wrong.is_about(name));
        let finding = match wrong {
            Some(wrong) => Finding { hint: wrong.hint(), ..Finding::failed(wrong.message()) },
            None => finding,
        };
        if finding.level < Level::Failed {
            usable.extend(model);
        }
        add(name, finding);
    }
    if let Some(probe) = hooks.isolation {
        add("isolation", probe());
    }
    add("descriptors", descriptors(slots.max(listed.len())));
    add(
        "git",
        match Git::new(&context.cwd, GIT_LIMIT).version().await {
            Ok(version) => Finding::good(version),
            Err(error) => Finding::warned(error.to_string())
                .hint("`team gate` and `team init` use it, and `--workspace` does to see what is tracked"),
        },
    );
    if args.deep {
        let asked: Vec<String> = usable.iter().map(|model| format!("{} (asked)", model.name)).collect();
        match hooks.deep {
            Some(deep) => asked.iter().zip(deep(usable).await).for_each(|(name, finding)| add(name, finding)),
            None => add("deep", Finding::failed("nothing can be asked in this build")),
        }
    }
    checks
}

impl Report {
    fn of(checks: Vec<Check>) -> Self {
        let at =
            |level: Level| checks.iter().filter(move |check| check.finding.level == level).map(|c| c.name.as_str());
        let failed: Vec<&str> = at(Level::Failed).collect();
        let warnings = at(Level::Warning).count();
        let summary = match (failed.is_empty(), warnings) {
            (false, _) => format!("not ready: {}", failed.join(", ")),
            (true, 0) => "ready: every check is good".to_owned(),
            (true, 1) => "ready: one warning above".to_owned(),
            (true, count) => format!("ready: {count} warnings above"),
        };
        Self { version: 1, ready: failed.is_empty(), summary, checks }
    }

    fn text(&self) -> String {
        let width = self.checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        for Check { name, finding } in &self.checks {
            let mark = match finding.level {
                Level::Ok => "ok     ",
                Level::Warning => "warning",
                Level::Failed => "FAILED ",
            };
            text.push_str(&format!("{mark}  {name:width$}  {}\n", finding.text));
            if let Some(hint) = &finding.hint {
                text.push_str(&format!("{:9}{:width$}  hint: {hint}\n", "", ""));
            }
        }
        text.push_str(&self.summary);
        text.push('\n');
        text
    }
}

/// Whether sessions can be made, without making anything: the file has no name and ends with its handle.
fn writable(sessions: &Path) -> Finding {
    let Some(folder) = nearest_existing(sessions) else {
        return Finding::failed(format!("`{}` has no folder to be made in", sessions.display()));
    };
    match tempfile::tempfile_in(folder) {
        Ok(_) if folder == sessions => Finding::good(format!("`{}` is writable", sessions.display())),
        Ok(_) => Finding::good(format!("`{}` can be made", sessions.display())),
        Err(error) => Finding::failed(format!("`{}` is not writable: {error}", folder.display()))
            .hint("choose another folder: `--sessions-dir`, `TEAM_SESSIONS_DIR`, or `sessions_dir` in `team.toml`"),
    }
}

/// Whether what slots are kept apart by can be made, in the same way.
fn temporary() -> Finding {
    let hint = "make that folder, or set `TMPDIR` to one that can be written to";
    match crate::fs::temporary_place() {
        Err(error) => Finding::failed(error.to_string()).hint(hint),
        Ok(place) => match tempfile::tempfile_in(&place) {
            Ok(_) => Finding::good(format!("`{}` is writable", place.display())),
            Err(error) => Finding::failed(format!("`{}` is not writable: {error}", place.display())).hint(hint),
        },
    }
}

fn nearest_existing(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| folder.exists())
}

fn space(sessions: &Path) -> Finding {
    let stat = nearest_existing(sessions).map(rustix::fs::statvfs);
    match stat {
        Some(Ok(stat)) => space_finding(stat.f_bavail.saturating_mul(stat.f_frsize)),
        Some(Err(error)) => Finding::warned(format!("cannot see how much space is left: {error}")),
        None => Finding::warned("cannot see how much space is left"),
    }
}

fn space_finding(free: u64) -> Finding {
    let text = format!("{} MB free", free / (1024 * 1024));
    match free {
        free if free < NO_SPACE => Finding::failed(text).hint("make room where the sessions are kept"),
        free if free < LITTLE_SPACE => Finding::warned(text),
        _ => Finding::good(text),
    }
}

fn descriptors(slots: usize) -> Finding {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    // The soft limit can be raised up to the hard one; no limit is none.
    descriptors_finding(limit.maximum.unwrap_or(u64::MAX), slots)
}

fn descriptors_finding(limit: u64, slots: usize) -> Finding {
    let needed = 64 + DESCRIPTORS_PER_SLOT * u64::try_from(slots).unwrap_or(u64::MAX / 64);
    let text = if limit == u64::MAX { "no limit".to_owned() } else { format!("up to {limit}") };
    if limit < needed {
        return Finding::warned(format!("{text}, and {slots} slots at once want {needed}"))
            .hint("raise it with `ulimit -n`, or use fewer `--jobs`");
    }
    Finding::good(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, finding: Finding) -> Check {
        Check { name: name.to_owned(), finding }
    }

    #[test]
    fn the_last_line_decides() {
        let report = Report::of(vec![
            check("sessions", Finding::good("writable")),
            check("claude", Finding::warned("old")),
            check("codex", Finding::failed("not installed").hint("install it")),
        ]);
        assert!(!report.ready);
        insta::assert_snapshot!(report.text(), @r"
        ok       sessions  writable
        warning  claude    old
        FAILED   codex     not installed
                           hint: install it
        not ready: codex
        ");
        assert_eq!(Report::of(vec![check("a", Finding::warned("x"))]).summary, "ready: one warning above");
        assert_eq!(Report::of(vec![check("a", Finding::good("x"))]).summary, "ready: every check is good");
    }

    #[test]
    fn a_folder_that_can_be_made_is_writable_and_nothing_is_left() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(writable(&dir.path().join("a/b")).level(), Level::Ok);
        assert_eq!(fs_err::read_dir(dir.path()).unwrap().count(), 0);
        let file = dir.path().join("file");
        crate::fs::replace(&file, b"").unwrap();
        assert_eq!(writable(&file.join("sessions")).level(), Level::Failed);
    }

    #[test]
    fn little_space_is_a_warning_and_none_a_failure() {
        assert_eq!(space_finding(1).level(), Level::Failed);
        assert_eq!(space_finding(50 * 1024 * 1024).level(), Level::Warning);
        assert_eq!(space_finding(u64::MAX).level(), Level::Ok);
    }

    #[test]
    fn descriptors_must_do_for_all_slots() {
        assert_eq!(descriptors_finding(256, 3).level(), Level::Ok);
        assert_eq!(descriptors_finding(256, 64).level(), Level::Warning);
        assert_eq!(descriptors_finding(u64::MAX, 512).text, "no limit");
    }
}
