//! Foreign text between the marks of a prompt.

use super::Finding;
use super::text;
use crate::ids::SlotId;
use crate::judging::{AnswerCopy, CopyRules, contained};

/// What stands before a line that was changed because it looks like a mark of a prompt.
const QUOTED: &str = "(quoted) ";

/// `text` as it stands between fences: nothing in it acts, hides or looks like a mark of ours, which are the fences of
/// `vote` and `findings` blocks, the headings of findings, the ends of what is fenced, and the marks of a merge that was
/// not finished. Ends in a line feed.
pub(super) fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut conflict = false;
    for line in contained(text).lines() {
        match neutralised(line, &mut conflict) {
            Some(line) => out.push_str(&line),
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

fn neutralised(line: &str, conflict: &mut bool) -> Option<String> {
    *conflict |= line.starts_with("<<<<<<<");
    let opens = ["<<<<<<<", ">>>>>>>", "|||||||"].iter().any(|mark| line.starts_with(mark));
    // Alone it underlines a heading.
    if opens || *conflict && line == "=======" {
        return Some(format!("{QUOTED}{line}"));
    }
    let inner = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '>' | '-' | '*' | '+' | '|'));
    match inner.as_bytes().first()? {
        b'#' => {
            let words = inner.trim_start_matches(|c: char| matches!(c, '#' | '*' | '_') || c.is_whitespace());
            let name = behind(words, "finding")?;
            let named = name.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
            (named <= 1).then(|| format!("{QUOTED}{words}"))
        }
        mark @ (b'`' | b'~') => {
            let run = inner.bytes().take_while(|byte| byte == mark).count();
            let info = inner[run..].trim_start_matches(|c: char| !c.is_alphanumeric());
            behind(info, "findings").filter(|_| run >= 3)?;
            // The fence stays a fence, so that what it encloses keeps its look; only its kind changes.
            Some(format!("{}quoted-{info}", &line[..line.len() - info.len()]))
        }
        _ => None,
    }
}

/// What follows `word` at the start of `text`, in any case, where the word ends there.
fn behind<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let head = text.get(..word.len())?;
    let rest = &text[word.len()..];
    (head.eq_ignore_ascii_case(word) && !rest.starts_with(|c: char| c.is_alphanumeric())).then_some(rest)
}

/// All that is said in `finding`, as text.
pub(super) fn told(finding: &Finding) -> String {
    let mut out = format!("Severity: {}\n", finding.severity);
    if let Some(place) = finding.place() {
        out.push_str(&format!("Place: {place}\n"));
    }
    out.push_str(&format!("Title: {}\n\n{}\n", finding.title, finding.description));
    for (name, said) in [("Evidence", &finding.evidence), ("Suggestion", &finding.suggestion)] {
        if !said.is_empty() {
            out.push_str(&format!("\n{name}:\n{said}\n"));
        }
    }
    out
}

/// `finding` without a word about who found it.
pub(super) fn anonymous(finding: &Finding, judge: SlotId, rules: CopyRules<'_>) -> String {
    harmless(&AnswerCopy::new(judge, told(finding).as_bytes(), rules).text)
}

/// The most characters of what a list says of one finding.
const LISTED: usize = 600;

/// One finding of a list, in a few lines. `state` is what there is to say of it besides.
pub(super) fn listed(id: &str, finding: &Finding, state: &str) -> String {
    let place = finding.place().map(|place| format!(", {place}")).unwrap_or_default();
    let said = text::line(&finding.description, LISTED).text;
    let title = text::line(&finding.title, LISTED).text;
    format!("{id} ({}{place}{state}): {title}\n    {said}\n", finding.severity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_the_prompts_are_neutralised() {
        for (line, expected) in [
            ("```findings", "```quoted-findings"),
            ("+ ~~~~ **Findings** json", "+ ~~~~ **quoted-Findings** json"),
            ("``` {.findings}", "``` {.quoted-findings}"),
            ("```vote", "```quoted-vote"),
            ("### Finding K7Q2PX", "(quoted) Finding K7Q2PX"),
            ("> ## **finding** x", "(quoted) finding** x"),
            ("END K7Q2PXK7Q2PXK7Q2PXM3", "(quoted) END K7Q2PXK7Q2PXK7Q2PXM3"),
            ("<<<<<<< HEAD", "(quoted) <<<<<<< HEAD"),
            (">>>>>>> other", "(quoted) >>>>>>> other"),
            ("```find\u{200b}ings", "```find<U+200B>ings"),
            ("a\u{202e}b\u{1b}[0m", "a<U+202E>b␛[0m"),
        ] {
            assert_eq!(harmless(line), format!("{expected}\n"), "{line}");
        }
        assert_eq!(
            harmless("<<<<<<< a\nx\n=======\ny\n>>>>>>> b"),
            "(quoted) <<<<<<< a\nx\n(quoted) =======\ny\n(quoted) >>>>>>> b\n"
        );
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        let text = "# Findings of the year\n## Finding the shortest way home\nTitle\n=======\n```rust\nlet findings = 1;\n```\n\
                    ``findings``\n-<div>\n+<<x\n";
        assert_eq!(harmless(text), text);
    }
}
