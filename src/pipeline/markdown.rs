//! Texts of others as parts of a Markdown document: nothing in them is markup, hides or acts, and code stays readable.

use crate::judging::push_visible;
use crate::verdict::inline_markdown;

/// The most characters of one text.
const LONGEST: usize = 4000;

/// The first letter as a capital one: a sentence that stands for itself.
pub(super) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Paragraphs, each in one line.
pub(super) fn paragraphs(text: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().chain([""]) {
        if line.trim().is_empty() && !lines.is_empty() {
            out.push(inline_markdown(&lines.join("\n"), LONGEST));
            lines.clear();
        } else if !line.trim().is_empty() {
            lines.push(line);
        }
    }
    out.join("\n\n")
}

/// One line as code, such as a path.
pub(super) fn code(text: &str) -> String {
    let mut shown = String::new();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // In a table a bar ends the cell, also within code.
    words.chars().for_each(|c| push_visible(&mut shown, if c == '|' { '¦' } else { c }));
    let mark = "`".repeat(longest_run(&shown) + 1);
    let edge = if shown.starts_with('`') || shown.ends_with('`') { " " } else { "" };
    if shown.is_empty() { "-".to_owned() } else { format!("{mark}{edge}{shown}{edge}{mark}") }
}

/// Lines as a block of code, ending in a line feed.
pub(super) fn fenced(text: &str) -> String {
    let mut shown = String::new();
    text.trim_matches(['\n', '\r']).replace("\r\n", "\n").chars().for_each(|c| push_visible(&mut shown, c));
    let mark = "`".repeat((longest_run(&shown) + 1).max(3));
    format!("{mark}\n{shown}\n{mark}\n")
}

/// How long the longest run of backticks in `text` is.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_what_encloses_it() {
        assert_eq!(code("src/a.rs:3"), "`src/a.rs:3`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`a\n|``"), "``` `a ¦`` ```");
        assert_eq!(code(" \n"), "-");
        assert_eq!(fenced("let a = 1;\n\nb"), "```\nlet a = 1;\n\nb\n```\n");
        assert_eq!(fenced("````\n# x\n\u{202e}"), "`````\n````\n# x\n<U+202E>\n`````\n");
    }

    #[test]
    fn paragraphs_stay_apart_and_hold_no_markup() {
        assert_eq!(paragraphs("a\nb\n\n\n# c\n"), "a b\n\n\\# c");
        assert_eq!(paragraphs(""), "");
        assert_eq!(sentence("passed: so"), "Passed: so");
    }
}
