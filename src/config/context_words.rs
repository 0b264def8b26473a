//! Which kind of task a text is, told by its words.
//!
//! The words of a kind are a setting like any other: those of the six known kinds are in the lowest layer, and a file's own
//! list takes their place.

use std::collections::BTreeMap;

use super::file::ContextEntry;

/// How much of a task is looked at: what is asked stands at its beginning, and what follows is often material.
const WORDS_LOOKED_AT: usize = 300;

/// The known kinds, each with the words of tasks of this kind. Of two kinds that fit equally the one whose word comes first
/// in the task is taken, so a word may be in several.
const KNOWN: [(&str, &[&str]); 6] = [
    (
        "debug",
        &[
            "bug",
            "bugs",
            "crash",
            "crashes",
            "crashed",
            "crashing",
            "debug",
            "debugging",
            "deadlock",
            "exception",
            "failing",
            "flaky",
            "hang",
            "hangs",
            "panic",
            "panics",
            "root cause",
            "segfault",
            "stack trace",
            "traceback",
        ],
    ),
    (
        "research",
        &[
            "compare",
            "comparison",
            "evaluate",
            "explore",
            "find out",
            "investigate",
            "literature",
            "research",
            "state of the art",
            "study",
            "survey",
            "trade-offs",
        ],
    ),
    (
        "coding",
        &[
            "build",
            "code",
            "develop",
            "feature",
            "function",
            "implement",
            "implementation",
            "port",
            "program",
            "refactor",
            "rewrite",
            "script",
        ],
    ),
    (
        "review",
        &[
            "audit",
            "code review",
            "critique",
            "diff",
            "feedback",
            "inspect",
            "merge request",
            "pull request",
            "review",
            "reviewing",
        ],
    ),
    (
        "architecture",
        &[
            "adr",
            "architecture",
            "architectural",
            "data model",
            "design",
            "interface",
            "microservices",
            "migration",
            "modular",
            "scalability",
            "schema",
            "system design",
        ],
    ),
    (
        "testing",
        &[
            "coverage",
            "e2e",
            "fixture",
            "fixtures",
            "fuzz",
            "fuzzing",
            "mock",
            "mocks",
            "property test",
            "regression test",
            "test",
            "tests",
            "test plan",
            "testing",
            "unit test",
            "unit tests",
        ],
    ),
];

/// The known kinds, without panels.
pub(super) fn known() -> BTreeMap<String, ContextEntry> {
    let entry = |words: &[&str]| ContextEntry {
        panel: None,
        words: Some(words.iter().map(|word| (*word).to_owned()).collect()),
    };
    KNOWN.iter().map(|(name, words)| ((*name).to_owned(), entry(words))).collect()
}

/// The kind whose words are most in `task`, with the words that were found, in the order of the task. Each word counts
/// once, whatever its case; an entry of several words is found where they follow each other.
pub(super) fn choose<'a>(
    contexts: impl Iterator<Item = (&'a String, &'a ContextEntry)>,
    task: &str,
) -> Option<(&'a str, Vec<String>)> {
    let task: Vec<String> = words_of(task).take(WORDS_LOOKED_AT).collect();
    let mut best: Option<(usize, usize, &str, Vec<String>)> = None;
    for (name, entry) in contexts {
        let mut found: Vec<(usize, &String)> =
            entry.words.iter().flatten().filter_map(|word| Some((place_of(word, &task)?, word))).collect();
        found.sort();
        found.dedup_by(|a, b| a.1 == b.1);
        let Some((first, _)) = found.first().copied() else { continue };
        let better = best.as_ref().is_none_or(|(count, at, ..)| (found.len(), *at) > (*count, first));
        if better {
            best = Some((found.len(), first, name, found.into_iter().map(|(_, word)| word.clone()).collect()));
        }
    }
    best.map(|(_, _, name, words)| (name, words))
}

/// Where the words of `entry` follow each other in `task`.
fn place_of(entry: &str, task: &[String]) -> Option<usize> {
    let wanted: Vec<String> = words_of(entry).collect();
    if wanted.is_empty() {
        return None;
    }
    task.windows(wanted.len()).position(|window| window == wanted)
}

/// Runs of letters and digits, in lower case.
fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(task: &str) -> Option<(String, String)> {
        let known = known();
        choose(known.iter(), task).map(|(name, words)| (name.to_owned(), words.join(", ")))
    }

    #[test]
    fn the_kind_with_most_words_is_taken_and_says_which() {
        for (task, name, words) in [
            ("Why does this crash? Stack  trace below.", "debug", "crash, stack trace"),
            ("Implement the feature, and a TEST", "coding", "implement, feature"),
            ("Review this pull-request.", "review", "review, pull request"),
            ("Write unit tests for the parser", "testing", "unit tests, tests"),
            ("Compare queues: a survey", "research", "compare, survey"),
            ("Is this data model sound?", "architecture", "data model"),
        ] {
            assert_eq!(chosen(task), Some((name.to_owned(), words.to_owned())), "{task}");
        }
    }

    #[test]
    fn only_whole_words_near_the_beginning_count_and_a_tie_goes_to_the_first() {
        assert_eq!(chosen("Why is the sky blue? The latest reviewers protest."), None);
        assert_eq!(chosen(""), None);
        assert_eq!(chosen("A design for a survey").unwrap().0, "architecture");
        assert_eq!(chosen("A survey for a design").unwrap().0, "research");
        assert_eq!(chosen(&format!("{}crash", "word ".repeat(WORDS_LOOKED_AT))), None);
        assert_eq!(chosen(&format!("{}crash", "word ".repeat(WORDS_LOOKED_AT - 1))).unwrap().0, "debug");
    }

    #[test]
    fn the_users_words_are_taken_in_any_script_and_blank_ones_find_nothing() {
        let entry = ContextEntry { panel: None, words: Some(vec!["Fehler".into(), "エラー".into(), " ".into()]) };
        let contexts = BTreeMap::from([("pannen".to_owned(), entry)]);
        let found = choose(contexts.iter(), "ein FEHLER: エラー").unwrap();
        assert_eq!(found, ("pannen", vec!["Fehler".to_owned(), "エラー".to_owned()]));
        assert_eq!(choose(contexts.iter(), "alles gut"), None);
    }
}
