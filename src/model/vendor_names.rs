//! What else a provider is called: its full name, and the addresses that its errors point at.

/// Names as the programs know them, and what tells as much.
const NAMES: &[(&[&str], &[&str])] = &[
    (&["openrouter"], &["openrouter.ai"]),
    (&["anthropic"], &["anthropic.com", "claude.ai", "Claude"]),
    (&["google", "gemini"], &["Google", "Gemini", "googleapis.com", "ai.google.dev", "aistudio.google.com"]),
    (&["vertex", "google-vertex", "google-vertex-anthropic"], &["Vertex AI", "VertexAI", "Google", "googleapis.com"]),
    (&["openai", "openai-codex"], &["openai.com", "chatgpt.com", "ChatGPT"]),
    (&["x-ai", "xai"], &["x.ai", "xAI", "Grok"]),
    (&["minimax", "minimax-coding"], &["MiniMax", "minimax.io", "minimaxi.com"]),
    (
        &["kimi", "kimi-coding", "moonshotai"],
        &["Kimi", "Moonshot AI", "moonshot", "moonshot.ai", "moonshot.cn", "kimi.com"],
    ),
    (&["glm", "glm-coding", "z-ai", "zai"], &["GLM", "Zhipu", "Z.AI", "z.ai", "bigmodel.cn"]),
    (&["ollamacloud", "ollama"], &["Ollama", "Ollama Cloud", "ollama.com"]),
    (&["opencode-zen", "opencode-zen-go", "opencode"], &["OpenCode", "OpenCode Zen", "opencode.ai"]),
    (&["litellm"], &["LiteLLM"]),
    (&["poe"], &["poe.com"]),
    (&["deepseek"], &["DeepSeek", "deepseek.com"]),
    (&["mistral"], &["Mistral AI", "mistral.ai"]),
    (&["sakana", "sakana-subscription"], &["Sakana AI", "sakana", "sakana.ai"]),
    (
        &["qwen-payg", "qwen-coding", "qwen-token-plan", "alibaba"],
        &["Qwen", "Alibaba", "DashScope", "Model Studio", "aliyuncs.com", "aliyun.com"],
    ),
    (&["lmstudio"], &["LM Studio", "lmstudio.ai"]),
    (&["amazon-bedrock"], &["Amazon", "Bedrock", "AWS", "amazonaws.com"]),
    (&["azure"], &["Azure", "Microsoft", "azure.com"]),
    (&["cerebras"], &["cerebras.ai"]),
    (&["cohere"], &["cohere.com"]),
    (&["deepinfra"], &["Deep Infra", "deepinfra.com"]),
    (&["fireworks-ai"], &["Fireworks", "fireworks.ai"]),
    (&["github-models"], &["GitHub Models", "models.github.ai"]),
    (&["groq"], &["groq.com"]),
    (&["huggingface"], &["Hugging Face", "huggingface.co"]),
    (&["nvidia"], &["nvidia.com"]),
    (&["perplexity"], &["perplexity.ai"]),
    (&["togetherai"], &["Together AI", "together.ai", "together.xyz"]),
    (&["vercel"], &["AI Gateway", "vercel.com", "vercel.sh"]),
    (&["zhipuai", "zhipuai-coding-plan", "zai-coding-plan"], &["Zhipu", "Z.AI", "bigmodel.cn"]),
];

/// What tells the provider `name` as well as that.
pub(super) fn further_names(name: &str) -> &'static [&'static str] {
    NAMES.iter().find(|(names, _)| names.contains(&name)).map_or(&[], |(_, further)| *further)
}
