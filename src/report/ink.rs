//! Colours, few and only where a terminal shows them: a state word, a wait before a retry, what does not run yet.

use anstyle::{AnsiColor, Style};

/// Whether a text may be coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// As on paper.
    Black,
    /// With the escape codes of a terminal.
    Coloured,
}

/// What a text is about; each has one colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Nothing special.
    Plain,
    /// Not at work: in the background.
    Faint,
    /// Well ended.
    Good,
    /// Waits after an error, or should be known.
    Warn,
    /// Ended without an answer.
    Bad,
}

impl Ink {
    /// `text` in the colour of `look`.
    pub(super) fn paint(self, text: &str, look: Look) -> String {
        let style = match look {
            Look::Plain => return text.to_owned(),
            _ if self == Self::Black => return text.to_owned(),
            Look::Faint => Style::new().dimmed(),
            Look::Good => AnsiColor::Green.on_default(),
            Look::Warn => AnsiColor::Yellow.on_default(),
            Look::Bad => AnsiColor::Red.on_default(),
        };
        format!("{style}{text}{style:#}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn black_ink_writes_no_escape() {
        assert_eq!(Ink::Black.paint("FAILED", Look::Bad), "FAILED");
        assert_eq!(Ink::Coloured.paint("FAILED", Look::Bad), "\u{1b}[31mFAILED\u{1b}[0m");
        assert_eq!(Ink::Coloured.paint("x", Look::Plain), "x");
    }
}
