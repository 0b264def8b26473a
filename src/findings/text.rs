//! Text of a model, made harmless and bounded before it is kept.

use crate::judging::push_visible;

/// A text after cleaning, and whether it had to be cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cleaned {
    pub(super) text: String,
    pub(super) cut: bool,
}

/// What stands at the end of a text that was cut.
const CUT: &str = " [...]";

/// `text` without what acts or hides, of at most `most` characters (of the original), its lines kept.
pub(super) fn block(text: &str, most: usize) -> Cleaned {
    let text = text.trim().replace("\r\n", "\n").replace('\r', "\n");
    cleaned(text.chars(), most)
}

/// The same on one line, with single blanks.
pub(super) fn line(text: &str, most: usize) -> Cleaned {
    let mut last = ' ';
    let joined: String = text
        .trim()
        .chars()
        .map(|c| if matches!(c, '\n' | '\r' | '\t') || c.is_whitespace() && !c.is_control() { ' ' } else { c })
        .filter(|c| {
            let kept = *c != ' ' || last != ' ';
            last = *c;
            kept
        })
        .collect();
    cleaned(joined.chars(), most)
}

fn cleaned(chars: impl Iterator<Item = char>, most: usize) -> Cleaned {
    let mut text = String::new();
    let mut cut = false;
    for (count, c) in chars.enumerate() {
        if count == most {
            cut = true;
            text.truncate(text.trim_end().len());
            text.push_str(CUT);
            break;
        }
        push_visible(&mut text, c);
    }
    Cleaned { text, cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_or_hides_is_shown_and_lines_stay_or_are_joined() {
        let hostile = "  a\u{1b}[31m\r\nb\u{202e}\t c \r d\u{0}  ";
        assert_eq!(block(hostile, 100).text, "a␛[31m\nb<U+202E>\t c \n d␀");
        assert_eq!(line(hostile, 100).text, "a␛[31m b<U+202E> c d␀");
    }

    #[test]
    fn a_long_text_is_cut_by_characters_and_says_so() {
        assert_eq!(block("ääää", 4), Cleaned { text: "ääää".to_owned(), cut: false });
        assert_eq!(block("äää ä", 4), Cleaned { text: "äää [...]".to_owned(), cut: true });
    }
}
