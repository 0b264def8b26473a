//! `[gate]`: what CI looks at, who votes, and where the result goes.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::{Config, Limit, Origin, ReviewEntry, Threshold};
use crate::money::Usd;

/// How long a gate may take where nothing else is said.
const DEADLINE: Duration = Duration::from_secs(30 * 60);

/// The most bytes that a gate sends of what it looks at, where nothing else is said.
const MAX_BYTES: u64 = 256 * 1024;

/// `[gate]`, one layer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GateEntry {
    /// Whether a panel votes on it or reviews it.
    pub kind: Option<GateKind>,
    /// What is looked at.
    pub what: Option<GateSubject>,
    /// The file, where it is a plan; in a project file, relative to that file.
    pub plan: Option<PathBuf>,
    /// The program and its arguments, where it is what a command prints.
    pub command: Option<Vec<String>>,
    /// Who votes or reviews; the default panel where absent.
    pub panel: Option<Vec<String>>,
    /// The bar of a vote.
    pub threshold: Option<Threshold>,
    /// The fewest valid votes, or reviewers that can be read.
    pub quorum: Option<NonZeroU32>,
    /// The most that all of it may cost.
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

/// Keys of `[review]` that are settings of every command too.
const GENERAL_OF_REVIEWS: [&str; 1] = ["panel"];

/// Has what a variable sets in `layer` hold for gates and reviews too, where a file below says otherwise in `[gate]` or
/// `[review]`: that key is the nearer one among files, and the environment is above all of them.
pub(super) fn over_sections(below: &Table, layer: &mut Table) {
    for (section, keys) in [("gate", &GENERAL[..]), ("review", &GENERAL_OF_REVIEWS)] {
        let Some(there) = below.get(section).and_then(Value::as_table) else { continue };
        let over: Table = keys
            .iter()
            .filter(|key| there.contains_key(**key))
            .filter_map(|key| Some(((*key).to_owned(), layer.get(*key)?.clone())))
            .collect();
        if !over.is_empty() {
            layer.insert(section.to_owned(), Value::Table(over));
        }
    }
}

/// What the environment sets for a gate, as key and variable.
pub(super) fn set_by_variables(config: &Config) -> Vec<(&'static str, &str)> {
    let kind = config.settings().gate.kind;
    let general = |key| match kind {
        GateKind::Review => config.origin(&["review", key]).or_else(|| config.origin(&[key])),
        GateKind::Vote => config.origin(&[key]),
    };
    let holds = |key| config.origin(&["gate", key]).or_else(|| general(key));
    let variable = |key| match holds(key)? {
        Origin::Variable(name) => Some((key, name.as_str())),
        _ => None,
    };
    // A review has no bar that votes must reach.
    let is_used = |key: &&'static str| kind == GateKind::Vote || *key != "threshold";
    GENERAL.into_iter().filter(is_used).filter_map(variable).collect()
}

impl GateEntry {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a gate has a panel do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateKind {
    /// Its members vote on the whole.
    #[default]
    Vote,
    /// They look for faults, and vote on each.
    Review,
}

impl GateKind {
    /// The name as written in `team.toml` and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Vote => "vote",
            Self::Review => "review",
        }
    }
}

impl FromStr for GateKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = [Self::Vote, Self::Review].into_iter().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| format!("`{text}` is neither `vote` nor `review`"))
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
    /// Whether a panel votes on it or reviews it.
    pub kind: GateKind,
    /// What is looked at.
    pub subject: GateSubject,
    /// The plan, absolute.
    pub plan: Option<PathBuf>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Who votes or reviews, where `[gate]` says so, or for a review `[review]`.
    pub panel: Vec<String>,
    /// The bar of a vote, where `[gate]` says so.
    pub threshold: Option<Threshold>,
    /// The fewest valid votes, or reviewers that can be read.
    pub quorum: Option<NonZeroU32>,
    /// The most that all of it may cost.
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
    /// of every command, `review` what holds of every review.
    pub(super) fn of(
        entry: GateEntry,
        review: &ReviewEntry,
        deadline: Option<Limit>,
        folder_of: impl Fn(&[&str]) -> PathBuf,
    ) -> Self {
        let kind = entry.kind.unwrap_or_default();
        let general = match kind {
            GateKind::Vote => ReviewEntry::default(),
            GateKind::Review => review.clone(),
        };
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
            kind,
            subject: entry.what.unwrap_or_default(),
            plan: entry.plan.map(|plan| folder_of(&["gate", "plan"]).join(plan)),
            command: entry.command.unwrap_or_default(),
            panel: entry.panel.or(general.panel).unwrap_or_default(),
            threshold: entry.threshold,
            quorum: entry.quorum.or(general.quorum),
            max_cost: entry.max_cost,
            deadline,
            max_bytes: entry.max_bytes.or(general.max_bytes).map_or(MAX_BYTES, NonZeroU64::get),
            ignore: entry.ignore.or(general.ignore).unwrap_or_default(),
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
    if entry.kind == Some(GateKind::Review) {
        if entry.what == Some(GateSubject::Command) {
            wrong.push((
                "kind",
                "is `review`, and `gate.what` is `command`: only a change or a plan is reviewed".to_owned(),
                "have it voted on (`kind = \"vote\"`), or look at the change",
            ));
        }
        if entry.threshold.is_some() {
            wrong.push((
                "threshold",
                "is the bar of a vote, and `gate.kind` is `review`".to_owned(),
                "`fail_on` of `[review]` says what stops a change in a review",
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
