//! Makes characters visible that a terminal or a reader would act on or not see.

use std::fmt::Write as _;

/// Appends `c` as something that can be seen and that does nothing.
///
/// Line feed and tab stay. Other C0 controls and DEL become their control pictures (U+2400 on, so an escape sequence
/// shows as `␛[31m`); C1 controls, bidirectional controls, invisible and tag characters become `<U+202E>` and the like.
/// A zero-width joiner stays where scripts and emoji need it: after a character that is not ASCII.
pub(crate) fn push_visible(out: &mut String, c: char) {
    match c {
        '\n' | '\t' | ' '..='~' => out.push(c),
        '\u{0}'..='\u{1f}' => out.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}')),
        '\u{7f}' => out.push('\u{2421}'),
        '\u{200c}' | '\u{200d}' if out.chars().next_back().is_some_and(|last| !last.is_ascii()) => out.push(c),
        _ if hidden(c) => {
            // Writing to a string cannot fail.
            let _ = write!(out, "<U+{:04X}>", c as u32);
        }
        _ => out.push(c),
    }
}

/// Whether `c` is seen by nobody, or acts on what is seen.
pub(super) fn hidden(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}' // C1, with one-character escape introducers
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}') // tags and further variation selectors: text that nobody sees
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible(text: &str) -> String {
        let mut out = String::new();
        text.chars().for_each(|c| push_visible(&mut out, c));
        out
    }

    #[test]
    fn what_acts_or_hides_is_shown() {
        assert_eq!(visible("\u{1b}[31mred\u{7}\u{7f}\0"), "␛[31mred␇␡␀");
        assert_eq!(visible("a\u{202e}b\u{2066}c\u{9b}d\u{feff}"), "a<U+202E>b<U+2066>c<U+009B>d<U+FEFF>");
        assert_eq!(visible("#\u{200d}#\u{e0041}"), "#<U+200D>#<U+E0041>");
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        let text = "Zeile\n\tTab, Größe, 日本語, می‌خواهم, 👩‍💻 ✅️";
        assert_eq!(visible(text), text);
    }
}
