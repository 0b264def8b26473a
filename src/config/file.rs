//! What may stand in `team.toml` and in the user's `config.toml`.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{Leaks, Passes, Recuse, Repair, Untracked};
use super::{FixEntry, GateEntry, Limit, OutputFormat, PipelineEntry, Price, PromptVia, ReviewEntry, Threshold, Wire};
use crate::money::Usd;

/// One layer of settings; what is `None` or absent is left to the layers below.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileSettings {
    /// The models that answer when none are named on the command line.
    pub panel: Option<Vec<String>>,
    /// The models that vote; the panel itself where absent.
    pub judges: Option<Vec<String>>,
    /// Where sessions are kept; in a project file, relative to that file.
    pub sessions_dir: Option<PathBuf>,
    /// Which answers are kept from their own author's eyes.
    pub self_vote: Option<SelfVote>,
    /// Whose answers a judge does not see beside its own.
    pub recuse: Option<Recuse>,
    /// What happens to text by which an author names itself.
    pub leaks: Option<Leaks>,
    /// How often each judge is asked.
    pub passes: Option<Passes>,
    /// Whether a judge is asked once more for what its ballot lacks.
    pub repair: Option<Repair>,
    /// How long a slot may take.
    pub timeout: Option<Limit>,
    /// How long a slot may be silent.
    pub idle_timeout: Option<Limit>,
    /// How long a command may take.
    pub deadline: Option<Limit>,
    /// Slots at once.
    pub jobs: Option<NonZeroUsize>,
    /// Retries of a request that failed before its first answer byte.
    pub retries: Option<u32>,
    /// The folder of which programs see a snapshot; in a project file, relative to that file.
    pub workspace: Option<PathBuf>,
    /// Whether the snapshot has what git does not track.
    pub untracked: Option<Untracked>,
    /// The bar of a vote on a task.
    pub threshold: Option<Threshold>,
    /// Aliases.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, ModelEntry>,
    /// Endpoints.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub providers: BTreeMap<String, ProviderEntry>,
    /// The most that a command may spend.
    pub max_cost: Option<Usd>,
    /// Whether nothing is asked over the network but the models themselves.
    pub offline: Option<bool>,
    /// Panels by kind of task.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub contexts: BTreeMap<String, ContextEntry>,
    /// What CI runs.
    #[serde(skip_serializing_if = "GateEntry::is_empty")]
    pub gate: GateEntry,
    /// Reviews.
    #[serde(skip_serializing_if = "ReviewEntry::is_empty")]
    pub review: ReviewEntry,
    /// Who repairs, and what a repair must pass.
    #[serde(skip_serializing_if = "FixEntry::is_empty")]
    pub fix: FixEntry,
    /// Reviews and repairs that go over rounds.
    #[serde(skip_serializing_if = "PipelineEntry::is_empty")]
    pub pipeline: PipelineEntry,
}

/// `[models.ALIAS]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelEntry {
    /// The name it stands for.
    #[serde(rename = "use")]
    pub uses: Option<String>,
    /// A program and its arguments.
    pub command: Option<Vec<String>>,
    /// How the prompt reaches the program.
    pub prompt: Option<PromptVia>,
    /// What the program prints.
    pub output: Option<OutputFormat>,
    /// Variables for the program; `${VAR}` is filled in when it starts.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Context in tokens.
    pub context: Option<u64>,
    /// System prompt.
    pub system: Option<String>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    pub top_p: Option<f64>,
    /// Sampling seed.
    pub seed: Option<u64>,
    /// The most output tokens.
    pub max_tokens: Option<u64>,
    /// Reasoning effort.
    pub reasoning_effort: Option<String>,
    /// Whether an answer cut by its length limit counts as complete.
    pub accept_truncated: Option<bool>,
    /// What it costs.
    pub price: Option<Price>,
}

/// `[providers.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProviderEntry {
    /// The wire format.
    pub wire: Option<Wire>,
    /// The URL below which the wire's paths are.
    pub base_url: Option<String>,
    /// The variable that holds the key.
    pub api_key_env: Option<String>,
    /// Further headers; `${VAR}` is filled in when the request is made.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Requests at once.
    pub max_concurrent: Option<NonZeroUsize>,
    /// Whether it takes a JSON schema for the output.
    pub json_schema: Option<bool>,
}

/// `[contexts.NAME]`: a kind of task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextEntry {
    /// The models that answer such a task.
    pub panel: Option<Vec<String>>,
    /// The words by which a task is known to be of this kind.
    pub words: Option<Vec<String>>,
}

/// Which answers are kept from their own author's eyes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SelfVote {
    /// A judge does not see answers of its own identity.
    #[default]
    Model,
    /// A judge does not see its own seat's answer; other seats of the same model are shown.
    Slot,
    /// A judge sees every answer.
    Include,
}

impl SelfVote {
    /// Every rule.
    pub const ALL: [Self; 3] = [Self::Model, Self::Slot, Self::Include];

    /// The name as written in `team.toml` and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Slot => "slot",
            Self::Include => "include",
        }
    }
}

impl fmt::Display for SelfVote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SelfVote {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|rule| rule.as_str() == text)
            .ok_or_else(|| format!("`{text}` is none of `model`, `slot`, `include`"))
    }
}

/// The keys at the top of a file.
pub(super) const TOP_KEYS: &[&str] = &[
    "panel",
    "judges",
    "sessions_dir",
    "self_vote",
    "recuse",
    "leaks",
    "passes",
    "repair",
    "timeout",
    "idle_timeout",
    "deadline",
    "jobs",
    "retries",
    "workspace",
    "untracked",
    "threshold",
    "models",
    "providers",
    "max_cost",
    "offline",
    "contexts",
    "gate",
    "review",
    "fix",
    "pipeline",
];
/// The keys of `[models.ALIAS]`.
pub(super) const MODEL_KEYS: &[&str] = &[
    "use",
    "command",
    "prompt",
    "output",
    "env",
    "context",
    "system",
    "temperature",
    "top_p",
    "seed",
    "max_tokens",
    "reasoning_effort",
    "accept_truncated",
    "price",
];
/// The keys of `price`.
pub(super) const PRICE_KEYS: &[&str] = &["input", "cached_input", "output", "as_of"];
/// The keys of `[providers.NAME]`.
pub(super) const PROVIDER_KEYS: &[&str] =
    &["wire", "base_url", "api_key_env", "headers", "max_concurrent", "json_schema"];
/// The keys of `[contexts.NAME]`.
pub(super) const CONTEXT_KEYS: &[&str] = &["panel", "words"];

/// The keys of `[gate]`.
pub(super) const GATE_KEYS: &[&str] = &[
    "kind",
    "what",
    "plan",
    "command",
    "panel",
    "threshold",
    "quorum",
    "max_cost",
    "deadline",
    "max_bytes",
    "ignore",
    "omitted",
    "outputs",
];
/// The keys of `[gate.outputs]`.
pub(super) const GATE_OUTPUT_KEYS: &[&str] = &["junit", "sarif", "gitlab", "markdown", "github"];

/// The keys of `[fix]`.
const FIX_KEYS: &[&str] = &["fixer", "test", "lint", "scope", "max_rounds", "check_timeout"];

/// The keys of `[review]`.
pub(super) const REVIEW_KEYS: &[&str] = &["panel", "judges", "fail_on", "quorum", "max_bytes", "ignore"];
/// The keys of `[pipeline]`.
pub(super) const PIPELINE_KEYS: &[&str] = &["session_reuse"];

/// The keys that may stand in the table at `path`, as far as they are fixed.
pub(super) fn known_keys(path: &[String]) -> &'static [&'static str] {
    match path {
        [] => TOP_KEYS,
        [section] if section == "gate" => GATE_KEYS,
        [section] if section == "pipeline" => PIPELINE_KEYS,
        [section, outputs] if section == "gate" && outputs == "outputs" => GATE_OUTPUT_KEYS,
        [section] if section == "review" => REVIEW_KEYS,
        [section] if section == "fix" => FIX_KEYS,
        [section, _] if section == "models" => MODEL_KEYS,
        [section, _] if section == "providers" => PROVIDER_KEYS,
        [section, _] if section == "contexts" => CONTEXT_KEYS,
        [section, _, price] if section == "models" && price == "price" => PRICE_KEYS,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{FailOn, GateOutputs, SessionReuse};

    fn struct_keys<T: Serialize>(value: &T) -> Vec<String> {
        // JSON keeps the absent ones, so this is the list of all fields.
        let serde_json::Value::Object(map) = serde_json::to_value(value).unwrap() else { unreachable!() };
        map.keys().cloned().collect()
    }

    #[test]
    fn the_lists_of_keys_are_those_of_the_structs() {
        let pipeline = PipelineEntry { session_reuse: Some(SessionReuse::Off) };
        let env = BTreeMap::from([("x".to_owned(), "x".to_owned())]);
        let model = ModelEntry { env: env.clone(), ..ModelEntry::default() };
        let provider = ProviderEntry { headers: env, ..ProviderEntry::default() };
        let gate =
            GateEntry { outputs: GateOutputs { github: Some(true), ..GateOutputs::default() }, ..GateEntry::default() };
        let context = ContextEntry::default();
        let fix = FixEntry { max_rounds: Some(1), ..FixEntry::default() };
        let review = ReviewEntry { fail_on: Some(FailOn::default()), ..ReviewEntry::default() };
        let top = FileSettings {
            models: BTreeMap::from([("x".to_owned(), model.clone())]),
            providers: BTreeMap::from([("x".to_owned(), provider.clone())]),
            contexts: BTreeMap::from([("x".to_owned(), context.clone())]),
            gate: gate.clone(),
            review: review.clone(),
            fix: fix.clone(),
            pipeline,
            ..FileSettings::default()
        };
        assert_eq!(struct_keys(&top), TOP_KEYS);
        assert_eq!(struct_keys(&model), MODEL_KEYS);
        assert_eq!(struct_keys(&provider), PROVIDER_KEYS);
        assert_eq!(struct_keys(&context), CONTEXT_KEYS);
        assert_eq!(struct_keys(&Price::default()), PRICE_KEYS);
        assert_eq!(struct_keys(&gate), GATE_KEYS);
        assert_eq!(struct_keys(&review), REVIEW_KEYS);
        assert_eq!(struct_keys(&fix), FIX_KEYS);
        assert_eq!(struct_keys(&pipeline), PIPELINE_KEYS);
        assert_eq!(struct_keys(&gate.outputs), GATE_OUTPUT_KEYS);
    }
}
