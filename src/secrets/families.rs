//! What is public about families of models and who makes them: the one table of it.
//!
//! Error texts and logs are masked by it ([`super::model_words`]), the judged copies of answers too, and the vendor that
//! a judge shares with an answer comes from it. A name that is not in it still gives its own parts.

/// One maker and its models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// Who makes them.
    pub vendor: &'static str,
    /// Words that tell the family when they stand in a name.
    pub words: &'static [&'static str],
    /// Further names of the same, which are too short, too ordinary or too many words to be looked for in a name.
    pub also: &'static [&'static str],
}

/// Every family that is known here.
pub const FAMILIES: &[Family] = &[
    Family {
        vendor: "Anthropic",
        words: &["claude", "anthropic", "opus", "sonnet", "haiku", "claudish"],
        also: &["Claude Code"],
    },
    Family {
        vendor: "OpenAI",
        words: &["gpt", "openai", "chatgpt", "codex"],
        also: &["o1", "o3", "o4", "o4-mini", "o3-mini"],
    },
    Family { vendor: "Google", words: &["gemini", "google", "gemma"], also: &["deepmind", "bard"] },
    Family { vendor: "xAI", words: &["grok", "xai"], also: &["x.ai"] },
    Family { vendor: "Meta", words: &["llama", "codellama"], also: &["Meta AI", "meta-llama"] },
    Family { vendor: "Alibaba", words: &["qwen", "qwq", "alibaba"], also: &["tongyi"] },
    Family { vendor: "DeepSeek", words: &["deepseek"], also: &[] },
    Family {
        vendor: "Mistral",
        words: &["mistral", "mixtral", "codestral", "devstral", "magistral", "ministral"],
        also: &["mistralai"],
    },
    Family { vendor: "Moonshot", words: &["kimi", "moonshot"], also: &["moonshotai"] },
    Family { vendor: "Zhipu", words: &["glm", "zhipu"], also: &["z.ai", "zai"] },
    Family { vendor: "HuggingFace", words: &["smollm", "smollm2", "smollm3"], also: &["hugging face", "huggingface"] },
    Family { vendor: "MiniMax", words: &["minimax"], also: &[] },
    Family { vendor: "Microsoft", words: &["phi"], also: &[] },
    Family { vendor: "NVIDIA", words: &["nemotron", "nvidia"], also: &[] },
    Family { vendor: "Cohere", words: &["command-r", "cohere"], also: &[] },
];

/// The words of families that `text` names by a word of its own, each with its vendor: `ollama` is no `llama`.
pub fn families_in(text: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lower = text.to_ascii_lowercase();
    FAMILIES.iter().flat_map(|family| family.words.iter().map(|word| (*word, family.vendor))).filter(
        move |(word, _)| {
            if word.contains('-') {
                return lower.split(['/', '@', ':', ' ']).any(|part| {
                    part.strip_prefix(*word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
                });
            }
            // A number at the end of a word (`smollm2`, `gpt4`) is a version.
            lower
                .split(|c: char| !c.is_ascii_alphanumeric())
                .any(|part| part == *word || part.split(|c: char| c.is_ascii_digit()).any(|piece| piece == *word))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vendors(text: &str) -> Vec<&'static str> {
        let mut vendors: Vec<_> = families_in(text).map(|(_, vendor)| vendor).collect();
        vendors.dedup();
        vendors
    }

    #[test]
    fn a_family_is_told_by_a_word_of_its_own() {
        assert_eq!(vendors("openrouter@anthropic/claude-opus-4.5"), ["Anthropic"]);
        assert_eq!(vendors("gpt4o"), ["OpenAI"]);
        assert_eq!(vendors("ollama@qwen3:8b"), ["Alibaba"]);
        assert_eq!(vendors("cohere/command-r-plus"), ["Cohere"]);
        assert_eq!(vendors("command-r"), ["Cohere"]);
        assert_eq!(vendors("deepseek-r1-distill-llama-70b"), ["Meta", "DeepSeek"]);
        assert_eq!(vendors("local@smollm2"), ["HuggingFace"]);
        for none in ["ollama", "command-run", "my-agent", "philosophy", ""] {
            assert!(vendors(none).is_empty(), "{none}");
        }
    }
}
