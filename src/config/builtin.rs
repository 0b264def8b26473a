//! What is known without any file: limits, endpoints and agents.

use toml::Table;

use super::context_words;
use super::file::{FileSettings, ProviderEntry};
use super::rules::{Leaks, Passes, Recuse, Repair};
use super::{AgentKind, SelfVote, Wire};

/// Below the current directory (DESIGN 3).
pub(super) const SESSIONS_DIR: &str = "ai-docs/sessions";
/// Retries of a request that failed before its first answer byte (DESIGN 5).
pub(super) const RETRIES: u32 = 2;
/// The one managed local model.
pub const LOCAL_MODEL: &str = "smollm2";
/// Its context, prompt and answer together: more than this it was not made for.
pub const LOCAL_CONTEXT_TOKENS: u64 = 8192;

/// An endpoint that is known by name; addresses and variables are those of its public documentation.
struct KnownProvider {
    name: &'static str,
    wire: Wire,
    base_url: &'static str,
    api_key_env: Option<&'static str>,
    /// Whether every current model there takes a JSON schema for the output; where only some do, the user may say so.
    json_schema: bool,
}

/// OpenAI is asked by its Responses API because every one of its models answers there, some of them nowhere else; it
/// takes no `seed`, which `wire = "openai-chat"` brings back. Ollama is asked by its own API because the other one
/// cannot be told a context and cuts what does not fit.
const PROVIDERS: &[KnownProvider] = &[
    known("openai", Wire::OpenaiResponses, "https://api.openai.com/v1", Some("OPENAI_API_KEY"), true),
    known("anthropic", Wire::AnthropicMessages, "https://api.anthropic.com/v1", Some("ANTHROPIC_API_KEY"), true),
    known(
        "google",
        Wire::GeminiGenerate,
        "https://generativelanguage.googleapis.com/v1beta",
        Some("GEMINI_API_KEY"),
        true,
    ),
    known("openrouter", Wire::OpenaiChat, "https://openrouter.ai/api/v1", Some("OPENROUTER_API_KEY"), false),
    known("groq", Wire::OpenaiChat, "https://api.groq.com/openai/v1", Some("GROQ_API_KEY"), false),
    known("mistral", Wire::OpenaiChat, "https://api.mistral.ai/v1", Some("MISTRAL_API_KEY"), true),
    known("deepseek", Wire::OpenaiChat, "https://api.deepseek.com", Some("DEEPSEEK_API_KEY"), false),
    known("xai", Wire::OpenaiChat, "https://api.x.ai/v1", Some("XAI_API_KEY"), true),
    known("ollama", Wire::OllamaChat, "http://127.0.0.1:11434", None, true),
    known("lmstudio", Wire::OpenaiChat, "http://127.0.0.1:1234/v1", None, true),
    known("llamacpp", Wire::OpenaiChat, "http://127.0.0.1:8080/v1", None, true),
    known("vllm", Wire::OpenaiChat, "http://127.0.0.1:8000/v1", None, true),
];

const fn known(
    name: &'static str,
    wire: Wire,
    base_url: &'static str,
    api_key_env: Option<&'static str>,
    json_schema: bool,
) -> KnownProvider {
    KnownProvider { name, wire, base_url, api_key_env, json_schema }
}

/// The name of the host's own model: the same as `claude`.
pub(super) const INTERNAL: &str = "internal";

/// Whether `name` is an agent that can be asked by its bare name.
pub(super) fn is_agent(name: &str) -> bool {
    name == INTERNAL || AgentKind::KNOWN.iter().any(|agent| agent.program() == Some(name) && !agent.needs_model())
}

/// Whether `name` is an endpoint that is known without a file.
#[must_use]
pub fn is_known_provider(name: &str) -> bool {
    PROVIDERS.iter().any(|provider| provider.name == name)
}

/// The lowest layer.
pub(super) fn settings() -> Table {
    let providers = PROVIDERS.iter().map(|provider| {
        let entry = ProviderEntry {
            wire: Some(provider.wire),
            base_url: Some(provider.base_url.to_owned()),
            api_key_env: provider.api_key_env.map(str::to_owned),
            json_schema: Some(provider.json_schema),
            ..ProviderEntry::default()
        };
        (provider.name.to_owned(), entry)
    });
    let settings = FileSettings {
        sessions_dir: Some(SESSIONS_DIR.into()),
        self_vote: Some(SelfVote::Model),
        recuse: Some(Recuse::None),
        leaks: Some(Leaks::Mask),
        passes: Some(Passes::One),
        repair: Some(Repair::Once),
        retries: Some(RETRIES),
        offline: Some(false),
        contexts: context_words::known(),
        providers: providers.collect(),
        ..FileSettings::default()
    };
    // Plain strings and numbers always have a TOML form; the tests load it.
    Table::try_from(settings).unwrap_or_default()
}
