//! What a model's name stands for once it is resolved.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod agent;
mod price;
mod vendor_key;
mod vendor_names;

pub use agent::{AgentKind, Setting};
pub use price::{AsOf, Price};

/// One member of a panel, with everything needed to ask it. No secret is in it: keys are named by their variable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedModel {
    /// The name as the user wrote it.
    pub name: String,
    /// What counts as the same model: its own answers are not shown to it.
    pub identity: ModelIdentity,
    /// How it is reached.
    pub target: Target,
    /// How it is asked.
    pub settings: ModelSettings,
}

/// Driver, program or provider, and model id; for `[models.x] command` the alias.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ModelIdentity(pub String);

impl fmt::Display for ModelIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a model is reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "driver")]
pub enum Target {
    /// A program that reads the prompt and prints an answer.
    #[serde(rename_all = "camelCase")]
    Process {
        /// Which program's habits apply.
        agent: AgentKind,
        /// The program and its arguments; for known agents only the program (and the model is in `model`).
        command: Vec<String>,
        /// The model to ask the program for, where one was named.
        model: Option<String>,
        /// How the prompt reaches it.
        prompt: PromptVia,
        /// What it prints.
        output: OutputFormat,
    },
    /// A model API.
    #[serde(rename_all = "camelCase")]
    Http {
        /// The endpoint.
        provider: Provider,
        /// The model's id there.
        model: String,
    },
    /// The managed local model; its server is started on first need.
    #[serde(rename_all = "camelCase")]
    Local {
        /// The model's id (`smollm2`).
        model: String,
    },
    /// A recorded stream.
    #[serde(rename_all = "camelCase")]
    Replay {
        /// The recording.
        file: PathBuf,
        /// Its format.
        output: OutputFormat,
        /// Bytes per second; `None` is full speed.
        pace: Option<u64>,
    },
}

/// How a prompt reaches a program. Never on its command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PromptVia {
    /// Standard input is the prompt file, at its end after the last byte.
    #[default]
    Stdin,
    /// An argument `{prompt_file}` is replaced by the path of the prompt file; standard input is empty.
    File,
}

/// What a program prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputFormat {
    /// The answer itself, byte for byte.
    #[default]
    Text,
    /// `claude --output-format stream-json`.
    ClaudeStreamJson,
    /// `codex exec --json`.
    CodexJson,
    /// `gemini --output-format stream-json`.
    GeminiJson,
    /// `opencode run --format json`.
    OpencodeJson,
}

impl OutputFormat {
    /// Every format, as written in `team.toml`.
    pub const ALL: [Self; 5] =
        [Self::Text, Self::ClaudeStreamJson, Self::CodexJson, Self::GeminiJson, Self::OpencodeJson];

    /// The name as written in `team.toml`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::ClaudeStreamJson => "claude-stream-json",
            Self::CodexJson => "codex-json",
            Self::GeminiJson => "gemini-json",
            Self::OpencodeJson => "opencode-json",
        }
    }
}

/// The wire format of a model API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// OpenAI's chat completions, which many servers speak.
    OpenaiChat,
    /// OpenAI's responses.
    OpenaiResponses,
    /// Anthropic's messages.
    AnthropicMessages,
    /// Google's `generateContent`.
    GeminiGenerate,
    /// Ollama's own chat.
    OllamaChat,
}

/// An endpoint that speaks one wire format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Provider {
    /// The name used before the `@`.
    pub name: String,
    /// The wire format.
    pub wire: Wire,
    /// The URL below which the wire's paths are (`http://127.0.0.1:8080/v1`).
    pub base_url: String,
    /// The variable that holds the key; `None` where no key is needed.
    pub api_key_env: Option<String>,
    /// Further headers; a value `${VAR}` is taken from the environment when the request is made.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Requests at once, over all slots and judges.
    pub max_concurrent: Option<usize>,
    /// Whether the provider takes a JSON schema for the output.
    #[serde(default)]
    pub json_schema: bool,
}

/// How a model is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelSettings {
    /// Environment for a program: values as written, `${VAR}` taken from the environment when it starts.
    pub env: BTreeMap<String, String>,
    /// A system prompt.
    pub system: Option<String>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    pub top_p: Option<f64>,
    /// Sampling seed.
    pub seed: Option<u64>,
    /// The most output tokens.
    pub max_tokens: Option<u64>,
    /// Reasoning effort, in the provider's words.
    pub reasoning_effort: Option<String>,
    /// The model's context in tokens; bounds a judge's prompt.
    pub context: Option<u64>,
    /// Whether an answer that was cut by its length limit counts as complete.
    pub accept_truncated: bool,
    /// What its tokens cost, where the user said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}
