//! `[gate]`: what CI looks at, who votes, and where the result goes.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::{Config, Limit, Origin, Threshold};
use crate::money::Usd;

/// How long a gate may take where nothing else is said.
const DEADLINE: Duration = Duration::from_secs(30 * 60);

/// The most bytes that a gate sends of what it looks at, where nothing else is said.
const MAX_BYTES: u64 = 256 * 1024;

/// `[gate]`, one layer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GateEntry {
    /// What is looked at.
    pub what: Option<GateSubject>,
    /// The file, where it is a plan; in a project file, relative to that file.
    pub plan: Option<PathBuf>,
    /// The program and its arguments, where it is what a command prints.
    pub command: Option<Vec<String>>,
    /// Who votes; the default panel where absent.
    pub panel: Option<Vec<String>>,
    /// The bar.
    pub threshold: Option<Threshold>,
    /// The fewest valid votes.
    pub quorum: Option<NonZeroU32>,
    /// The most that the votes may cost.
    pub max_cost: Option<Usd>,
    /// How long all of it may take.
    pub deadline: Option<Limit>,
    /// The most bytes that are sent of what is looked at.
    pub max_bytes: Option<NonZeroU64>,
    /// Patterns of files that nobody needs to look at.
    pub ignore: Option<Vec<String>>,
    /// What follows when other files were not looked at.
    pub omitted: Option<OmittedRule>,
    /// Where the result goes.
    #[serde(skip_serializing_if = "GateOutputs::is_empty")]
    pub outputs: GateOutputs,
}

/// Keys of `[gate]` that are settings of every command too.
const GENERAL: [&str; 4] = ["panel", "threshold", "deadline", "max_cost"];

/// Has what a variable sets in `layer` hold for the gate too, where a file below says otherwise in `[gate]`: that key is the
/// nearer one among files, and the environment is above all of them.
pub(super) fn over_gate(below: &Table, layer: &mut Table) {
    let Some(gate) = below.get("gate").and_then(Value::as_table) else { return };
    let over: Table = GENERAL
        .into_iter()
        .filter(|key| gate.contains_key(*key))
        .filter_map(|key| Some((key.to_owned(), layer.get(key)?.clone())))
        .collect();
    if !over.is_empty() {
        layer.insert("gate".to_owned(), Value::Table(over));
    }
}

/// What the environment sets for a gate, as key and variable.
pub(super) fn set_by_variables(config: &Config) -> Vec<(&'static str, &str)> {
    let holds = |key| config.origin(&["gate", key]).or_else(|| config.origin(&[key]));
    let variable = |key| match holds(key)? {
        Origin::Variable(name) => Some((key, name.as_str())),
        _ => None,
    };
    GENERAL.into_iter().filter_map(variable).collect()
}

impl GateEntry {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a gate looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateSubject {
    /// What the branch changes.
    #[default]
    Diff,
    /// A file of the branch.
    Plan,
    /// What a command prints.
    Command,
}

/// What follows when a file that changed was not looked at, and `ignore` does not name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OmittedRule {
    /// A person must look: the change is not approved.
    #[default]
    Person,
    /// It is told.
    Report,
}

/// `[gate.outputs]`: files relative to the project file they are named in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GateOutputs {
    /// JUnit XML.
    pub junit: Option<PathBuf>,
    /// SARIF 2.1.0.
    pub sarif: Option<PathBuf>,
    /// GitLab's code quality report.
    pub gitlab: Option<PathBuf>,
    /// Markdown.
    pub markdown: Option<PathBuf>,
    /// Annotations and the step summary of GitHub Actions.
    pub github: Option<bool>,
}

impl GateOutputs {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What holds of `[gate]` when all layers are put together.
#[derive(Debug, Clone, PartialEq)]
pub struct GateSettings {
    /// What is looked at.
    pub subject: GateSubject,
    /// The plan, absolute.
    pub plan: Option<PathBuf>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Who votes, where `[gate]` says so.
    pub panel: Vec<String>,
    /// The bar, where `[gate]` says so.
    pub threshold: Option<Threshold>,
    /// The fewest valid votes.
    pub quorum: Option<NonZeroU32>,
    /// The most that the votes may cost.
    pub max_cost: Option<Usd>,
    /// How long all of it may take; `None` for no limit.
    pub deadline: Option<Duration>,
    /// The most bytes that are sent of what is looked at.
    pub max_bytes: u64,
    /// Patterns of files that nobody needs to look at.
    pub ignore: Vec<String>,
    /// What follows when other files were not looked at.
    pub omitted: OmittedRule,
    /// Where the result goes, files absolute.
    pub outputs: GateOutputs,
}

impl GateSettings {
    /// Puts built-in values where `entry` has none; `folder_of` is where a key's relative path starts, `deadline` the one
    /// of every command.
    pub(super) fn of(entry: GateEntry, deadline: Option<Limit>, folder_of: impl Fn(&[&str]) -> PathBuf) -> Self {
        let mut outputs = entry.outputs;
        for (key, file) in [
            ("junit", &mut outputs.junit),
            ("sarif", &mut outputs.sarif),
            ("gitlab", &mut outputs.gitlab),
            ("markdown", &mut outputs.markdown),
        ] {
            if let Some(file) = file {
                *file = folder_of(&["gate", "outputs", key]).join(&*file);
            }
        }
        let deadline = match entry.deadline.or(deadline) {
            Some(limit) => limit.duration(),
            None => Some(DEADLINE),
        };
        Self {
            subject: entry.what.unwrap_or_default(),
            plan: entry.plan.map(|plan| folder_of(&["gate", "plan"]).join(plan)),
            command: entry.command.unwrap_or_default(),
            panel: entry.panel.unwrap_or_default(),
            threshold: entry.threshold,
            quorum: entry.quorum,
            max_cost: entry.max_cost,
            deadline,
            max_bytes: entry.max_bytes.map_or(MAX_BYTES, NonZeroU64::get),
            ignore: entry.ignore.unwrap_or_default(),
            omitted: entry.omitted.unwrap_or_default(),
            outputs,
        }
    }
}

/// What is wrong with the values of one layer: the key, what is wrong, what to do.
pub(super) fn wrong_with(entry: &GateEntry) -> Vec<(&'static str, String, &'static str)> {
    let mut wrong = Vec::new();
    if entry.command.as_ref().is_some_and(|command| command.first().is_none_or(String::is_empty)) {
        wrong.push(("command", "is empty".to_owned(), "write the program and its arguments as a list of strings"));
    }
    for (key, subject, given) in
        [("plan", GateSubject::Plan, entry.plan.is_some()), ("command", GateSubject::Command, entry.command.is_some())]
    {
        if given && entry.what.unwrap_or_default() != subject {
            wrong.push((
                key,
                "is given, and `gate.what` is another".to_owned(),
                "write `what` as well, or leave it out",
            ));
        }
    }
    if entry.panel.as_ref().is_some_and(Vec::is_empty) {
        wrong.push(("panel", "is empty".to_owned(), "name models, or leave `panel` out for the default panel"));
    }
    let GateOutputs { junit, sarif, gitlab, markdown, github: _ } = &entry.outputs;
    for (key, file) in
        [("outputs.junit", junit), ("outputs.sarif", sarif), ("outputs.gitlab", gitlab), ("outputs.markdown", markdown)]
    {
        match file.as_ref().and_then(|file| file.to_str()) {
            Some("-") => wrong.push((
                key,
                "is `-`: standard output is for whoever calls the gate to ask for".to_owned(),
                "name a file here, or give the option of this name on the command line",
            )),
            Some("") => wrong.push((key, "is empty".to_owned(), "name a file, or leave it out")),
            _ => {}
        }
    }
    for pattern in entry.ignore.iter().flatten() {
        if let Err(error) = globset::Glob::new(pattern) {
            let why = error.kind().to_string();
            wrong.push(("ignore", format!("has the pattern `{pattern}`: {why}"), "write it like `*.lock` or `gen/**`"));
        }
    }
    wrong
}
