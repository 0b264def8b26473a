//! The identifier that a name is a part of: what is left of one tells as much as the name.

use std::ops::Range;

/// How far a token is followed to either side: a page without blanks is none.
const REACH: usize = 1024;

/// `text[hit]` with the rest of its token: the tail of `qwen3-32b:free`, of `codex_api::endpoint`, of an address.
///
/// In a path only the folder or file that is named so is taken, so that the path is still of use. Punctuation at the end
/// belongs to the sentence.
pub(super) fn around(text: &str, hit: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let Range { start: from, end: to } = hit;
    let (mut start, mut end) = (from, to);
    while start > 0 && from - start < REACH && is_part(bytes[start - 1]) && !is_escape(bytes, start) {
        start -= 1;
    }
    while end < bytes.len() && end - to < REACH && is_part(bytes[end]) {
        end += 1;
    }
    if is_path(text, start..from) {
        start = text[start..from].rfind('/').map_or(start, |slash| start + slash + 1);
        end = text[to..end].find('/').map_or(end, |slash| to + slash);
    }
    while start < from && matches!(bytes[start], b'-' | b'.' | b':' | b'/') {
        start += 1;
    }
    while end > to && !bytes[end - 1].is_ascii_alphanumeric() {
        end -= 1;
    }
    start..end
}

/// Whether `byte` is one of an identifier, a model's id or an address.
pub(super) const fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b':' | b'.' | b'/' | b'@')
}

/// Whether a name with `text[before]` in front of it stands in a path: at the root, here, or two folders down (an id
/// of so many parts is found by its first one).
fn is_path(text: &str, before: Range<usize>) -> bool {
    let start = before.start;
    let before = &text[before];
    let whole = &text.as_bytes()[start..];
    if before.contains("://") {
        return false;
    }
    whole.first() == Some(&b'/')
        || whole.starts_with(b"./")
        || whole.starts_with(b"../")
        || before.matches('/').count() >= 2
}

/// Whether the letter in front of `at` belongs to an escape such as `\n`.
pub(super) fn is_escape(bytes: &[u8], at: usize) -> bool {
    at >= 2 && bytes[at - 2] == b'\\' && matches!(bytes[at - 1], b'n' | b'r' | b't')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("codex_api::endpoint::responses_websocket: closed", "codex_api::endpoint::responses_websocket")]
    #[case("[codex-code:unrecognized_model]", "codex-code:unrecognized_model")]
    #[case("is codex:fr... or", "codex:fr")]
    #[case("ask codex. Then", "codex")]
    #[case("(codex's)", "codex")]
    #[case("--codex-home=/x", "codex-home")]
    #[case("at https://codex.ai/keys, or", "https://codex.ai/keys")]
    #[case("a\\ncodex-1", "codex-1")]
    #[case("日本codex語", "codex")]
    #[case("/usr/bin/codex", "codex")]
    #[case("/home/ann/codex-bench/.team/s/work/02/answer.md", "codex-bench")]
    #[case("see work/02/.codex/log.txt", "codex")]
    #[case("./codex.sh:3: no", "codex.sh:3")]
    #[case("openrouter/codex/x", "openrouter/codex/x")]
    #[case("`{codex}`", "codex")]
    fn a_name_takes_its_token_with_it(#[case] text: &str, #[case] expected: &str) {
        let at = text.find("codex").unwrap();
        assert_eq!(&text[around(text, at..at + 5)], expected);
    }
}
