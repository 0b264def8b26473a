//! The lines and words of a ballot.

use super::VoteVerdict;

/// What is voted on; the field that names it is called after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// An answer: RESPONSE.
    Answer,
    /// A finding: FINDING.
    Finding,
}

/// The fields of a ballot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// The name of what is voted on.
    Response,
    Verdict,
    Confidence,
    Summary,
    KeyIssues,
}

/// `text` without the marks of emphasis, code and quotation around it.
pub(super) fn plain(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || is_mark(c))
}

fn is_mark(c: char) -> bool {
    matches!(c, '*' | '_' | '`' | '"' | '\'' | '“' | '”')
}

/// `text` without the pairs of such marks that are around all of it: those of `"a" and "b"` are around its parts.
pub(super) fn unwrapped(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(open) = text.chars().next().filter(|c| is_mark(*c)) {
        let close = if open == '“' { '”' } else { open };
        let rest = text.trim_start_matches(open);
        let (opening, inside) = (&text[..text.len() - rest.len()], rest.trim_end_matches(close));
        let closing = &rest[inside.len()..];
        let paired = opening.chars().count() == closing.chars().count();
        if !paired || inside.contains(opening) || inside.contains(closing) {
            break;
        }
        text = inside.trim();
    }
    // Emphasis that was opened before the field's name.
    let rest = text.trim_end_matches(['*', '_']);
    let end = &text[rest.len()..];
    if !end.is_empty() && !end.chars().any(|mark| rest.contains(mark)) { rest.trim_end() } else { text }
}

/// The field that `line` begins, and its value.
pub(super) fn field(line: &str, subject: Subject) -> Option<(Field, &str)> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '+' | '•' | '#' | '>'));
    let (name, value) = line.split_once([':', '：', '='])?;
    let name: String = plain(name).chars().map(|c| if matches!(c, ' ' | '-') { '_' } else { c }).collect();
    let field = match name.to_ascii_uppercase().as_str() {
        "RESPONSE" if subject == Subject::Answer => Field::Response,
        "FINDING" if subject == Subject::Finding => Field::Response,
        "VERDICT" => Field::Verdict,
        "CONFIDENCE" => Field::Confidence,
        "SUMMARY" => Field::Summary,
        "KEY_ISSUES" | "KEY_ISSUE" | "ISSUES" => Field::KeyIssues,
        _ => return None,
    };
    let value = match field {
        Field::Summary | Field::KeyIssues => behind_name(value),
        _ => plain(value),
    };
    Some((field, value))
}

/// `value` without the marks that close those around the name of its field: what opens is followed by what it is around.
fn behind_name(value: &str) -> &str {
    let value = value.trim();
    let rest = value.trim_start_matches(is_mark);
    if rest.is_empty() || rest.starts_with(char::is_whitespace) { rest.trim_start() } else { value }
}

/// The words of `text`: runs of letters, digits and underscores.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The verdict that `value` states, `None` when it does not state exactly one.
///
/// The first word decides, and it must be a whole one: APPROVE, REJECT or ABSTAIN, or the same verb as `APPROVED`,
/// `REJECTED`, `ABSTAINED`, in any case. More may follow only behind a mark of punctuation, and must not name another
/// verdict: `REJECT (the proof is wrong)` is a vote; `NOT APPROVE`, `APPROVE with changes`, `APPROVE | REJECT` and
/// `DISAPPROVE` are none.
pub(in crate::judging) fn verdict(value: &str) -> Option<VoteVerdict> {
    stated(value, verdict_word)
}

/// The one word of a closed set that `value` states, as `word` knows them; read as [`verdict`] says.
pub(crate) fn stated<T: Copy + PartialEq>(value: &str, word: impl Fn(&str) -> Option<T>) -> Option<T> {
    let value = value.trim_start_matches(|c: char| !c.is_alphanumeric());
    let first = words(value).next()?;
    let stated = word(first)?;
    let rest = &value[first.len()..];
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '"' | '\''));
    let apart = rest.is_empty() || rest.starts_with(|c: char| !c.is_alphanumeric());
    let alone = words(rest).filter_map(word).all(|other| other == stated);
    (apart && alone).then_some(stated)
}

fn verdict_word(word: &str) -> Option<VoteVerdict> {
    match word.to_ascii_uppercase().as_str() {
        "APPROVE" | "APPROVED" => Some(VoteVerdict::Approve),
        "REJECT" | "REJECTED" => Some(VoteVerdict::Reject),
        "ABSTAIN" | "ABSTAINED" => Some(VoteVerdict::Abstain),
        _ => None,
    }
}

/// A confidence as it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::judging) enum Confidence {
    /// As given.
    Exact(u8),
    /// Moved to the nearest bound, or a fraction rounded down.
    Adjusted(u8),
    /// Not a confidence from 1 to 10.
    None,
}

/// Reads `8`, `8/10`, `8 out of 10`, `**8**`; `N/A`, `high`, `80%` and `4/5` are none.
pub(in crate::judging) fn confidence(value: &str) -> Confidence {
    let value = plain(value);
    let end = value.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+')).unwrap_or(value.len());
    let (number, rest) = value.split_at(end);
    let Some(number) = number.trim_end_matches('.').parse::<f64>().ok().filter(|n| n.is_finite()) else {
        return Confidence::None;
    };
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`'));
    let scale = rest.strip_prefix('/').or_else(|| rest.strip_prefix("out of")).map(plain);
    let other_scale = scale.is_some_and(|scale| words(scale).next() != Some("10"));
    if other_scale || rest.starts_with('%') || rest.starts_with(|c: char| c.is_alphanumeric()) && scale.is_none() {
        return Confidence::None;
    }
    let whole = number.clamp(1.0, 10.0).floor();
    // Within 1 to 10 by now.
    let whole_u8 = whole as u8;
    if (whole - number).abs() < f64::EPSILON { Confidence::Exact(whole_u8) } else { Confidence::Adjusted(whole_u8) }
}

/// Key issues on the line of the field's name: one, several behind semicolons, or a list in brackets.
pub(super) fn issues(value: &str) -> Vec<String> {
    let value = unwrapped(value);
    if let Some(list) = value.strip_prefix('[').and_then(|v| v.strip_suffix(']')) {
        if let Ok(list) = serde_json::from_str::<Vec<String>>(value) {
            return list.iter().filter_map(|text| issue(text)).collect();
        }
        return list.split(',').filter_map(issue).collect();
    }
    value.split(';').filter_map(issue).collect()
}

/// One key issue without its bullet; `None` for what says that there is none.
pub(super) fn issue(text: &str) -> Option<String> {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '+' | '•'));
    // Stars at a word are a bullet too, unless more behind it make them emphasis.
    let text = match text.trim_start_matches('*') {
        rest if rest.starts_with(char::is_whitespace) || !rest.contains('*') => rest.trim_start(),
        _ => text,
    };
    // A number and a dot or a parenthesis is a bullet too.
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let text = match text[digits..].strip_prefix(['.', ')']) {
        Some(rest) if digits > 0 && rest.starts_with(' ') => rest,
        _ => text,
    };
    let text = unwrapped(text);
    let nothing = ["", "none", "n/a", "na", "-", "nothing", "no issues"];
    (!nothing.contains(&plain(text).trim_end_matches('.').to_ascii_lowercase().as_str())).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_word_alone_is_a_verdict() {
        for (value, expected) in [
            ("APPROVE", Some(VoteVerdict::Approve)),
            ("approve", Some(VoteVerdict::Approve)),
            ("**Approved**.", Some(VoteVerdict::Approve)),
            ("✅ APPROVE", Some(VoteVerdict::Approve)),
            ("[REJECT]", Some(VoteVerdict::Reject)),
            ("REJECT (the proof is wrong)", Some(VoteVerdict::Reject)),
            ("REJECT - it does not approve inputs", None),
            ("Rejected, see below", Some(VoteVerdict::Reject)),
            ("ABSTAIN", Some(VoteVerdict::Abstain)),
            ("APPROVE, APPROVE", Some(VoteVerdict::Approve)),
            ("APPROVE | REJECT | ABSTAIN", None),
            ("APPROVE/REJECT", None),
            ("NOT APPROVE", None),
            ("APPROVE with changes", None),
            ("DISAPPROVE", None),
            ("APPROVES", None),
            ("APPROVE_NOT", None),
            ("INCORRECT", None),
            ("REJECTION", None),
            ("", None),
            ("10", None),
        ] {
            assert_eq!(verdict(value), expected, "{value}");
        }
    }

    #[test]
    fn confidences_are_read_adjusted_or_none() {
        use Confidence::{Adjusted, Exact, None};
        for (value, expected) in [
            ("8", Exact(8)),
            ("8/10", Exact(8)),
            ("**8** / 10", Exact(8)),
            ("8 out of 10", Exact(8)),
            ("9 (fairly sure)", Exact(9)),
            ("10.", Exact(10)),
            ("11", Adjusted(10)),
            ("0", Adjusted(1)),
            ("-3", Adjusted(1)),
            ("7.5", Adjusted(7)),
            ("99999999999999999999", Adjusted(10)),
            ("N/A", None),
            ("high", None),
            ("80%", None),
            ("4/5", None),
            ("8/100", None),
            ("", None),
            ("NaN", None),
            ("1e5", None),
        ] {
            assert_eq!(confidence(value), expected, "{value}");
        }
    }

    #[test]
    fn fields_are_found_in_every_dress() {
        for line in [
            "VERDICT: x",
            "**Verdict**: x",
            "**verdict:** x",
            "- VERDICT: `x`",
            "  * __VERDICT__ = x",
            "### Verdict：x",
        ] {
            assert_eq!(field(line, Subject::Answer), Some((Field::Verdict, "x")), "{line}");
        }
        let field = |line| field(line, Subject::Answer);
        assert_eq!(field("Key issues: a"), Some((Field::KeyIssues, "a")));
        assert_eq!(field("KEY-ISSUES:"), Some((Field::KeyIssues, "")));
        assert_eq!(field("The verdict: x"), None);
        assert_eq!(field("OVERVERDICT: x"), None);
        assert_eq!(field("Finding: x"), None, "it is an answer that is voted on");
    }

    #[test]
    fn issues_are_single_texts_without_bullets() {
        assert_eq!(issues("a; b"), ["a", "b"]);
        assert_eq!(issues("[\"a, b\", \"c\"]"), ["a, b", "c"]);
        assert_eq!(issues("[a, b]"), ["a", "b"]);
        for none in ["None", "none.", "N/A", "[]", "-", ""] {
            assert!(issues(none).is_empty(), "{none}");
        }
        assert_eq!(issue("  1. slow").as_deref(), Some("slow"));
        assert_eq!(issue("- 1.5 times slower").as_deref(), Some("1.5 times slower"));
    }

    #[test]
    fn an_issue_keeps_the_marks_that_are_around_a_part_of_it() {
        for (line, expected) in [
            ("KEY_ISSUES: cost understated, \"empty input\"", "cost understated, \"empty input\""),
            ("KEY_ISSUES: \"empty input\" is not handled", "\"empty input\" is not handled"),
            ("KEY_ISSUES: \"a\" and \"b\"", "\"a\" and \"b\""),
            ("KEY_ISSUES: “a” and “b”", "“a” and “b”"),
            ("KEY_ISSUES: `run` leaks `buf`", "`run` leaks `buf`"),
            ("KEY_ISSUES: **Slow**: it reads twice", "**Slow**: it reads twice"),
            ("KEY_ISSUES: \"the whole item\"", "the whole item"),
            ("**Key issues:** **`the whole item`**", "the whole item"),
            ("**KEY_ISSUES**: * “the whole item”", "the whole item"),
            ("**KEY_ISSUES: the whole item**", "the whole item"),
            ("`KEY_ISSUES:` the whole item", "the whole item"),
        ] {
            let Some((Field::KeyIssues, value)) = field(line, Subject::Answer) else { panic!("{line}") };
            assert_eq!(issues(value), [expected], "{line}");
        }
        assert_eq!(issue("- cost, \"empty input\"").as_deref(), Some("cost, \"empty input\""));
        assert_eq!(issue("*Slow").as_deref(), Some("Slow"));
        assert_eq!(issue("* **Slow**").as_deref(), Some("Slow"));
        assert_eq!(issues("\"a\"; \"b\""), ["a", "b"]);
        for none in ["\"None\"", "**None.**", "**", "\"\"", "`-`"] {
            assert!(issues(none).is_empty(), "{none}");
        }
    }
}
