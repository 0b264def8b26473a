//! Makes foreign text harmless in Markdown, in a table and on a terminal.

use crate::judging::push_visible;

/// `text` as one line of plain Markdown text of at most `characters` characters (of the original).
///
/// White space becomes single spaces, what acts or hides becomes visible, and what Markdown or HTML would read as
/// markup is escaped.
#[must_use]
pub fn inline(text: &str, characters: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    let mut last = ' ';
    for c in text.trim().chars() {
        let c = if c.is_whitespace() && !c.is_control() || matches!(c, '\n' | '\r' | '\t') { ' ' } else { c };
        if c == ' ' && last == ' ' {
            continue;
        }
        if count == characters {
            return out.trim_end().to_owned() + " ...";
        }
        count += 1;
        match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '#' | '!' | '$' => {
                out.push('\\');
                out.push(c);
            }
            // Within a word an underscore is no mark of emphasis.
            '_' if !last.is_alphanumeric() => out.push_str("\\_"),
            _ => push_visible_escaped(&mut out, c),
        }
        last = c;
    }
    out.trim_end().to_owned()
}

/// As [`push_visible`], with the brackets of its marks escaped.
fn push_visible_escaped(out: &mut String, c: char) {
    let start = out.len();
    push_visible(out, c);
    if out[start..].starts_with('<') {
        out.insert(start, '\\');
    }
}

/// `text` for a terminal: one line, everything visible, nothing escaped.
pub(super) fn terminal(text: &str, characters: usize) -> String {
    let mut out = String::new();
    for c in text.trim().chars().take(characters) {
        push_visible(&mut out, if c.is_whitespace() { ' ' } else { c });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped_and_lines_are_joined() {
        assert_eq!(inline("a | b\r\n\n# c", 80), "a \\| b \\# c");
        assert_eq!(inline("<script>alert(1)</script> &lt;", 80), "\\<script\\>alert(1)\\</script\\> \\&lt;");
        assert_eq!(
            inline("![x](y) **b** `c` ~~d~~ _e_ snake_case", 80),
            "\\!\\[x\\](y) \\*\\*b\\*\\* \\`c\\` \\~\\~d\\~\\~ \\_e_ snake_case"
        );
        assert_eq!(inline("a\\|b", 80), "a\\\\\\|b");
    }

    #[test]
    fn nothing_reaches_the_terminal_that_acts() {
        assert_eq!(inline("\u{1b}[2Jx\u{202e}y\u{9b}", 80), "␛\\[2Jx\\<U+202E>y\\<U+009B>");
        assert_eq!(terminal("\u{1b}]0;x\u{7}\ny\u{85}z", 80), "␛]0;x␇ y z");
    }

    #[test]
    fn long_text_is_cut_by_characters() {
        assert_eq!(inline("ääääää", 3), "äää ...");
        assert_eq!(inline("äää", 3), "äää");
    }
}
