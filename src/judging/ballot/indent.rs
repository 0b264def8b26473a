//! How far in a fence may stand: one that is indented by four columns is code, or goes on with a paragraph; CommonMark
//! 0.31 sections 4.4, 4.5 and 5.2 as far as they matter here.

/// The columns of a tab, and those from which on a line is code.
const TAB: usize = 4;

/// What the lines so far say about the next one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Indents {
    /// Where the contents of the innermost list item begin, in columns.
    item: usize,
    after_blank: bool,
}

impl Indents {
    /// Whether a fence on `line` is none.
    pub(super) fn is_code(self, line: &str) -> bool {
        columns(line) >= self.item + TAB
    }

    /// Goes on over `line`, which is in no fenced block.
    pub(super) fn read(&mut self, line: &str) {
        let (indent, rest) = (columns(line), line.trim_start());
        if rest.is_empty() {
            self.after_blank = true;
            return;
        }
        if indent < self.item + TAB
            && let Some(marker) = marker(rest)
        {
            let spaces = columns(&rest[marker..]);
            // More of them begin the item with code.
            self.item = indent + marker + if (1..=TAB).contains(&spaces) { spaces } else { 1 };
        } else if indent == 0 && self.after_blank {
            self.item = 0;
        }
        self.after_blank = false;
    }
}

/// The width of the white space that `line` begins with.
fn columns(line: &str) -> usize {
    let space = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
    space.fold(0, |width, c| if c == '\t' { width - width % TAB + TAB } else { width + 1 })
}

/// The length of the list marker that `text` begins with.
fn marker(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let length = match (digits, text.as_bytes().get(digits)?) {
        (0, b'-' | b'*' | b'+') => 1,
        (1..=9, b'.' | b')') => digits + 1,
        _ => return None,
    };
    text[length..].chars().next().is_none_or(char::is_whitespace).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_columns_more_than_what_stands_around_is_code() {
        for (before, line, is_code) in [
            ("", "   ```", false),
            ("", "    ```", true),
            ("", "\t```", true),
            ("", "  \t```", true),
            ("text\n", "    ```", true),
            ("1. one\n\n", "    ```", false),
            ("1. one\n\n", "       ```", true),
            ("- one\n  - two\n", "    ```", false),
            ("- one\n  - two\n", "      ```", false),
            ("- one\n\ntext\n\n", "    ```", true),
            ("- one\ngoes on\n\n", "    ```", false),
            ("**bold**\n", "    ```", true),
        ] {
            let mut indents = Indents::default();
            before.lines().for_each(|line| indents.read(line));
            assert_eq!(indents.is_code(line), is_code, "{before:?} {line:?}");
        }
    }
}
