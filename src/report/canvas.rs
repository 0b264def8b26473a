//! The part of a terminal that is drawn over: from lines to the bytes that turn the last picture into the next.
//!
//! Each change is one piece of bytes, marked as one frame for terminals that know such marks, and only lines that
//! changed are written again. Nothing is padded, so that a terminal of another size has nothing to wrap.

use super::format::columns;
use super::ink::Ink;
use super::picture::{Line, Size};

/// From here to [`END`] a terminal that can (DEC mode 2026) shows nothing until all is there.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";

/// The cursor's line is wiped.
const WIPE_LINE: &str = "\x1b[2K";

/// Everything from the cursor's line on is wiped, and the cursor is where it was. First that line, then all below it:
/// a terminal that is told to wipe everything from its first row on (tmux) puts all of it into its history before.
const WIPE: &str = "\x1b[2K\x1b7\x1b[B\x1b[J\x1b8";

/// What is on the screen and can be drawn over. The cursor is at the beginning of the line below it.
#[derive(Debug)]
pub(super) struct Canvas {
    ink: Ink,
    drawn: Vec<Line>,
    size: Size,
}

impl Canvas {
    pub(super) const fn new(ink: Ink) -> Self {
        Self { ink, drawn: Vec::new(), size: Size { columns: 0, rows: 0 } }
    }

    /// What is drawn now.
    pub(super) fn drawn(&self) -> Vec<Line> {
        self.drawn.clone()
    }

    /// The bytes that put `lines` in the place of what was drawn, above them `lasting`, which stays. Nothing when
    /// nothing changes.
    pub(super) fn frame(&mut self, lasting: Option<&str>, mut lines: Vec<Line>, size: Size) -> Option<String> {
        // What has left the screen at the top cannot be drawn over. The last line is the one to keep.
        lines.drain(..(lines.len() + 1).saturating_sub(size.rows).min(lines.len()));
        let same_place = lasting.is_none() && size == self.size && lines.len() == self.drawn.len();
        let was_nothing = lasting.is_none() && lines.is_empty() && self.drawn.is_empty();
        if was_nothing || (same_place && lines == self.drawn) {
            return None;
        }
        let mut frame = if self.drawn.is_empty() {
            // What was typed meanwhile (`^C`) stands at the cursor.
            format!("\r{WIPE_LINE}")
        } else {
            self.home(size)
        };
        if same_place {
            for (line, before) in lines.iter().zip(&self.drawn) {
                if line != before {
                    frame.push_str(WIPE_LINE);
                    frame.push_str(&self.ink.paint(&line.text, line.look));
                }
                frame.push('\n');
            }
        } else {
            if !self.drawn.is_empty() {
                frame.push_str(WIPE);
            }
            let lines = lines.iter().map(|line| self.ink.paint(&line.text, line.look));
            for line in lasting.map(str::to_owned).into_iter().chain(lines) {
                frame.push_str(&line);
                frame.push('\n');
            }
        }
        self.drawn = lines;
        self.size = size;
        Some(format!("{BEGIN}{frame}{END}"))
    }

    /// Moves to the beginning of what was drawn. A terminal that became narrower since has wrapped it.
    fn home(&self, size: Size) -> String {
        let rows = |line: &Line| columns(&line.text).div_ceil(size.columns.max(1)).max(1);
        let up: usize = self.drawn.iter().map(rows).sum();
        format!("\r\x1b[{up}A")
    }
}

#[cfg(test)]
mod tests {
    use super::super::ink::Look;
    use super::*;

    fn lines(texts: &[&str]) -> Vec<Line> {
        texts.iter().map(|text| Line { text: (*text).to_owned(), look: Look::Plain }).collect()
    }

    struct Screen {
        parser: vt100::Parser,
        canvas: Canvas,
        size: Size,
    }

    impl Screen {
        fn new(columns: u16, rows: u16) -> Self {
            let size = Size { columns: columns.into(), rows: rows.into() };
            Self { parser: vt100::Parser::new(rows, columns, 100), canvas: Canvas::new(Ink::Black), size }
        }

        fn draw(&mut self, lasting: Option<&str>, texts: &[&str]) -> Option<String> {
            let frame = self.canvas.frame(lasting, lines(texts), self.size)?;
            // As a terminal's own settings do.
            self.parser.process(frame.replace('\n', "\r\n").as_bytes());
            Some(frame)
        }

        fn text(&self) -> String {
            self.parser.screen().contents().trim_end().to_owned()
        }
    }

    #[test]
    fn a_picture_takes_the_place_of_the_last_one_and_lasting_lines_stay_above() {
        let mut screen = Screen::new(40, 10);
        screen.draw(None, &["01 a", "02 b", "sum"]);
        screen.draw(None, &["01 a", "02 longer", "sum"]);
        assert_eq!(screen.text(), "01 a\n02 longer\nsum");
        screen.draw(Some("01 COMPLETED"), &["02 b", "sum"]);
        assert_eq!(screen.text(), "01 COMPLETED\n02 b\nsum");
        screen.draw(Some("02 COMPLETED"), &[]);
        assert_eq!(screen.text(), "01 COMPLETED\n02 COMPLETED");
        assert_eq!(screen.draw(None, &[]), None);
    }

    #[test]
    fn nothing_is_written_when_nothing_changed_and_only_changed_lines_when_few_did() {
        let mut screen = Screen::new(40, 10);
        screen.draw(None, &["01 a", "02 b", "sum"]);
        assert_eq!(screen.draw(None, &["01 a", "02 b", "sum"]), None);
        let frame = screen.draw(None, &["01 a", "02 c", "sum"]).unwrap();
        assert_eq!(frame, format!("{BEGIN}\r\x1b[3A\n{WIPE_LINE}02 c\n\n{END}"));
        screen.size.rows = 9;
        assert!(screen.draw(None, &["01 a", "02 c", "sum"]).is_some(), "another size is drawn anew");
    }

    #[test]
    fn more_lines_than_rows_never_scroll_away_and_leave_no_trace() {
        let mut screen = Screen::new(20, 4);
        for _ in 0..5 {
            screen.draw(None, &["1", "2", "3", "4", "5", "sum"]);
            screen.draw(None, &["1", "2", "3", "4", "x", "sum"]);
        }
        assert_eq!(screen.text(), "4\nx\nsum");
        screen.draw(Some("lasting"), &[]);
        assert_eq!(screen.text(), "lasting");
        screen.parser.screen_mut().set_scrollback(50);
        assert_eq!(screen.text(), "lasting", "nothing scrolled away");
    }

    #[test]
    fn what_a_narrower_terminal_wrapped_is_wiped_whole() {
        let mut canvas = Canvas::new(Ink::Black);
        let wide = Size { columns: 80, rows: 24 };
        canvas.frame(None, lines(&["x".repeat(50).as_str(), "sum"]), wide);
        let frame = canvas.frame(None, lines(&["x", "sum"]), Size { columns: 20, rows: 24 }).unwrap();
        // Three rows of twenty and one.
        assert!(frame.starts_with(&format!("{BEGIN}\r\x1b[4A{WIPE}")), "{frame:?}");
    }

    #[test]
    fn a_picture_of_the_whole_screen_is_never_wiped_at_once() {
        let mut screen = Screen::new(20, 3);
        screen.draw(None, &["01", "sum"]);
        for (lasting, lines) in [(None, &["sum"][..]), (Some("lasting"), &["02", "sum"]), (None, &[])] {
            let frame = screen.draw(lasting, lines).unwrap();
            let (before, _) = frame.split_once("\x1b[J").unwrap();
            assert!(before.ends_with("\x1b[B"), "{frame:?}");
        }
        assert_eq!(screen.text(), "");
        screen.parser.screen_mut().set_scrollback(50);
        assert_eq!(screen.text(), "lasting", "it went up by its own");
    }

    #[test]
    fn what_was_typed_in_the_way_is_wiped() {
        let mut screen = Screen::new(40, 10);
        screen.parser.process(b"^C");
        screen.draw(Some("stopping (interrupt)"), &["sum"]);
        assert_eq!(screen.text(), "stopping (interrupt)\nsum");
    }

    #[test]
    fn every_frame_is_one_piece_with_its_marks() {
        let mut canvas = Canvas::new(Ink::Coloured);
        let line = Line { text: "02 retry".to_owned(), look: Look::Warn };
        let frame = canvas.frame(None, vec![line], Size { columns: 80, rows: 24 }).unwrap();
        assert_eq!(frame, format!("{BEGIN}\r{WIPE_LINE}\x1b[33m02 retry\x1b[0m\n{END}"));
    }
}
