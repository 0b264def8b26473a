//! The answers in a judge's prompt, and ballots about them.

use std::fmt::Write;
use std::str::FromStr;

/// How to vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rule {
    All(&'static str),
    ApproveWord(String),
    Garbage,
    Missing,
    Duplicate,
    Conflict,
    Unknown,
    Json,
    Unclosed,
    Lower,
    Each(String),
    ApproveFirst,
    /// In the first prompt of a turn only.
    First(Box<Rule>),
    /// When asked once more only.
    Again(Box<Rule>),
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text.split_once(' ').unwrap_or((text, "")) {
            ("approve", "") => Self::All("APPROVE"),
            ("reject", "") => Self::All("REJECT"),
            ("abstain", "") => Self::All("ABSTAIN"),
            ("approve-word", word) if !word.is_empty() => Self::ApproveWord(word.to_owned()),
            ("garbage", "") => Self::Garbage,
            ("missing", "") => Self::Missing,
            ("duplicate", "") => Self::Duplicate,
            ("conflict", "") => Self::Conflict,
            ("unknown", "") => Self::Unknown,
            ("json", "") => Self::Json,
            ("unclosed", "") => Self::Unclosed,
            ("lower", "") => Self::Lower,
            ("each", text) if !text.is_empty() => Self::Each(text.to_owned()),
            ("approve-first", "") => Self::ApproveFirst,
            ("first", rule) => Self::First(Box::new(rule.parse()?)),
            ("again", rule) => Self::Again(Box::new(rule.parse()?)),
            _ => return Err(format!("unknown rule `{text}`")),
        })
    }
}

/// An answer to judge.
pub(crate) struct Answer<'p> {
    alias: &'p str,
    text: &'p str,
}

/// How to vote on findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Weighing {
    All(&'static str),
    Word(String),
    /// Words of findings, each with what a line that the change adds must hold.
    Added(Vec<(String, String)>),
    /// A file of its folder, and what it must hold.
    Looks(String, String),
    Garbage,
    /// None for what stands last.
    Missing,
    /// In the first prompt of a turn only.
    First(Box<Weighing>),
    /// When asked once more only.
    Again(Box<Weighing>),
}

impl FromStr for Weighing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text.split_once(' ').unwrap_or((text, "")) {
            ("sustain", "") => Self::All("SUSTAIN"),
            ("reject", "") => Self::All("REJECT"),
            ("ask", "") => Self::All("ASK"),
            ("word", word) if !word.is_empty() => Self::Word(word.to_owned()),
            ("added", rest) => {
                let facts = rest.split(";;").map(|fact| fact.trim().split_once(' '));
                let facts = facts.map(|fact| fact.map(|(word, line)| (word.to_owned(), line.to_owned())));
                Self::Added(facts.collect::<Option<_>>().ok_or_else(|| format!("unknown rule `{text}`"))?)
            }
            ("looks", rest) if rest.contains(' ') => {
                let (file, text) = rest.split_once(' ').unwrap_or_default();
                Self::Looks(file.to_owned(), text.to_owned())
            }
            ("garbage", "") => Self::Garbage,
            ("missing", "") => Self::Missing,
            ("first", rule) => Self::First(Box::new(rule.parse()?)),
            ("again", rule) => Self::Again(Box::new(rule.parse()?)),
            _ => return Err(format!("unknown rule `{text}`")),
        })
    }
}

/// Every answer that a line `### Response ALIAS` introduces.
pub(crate) fn answers(prompt: &str) -> Vec<Answer<'_>> {
    introduced(prompt, "### Response ")
}

/// Every finding that a line `### Finding ALIAS` introduces.
pub(crate) fn findings(prompt: &str) -> Vec<Answer<'_>> {
    introduced(prompt, "### Finding ")
}

/// Whether the prompt asks for something else than votes.
pub(crate) fn asks_nothing_to_vote(prompt: &str) -> bool {
    answers(prompt).is_empty() && findings(prompt).is_empty()
}

/// What a judge of findings with this rule prints.
pub(crate) fn weigh(rule: &Weighing, prompt: &str, findings: &[Answer<'_>]) -> String {
    let again = is_repair(prompt);
    match rule {
        Weighing::First(rule) if !again => return weigh(rule, prompt, findings),
        Weighing::Again(rule) if again => return weigh(rule, prompt, findings),
        Weighing::First(_) | Weighing::Again(_) => return String::new(),
        _ => {}
    }
    let mut out = String::from("I looked at every finding.\n\n");
    let last = findings.last().map_or("", |finding| finding.alias);
    for finding in findings {
        let verdict = match rule {
            Weighing::All(verdict) => verdict,
            Weighing::Word(word) if finding.text.contains(word.as_str()) => "SUSTAIN",
            Weighing::Added(facts)
                if facts.iter().any(|(word, line)| finding.text.contains(word) && adds(prompt, line)) =>
            {
                "SUSTAIN"
            }
            Weighing::Looks(file, text) if holds(file, text) => "SUSTAIN",
            Weighing::Missing if finding.alias == last => continue,
            Weighing::Missing => "SUSTAIN",
            Weighing::Word(_) | Weighing::Added(..) | Weighing::Looks(..) => "REJECT",
            Weighing::First(_) | Weighing::Again(_) => continue,
            Weighing::Garbage => {
                let _ = writeln!(out, "I would SUSTAIN {}, with confidence 9.", finding.alias);
                continue;
            }
        };
        let _ = write!(
            out,
            "```vote\nFINDING: {}\nVERDICT: {verdict}\nCONFIDENCE: 8\nSUMMARY: Reasons for {verdict}.\n```\n\n",
            finding.alias
        );
    }
    out
}

/// Whether `file` of its folder can be read and holds `text`.
fn holds(file: &str, text: &str) -> bool {
    std::fs::read_to_string(file).is_ok_and(|found| found.contains(text))
}

/// Whether the change in the prompt adds a line with this text.
fn adds(prompt: &str, text: &str) -> bool {
    prompt.lines().any(|line| line.starts_with('+') && line.contains(text))
}

fn introduced<'p>(prompt: &'p str, heading: &str) -> Vec<Answer<'p>> {
    let mut heads = Vec::new();
    let mut at = 0;
    for line in prompt.split_inclusive('\n') {
        if let Some(alias) = line.strip_prefix(heading).map(str::trim)
            && !alias.is_empty()
            && !alias.contains(char::is_whitespace)
        {
            heads.push((alias, at, at + line.len()));
        }
        at += line.len();
    }
    let ends = heads.iter().skip(1).map(|head| head.1).chain([prompt.len()]);
    heads.iter().zip(ends).map(|((alias, _, start), end)| Answer { alias, text: &prompt[*start..end] }).collect()
}

/// The rule that holds for this prompt; `None` when nothing is to be printed.
pub(crate) fn rule_for<'r>(rule: &'r Rule, prompt: &str) -> Option<&'r Rule> {
    let again = is_repair(prompt);
    match rule {
        Rule::First(rule) => (!again).then_some(rule),
        Rule::Again(rule) => again.then_some(rule),
        rule => Some(rule),
    }
}

/// What a judge with this rule prints.
pub(crate) fn vote(rule: &Rule, answers: &[Answer<'_>]) -> String {
    let mut out = String::from("I read every answer.\n\n");
    let last = answers.last().map_or("", |answer| answer.alias);
    for answer in answers {
        let is_last = answer.alias == last;
        match rule {
            Rule::All(verdict) => out += &block(answer.alias, verdict),
            Rule::ApproveFirst => {
                let first = answers.first().is_some_and(|first| first.alias == answer.alias);
                out += &block(answer.alias, if first { "APPROVE" } else { "REJECT" });
            }
            Rule::ApproveWord(word) => {
                let (verdict, issues) = match answer.text.contains(word.as_str()) {
                    true => ("APPROVE", "None".to_owned()),
                    false => ("REJECT", format!("\n- It lacks {word}")),
                };
                out += &block(answer.alias, verdict).replace("KEY_ISSUES: None", &format!("KEY_ISSUES: {issues}"));
            }
            Rule::Missing if is_last => {}
            Rule::Garbage => {
                let _ = writeln!(out, "I would say {} is an APPROVE, with confidence 9.", answer.alias);
            }
            Rule::Unclosed if is_last => out += block(answer.alias, "APPROVE").trim_end().trim_end_matches('`'),
            Rule::Lower => {
                let _ = write!(
                    out,
                    "```vote\r\nresponse: {}\r\n**verdict**: approve\r\nconfidence: 8/10\r\nsummary: fine\r\nkey_issues: none\r\n```\r\n",
                    answer.alias
                );
            }
            Rule::Each(text) => out += &text.replace("{alias}", answer.alias),
            Rule::Json | Rule::First(_) | Rule::Again(_) => {}
            Rule::Missing | Rule::Duplicate | Rule::Conflict | Rule::Unknown | Rule::Unclosed => {
                out += &block(answer.alias, "APPROVE");
            }
        }
    }
    match rule {
        Rule::Duplicate => out += &block(last, "APPROVE"),
        Rule::Conflict => out += &block(last, "REJECT"),
        Rule::Unknown => out += &block("nobody-has-this-alias", "APPROVE"),
        Rule::Json => return json(answers),
        _ => {}
    }
    out
}

fn block(alias: &str, verdict: &str) -> String {
    format!(
        "```vote\nRESPONSE: {alias}\nVERDICT: {verdict}\nCONFIDENCE: 8\nSUMMARY: Reasons for {verdict}.\nKEY_ISSUES: None\n```\n\n"
    )
}

fn json(answers: &[Answer<'_>]) -> String {
    let votes: Vec<serde_json::Value> = answers
        .iter()
        .map(|answer| {
            serde_json::json!({
                "response": answer.alias, "verdict": "APPROVE", "confidence": 8, "summary": "Fine.", "key_issues": [],
            })
        })
        .collect();
    serde_json::json!({ "votes": votes }).to_string() + "\n"
}

fn is_repair(prompt: &str) -> bool {
    prompt.lines().any(|line| line == "Your reply:")
}

/// What the prompt asks for.
pub(crate) fn wanted(prompt: &str) -> &'static str {
    match (answers(prompt).is_empty(), is_repair(prompt)) {
        (true, true) if !findings(prompt).is_empty() => "reweighing",
        (true, false) if !findings(prompt).is_empty() => "weighing",
        (true, _) => "answer",
        (false, false) => "votes",
        (false, true) => "rest",
    }
}
