//! What a program itself says that its model is: in a log nobody but the program knows which one it chose.

use std::ops::Range;
use std::sync::LazyLock;

use regex_automata::meta::Regex;

use super::names::is_telling;

/// `modelID=x`, `provider=x`, `"model":"x"` (in a JSON text inside another one as well), and `model: x` alone on its
/// line. A value that is a placeholder or a mark has no such beginning.
#[expect(clippy::expect_used, reason = "a constant, which every test compiles")]
static REPORT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?im)(?:model|provider)(?:(?:[_.-]?(?:id|name|version))?(?:=|\\*["']:[ ]?)\\*["']?([a-z0-9][a-z0-9_.:/@+-]*)|:[ \t]+([a-z0-9][a-z0-9_.:/@+-]*)[ \t\r]*$)"#,
    )
    .expect("a constant pattern")
});

/// Where `text` says what a model or its provider is.
pub(super) fn values<'t>(text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    REPORT.captures_iter(text).filter_map(|found| {
        let alone = |at: usize| text[..at].bytes().rev().take_while(|b| *b != b'\n').all(|b| matches!(b, b' ' | b'\t'));
        let value = found
            .get_group(1)
            .or_else(|| found.get_group(2).filter(|_| found.get_match().is_some_and(|m| alone(m.start()))))?;
        let word = text[value.range()].trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        is_telling(word).then(|| value.start..value.start + word.len())
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("level=ERROR providerID=zoo modelID=big-pickle session.id=s", &["zoo", "big-pickle"])]
    #[case(r#"{"type":"system","subtype":"init","model":"big-pickle"}"#, &["big-pickle"])]
    #[case(r#"{\"model\": \"zoo/big-pickle:free\"}"#, &["zoo/big-pickle:free"])]
    #[case("workdir: /x\nmodel: big-pickle\nprovider: zoo\n", &["big-pickle", "zoo"])]
    #[case("--model=big-pickle, fallbackModel='kea'", &["big-pickle", "kea"])]
    #[case("model: please check it; model=true model=default models=4 model=7", &[])]
    #[case("model=${MODEL} model=[02.model] \"model\":\"<synthetic>\" the model is big", &[])]
    fn values_are_found(#[case] text: &str, #[case] expected: &[&str]) {
        assert_eq!(values(text).map(|range| &text[range]).collect::<Vec<_>>(), expected);
    }
}
