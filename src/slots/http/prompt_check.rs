//! Whether the server read the whole prompt. Some cut a long one to their context without a word.

use crate::session::slot::{Reason, TypedError, Usage};

/// Below this a chat template or a short context blurs the count.
const LEAST_WORDS: u64 = 1000;

/// The error of a prompt that was cut, by the tokens that the server itself counted.
///
/// A word is at least one token to the tokenizers in use, so half as many tokens as words cannot be the whole
/// prompt. In scripts without spaces three characters are taken for a word: no token in use is six of them. Tokens that
/// were not reported, or as 0, say nothing.
pub(super) fn cut_prompt<'a>(texts: impl Iterator<Item = &'a str>, usage: Option<Usage>) -> Option<TypedError> {
    let usage = usage?;
    // Some count cached tokens apart.
    let tokens = usage.input_tokens.filter(|tokens| *tokens > 0)? + usage.cached_input_tokens.unwrap_or(0);
    let words: u64 = texts.map(words_of).sum();
    (words >= LEAST_WORDS && tokens < words / 2).then(|| {
        let detail = format!("the server counted {tokens} tokens in a prompt of {words} words: it cut the prompt");
        TypedError::new(Reason::ContextTooLong, detail)
    })
}

fn words_of(text: &str) -> u64 {
    let unspaced = if text.is_ascii() { 0 } else { text.chars().filter(|c| is_unspaced(*c)).count() };
    (text.split_whitespace().count() + unspaced / 3) as u64
}

/// Kana and Han: scripts whose words are not set apart.
const fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: usize, input: Option<u64>, cached: Option<u64>) -> bool {
        let usage = Usage { input_tokens: input, cached_input_tokens: cached, ..Usage::default() };
        cut_prompt([&*"word ".repeat(words)].into_iter(), Some(usage)).is_some()
    }

    #[test]
    fn a_prompt_with_far_fewer_tokens_than_words_was_cut() {
        assert!(check(20_000, Some(4096), None));
        assert!(!check(20_000, Some(20_031), None));
        assert!(!check(20_000, Some(31), Some(20_000)));
        assert!(!check(500, Some(12), None), "too short to tell");
        assert!(!check(20_000, Some(0), None) && !check(20_000, None, None), "not reported");
        assert!(cut_prompt(["x"].into_iter(), None).is_none());
    }

    #[test]
    fn a_prompt_without_spaces_is_counted_by_its_characters() {
        let check = |tokens| {
            let usage = Usage { input_tokens: Some(tokens), ..Usage::default() };
            cut_prompt([&*"日本語".repeat(20_000)].into_iter(), Some(usage)).map(|error| error.reason)
        };
        assert_eq!(check(4096), Some(Reason::ContextTooLong));
        assert_eq!(check(30_000), None);
    }
}
