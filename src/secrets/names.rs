//! The words that would tell which model, vendor or provider a text is about.
//!
//! A name such as `openrouter@anthropic/claude-opus-4.5` says more than itself: its parts, its family's vendor and its
//! family's other names say as much. What is public about the families is in [`super::FAMILIES`].

use std::collections::BTreeSet;

use super::FAMILIES;

/// Parts of model ids that are ordinary words: masked alone they would only make a text unreadable.
const ORDINARY: &[&str] = &[
    // What some programs call OpenRouter.
    "or",
    "latest",
    "preview",
    "instruct",
    "chat",
    "base",
    "mini",
    "nano",
    "large",
    "small",
    "medium",
    "micro",
    "tiny",
    "lite",
    "fast",
    "flash",
    "pro",
    "max",
    "ultra",
    "plus",
    "free",
    "beta",
    "exp",
    "experimental",
    "code",
    "coder",
    "vision",
    "text",
    "thinking",
    "reasoning",
    "reasoner",
    "turbo",
    "high",
    "low",
    "local",
    "default",
    "model",
    "models",
    "internal",
    "vllm",
    "fake",
    "agent",
    "command",
    "test",
    "the",
    "bin",
    "usr",
    "home",
    "env",
    "node",
    "python",
    "bash",
];

/// The words that name a model: `names` themselves, their parts, forms with other separators, and what is known about
/// their families.
#[must_use]
pub fn model_words<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Vec<String> {
    let mut words = BTreeSet::new();
    for name in names {
        let name = name.as_ref().trim();
        if name.is_empty() {
            continue;
        }
        add_with_separators(name, &mut words);
        for part in name.split(['@', '/', ':']).filter(|part| !part.is_empty()) {
            if !is_ordinary(part) && !is_size(part) {
                add_with_separators(part, &mut words);
            }
            for piece in part.split(['-', '_', '.', ' ']) {
                let letters = piece.trim_end_matches(|c: char| c.is_ascii_digit());
                for word in [piece, letters] {
                    if word.len() >= 3 && word.chars().any(char::is_alphabetic) && !is_ordinary(word) && !is_size(word)
                    {
                        words.insert(word.to_owned());
                    }
                }
            }
        }
    }
    let lower: BTreeSet<String> = words.iter().map(|word| word.to_lowercase()).collect();
    for family in FAMILIES {
        let all = || family.words.iter().chain(family.also);
        if all().any(|word| lower.contains(&word.to_lowercase())) {
            words.extend(all().map(|word| (*word).to_owned()));
        }
    }
    words.into_iter().collect()
}

/// The words for a model that a program said it has: it as a whole, it without its provider, and its families. Its
/// parts alone may be ordinary words.
pub(super) fn reported_words(value: &str) -> Vec<String> {
    // A bare word, such as a debug print of one's own field, would take prose away.
    if !value.contains(|c: char| !c.is_ascii_alphabetic()) && families(value).next().is_none() || value.len() < 4 {
        return Vec::new();
    }
    let mut words = BTreeSet::new();
    let last = value.rsplit('/').next().unwrap_or(value);
    for name in [value, last, last.split(':').next().unwrap_or(last)] {
        if is_telling(name) && name.len() >= 4 && !is_size(name) {
            add_with_separators(name, &mut words);
        }
    }
    words.extend(value.split(|c: char| !c.is_ascii_alphabetic()).flat_map(families).flatten().map(str::to_owned));
    words.into_iter().collect()
}

/// Everything that tells as much as `word`, if it is a word of a family.
fn families(word: &str) -> impl Iterator<Item = impl Iterator<Item = &'static str>> + '_ {
    FAMILIES
        .iter()
        .map(|family| family.words.iter().chain(family.also).copied())
        .filter(move |family| family.clone().any(|known| known.eq_ignore_ascii_case(word)))
}

/// Whether `word` can be a model's or a provider's name.
pub(super) fn is_telling(word: &str) -> bool {
    const VALUES: [&str; 7] = ["true", "false", "null", "none", "undefined", "unknown", "auto"];
    word.len() >= 2
        && word.contains(|c: char| c.is_ascii_alphabetic())
        && !is_ordinary(word)
        && !VALUES.iter().any(|value| value.eq_ignore_ascii_case(word))
}

/// The words that name a key: the variable `name`, and what is in front of its `_API_KEY` or `_TOKEN`.
#[must_use]
pub fn key_words(name: &str) -> Vec<String> {
    let mut words = vec![name.to_owned()];
    for ending in ["_API_KEY", "_AUTH_TOKEN", "_TOKEN", "_KEY"] {
        if let Some(stem) = name.strip_suffix(ending) {
            if stem.len() >= 3 {
                words.push(format!("{stem}_BASE_URL"));
            }
            break;
        }
    }
    words
}

/// `claude-opus-4.5` is written `Claude Opus 4.5` and `claude_opus_4_5` as well.
fn add_with_separators(name: &str, words: &mut BTreeSet<String>) {
    words.insert(name.to_owned());
    if !name.contains(['-', '_', '.', ' ']) {
        return;
    }
    for separator in ["-", " ", "_", ""] {
        words.insert(name.replace(['-', '_', ' '], separator));
        words.insert(name.replace(['-', '_', ' ', '.'], separator));
    }
}

fn is_ordinary(word: &str) -> bool {
    ORDINARY.iter().any(|ordinary| ordinary.eq_ignore_ascii_case(word))
}

/// `135M`, `70b`, `8x7b`, `4o`, `4.5`.
fn is_size(word: &str) -> bool {
    word.len() <= 5 && word.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_gives_its_parts_and_its_family() {
        let words = model_words(["openrouter@anthropic/claude-opus-4.5"]);
        for word in
            ["openrouter", "anthropic", "claude-opus-4.5", "claude opus 4.5", "claude_opus_4_5", "sonnet", "opus"]
        {
            assert!(words.iter().any(|w| w == word), "{word} in {words:?}");
        }
        assert!(!words.iter().any(|w| w == "4" || w == "gpt"), "{words:?}");
        let words = model_words(["claudish:or@x-ai/grok-4"]);
        assert!(words.iter().any(|w| w == "grok") && !words.iter().any(|w| w == "or"), "{words:?}");
    }

    #[test]
    fn ordinary_parts_do_not_count() {
        let words = model_words(["openai@gpt-5-mini", "ollama@qwen3:8b"]);
        for word in ["mini", "8b", "5"] {
            assert!(!words.iter().any(|w| w == word), "{word} in {words:?}");
        }
        for word in ["gpt-5-mini", "codex", "qwen3", "qwen", "ollama"] {
            assert!(words.iter().any(|w| w == word), "{word} in {words:?}");
        }
    }

    #[test]
    fn a_reported_model_gives_its_forms_and_its_family_and_no_ordinary_word() {
        let words = reported_words("zoo/big-pickle:free");
        for word in ["zoo/big-pickle:free", "big-pickle:free", "big-pickle", "big_pickle", "Big Pickle"] {
            assert!(words.iter().any(|w| w.eq_ignore_ascii_case(word)), "{word} in {words:?}");
        }
        assert!(!words.iter().any(|w| ["big", "pickle", "free", "zoo"].contains(&w.as_str())), "{words:?}");
        assert!(reported_words("gpt-5").contains(&"openai".to_owned()));
        assert!(reported_words("please").is_empty() && reported_words("v1").is_empty());
    }

    #[test]
    fn a_key_gives_its_variable() {
        assert_eq!(key_words("ANTHROPIC_API_KEY"), ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"]);
        assert_eq!(key_words("MY_PASS"), ["MY_PASS"]);
    }
}
