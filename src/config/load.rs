//! All layers put together.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err as fs;
use toml::{Table, Value};

use super::file::{ContextEntry, FileSettings, ModelEntry, ProviderEntry};
use super::gate::{over_sections, set_by_variables};
use super::layer::{Layers, Origin};
use super::problem::{ConfigError, Problem};
use super::rules::{OwnAnswers, Untracked, VoteRules};
use super::{
    Environment, FixSettings, GateSettings, GateSubject, ReviewSettings, SessionReuse, Threshold, Wire, builtin,
    imported, places, read, variables_layer,
};
use crate::error::Error;
use crate::money::Usd;

/// The settings that hold here and now, and where each came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    settings: Settings,
    layers: Layers,
    /// Where names, programs and recordings without a folder of their own are looked for.
    cwd: PathBuf,
    /// The files that were read, lowest layer first.
    files: Vec<Origin>,
    /// Where the user's file would be.
    user_file: Option<PathBuf>,
    /// What was passed over, for a person to read.
    warnings: Vec<String>,
}

/// Effective settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The models that answer when none are named on the command line; may be empty.
    pub panel: Vec<String>,
    /// The models that vote; empty for the panel itself.
    pub judges: Vec<String>,
    /// Where sessions are kept, absolute.
    pub sessions_dir: PathBuf,
    /// The rules of a vote.
    pub vote: VoteRules,
    /// The bar of a vote on a task.
    pub threshold: Threshold,
    /// How long a slot may take.
    pub timeout: Option<Duration>,
    /// How long a slot may be silent.
    pub idle_timeout: Option<Duration>,
    /// How long a command may take.
    pub deadline: Option<Duration>,
    /// Slots at once; all where `None`.
    pub jobs: Option<NonZeroUsize>,
    /// Retries of a request that failed before its first answer byte.
    pub retries: u32,
    /// The most that a command may spend; no limit where `None`.
    pub max_cost: Option<Usd>,
    /// Whether nothing is asked over the network but the models themselves.
    pub offline: bool,
    /// Kinds of tasks, those without a panel included.
    pub contexts: BTreeMap<String, ContextEntry>,
    /// The folder of which programs see a snapshot, absolute.
    pub workspace: Option<PathBuf>,
    /// Whether the snapshot has what git does not track.
    pub untracked: Untracked,
    /// Whether conversations are gone on with over the rounds of a pipeline.
    pub session_reuse: SessionReuse,
    /// Aliases.
    pub models: BTreeMap<String, ModelEntry>,
    /// Endpoints, the known ones included.
    pub providers: BTreeMap<String, ProviderEntry>,
    /// What CI runs.
    pub gate: GateSettings,
    /// Reviews.
    pub review: ReviewSettings,
    /// Who repairs, and what a repair must pass.
    pub fix: FixSettings,
}

/// The project's files as another revision than the one in the work tree has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectFiles {
    /// The root of the work tree: nothing in it is read.
    pub root: PathBuf,
    /// The nearest `team.toml`: where it would be, and its text.
    pub project: Option<(PathBuf, String)>,
    /// The nearest preferences of the earlier program.
    pub imported: Option<(PathBuf, String)>,
}

/// One effective value, for `team config`.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectiveValue<'a> {
    /// The keys that lead to it.
    pub keys: &'a [String],
    /// The value, as written.
    pub value: &'a Value,
    /// Where it came from.
    pub origin: &'a Origin,
}

impl Config {
    /// Loads built-in settings, an earlier program's preferences, the user's file, the project's, `TEAM_*` variables and `flags`, in this order.
    ///
    /// `cwd` is absolute. Everything that is wrong, in all layers, is one error.
    pub fn load(cwd: &Path, environment: &Environment, flags: FileSettings) -> Result<Self, ConfigError> {
        Self::load_from(cwd, environment, flags, None)
    }

    /// The same with the project's files as another revision has them. The user's file is not read where it lies in the
    /// work tree, for then whoever wrote the branch wrote it too.
    pub fn load_at(
        cwd: &Path,
        environment: &Environment,
        flags: FileSettings,
        files: &ProjectFiles,
    ) -> Result<Self, ConfigError> {
        Self::load_from(cwd, environment, flags, Some(files))
    }

    fn load_from(
        cwd: &Path,
        environment: &Environment,
        flags: FileSettings,
        at: Option<&ProjectFiles>,
    ) -> Result<Self, ConfigError> {
        let places = match at {
            None => places::find(cwd, environment),
            Some(files) => places::outside(&files.root, environment),
        };
        let mut layers = Layers::default();
        layers.lay(builtin::settings(), &Origin::BuiltIn);
        let mut problems = Vec::new();
        let mut warnings = places.warnings;
        let mut files = Vec::new();

        let imported = match at {
            None => places.imported.map(|path| (fs::read_to_string(&path).map_err(|error| error.to_string()), path)),
            Some(files) => files.imported.clone().map(|(path, text)| (Ok(text), path)),
        };
        if let Some((text, path)) = imported {
            match text.and_then(|text| imported::read(&text)) {
                Ok(table) => {
                    let origin = Origin::Imported(path);
                    layers.lay(table, &origin);
                    files.push(origin);
                }
                Err(reason) => warnings.push(format!("`{}` is not used: {reason}", path.display())),
            }
        }
        if let Some(path) = &places.user {
            lay_file(&mut layers, &mut files, &mut problems, path, Origin::User(path.clone()));
        }
        if let Some(path) = &places.project {
            lay_file(&mut layers, &mut files, &mut problems, path, Origin::Project(path.clone()));
        }
        if let Some((path, text)) = at.and_then(|files| files.project.as_ref()) {
            lay_text(&mut layers, &mut files, &mut problems, text, Origin::Project(path.clone()));
        }
        let (variables, wrong, slips) = variables_layer::read(environment);
        for (name, mut table) in variables {
            over_sections(&layers.table, &mut table);
            layers.lay(table, &Origin::Variable(name.to_owned()));
        }
        problems.extend(wrong);
        warnings.extend(slips);
        match Table::try_from(&flags) {
            Ok(table) => layers.lay(table, &Origin::Flag),
            Err(error) => problems.push(Problem::new("command line", error.to_string())),
        }
        if !problems.is_empty() {
            return Err(ConfigError { problems });
        }
        let effective: FileSettings = Value::Table(layers.table.clone()).try_into().map_err(|error| ConfigError {
            problems: vec![Problem::new("configuration", toml::de::Error::message(&error).to_owned())],
        })?;
        let settings = settle(cwd, &layers, effective)?;
        Ok(Self { settings, layers, cwd: cwd.to_owned(), files, user_file: places.user, warnings })
    }

    /// The effective settings.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The same settings for a command that may take so long, and spend so much where that is said.
    #[must_use]
    pub fn with_limits(mut self, deadline: Option<Duration>, max_cost: Option<Usd>) -> Self {
        self.settings.deadline = deadline;
        self.settings.max_cost = max_cost.or(self.settings.max_cost);
        self
    }

    /// The models that answer, or how to name some.
    pub fn panel(&self) -> Result<&[String], Error> {
        if self.settings.panel.is_empty() {
            return Err(Error::usage("no models are named")
                .hint("name them: `-m claude,codex`")
                .hint("or once for this project: `team init`, then edit `panel` in `team.toml`")
                .hint("`team models` lists what can be asked here"));
        }
        Ok(&self.settings.panel)
    }

    /// The models that vote: `judges`, else the panel.
    pub fn judges(&self) -> Result<&[String], Error> {
        if self.settings.judges.is_empty() { self.panel() } else { Ok(&self.settings.judges) }
    }

    /// What the environment sets for a gate, as key and variable: over whatever the base of a change says.
    #[must_use]
    pub fn gate_variables(&self) -> Vec<(&'static str, &str)> {
        set_by_variables(self)
    }

    /// Every effective value with its origin, ordered by key.
    pub fn values(&self) -> impl Iterator<Item = EffectiveValue<'_>> {
        self.layers.origins.iter().filter_map(|(keys, origin)| {
            let value = lookup(&self.layers.table, keys)?;
            Some(EffectiveValue { keys, value, origin })
        })
    }

    /// The files that were read, lowest layer first.
    #[must_use]
    pub fn files(&self) -> &[Origin] {
        &self.files
    }

    /// Where the user's file is or would be.
    #[must_use]
    pub fn user_file(&self) -> Option<&Path> {
        self.user_file.as_deref()
    }

    /// What was passed over, for a person to read.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The working directory that the settings were loaded for.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The folder that a relative path in the value at `keys` starts from: its project file's, else `cwd`.
    pub(super) fn folder_of(&self, keys: &[&str]) -> PathBuf {
        folder_of(&self.cwd, &self.layers, keys)
    }

    /// Where the value at `keys` came from.
    #[must_use]
    pub fn origin(&self, keys: &[&str]) -> Option<&Origin> {
        self.layers.origin(keys)
    }
}

fn lay_file(layers: &mut Layers, files: &mut Vec<Origin>, problems: &mut Vec<Problem>, path: &Path, origin: Origin) {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return;
        }
        Err(_) if path.is_dir() => {
            let hint = "settings are in a file of this name: move the folder away";
            return problems.push(Problem::new(path, "is a folder, not a file").hint(hint));
        }
        Err(error) => return problems.push(Problem::new(path, error.to_string())),
    };
    lay_text(layers, files, problems, &text, origin);
}

fn lay_text(layers: &mut Layers, files: &mut Vec<Origin>, problems: &mut Vec<Problem>, text: &str, origin: Origin) {
    match read::read(origin.file().unwrap_or(Path::new(places::PROJECT_FILE)), text) {
        Ok(table) => {
            layers.lay(table, &origin);
            files.push(origin);
        }
        Err(wrong) => problems.extend(wrong),
    }
}

/// Turns merged settings into effective ones; what only the whole can show is checked here.
fn settle(cwd: &Path, layers: &Layers, merged: FileSettings) -> Result<Settings, ConfigError> {
    let mut problems = Vec::new();
    for (alias, entry) in &merged.models {
        if entry.uses.is_none() && entry.command.is_none() && !builtin::is_agent(alias) {
            problems.push(
                Problem::new(
                    place_of(layers, &["models", alias]),
                    format!("`[models.{alias}]` has neither `use` nor `command`"),
                )
                .hint("say what it stands for: `use = \"claude:opus\"`"),
            );
        }
    }
    for (name, entry) in &merged.providers {
        let url = entry.base_url.as_deref().unwrap_or_default().trim_end_matches('/');
        let below = ["/v1", "/api"].into_iter().find(|path| url.ends_with(path));
        if let (Some(Wire::OllamaChat), Some(below)) = (entry.wire, below) {
            let chat = if below == "/v1" { ", or write `wire = \"openai-chat\"`" } else { "" };
            problems.push(
                Problem::new(
                    place_of(layers, &["providers", name]),
                    format!("`[providers.{name}]` has the `base_url` `{url}`, where `ollama-chat` is not spoken"),
                )
                .hint(format!("leave `{below}` out{chat}")),
            );
        }
        for (missing, key) in [(entry.wire.is_none(), "wire"), (entry.base_url.is_none(), "base_url")] {
            if missing {
                problems.push(
                    Problem::new(
                        place_of(layers, &["providers", name]),
                        format!("`[providers.{name}]` has no `{key}`"),
                    )
                    .hint("for example `wire = \"openai-chat\"`, `base_url = \"http://127.0.0.1:8080/v1\"`"),
                );
            }
        }
    }
    let gate = &merged.gate;
    for (subject, key, missing) in
        [(GateSubject::Plan, "plan", gate.plan.is_none()), (GateSubject::Command, "command", gate.command.is_none())]
    {
        if gate.what == Some(subject) && missing {
            let message = format!("`gate.what` is `{key}`, and there is no `gate.{key}`");
            problems.push(Problem::new(place_of(layers, &["gate"]), message).hint(format!("add `{key}` to `[gate]`")));
        }
    }
    if !problems.is_empty() {
        return Err(ConfigError { problems });
    }
    let gate = merged.gate;
    let gate = GateSettings::of(gate, &merged.review, merged.deadline, |keys| folder_of(cwd, layers, keys));
    let sessions_dir = merged.sessions_dir.unwrap_or_else(|| PathBuf::from(builtin::SESSIONS_DIR));
    Ok(Settings {
        panel: merged.panel.unwrap_or_default(),
        judges: merged.judges.unwrap_or_default(),
        sessions_dir: folder_of(cwd, layers, &["sessions_dir"]).join(sessions_dir),
        vote: VoteRules {
            own: OwnAnswers {
                self_vote: merged.self_vote.unwrap_or_default(),
                recuse: merged.recuse.unwrap_or_default(),
            },
            leaks: merged.leaks.unwrap_or_default(),
            passes: merged.passes.unwrap_or_default(),
            repair: merged.repair.unwrap_or_default(),
        },
        threshold: merged.threshold.unwrap_or_default(),
        timeout: merged.timeout.and_then(super::Limit::duration),
        idle_timeout: merged.idle_timeout.and_then(super::Limit::duration),
        deadline: merged.deadline.and_then(super::Limit::duration),
        jobs: merged.jobs,
        retries: merged.retries.unwrap_or(builtin::RETRIES),
        max_cost: merged.max_cost,
        offline: merged.offline.unwrap_or_default(),
        contexts: merged.contexts,
        workspace: merged.workspace.map(|folder| folder_of(cwd, layers, &["workspace"]).join(folder)),
        untracked: merged.untracked.unwrap_or_default(),
        session_reuse: merged.pipeline.session_reuse.unwrap_or_default(),
        models: merged.models,
        providers: merged.providers,
        gate,
        review: ReviewSettings::of(merged.review),
        fix: FixSettings::of(merged.fix),
    })
}

fn folder_of(cwd: &Path, layers: &Layers, keys: &[&str]) -> PathBuf {
    match layers.origin(keys) {
        Some(Origin::Project(file)) => file.parent().unwrap_or(cwd).to_owned(),
        _ => cwd.to_owned(),
    }
}

/// The file that a section's first value came from.
fn place_of(layers: &Layers, keys: &[&str]) -> PathBuf {
    let inside = |known: &[String]| known.len() > keys.len() && known.iter().zip(keys).all(|(a, b)| a == b);
    layers
        .origins
        .iter()
        .filter(|(known, _)| inside(known))
        .max_by_key(|(_, origin)| *origin)
        .map_or_else(|| PathBuf::from("configuration"), |(_, origin)| PathBuf::from(origin.to_string()))
}

fn lookup<'a>(table: &'a Table, keys: &[String]) -> Option<&'a Value> {
    let (last, parents) = keys.split_last()?;
    let table = parents.iter().try_fold(table, |table, key| table.get(key)?.as_table())?;
    table.get(last)
}
