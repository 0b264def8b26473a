//! Finds the text by which an author names itself.
//!
//! A name of a model or a vendor is a leak only where the author says that it is its own: "I am NAME", "made by NAME" of
//! oneself, "As NAME, I ..", "NAME here", a signature. An answer that is about models keeps their names; how often it
//! names one is counted, so that a reader knows. Names are those of the families that are known publicly and those of
//! the panel. Characters that nobody sees do not hide a name.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::secrets::FAMILIES;

use super::fences::Fences;
use super::visible::hidden;

/// What stands in the judged copy for a name.
pub(super) const MASK: &str = "[model]";

/// How far before a name its sentence is looked at.
const LOOK_BACK: usize = 240;
/// How many words of it.
const MOST_WORDS: usize = 24;
/// How far behind it.
const LOOK_AHEAD: usize = 160;

/// What follows a family's name and still belongs to it: `GPT-4o mini`, `Claude 3.5 Sonnet (New)`.
const SUFFIX: &str = r"(?:[-_/:. ]?(?:v?[0-9][0-9A-Za-z_.]*|opus|sonnet|haiku|pro|flash|ultra|nano|mini|turbo|code|cli|instruct|chat|large|medium|small|max|plus|lite|preview|latest|thinking|deepmind|ai|r1|fast))*";

/// Words that may stand between "I am" and a name without changing who is meant.
const FILLERS: &[&str] = &[
    "a",
    "an",
    "the",
    "ai",
    "artificial",
    "intelligence",
    "large",
    "language",
    "multimodal",
    "model",
    "llm",
    "assistant",
    "chatbot",
    "bot",
    "agent",
    "system",
    "named",
    "called",
    "known",
    "as",
    "based",
    "on",
    "powered",
    "by",
    "version",
    "of",
    "from",
    "made",
    "created",
    "trained",
    "built",
    "developed",
    "designed",
    "provided",
    "just",
    "only",
    "actually",
    "simply",
    "currently",
    "here",
    "your",
    "friendly",
    "helpful",
    "virtual",
    "conversational",
    "coding",
    "instance",
    "indeed",
    "really",
    "and",
    "also",
    "one",
    "in",
    "fact",
    "well",
    ",",
];

/// Ends of a beginning in which the author speaks of itself, as words in order.
const BEGINNINGS: &[&[&str]] = &[
    &["i", "am"],
    &["i", "was"],
    &["i", "have", "been"],
    &["i'm"],
    &["i've", "been"],
    &["my", "name", "is"],
    &["my", "name's"],
    &["call", "me"],
    &["ich", "bin"],
    &["je", "suis"],
    &["yo", "soy"],
    &["soy"],
    &["io", "sono"],
    &["eu", "sou"],
];

/// How a text came about.
const MADE: &str = "made|written|generated|produced|created|composed|drafted|authored|answered|given|provided";
/// What may stand between "by" and the name of who made it.
const MAKER: &str = r#" (?:the |an? )?(?:ai |large |language |model |assistant |llm |chatbot )*[*_`"'\[(]*"#;

/// Makers that an author calls its own.
const MAKERS: &[&str] = &["creator", "creators", "maker", "makers", "developer", "developers", "trainer", "trainers"];

/// The same in scripts that do not put spaces between words.
const UNSPACED: &[&str] = &["我是", "我叫", "私は", "僕は", "저는", "나는"];

/// Text by which an author names itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leak {
    /// Where it stands.
    pub(super) range: Range<usize>,
    /// Whether it stands in a fenced block, whose text must stay as it is.
    pub(super) fenced: bool,
}

/// What a text says about its author.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// In the order of the text, without overlap.
    pub(super) leaks: Vec<Leak>,
    /// Names that stand there without being said to be the author's.
    pub(super) mentions: u32,
}

/// The number of the way in which names are found, recorded with each round. One more whenever [`LeakScan`] finds something
/// else in the same text, so that a later program knows which counts it can make again to check them.
pub const LEAK_SCAN: u32 = 2;

/// Looks for names; made once for a round.
#[derive(Debug, Clone)]
pub struct LeakScan {
    names: Option<Regex>,
}

impl LeakScan {
    /// Looks for the families that are known publicly and for `panel`, the words that name models of this panel.
    #[must_use]
    pub fn new<S: AsRef<str>>(panel: impl IntoIterator<Item = S>) -> Self {
        let mut words: Vec<String> = FAMILIES
            .iter()
            .flat_map(|family| family.words.iter().chain(family.also).copied().chain([family.vendor]))
            .map(str::to_owned)
            .collect();
        // A name of one or two characters is in every second line.
        words.extend(panel.into_iter().map(|word| word.as_ref().trim().to_owned()).filter(|word| word.len() > 2));
        words.iter_mut().for_each(|word| *word = word.to_lowercase());
        // Of two names that begin alike, the longer one is tried first.
        words.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        words.dedup();
        let words: Vec<String> = words.iter().map(|word| regex::escape(word)).collect();
        let pattern = format!(r"(?i)(?-u:\b)(?:{}){SUFFIX}(?-u:\b)", words.join("|"));
        Self { names: Regex::new(&pattern).ok() }
    }

    /// Finds nothing.
    pub(super) const fn none() -> Self {
        Self { names: None }
    }

    /// What `text` says about its author. `fences` is what is open where it begins.
    pub(super) fn scan(&self, text: &str, fences: Fences) -> Found {
        if text.chars().any(hidden) {
            let (seen, at) = without_hidden(text);
            let mut found = self.scan_visible(&seen, fences);
            for leak in &mut found.leaks {
                // The end is behind the last character, not before whatever hides after it.
                leak.range = at[leak.range.start]..at[leak.range.end - 1] + 1;
            }
            return found;
        }
        self.scan_visible(text, fences)
    }

    fn scan_visible(&self, text: &str, fences: Fences) -> Found {
        let mut found = Found::default();
        let Some(names) = &self.names else { return found };
        let mut fences = fences;
        let mut read = 0;
        for name in names.find_iter(text) {
            // Inside of what the last one covers: the address of a signature.
            let last = found.leaks.last().map(|leak| leak.range.end);
            if last.is_some_and(|end| name.start() < end) {
                continue;
            }
            // Lines that end before this one decide whether it stands in a fence.
            let line = text[..name.start()].rfind('\n').map_or(0, |end| end + 1);
            if line > read {
                fences.read(&text[read..line]);
                read = line;
            }
            let further = last.filter(|end| goes_on(&text[*end..name.start()])).map(|_| name.range());
            match further.or_else(|| leak(text, name.range())) {
                Some(range) => found.leaks.push(Leak { range, fenced: fences.is_open() }),
                None => found.mentions += 1,
            }
        }
        found
    }
}

/// Whether `between` two names leads on from the first, which is the author's, to the second.
fn goes_on(between: &str) -> bool {
    between.len() <= LOOK_BACK
        && !between.contains("\n\n")
        && matches!(words_backwards(between), (words, true) if words.iter().all(|word| FILLERS.contains(&word.as_str())))
}

/// What to mask where the name at `name` is said to be the author's.
fn leak(text: &str, name: Range<usize>) -> Option<Range<usize>> {
    let from = floor(text, name.start.saturating_sub(LOOK_BACK));
    let before = &text[from..name.start];
    let paragraph = before.rfind("\n\n").map_or(before, |at| &before[at + 2..]);
    let after = &text[name.end..floor(text, (name.end + LOOK_AHEAD).min(text.len()))];
    // How a line begins is only known when its beginning is in view.
    let line = if from == 0 { Some(before.rsplit('\n').next().unwrap_or_default()) } else { None };
    let line = line.or_else(|| before.rsplit_once('\n').map(|(_, line)| line));
    if line.is_some_and(|line| SIGNATURE.is_match(line)) {
        let further = SIGNATURE_REST.find(after).map_or(0, |rest| rest.end());
        return Some(name.start..name.end + further);
    }
    let is_own = line.is_some_and(|line| DASH.is_match(line) && LAST.is_match(&text[name.end..]))
        || line.is_some_and(|line| BARE.is_match(line) && HERE.is_match(after))
        || MADE_ME.is_match(after)
        || OWN_WORK.is_match(paragraph)
        || BYLINE.is_match(paragraph) && SENTENCE_END.is_match(after)
        || UNSPACED.iter().any(|begin| before.trim_end().ends_with(begin))
        || is_led_by_author(paragraph, after);
    is_own.then_some(name)
}

/// Whether the words before a name lead from the author to it.
fn is_led_by_author(before: &str, after: &str) -> bool {
    let (words, _) = words_backwards(before);
    let mut passed: Vec<&str> = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let behind = |back: usize| words.get(index + back).map(String::as_str);
        let ends_with = |beginning: &[&str]| {
            beginning.iter().rev().enumerate().all(|(back, expected)| behind(back) == Some(expected))
        };
        if BEGINNINGS.iter().any(|beginning| ends_with(beginning)) {
            return true;
        }
        match word.as_str() {
            "as" if leads_a_clause(behind(1)) && (says_what_it_is(&passed) || AUTHOR_GOES_ON.is_match(after)) => {
                return true;
            }
            "i" => return !passed.is_empty() && passed.iter().all(|word| *word == ","),
            "at" if matches!(behind(1), Some("we" | "us")) => return true,
            "at" | "by" | "is" | "are" | "from" if behind(1).is_some_and(|maker| MAKERS.contains(&maker)) => {
                return behind(2) == Some("my");
            }
            maker if MAKERS.contains(&maker) => return behind(1) == Some("my"),
            word if FILLERS.contains(&word) => passed.push(word),
            _ => return false,
        }
    }
    false
}

/// Whether "as" begins a clause, going by the word before it.
fn leads_a_clause(before: Option<&str>) -> bool {
    before.is_none_or(|word| matches!(word, "," | "but" | "and" | "so" | "because" | "speaking" | "since" | "that"))
}

/// Whether the words between "as" and a vendor's name say what the author is and who made it.
fn says_what_it_is(words: &[&str]) -> bool {
    let any = |of: &[&str]| words.iter().any(|word| of.contains(word));
    any(&["ai", "model", "llm", "assistant", "chatbot", "bot"])
        && any(&["by", "trained", "made", "created", "built", "developed", "designed"])
}

/// The words of the sentence that `text` ends with, from its end, in lower case, and whether they are all of it; a comma
/// is a word.
fn words_backwards(text: &str) -> (Vec<String>, bool) {
    let mut words = Vec::new();
    let mut word: Vec<char> = Vec::new();
    let mut next = ' ';
    let finish = |word: &mut Vec<char>, words: &mut Vec<String>| {
        if !word.is_empty() {
            words.push(word.drain(..).rev().flat_map(char::to_lowercase).collect());
        }
    };
    for c in text.chars().rev() {
        if words.len() > MOST_WORDS {
            return (words, false);
        }
        match c {
            _ if c.is_alphanumeric() => word.push(c),
            '\'' | '’' if !word.is_empty() => word.push('\''),
            // Within a word or a number.
            '.' | '-' if next.is_alphanumeric() => word.push(c),
            '.' | '!' | '?' | ';' => {
                finish(&mut word, &mut words);
                return (words, false);
            }
            ',' => {
                finish(&mut word, &mut words);
                words.push(",".to_owned());
            }
            _ => finish(&mut word, &mut words),
        }
        next = c;
    }
    finish(&mut word, &mut words);
    (words, true)
}

/// `text` without what nobody sees, and where each of its bytes was.
fn without_hidden(text: &str) -> (String, Vec<usize>) {
    let mut seen = String::with_capacity(text.len());
    let mut at = Vec::with_capacity(text.len());
    for (start, c) in text.char_indices().filter(|(_, c)| !hidden(*c)) {
        seen.push(c);
        at.extend(start..start + c.len_utf8());
    }
    (seen, at)
}

/// The start of the character that byte `at` is in.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// A line that begins as a signature, up to the name.
static SIGNATURE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r#"(?i)^[\s>*_#|()\[\]🤖✨—–-]*(?:co-?authored-by|signed-off-by|generated (?:with|by|using)|made with|(?:answer|answered|written|authored|created|reply|response|sent|posted) (?:by|from|with)|author|signed|yours(?: truly)?|(?:best |kind |warm )?regards|best|cheers|sincerely)\b[\s:,*_\[\]`"]*(?:the )?$"#,
    )
});
/// What belongs to a signature behind its name: an address or a link.
static SIGNATURE_REST: LazyLock<Regex> =
    LazyLock::new(|| compiled(r#"^[*_`"]*(?:\]\([^)\n]*\)|[ \t]*\([^)\n]*\)|[ \t]*<[^>\n]*>)"#));
/// A line that holds nothing before the name but a long dash.
static DASH: LazyLock<Regex> = LazyLock::new(|| compiled(r"^\s*(?:[—–]|--+)\s*[*_]*$"));
/// Nothing follows but the end.
static LAST: LazyLock<Regex> = LazyLock::new(|| compiled(r"^[*_.!]*\s*$"));
/// A line that holds nothing before the name but marks and a greeting.
static BARE: LazyLock<Regex> =
    LazyLock::new(|| compiled(r#"(?i)^[\s>*_#"]*(?:(?:hi|hello|hey)\b[\s!,.]*)?(?:this is )?[*_]*$"#));
/// The author has just named itself.
static HERE: LazyLock<Regex> = LazyLock::new(|| compiled(r"(?i)^[*_]*,? (?:here|speaking)(?:[*_]*[.,!]|\s*$)"));
/// The name's owner made the author.
static MADE_ME: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r#"(?i)^[*_`"')\]]*,?\s+(?:(?:the company |the lab |the people )?(?:that|which|who)\s+)?(?:has |have )?(?:made|created|trained|built|developed|designed)\s+me\b"#,
    )
});
/// What is said of this very text up to the name of who made it: not of what the text is about.
static OWN_WORK: LazyLock<Regex> = LazyLock::new(|| {
    compiled(&format!(
        r#"(?i)\b(?:this|the above|my)(?: whole| entire)? (?:answer|response|reply|text|solution|review|message|output) (?:was |is |has been |comes |came )?(?:{MADE})(?: for you)? (?:by|from|with|using){MAKER}$"#
    ))
});
/// A sentence that begins with who made something and holds nothing else.
static BYLINE: LazyLock<Regex> =
    LazyLock::new(|| compiled(&format!(r#"(?i)(?:^|[\n.!?:;)\]])[\s*_>#"]*(?:{MADE}) by{MAKER}$"#)));
/// The sentence is over.
static SENTENCE_END: LazyLock<Regex> =
    LazyLock::new(|| compiled(r#"^[*_`"')\]]*(?:[.!][*_"')\]]*(?:\s|$)|\s*(?:\n|$))"#));
/// After "As NAME" the author goes on about itself.
static AUTHOR_GOES_ON: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r#"(?i)^[*_`"')\]]*,?\s+(?:(?:an?|the)\s+[^.!?\n]{0,80}?,\s+)?(?:i|i['’][a-z]+|my|me|we|our)\b"#)
});

#[expect(clippy::expect_used, reason = "constants, and a test reads each of them")]
fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this file is valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Found {
        LeakScan::new(["kiwi", "office@llama-3.3", "o3"]).scan(text, Fences::default())
    }

    fn masked(text: &str) -> String {
        let mut out = text.to_owned();
        for leak in found(text).leaks.iter().rev().filter(|leak| !leak.fenced) {
            out.replace_range(leak.range.clone(), MASK);
        }
        out
    }

    #[test]
    fn what_an_author_says_of_itself_is_found() {
        for (text, expected) in [
            ("I am Claude.", "I am [model]."),
            ("Hi! I'm **Claude 3.5 Sonnet**, and I like it.", "Hi! I'm **[model]**, and I like it."),
            (
                "I’m ChatGPT, a large language model trained by OpenAI.",
                "I’m [model], a large language model trained by [model].",
            ),
            ("I am an AI assistant made by Anthropic.", "I am an AI assistant made by [model]."),
            ("I was developed by Google DeepMind in 2023", "I was developed by [model] in 2023"),
            ("My name is kiwi and I rule.", "My name is [model] and I rule."),
            ("As ChatGPT, I cannot do that.", "As [model], I cannot do that."),
            ("However, as GPT-4o mini, I think so.", "However, as [model], I think so."),
            ("As an AI trained by OpenAI, the answer is no.", "As an AI trained by [model], the answer is no."),
            ("As Claude, an AI made by Anthropic, I say no.", "As [model], an AI made by [model], I say no."),
            ("Anthropic, the company that created me, says so.", "[model], the company that created me, says so."),
            ("My creators at Anthropic and my developer, Google.", "My creators at [model] and my developer, [model]."),
            ("We at OpenAI believe", "We at [model] believe"),
            ("Text.\n\nCo-Authored-By: Claude <noreply@anthropic.com>\n", "Text.\n\nCo-Authored-By: [model]\n"),
            ("🤖 Generated with [Claude Code](https://claude.ai/code)", "🤖 Generated with [[model]"),
            ("Answer by Gemini 2.5 Pro", "Answer by [model]"),
            ("So it is.\n\n— Claude\n", "So it is.\n\n— [model]\n"),
            ("Claude here. Let me see.", "[model] here. Let me see."),
            ("I am Claude Code by Anthropic", "I am [model] by [model]"),
            ("I am Claude (claude-3-5-sonnet-20241022).", "I am [model] ([model])."),
            ("I am office@llama-3.3, hosted.", "I am [model], hosted."),
            ("I, Claude, approve.", "I, [model], approve."),
            ("Ich bin Claude. Je suis Gemini!", "Ich bin [model]. Je suis [model]!"),
            ("我是Claude，很高兴", "我是[model]，很高兴"),
            ("I AM CLAUDE", "I AM [model]"),
            ("This answer was made by Claude.", "This answer was made by [model]."),
            ("Made by kiwi", "Made by [model]"),
            (
                "This text was written by the model **kiwi**, quickly.",
                "This text was written by the model **[model]**, quickly.",
            ),
            ("Text of mine. Written by kiwi.", "Text of mine. Written by [model]."),
            ("My response has been generated with GPT-4o mini.", "My response has been generated with [model]."),
            ("I am\u{200b} Cla\u{200b}ude\u{202e}.", "I am\u{200b} [model]\u{202e}."),
        ] {
            assert_eq!(masked(text), expected, "{text}");
        }
    }

    #[test]
    fn talk_about_models_stays_and_is_counted() {
        for (text, mentions) in [
            ("Claude is made by Anthropic, GPT-4 by OpenAI.", 4),
            ("Models such as Claude, I think, are fine.", 1),
            ("I am sure that Claude would say so.", 1),
            ("I am not Claude.", 1),
            ("As Claude does, as with Gemini.", 2),
            ("I was using Codex when Google failed.", 2),
            ("The developers at Google are many. It is by OpenAI.", 2),
            ("Claude made this. Does Claude have meters?", 2),
            ("- Claude\n- Gemini\n", 2),
            ("Use `gpt-4o` or claude-opus-4.5.", 2),
            ("I asked my friend. Google knows.", 1),
            ("It is good. Created by Anthropic, Claude is a model.", 2),
            ("The library was written by Google. This answer names Claude.", 2),
            ("ollama and philosophy, metadata and kiwis", 0),
        ] {
            let found = found(text);
            assert_eq!((found.leaks.len(), found.mentions), (0, mentions), "{text}: {found:?}");
        }
    }

    #[test]
    fn in_a_fenced_block_a_leak_is_found_and_marked_as_fenced() {
        let text = "Commit:\n```\nCo-Authored-By: Claude <x@y>\n```\nI am Claude.\n";
        let fenced: Vec<bool> = found(text).leaks.iter().map(|leak| leak.fenced).collect();
        assert_eq!(fenced, [true, false]);
        let mut open = Fences::default();
        open.read("```\n");
        assert!(LeakScan::new([""; 0]).scan("I am Claude", open).leaks[0].fenced);
    }

    #[test]
    fn a_text_of_many_bytes_and_scripts_is_cut_between_characters() {
        for text in ["é".repeat(300) + " I am Claude" + &"ü".repeat(300), "語".repeat(500) + "我是Claude"] {
            assert_eq!(found(&text).leaks.len(), 1);
        }
    }
}
