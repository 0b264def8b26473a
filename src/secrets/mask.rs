//! Models' names out of text, while the vote is not over.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};

use super::placeholder::{Naming, Placeholder};
use crate::ids::SlotId;

/// Words shorter than this are masked only as whole tokens: `o3`, but not in `foo3` or `o3-d`; a single letter only in
/// quotes.
const SHORT: usize = 3;

/// Everything that would name one slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotNames {
    /// The slot.
    pub slot: SlotId,
    /// Words for its model, its vendor and its provider.
    pub model: Vec<String>,
    /// Words for the program that runs it.
    pub program: Vec<String>,
    /// Words for the variable of its key.
    pub key: Vec<String>,
}

/// Replaces what would name a slot by a mark, case aside and at word boundaries.
///
/// Only a text about a slot that names nobody else gets marks with the slot's number. Everywhere else a name becomes a
/// mark without one: numbers beside each other, in a list that a program prints, would say who is who.
///
/// Cheap to clone. Text in other scripts than ASCII is compared as it is.
#[derive(Clone)]
pub struct Mask(Arc<Words>);

/// The words of a panel.
struct Words {
    slots: Vec<(SlotId, Matcher)>,
    /// Those of all slots together, so that a text gets the same marks whichever slot it is about.
    all: Matcher,
}

/// Words, and what takes their place.
struct Matcher {
    words: AhoCorasick,
    /// What each pattern stands for.
    marks: Vec<String>,
}

impl Mask {
    /// A mask for the slots of a panel.
    pub fn new(panel: Vec<SlotNames>) -> Self {
        let all = panel.iter().flat_map(words_of).map(|(naming, word)| (naming.without_slot().to_owned(), word));
        let all = Matcher::new(all);
        let numbered = |names: &SlotNames| {
            let mark = |naming| Placeholder { slot: names.slot, naming }.to_string();
            (names.slot, Matcher::new(words_of(names).map(|(naming, word)| (mark(naming), word))))
        };
        Self(Arc::new(Words { slots: panel.iter().map(numbered).collect(), all }))
    }

    /// `text` about `slot`, or about the panel as a whole.
    #[must_use]
    pub fn text_for(&self, slot: Option<SlotId>, text: &str) -> String {
        let whole = || vec![Piece::Text { start: 0, end: text.len() }];
        let mut pieces = whole();
        let own = self.0.slots.iter().find(|(id, _)| Some(*id) == slot);
        if let Some((_, own)) = own {
            own.replace(text, &mut pieces);
        }
        let numbered = marks_in(&pieces);
        self.0.all.replace(text, &mut pieces);
        if numbered > 0 && marks_in(&pieces) > numbered {
            pieces = whole();
            self.0.all.replace(text, &mut pieces);
        }
        pieces.into_iter().fold(String::with_capacity(text.len()), |out, piece| match piece {
            Piece::Text { start, end } => out + &text[start..end],
            Piece::Mark(mark) => out + mark,
        })
    }
}

impl fmt::Debug for Mask {
    /// Never shows a name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mask").field("slots", &self.0.slots.len()).finish_non_exhaustive()
    }
}

/// A part of a text that is being masked.
#[derive(Clone, Copy)]
enum Piece<'m> {
    Text { start: usize, end: usize },
    Mark(&'m str),
}

fn marks_in(pieces: &[Piece<'_>]) -> usize {
    pieces.iter().filter(|piece| matches!(piece, Piece::Mark(_))).count()
}

/// The words that name a slot, the more precise naming first.
fn words_of(names: &SlotNames) -> impl Iterator<Item = (Naming, String)> + '_ {
    [(Naming::Key, &names.key), (Naming::Program, &names.program), (Naming::Model, &names.model)].into_iter().flat_map(
        |(naming, words)| {
            let words = words.iter().map(|word| word.trim()).filter(|word| !word.is_empty());
            words.map(move |word| (naming, word.to_owned()))
        },
    )
}

impl Matcher {
    #[expect(clippy::expect_used, reason = "only an automaton over 2 GiB of words cannot be built")]
    fn new(words: impl Iterator<Item = (String, String)>) -> Self {
        let (marks, patterns): (Vec<String>, Vec<String>) = words.unzip();
        // Standard semantics reports every word at every place, so that a long word that fails at its boundary does
        // not hide a short one.
        let words = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .build(&patterns)
            .expect("the names of a panel are smaller than 2 GiB");
        Self { words, marks }
    }

    fn replace<'m>(&'m self, text: &str, pieces: &mut Vec<Piece<'m>>) {
        if !self.words.is_match(text) {
            return;
        }
        let mut out = Vec::with_capacity(pieces.len());
        for piece in pieces.drain(..) {
            match piece {
                Piece::Mark(mark) => out.push(Piece::Mark(mark)),
                Piece::Text { start, end } => self.replace_in(text, start..end, &mut out),
            }
        }
        *pieces = out;
    }

    fn replace_in<'m>(&'m self, text: &str, range: Range<usize>, out: &mut Vec<Piece<'m>>) {
        let Range { start, end } = range;
        let mut found: Vec<(usize, usize, usize)> = self
            .words
            .find_overlapping_iter(&text[start..end])
            .map(|m| (start + m.start(), start + m.end(), m.pattern().as_usize()))
            .filter(|(from, to, _)| is_word(text, *from, *to))
            .collect();
        // Leftmost, then longest, then the more precise naming.
        found.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)).then(a.2.cmp(&b.2)));
        let mut at = start;
        for (from, to, pattern) in found {
            if from < at {
                continue;
            }
            if from > at {
                out.push(Piece::Text { start: at, end: from });
            }
            out.push(Piece::Mark(&self.marks[pattern]));
            at = to;
        }
        if at < end {
            out.push(Piece::Text { start: at, end });
        }
    }
}

/// Whether `text[from..to]` stands as a word: between characters of other kinds, or as a hump of a `camelCase` name.
fn is_word(text: &str, from: usize, to: usize) -> bool {
    let before = text[..from].chars().next_back();
    let after = text[to..].chars().next();
    if to - from == 1 {
        // An alias of one letter is masked where a message quotes it, not wherever the letter stands.
        return before == after && before.is_some_and(|c| matches!(c, '`' | '\'' | '"'));
    }
    if to - from < SHORT {
        let apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.' | '/'));
        // A full stop that ends the sentence is no part of the token.
        let ends = after == Some('.') && text[to + 1..].chars().next().is_none_or(char::is_whitespace);
        return apart(before) && (apart(after) || ends);
    }
    let word = &text[from..to];
    let (Some(first), Some(last)) = (word.chars().next(), word.chars().next_back()) else { return false };
    let second = word.chars().nth(1);
    let after_next = text[to..].chars().nth(1);
    before.is_none_or(|before| is_break(before, first, second) || is_escape(text, from))
        && after.is_none_or(|after| is_break(last, after, after_next))
}

/// Whether a word ends between `a` and `b`, which `c` follows.
fn is_break(a: char, b: char, c: Option<char>) -> bool {
    if !a.is_alphanumeric() || !b.is_alphanumeric() {
        return true;
    }
    // `claude4`, `4o`: a change between letters and digits; scripts without case or spaces break against ASCII.
    if a.is_ascii_digit() != b.is_ascii_digit() || a.is_ascii() != b.is_ascii() {
        return true;
    }
    // `claudeCode`, and `OpenAIError` between `I` and `Er`.
    (a.is_lowercase() && b.is_uppercase())
        || (a.is_uppercase() && b.is_uppercase() && c.is_some_and(char::is_lowercase))
}

/// Whether the letter in front of `from` belongs to an escape such as `\n`.
fn is_escape(text: &str, from: usize) -> bool {
    let bytes = text.as_bytes();
    from >= 2 && bytes[from - 2] == b'\\' && matches!(bytes[from - 1], b'n' | b'r' | b't')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn ids() -> Vec<SlotId> {
        SlotId::panel(3).collect()
    }

    fn mask() -> Mask {
        let ids = ids();
        Mask::new(vec![
            SlotNames {
                slot: ids[0],
                model: strings(&["claude:opus", "opus", "claude-opus-4", "Anthropic"]),
                program: strings(&["claude"]),
                key: strings(&["ANTHROPIC_API_KEY"]),
            },
            SlotNames {
                slot: ids[1],
                model: strings(&["o3", "openai", "gpt-5"]),
                program: strings(&["codex"]),
                key: strings(&["OPENAI_API_KEY"]),
            },
            SlotNames { slot: ids[2], model: strings(&["claude:haiku", "Anthropic"]), program: vec![], key: vec![] },
        ])
    }

    #[rstest]
    #[case("Claude failed: set ANTHROPIC_API_KEY for claude:opus", "[01.program] failed: set [01.key] for [01.model]")]
    #[case("claude-opus-4 and claude-opus-41", "[01.model] and [01.program]-[01.model]-41")]
    #[case("claudette is not CLAUDE", "claudette is not [01.program]")]
    #[case("claudeCode OpenAIError openaiClient", "[program]Code [model]Error [model]Client")]
    #[case("claude_code claude2 /usr/bin/claude", "[01.program]_code [01.program]2 /usr/bin/[01.program]")]
    #[case("o3. foo3 o3-d o30 (O3)", "[model]. foo3 o3-d o30 ([model])")]
    #[case("a\\nclaude gpt-5o", "a\\n[program] [model]o")]
    #[case("日本claude語 é", "日本[01.program]語 é")]
    #[case("nothing here", "nothing here")]
    #[case("", "")]
    #[case("codex", "[program]")]
    fn names_are_replaced_at_word_boundaries(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(mask().text_for(Some(ids()[0]), text), expected);
    }

    #[test]
    fn a_shared_word_gets_the_mark_of_the_slot_that_the_text_is_about() {
        let ids = ids();
        assert_eq!(mask().text_for(Some(ids[2]), "Anthropic's claude"), "[model]'s [program]");
        assert_eq!(mask().text_for(Some(ids[0]), "Anthropic's claude"), "[01.model]'s [01.program]");
        assert_eq!(mask().text_for(None, "Anthropic's codex"), "[model]'s [program]");
    }

    #[test]
    fn the_longest_of_a_slots_own_words_wins() {
        assert_eq!(mask().text_for(Some(ids()[0]), "claude:opus"), "[01.model]");
    }

    #[test]
    fn a_single_letter_is_masked_in_quotes_only() {
        let id = ids()[0];
        let mask = Mask::new(vec![SlotNames { slot: id, model: strings(&["a"]), program: vec![], key: vec![] }]);
        assert_eq!(
            mask.text_for(Some(id), "model `a` wrote a file \"a\" (a)"),
            "model `[01.model]` wrote a file \"[01.model]\" (a)"
        );
    }

    #[test]
    fn marks_are_not_masked_again() {
        let id = ids()[0];
        let names = |words: &[&str]| SlotNames { slot: id, model: strings(words), program: vec![], key: vec![] };
        assert_eq!(Mask::new(vec![names(&["model", "abc"])]).text_for(Some(id), "abc"), "[01.model]");
        let two = Mask::new(vec![names(&["abc"]), SlotNames { slot: ids()[1], ..names(&["model"]) }]);
        assert_eq!(two.text_for(Some(id), "abc model"), "[model] [model]");
    }

    #[test]
    fn a_list_of_names_does_not_say_which_of_them_is_whose() {
        let list = "available: opus, o3, claude:haiku";
        let shown = mask().text_for(Some(ids()[0]), list);
        assert_eq!(shown, "available: [model], [model], [model]");
        assert!(ids().into_iter().all(|id| mask().text_for(Some(id), list) == shown));
        assert_eq!(mask().text_for(None, list), shown);
        assert_eq!(mask().text_for(Some(ids()[0]), "claudeCodex"), "[program][program]");
    }

    #[test]
    fn its_debug_form_shows_no_name() {
        assert!(!format!("{:?}", mask()).contains("claude"));
    }
}
