//! Which provider's key a program with many providers needs: read off the model that it is asked for.
//!
//! The names of variables are those that the programs document. A model whose provider is not in a table gets no key
//! of its own accord: `env` of its `[models.x]` names one, or the program's own settings hold it.

use super::AgentKind;
use super::vendor_names::further_names;

/// A provider as a program knows it.
struct Vendor {
    /// Its names before the `@` or `/` of a model.
    names: &'static [&'static str],
    /// How its models begin where no provider is named.
    models: &'static [&'static str],
    /// The variables that hold its key, and those without which the key is of no use.
    keys: &'static [&'static str],
    /// The variables that say where it is.
    addresses: &'static [&'static str],
}

const fn vendor(
    names: &'static [&'static str],
    models: &'static [&'static str],
    keys: &'static [&'static str],
    addresses: &'static [&'static str],
) -> Vendor {
    Vendor { names, models, keys, addresses }
}

/// The providers of claudish 10.1.1; the first that fits decides.
const CLAUDISH: &[Vendor] = &[
    vendor(
        &["anthropic"],
        &["claude-"],
        &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
        &[],
    ),
    vendor(&["openrouter", "or"], &[], &["OPENROUTER_API_KEY"], &[]),
    vendor(&["google", "gemini", "g"], &["gemini-"], &["GEMINI_API_KEY", "GOOGLE_API_KEY"], &["GEMINI_BASE_URL"]),
    vendor(&["openai", "oai"], &["gpt-", "o1", "o3", "chatgpt-"], &["OPENAI_API_KEY"], &["OPENAI_BASE_URL"]),
    vendor(
        &["openai-codex", "codex", "cx"],
        &[],
        &["OPENAI_CODEX_API_KEY", "OPENAI_API_KEY"],
        &["OPENAI_CODEX_BASE_URL"],
    ),
    vendor(&["x-ai", "xai", "grok"], &["grok-"], &["XAI_API_KEY"], &[]),
    vendor(&["minimax", "mm", "mmax"], &["minimax-", "abab-"], &["MINIMAX_API_KEY"], &["MINIMAX_BASE_URL"]),
    vendor(&["minimax-coding", "mmc"], &[], &["MINIMAX_CODING_API_KEY"], &["MINIMAX_CODING_BASE_URL"]),
    vendor(&["kimi-coding", "kc"], &["kimi-for-coding"], &["KIMI_CODING_API_KEY"], &["KIMI_CODING_BASE_URL"]),
    vendor(
        &["kimi", "moon", "moonshot", "moonshotai"],
        &["kimi-", "moonshot-"],
        &["MOONSHOT_API_KEY", "KIMI_API_KEY"],
        &["MOONSHOT_BASE_URL", "KIMI_BASE_URL"],
    ),
    vendor(
        &["glm", "zhipu"],
        &["glm-", "chatglm-"],
        &["ZHIPU_API_KEY", "GLM_API_KEY"],
        &["ZHIPU_BASE_URL", "GLM_BASE_URL"],
    ),
    vendor(&["glm-coding", "gc"], &[], &["GLM_CODING_API_KEY", "ZAI_CODING_API_KEY"], &[]),
    vendor(&["z-ai", "zai"], &[], &["ZAI_API_KEY"], &["ZAI_BASE_URL"]),
    vendor(
        &["ollamacloud", "oc", "llama", "lc", "meta", "meta-llama"],
        &["llama-", "llama3"],
        &["OLLAMA_API_KEY"],
        &["OLLAMACLOUD_BASE_URL"],
    ),
    vendor(&["opencode-zen", "zen"], &[], &["OPENCODE_API_KEY"], &["OPENCODE_BASE_URL"]),
    vendor(&["opencode-zen-go", "zengo", "zgo"], &[], &["OPENCODE_GO_API_KEY"], &["OPENCODE_GO_BASE_URL"]),
    vendor(
        &["vertex", "v"],
        &[],
        &["GOOGLE_APPLICATION_CREDENTIALS"],
        &["VERTEX_PROJECT", "VERTEX_LOCATION", "GOOGLE_CLOUD_PROJECT"],
    ),
    vendor(&["litellm", "ll"], &[], &["LITELLM_API_KEY"], &["LITELLM_BASE_URL"]),
    vendor(&["poe"], &[], &["POE_API_KEY"], &[]),
    vendor(&["deepseek", "ds"], &["deepseek-"], &["DEEPSEEK_API_KEY"], &["DEEPSEEK_BASE_URL"]),
    vendor(
        &["mistralai", "mistral"],
        &["mistral-", "ministral-", "codestral-"],
        &["MISTRAL_API_KEY"],
        &["MISTRAL_BASE_URL"],
    ),
    vendor(&["sakana", "fugu"], &["fugu"], &["SAKANA_API_KEY"], &["SAKANA_BASE_URL"]),
    vendor(
        &["sakana-subscription", "sc"],
        &[],
        &["SAKANA_SUBSCRIPTION_API_KEY", "SAKANA_CODING_API_KEY"],
        &["SAKANA_BASE_URL"],
    ),
    vendor(&["qwen-payg", "qpay"], &[], &["DASHSCOPE_API_KEY"], &["DASHSCOPE_BASE_URL"]),
    vendor(&["qwen-coding", "qcode"], &[], &["QWEN_CODING_PLAN_API_KEY"], &["QWEN_CODING_PLAN_BASE_URL"]),
    vendor(&["qwen-token-plan", "qtoken"], &[], &["QWEN_TOKEN_PLAN_API_KEY"], &["QWEN_TOKEN_PLAN_BASE_URL"]),
    vendor(&["ollama"], &[], &[], &["OLLAMA_BASE_URL", "OLLAMA_HOST"]),
    vendor(&["lmstudio", "lms", "mlstudio"], &[], &["LMSTUDIO_API_KEY"], &["LMSTUDIO_BASE_URL"]),
    vendor(&["vllm"], &[], &["VLLM_API_KEY"], &["VLLM_BASE_URL"]),
    vendor(&["mlx"], &[], &["MLX_API_KEY"], &["MLX_BASE_URL"]),
];

/// The models of `llm` 0.36 itself and of its best-known plug-ins.
const LLM: &[Vendor] = &[
    vendor(&["anthropic"], &["claude-"], &["ANTHROPIC_API_KEY"], &[]),
    vendor(&["gemini"], &["gemini-"], &["LLM_GEMINI_KEY"], &[]),
    vendor(&["openrouter"], &[], &["OPENROUTER_KEY"], &[]),
    vendor(&["mistral"], &["mistral-", "ministral-", "codestral"], &["LLM_MISTRAL_KEY"], &[]),
    vendor(
        &["openai"],
        &["gpt-", "gpt4", "4o", "4.1", "4-turbo", "4t", "3.5", "chatgpt", "o1", "o3", "o4-"],
        &["OPENAI_API_KEY"],
        &[],
    ),
];

/// Providers of opencode 1.18, by their ids in the catalogue <https://models.dev>.
const OPENCODE: &[Vendor] = &[
    vendor(&["alibaba"], &[], &["DASHSCOPE_API_KEY"], &[]),
    vendor(
        &["amazon-bedrock"],
        &[],
        &["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"],
        &["AWS_REGION", "AWS_PROFILE"],
    ),
    vendor(&["anthropic"], &[], &["ANTHROPIC_API_KEY"], &[]),
    vendor(&["azure"], &[], &["AZURE_API_KEY"], &["AZURE_RESOURCE_NAME"]),
    vendor(&["cerebras"], &[], &["CEREBRAS_API_KEY"], &[]),
    vendor(&["cohere"], &[], &["COHERE_API_KEY"], &[]),
    vendor(&["deepinfra"], &[], &["DEEPINFRA_API_KEY"], &[]),
    vendor(&["deepseek"], &[], &["DEEPSEEK_API_KEY"], &[]),
    vendor(&["fireworks-ai"], &[], &["FIREWORKS_API_KEY"], &[]),
    vendor(&["github-models"], &[], &["GITHUB_TOKEN"], &[]),
    vendor(&["google"], &[], &["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"], &[]),
    vendor(
        &["google-vertex", "google-vertex-anthropic"],
        &[],
        &["GOOGLE_APPLICATION_CREDENTIALS"],
        &["GOOGLE_VERTEX_PROJECT", "GOOGLE_VERTEX_LOCATION", "GOOGLE_CLOUD_PROJECT", "VERTEX_LOCATION"],
    ),
    vendor(&["groq"], &[], &["GROQ_API_KEY"], &[]),
    vendor(&["huggingface"], &[], &["HF_TOKEN"], &[]),
    vendor(&["minimax"], &[], &["MINIMAX_API_KEY"], &[]),
    vendor(&["mistral"], &[], &["MISTRAL_API_KEY"], &[]),
    vendor(&["moonshotai", "moonshotai-cn"], &[], &["MOONSHOT_API_KEY"], &[]),
    vendor(&["nvidia"], &[], &["NVIDIA_API_KEY"], &[]),
    vendor(&["openai"], &[], &["OPENAI_API_KEY"], &[]),
    vendor(&["opencode"], &[], &["OPENCODE_API_KEY"], &[]),
    vendor(&["openrouter"], &[], &["OPENROUTER_API_KEY"], &[]),
    vendor(&["perplexity"], &[], &["PERPLEXITY_API_KEY"], &[]),
    vendor(&["togetherai"], &[], &["TOGETHER_API_KEY"], &[]),
    vendor(&["vercel"], &[], &["AI_GATEWAY_API_KEY"], &[]),
    vendor(&["xai"], &[], &["XAI_API_KEY"], &[]),
    vendor(&["zai", "zai-coding-plan", "zhipuai", "zhipuai-coding-plan"], &[], &["ZHIPU_API_KEY"], &[]),
];

impl AgentKind {
    /// Whether the provider, and with it the key, depends on the model that it is asked for.
    #[must_use]
    pub const fn has_many_vendors(self) -> bool {
        matches!(self, Self::Claudish | Self::Llm)
    }

    /// Names of variables that hold the key for `model`, as the program documents them.
    #[must_use]
    pub fn keys_for(self, model: Option<&str>) -> &'static [&'static str] {
        match self.vendor_of(model) {
            Some(vendor) => vendor.keys,
            None => self.key_variables(),
        }
    }

    /// Names of variables that say where the provider of `model` is.
    #[must_use]
    pub fn addresses_for(self, model: Option<&str>) -> &'static [&'static str] {
        self.vendor_of(model).map_or(&[], |vendor| vendor.addresses)
    }

    /// Words for the provider of `model`: its names, the beginning of a route to it (`or@`), its addresses.
    #[must_use]
    pub fn vendor_words(self, model: Option<&str>) -> Vec<String> {
        let Some(vendor) = self.vendor_of(model) else { return Vec::new() };
        let routes = vendor.names.iter().map(|name| format!("{name}@"));
        // Shorter ones stand in ordinary text.
        let names = vendor.names.iter().filter(|name| name.len() >= 3).map(|name| (*name).to_owned());
        let further = vendor.names.iter().flat_map(|name| further_names(name)).map(|name| (*name).to_owned());
        routes.chain(names).chain(further).collect()
    }

    fn vendor_of(self, model: Option<&str>) -> Option<&'static Vendor> {
        let table = match self {
            Self::Claudish => CLAUDISH,
            Self::Llm => LLM,
            Self::Opencode => OPENCODE,
            _ => return None,
        };
        let model = model?.to_ascii_lowercase();
        if model.starts_with("http://") || model.starts_with("https://") {
            return None;
        }
        match model.split_once(['@', '/', ':']) {
            // `ollama:llama3` and `poe:GPT-4o` name a provider, `qwen:7b` a size.
            Some((name, _)) => table.iter().find(|vendor| vendor.names.contains(&name)),
            None => table.iter().find(|vendor| vendor.models.iter().any(|beginning| model.starts_with(beginning))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_says_whose_key_is_needed() {
        for (model, key) in [
            ("or@openai/gpt-5.3", "OPENROUTER_API_KEY"),
            ("openrouter@deepseek/deepseek-r1", "OPENROUTER_API_KEY"),
            ("google@gemini-3-pro", "GEMINI_API_KEY"),
            ("G@gemini-3-pro", "GEMINI_API_KEY"),
            ("openai/gpt-5.3", "OPENAI_API_KEY"),
            ("oai@gpt-5.3", "OPENAI_API_KEY"),
            ("gpt-5.3", "OPENAI_API_KEY"),
            ("cx@gpt-5.3", "OPENAI_CODEX_API_KEY"),
            ("grok-4", "XAI_API_KEY"),
            ("kimi-for-coding", "KIMI_CODING_API_KEY"),
            ("kimi-k2", "MOONSHOT_API_KEY"),
            ("poe:GPT-4o", "POE_API_KEY"),
            ("anthropic/claude-opus-5", "ANTHROPIC_API_KEY"),
        ] {
            assert_eq!(AgentKind::Claudish.keys_for(Some(model)).first(), Some(&key), "{model}");
        }
        for (model, key) in [
            ("gpt-4o", "OPENAI_API_KEY"),
            ("4o-mini", "OPENAI_API_KEY"),
            ("openrouter/openai/gpt-4o", "OPENROUTER_KEY"),
            ("gemini/gemini-2.5-pro", "LLM_GEMINI_KEY"),
            ("claude-3.5-haiku", "ANTHROPIC_API_KEY"),
            ("anthropic/claude-3-opus-latest", "ANTHROPIC_API_KEY"),
            ("mistral-large", "LLM_MISTRAL_KEY"),
        ] {
            assert_eq!(AgentKind::Llm.keys_for(Some(model)), [key], "{model}");
        }
    }

    #[test]
    fn each_program_knows_providers_by_names_of_its_own() {
        let opencode = AgentKind::Opencode;
        assert_eq!(opencode.keys_for(Some("openrouter/anthropic/claude-x")), ["OPENROUTER_API_KEY"]);
        assert_eq!(opencode.keys_for(Some("moonshotai/kimi-k2")), ["MOONSHOT_API_KEY"]);
        assert!(opencode.keys_for(Some("google/gemini-x")).contains(&"GEMINI_API_KEY"));
        assert_eq!(opencode.addresses_for(Some("azure/gpt-x")), ["AZURE_RESOURCE_NAME"]);
        assert!(opencode.keys_for(Some("office/big")).is_empty());
    }

    #[test]
    fn a_route_gives_the_names_and_the_host_of_its_provider() {
        let words = AgentKind::Claudish.vendor_words(Some("or@qwen/qwen3-32b"));
        assert_eq!(words, ["openrouter@", "or@", "openrouter", "openrouter.ai"]);
        assert!(AgentKind::Llm.vendor_words(Some("openrouter/x/y")).contains(&"openrouter.ai".to_owned()));
        assert!(AgentKind::Opencode.vendor_words(Some("groq/x")).contains(&"groq.com".to_owned()));
        assert!(AgentKind::Claudish.vendor_words(Some("nobody@x")).is_empty());
    }

    #[test]
    fn every_provider_in_a_table_has_a_host_or_is_ones_own_machine() {
        let own = ["ollama", "lmstudio", "vllm", "mlx", "litellm"];
        for vendor in [CLAUDISH, LLM, OPENCODE].into_iter().flatten() {
            let known = vendor.names.iter().any(|name| !further_names(name).is_empty() || own.contains(name));
            assert!(known, "{:?}", vendor.names);
        }
    }

    #[test]
    fn a_provider_that_nobody_knows_gets_no_key() {
        for model in ["ollama@llama3.2", "my-vllm@gpt-5", "http://localhost:8000/gpt-5", "meta/llama", "something"] {
            let keys = AgentKind::Claudish.keys_for(Some(model));
            assert!(keys.is_empty() || keys == ["OLLAMA_API_KEY"], "{model}: {keys:?}");
        }
        assert!(AgentKind::Claudish.keys_for(Some("ollama@llama3.2")).is_empty());
        assert_eq!(AgentKind::Claudish.addresses_for(Some("ollama@llama3.2")), ["OLLAMA_BASE_URL", "OLLAMA_HOST"]);
        assert!(AgentKind::Llm.keys_for(Some("groq-mixtral")).is_empty());
        assert!(AgentKind::Llm.keys_for(None).is_empty());
        assert_eq!(AgentKind::Codex.keys_for(Some("gpt-5")), AgentKind::Codex.key_variables());
    }
}
