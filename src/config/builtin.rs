//! What is known without any file: limits, endpoints and agents.

use toml::Table;

use super::file::{FileSettings, ProviderEntry};
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
    base_url: &'static str,
    api_key_env: Option<&'static str>,
    /// Whether every model there takes a JSON schema for the output; where only some do, the user may say so.
    json_schema: bool,
}

const PROVIDERS: &[KnownProvider] = &[
    known("openai", "https://api.openai.com/v1", Some("OPENAI_API_KEY"), true),
    known("openrouter", "https://openrouter.ai/api/v1", Some("OPENROUTER_API_KEY"), false),
    known("groq", "https://api.groq.com/openai/v1", Some("GROQ_API_KEY"), false),
    known("mistral", "https://api.mistral.ai/v1", Some("MISTRAL_API_KEY"), true),
    known("deepseek", "https://api.deepseek.com/v1", Some("DEEPSEEK_API_KEY"), false),
    known("xai", "https://api.x.ai/v1", Some("XAI_API_KEY"), true),
    known("ollama", "http://127.0.0.1:11434/v1", None, true),
    known("lmstudio", "http://127.0.0.1:1234/v1", None, true),
    known("llamacpp", "http://127.0.0.1:8080/v1", None, true),
    known("vllm", "http://127.0.0.1:8000/v1", None, true),
];

const fn known(
    name: &'static str,
    base_url: &'static str,
    api_key_env: Option<&'static str>,
    json_schema: bool,
) -> KnownProvider {
    KnownProvider { name, base_url, api_key_env, json_schema }
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
            wire: Some(Wire::OpenaiChat),
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
        retries: Some(RETRIES),
        providers: providers.collect(),
        ..FileSettings::default()
    };
    // Plain strings and numbers always have a TOML form; the tests load it.
    Table::try_from(settings).unwrap_or_default()
}

/// Where a name of a later version is told what works today.
pub(super) fn later(name: &str) -> Option<String> {
    let (program, model) = name.split_once('@')?;
    let model = Some(model).filter(|model| !model.is_empty()).unwrap_or("MODEL");
    match program {
        "anthropic" => Some(format!("today: `claude:{model}`, or `openrouter@anthropic/{model}`")),
        "google" => Some(format!("today: `openrouter@google/{model}`")),
        _ => None,
    }
}
