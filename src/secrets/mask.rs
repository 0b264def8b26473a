//! Models' names out of text, while the vote is not over.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, MatchKind};

use super::decoded::Decoded;
use super::names::reported_words;
use super::placeholder::{Naming, Placeholder};
use super::reported;
use super::token::{around, is_escape, is_part};
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

/// Replaces what would name a slot by a mark, case aside and at word boundaries, together with the identifier that the
/// name is a part of. Names are found in percent-encoded, JSON- and HTML-escaped form as well.
///
/// Only a text about a slot that names nobody else gets marks with the slot's number. Everywhere else a name becomes a
/// mark without one: numbers beside each other, in a list that a program prints, would say who is who.
///
/// Cheap to clone. Text in other scripts than ASCII is compared as it is.
#[derive(Clone)]
pub struct Mask(Arc<Words>);

/// The words of a panel.
struct Words {
    slots: Vec<Slot>,
    /// Those of all slots together, so that a text gets the same marks whichever slot it is about.
    all: Matcher,
}

/// The words of one slot.
struct Slot {
    id: SlotId,
    given: Matcher,
    /// What its program said about its model.
    learned: RwLock<Learned>,
}

#[derive(Default)]
struct Learned {
    words: BTreeSet<String>,
    matcher: Option<Arc<Matcher>>,
}

/// The most words that are learned of one slot: a program that prints a list of models means none of them.
const LEARNED: usize = 200;

/// Words, and what each is.
struct Matcher {
    words: AhoCorasick,
    /// What each pattern stands for.
    namings: Vec<Naming>,
}

/// A name in a text.
#[derive(Debug, Clone)]
struct Hit {
    range: Range<usize>,
    naming: Naming,
}

impl Mask {
    /// A mask for the slots of a panel.
    pub fn new(panel: Vec<SlotNames>) -> Self {
        let all = Matcher::new(panel.iter().flat_map(words_of));
        let slot = |names: &SlotNames| Slot {
            id: names.slot,
            given: Matcher::new(words_of(names)),
            learned: RwLock::default(),
        };
        Self(Arc::new(Words { slots: panel.iter().map(slot).collect(), all }))
    }

    /// `text` about `slot`, or about the panel as a whole. What it reports about the slot's model is learned.
    #[must_use]
    pub fn text_for(&self, slot: Option<SlotId>, text: &str) -> String {
        let decoded = Decoded::of(text);
        let plain = decoded.text();
        let mut own = Vec::new();
        if let Some(slot) = self.slot(slot) {
            let reports: Vec<Range<usize>> = reported::values(plain).collect();
            slot.learn(reports.iter().map(|range| &plain[range.clone()]));
            slot.given.find(plain, &mut own);
            if let Some(learned) = slot.learned() {
                learned.find(plain, &mut own);
            }
            own.extend(reports.into_iter().map(|range| Hit { range, naming: Naming::Model }));
        }
        let mut hits = leftmost(own);
        let mut numbered = slot.filter(|_| !hits.is_empty());
        let mut all = Vec::new();
        self.0.all.find(plain, &mut all);
        let foreign = |hit: &Hit| {
            let after = hits.partition_point(|own| own.range.end <= hit.range.start);
            hits.get(after).is_none_or(|own| own.range.start >= hit.range.end)
        };
        if all.iter().any(foreign) {
            numbered = None;
            all.append(&mut hits);
            hits = leftmost(all);
        }
        show(text, &decoded, &hits, numbered)
    }

    /// Notes what `text`, said by the program of `slot`, says about its model: it is masked from now on.
    pub fn learn(&self, slot: SlotId, text: &str) {
        if let Some(slot) = self.slot(Some(slot)) {
            let text = Decoded::of(text);
            slot.learn(reported::values(text.text()).map(|range| &text.text()[range]));
        }
    }

    fn slot(&self, id: Option<SlotId>) -> Option<&Slot> {
        self.0.slots.iter().find(|slot| Some(slot.id) == id)
    }
}

impl fmt::Debug for Mask {
    /// Never shows a name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mask").field("slots", &self.0.slots.len()).finish_non_exhaustive()
    }
}

impl Slot {
    fn learned(&self) -> Option<Arc<Matcher>> {
        self.learned.read().unwrap_or_else(PoisonError::into_inner).matcher.clone()
    }

    fn learn<'t>(&self, reports: impl Iterator<Item = &'t str>) {
        let mut new: BTreeSet<String> = reports.flat_map(reported_words).collect();
        if new.is_empty() {
            return;
        }
        let mut learned = self.learned.write().unwrap_or_else(PoisonError::into_inner);
        new.retain(|word| !learned.words.contains(word));
        if new.is_empty() || learned.words.len() + new.len() > LEARNED {
            return;
        }
        learned.words.append(&mut new);
        let words = learned.words.iter().map(|word| (Naming::Model, word.clone()));
        learned.matcher = Some(Arc::new(Matcher::new(words)));
    }
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
    fn new(words: impl Iterator<Item = (Naming, String)>) -> Self {
        let (namings, patterns): (Vec<Naming>, Vec<String>) = words.unzip();
        // Standard semantics reports every word at every place, so that a long word that fails at its boundary does
        // not hide a short one.
        let words = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .build(&patterns)
            .expect("the names of a panel are smaller than 2 GiB");
        Self { words, namings }
    }

    fn find(&self, text: &str, hits: &mut Vec<Hit>) {
        if !self.words.is_match(text) {
            return;
        }
        let found = self
            .words
            .find_overlapping_iter(text)
            .filter(|m| is_word(text, m.start(), m.end()) && !is_mark(text, m.range()));
        hits.extend(found.map(|m| Hit { range: m.range(), naming: self.namings[m.pattern().as_usize()] }));
    }
}

/// Those of `hits` that do not overlap: the leftmost, of these the longest, of these the more precise naming.
fn leftmost(mut hits: Vec<Hit>) -> Vec<Hit> {
    let precision = |naming: Naming| match naming {
        Naming::Key => 0,
        Naming::Program => 1,
        Naming::Model => 2,
    };
    hits.sort_by_key(|hit| (hit.range.start, Reverse(hit.range.end), precision(hit.naming)));
    let mut at = 0;
    hits.retain(|hit| {
        let first = hit.range.start >= at;
        if first {
            at = hit.range.end;
        }
        first
    });
    hits
}

/// `text` with a mark for each identifier that one of `hits` is a part of.
fn show(text: &str, decoded: &Decoded<'_>, hits: &[Hit], slot: Option<SlotId>) -> String {
    let mut out = String::with_capacity(text.len());
    // In the text as it reads, and as it is written.
    let (mut seen, mut written) = (0, 0);
    for Hit { range, naming } in hits {
        if range.end <= seen {
            continue;
        }
        let whole = around(decoded.text(), range.clone());
        let (start, end) = (whole.start.max(seen), whole.end);
        // A hit that begins in the token before it belongs to that one.
        let joined = seen > 0 && range.start < seen;
        let place = decoded.original(&(start..end));
        if !joined {
            out.push_str(&text[written..place.start]);
            match slot {
                Some(slot) => out.push_str(&Placeholder { slot, naming: *naming }.to_string()),
                None => out.push_str(naming.without_slot()),
            }
        }
        (seen, written) = (end, place.end);
    }
    out.push_str(&text[written..]);
    out
}

/// Whether `text[from..to]` stands as a word: between characters of other kinds, or as a hump of a `camelCase` name.
fn is_word(text: &str, from: usize, to: usize) -> bool {
    let before = text[..from].chars().next_back();
    let after = text[to..].chars().next();
    if to - from == 1 {
        // An alias of one letter is masked where a message quotes it, not wherever the letter stands.
        return before == after && before.is_some_and(|c| matches!(c, '`' | '\'' | '"'));
    }
    let word = &text[from..to];
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_ascii() && is_part(c as u8));
    if word.ends_with('@') {
        // `or@`: what a route begins with.
        return !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    }
    if word.starts_with('/') && !word[1..].contains('/') {
        // A command such as `/login`, not a part of an address or a path.
        return !inside(before) && (!inside(after) || matches!(after, Some('.' | ':')));
    }
    if to - from < SHORT {
        let apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.' | '/'));
        // A full stop that ends the sentence is no part of the token.
        let ends = after == Some('.') && text[to + 1..].chars().next().is_none_or(char::is_whitespace);
        return apart(before) && (apart(after) || ends);
    }
    let (Some(first), Some(last)) = (word.chars().next(), word.chars().next_back()) else { return false };
    let second = word.chars().nth(1);
    let after_next = text[to..].chars().nth(1);
    before.is_none_or(|before| is_break(before, first, second) || is_escape(text.as_bytes(), from))
        && after.is_none_or(|after| is_break(last, after, after_next))
}

/// Whether `text[range]` is the word in a mark, as it is when a text is masked a second time.
fn is_mark(text: &str, range: Range<usize>) -> bool {
    let before = text[..range.start].trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    text[range.end..].starts_with(']')
        && before.ends_with('[')
        && [Naming::Model, Naming::Program, Naming::Key].iter().any(|naming| naming.as_str() == &text[range.clone()])
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
    #[case("claude-opus-4 and claude-opus-41", "[01.model] and [01.program]")]
    #[case("claudette is not CLAUDE", "claudette is not [01.program]")]
    #[case("claudeCode OpenAIError openaiClient", "[program] [model] [model]")]
    #[case("claude_code claude2 /usr/bin/claude", "[01.program] [01.program] /usr/bin/[01.program]")]
    #[case("o3. foo3 o3-d o30 (O3)", "[model]. foo3 o3-d o30 ([model])")]
    #[case("a\\nclaude gpt-5o", "a\\n[program] [model]")]
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
        assert_eq!(two.text_for(Some(id), "[model] and [01.model]"), "[model] and [01.model]", "a second time");
    }

    #[test]
    fn a_list_of_names_does_not_say_which_of_them_is_whose() {
        let list = "available: opus, o3, claude:haiku";
        let shown = mask().text_for(Some(ids()[0]), list);
        assert_eq!(shown, "available: [model], [model], [model]");
        assert!(ids().into_iter().all(|id| mask().text_for(Some(id), list) == shown));
        assert_eq!(mask().text_for(None, list), shown);
        assert_eq!(mask().text_for(Some(ids()[0]), "claudeCodex"), "[program]", "one identifier");
    }

    #[rstest]
    #[case("q=claude%2Dopus%2d4&x", "q=[01.model]&x")]
    #[case("no%20%22anthropic%2Fclaude-opus%2D4%3Afree%22", "no%20%22[01.model]%22")]
    #[case(r#"{\"m\":\"anthropic\/claude\u002dopus-4\"}"#, r#"{\"m\":\"[01.model]\"}"#)]
    #[case("claude&#45;opus&#x2D;4&amp;", "[01.model]&amp;")]
    #[case("é%2Fclaude %C3%A9", "é%2F[01.program] %C3%A9")]
    fn an_escaped_name_is_a_name(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(mask().text_for(Some(ids()[0]), text), expected);
    }

    #[rstest]
    #[case("no model claude-opus-4:fr... here", "no model [01.model]... here")]
    #[case("claude_api::endpoint::ws: closed", "[01.program]: closed")]
    #[case("[claude-code:unrecognized_model]", "[[01.program]]")]
    #[case("see https://anthropic.com/keys.", "see [01.model].")]
    #[case("/home/ann/opus-x/s/work/02/claude.log is full", "/home/ann/[01.model]/s/work/02/[01.program] is full")]
    #[case("work/01/answer.md {prompt_file} claude", "work/01/answer.md {prompt_file} [01.program]")]
    fn a_name_leaves_nothing_of_its_identifier(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(mask().text_for(Some(ids()[0]), text), expected);
    }

    #[test]
    fn a_routes_short_name_and_a_programs_command_are_found_where_they_are_meant() {
        let id = ids()[0];
        let names = SlotNames { slot: id, model: strings(&["or@"]), program: strings(&["/login"]), key: vec![] };
        let mask = Mask::new(vec![names]);
        let shown =
            mask.text_for(Some(id), "or@x/y-1's API, for@x or not. Please run /login. https://h/login /login/x");
        let expected = "[01.model]'s API, for@x or not. Please run [01.program]. https://h/login /login/x";
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_a_program_says_about_its_model_is_masked_from_then_on_for_its_slot() {
        let (mask, ids) = (mask(), ids());
        let text = "level=ERROR providerID=zoo modelID=big-pickle id=1";
        assert_eq!(mask.text_for(Some(ids[1]), text), "level=ERROR providerID=[02.model] modelID=[02.model] id=1");
        assert_eq!(mask.text_for(Some(ids[1]), "Big Pickle is big"), "[02.model] is big");
        assert_eq!(mask.text_for(Some(ids[0]), "big-pickle"), "big-pickle");
        assert_eq!(mask.text_for(None, "model=x"), "model=x");
        mask.learn(ids[0], r#"{"type":"system","model":"zoo/kea-7"}"#);
        assert_eq!(mask.text_for(Some(ids[0]), "no kea-7 here"), "no [01.model] here");
    }

    #[test]
    fn its_debug_form_shows_no_name() {
        assert!(!format!("{:?}", mask()).contains("claude"));
    }
}
