//! The one place that decides what is printed where.
//!
//! Standard output is data and nothing else; messages go to standard error. Colour is dropped where it is not wanted or
//! not understood. A reader that has left (`team list | head -1`) is no error.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use super::args::GlobalArgs;
use crate::error::Error;
use crate::report::Ink;
pub use crate::report::without_controls;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// How much is said on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Errors only.
    Quiet,
    /// What a person wants to know.
    Normal,
    /// Details too.
    Verbose,
}

/// Who is told warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Warnings {
    /// Who did not ask for results and errors only.
    AsWanted,
    /// Everybody.
    Always,
}

/// Standard output and standard error.
pub struct Printer {
    verbosity: Verbosity,
    warnings: Warnings,
    data_to_terminal: bool,
    messages_to_terminal: bool,
    live: [Option<Ink>; 2],
    data: Mutex<Option<Box<dyn Write + Send>>>,
    messages: Mutex<Box<dyn Write + Send>>,
}

impl std::fmt::Debug for Printer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Printer").field("verbosity", &self.verbosity).finish_non_exhaustive()
    }
}

impl Printer {
    /// The process's own streams, as the options want them.
    #[must_use]
    pub fn new(global: &GlobalArgs) -> Self {
        let verbosity = match (global.quiet, global.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        };
        // `Auto` honours `NO_COLOR`, `CLICOLOR_FORCE`, `TERM=dumb` and what is not a terminal.
        let choice = if global.no_color { ColorChoice::Never } else { ColorChoice::Auto };
        Self {
            verbosity,
            warnings: Warnings::AsWanted,
            data_to_terminal: io::stdout().is_terminal(),
            messages_to_terminal: io::stderr().is_terminal(),
            live: [live_ink(&io::stdout(), choice), live_ink(&io::stderr(), choice)],
            // Data is passed through as it is: what is not ours to style is not ours to strip.
            data: Mutex::new(Some(Box::new(io::stdout()))),
            messages: Mutex::new(Box::new(AutoStream::new(io::stderr(), choice))),
        }
    }

    /// Streams of a test.
    #[cfg(test)]
    fn into_streams(
        verbosity: Verbosity,
        data_to_terminal: bool,
        data: Box<dyn Write + Send>,
        messages: Box<dyn Write + Send>,
    ) -> Self {
        let messages = AutoStream::never(messages);
        Self {
            verbosity,
            warnings: Warnings::AsWanted,
            data_to_terminal,
            messages_to_terminal: false,
            live: [None; 2],
            data: Mutex::new(Some(data)),
            messages: Mutex::new(Box::new(messages)),
        }
    }

    /// The same, with warnings also where only results and errors are wanted: a program reads them, and passes them on.
    #[must_use]
    pub const fn with_warnings(mut self) -> Self {
        self.warnings = Warnings::Always;
        self
    }

    /// How much is said.
    #[must_use]
    pub const fn verbosity(&self) -> Verbosity {
        self.verbosity
    }

    /// Whether a person reads the messages: live lines and questions make sense.
    #[must_use]
    pub const fn is_interactive(&self) -> bool {
        self.messages_to_terminal
    }

    /// How to draw on the terminal that data goes to; `None` where nothing can be drawn over.
    #[must_use]
    pub const fn live_data(&self) -> Option<Ink> {
        self.live[0]
    }

    /// The same for messages.
    #[must_use]
    pub const fn live_messages(&self) -> Option<Ink> {
        self.live[1]
    }

    /// How wide data may be: as the terminal that it goes to, and 80 columns elsewhere.
    #[must_use]
    pub fn data_columns(&self) -> usize {
        let terminal = self.data_to_terminal.then(|| rustix::termios::tcgetwinsize(io::stdout()).ok()).flatten();
        // A terminal that does not know its size says 0.
        terminal.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(80)
    }

    /// One line of data.
    pub fn line(&self, text: impl AsRef<str>) -> Result<(), Error> {
        let mut line = text.as_ref().to_owned();
        line.push('\n');
        self.document(&line)
    }

    /// Data as it is, except for a terminal: there, control characters of a model's text could do anything.
    pub fn document(&self, text: &str) -> Result<(), Error> {
        let shown;
        let text = if self.data_to_terminal {
            shown = without_controls(text);
            &shown
        } else {
            text
        };
        let mut data = self.data.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(stream) = data.as_mut() else { return Ok(()) };
        match stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                *data = None;
                Ok(())
            }
            Err(error) => Err(Error::io("cannot write to standard output", error)),
        }
    }

    /// `value` as data: indented JSON.
    pub fn json(&self, value: &impl serde::Serialize) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|error| Error::internal("cannot write JSON").with_source(error))?;
        self.line(text)
    }

    /// Something a person wants to know.
    pub fn note(&self, text: impl AsRef<str>) {
        if self.verbosity >= Verbosity::Normal {
            self.message(text.as_ref());
        }
    }

    /// A detail, for `-v`.
    pub fn detail(&self, text: impl AsRef<str>) {
        if self.verbosity >= Verbosity::Verbose {
            self.message(text.as_ref());
        }
    }

    /// Something that is probably not as it was meant.
    pub fn warning(&self, text: impl AsRef<str>) {
        if self.verbosity >= Verbosity::Normal || self.warnings == Warnings::Always {
            self.message(&format!("{WARNING}warning:{WARNING:#} {}", without_controls(text.as_ref())));
        }
    }

    /// A warning that is shown also when only results and errors are: what follows is not where it is looked for.
    pub fn alert(&self, text: impl AsRef<str>) {
        self.message(&format!("{WARNING}warning:{WARNING:#} {}", without_controls(text.as_ref())));
    }

    /// Lines that belong to an alert, as they are but for what a terminal would take for a command.
    pub fn alert_lines(&self, text: &str) {
        self.message(without_controls(text).trim_end());
    }

    /// Why a command does not end with 0 although it went all its way. A note, and an error for who wants errors only.
    pub fn shortfall(&self, text: impl AsRef<str>) {
        match self.verbosity {
            Verbosity::Quiet => self.error(&Error::usage(text.as_ref())),
            Verbosity::Normal | Verbosity::Verbose => self.message(&without_controls(text.as_ref())),
        }
    }

    /// A line for the program that reads this one's messages: a workflow command of a CI system.
    pub fn command(&self, line: &str) {
        self.message(line);
    }

    /// What ended the command, why, and what to do next.
    pub fn error(&self, error: &Error) {
        self.message(&format!("{ERROR}error:{ERROR:#} {}", without_controls(&error.chain())));
        for hint in error.hints() {
            self.message(&format!("  {HINT}hint:{HINT:#} {}", without_controls(hint)));
        }
    }

    fn message(&self, text: &str) {
        let mut stream = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody is left to tell that nobody can be told.
        writeln!(stream, "{text}").and_then(|()| stream.flush()).ok();
    }
}

/// Whether `stream` is a terminal on which lines can be drawn over, and with colours or without.
fn live_ink(stream: &impl RawStream, choice: ColorChoice) -> Option<Ink> {
    let dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
    if dumb || !anstream::stream::IsTerminal::is_terminal(stream) {
        return None;
    }
    let choice = if choice == ColorChoice::Auto { AutoStream::choice(stream) } else { choice };
    Some(if choice == ColorChoice::Never { Ink::Black } else { Ink::Coloured })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl Buffer {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn printer(verbosity: Verbosity, terminal: bool) -> (Printer, Buffer, Buffer) {
        let (data, messages) = (Buffer::default(), Buffer::default());
        let printer = Printer::into_streams(verbosity, terminal, Box::new(data.clone()), Box::new(messages.clone()));
        (printer, data, messages)
    }

    #[test]
    fn an_error_is_printed_with_its_causes_and_hints() {
        let (printer, data, messages) = printer(Verbosity::Quiet, false);
        let error =
            Error::usage("cannot read `a`").with_source(io::Error::other("gone")).hint("make it").hint("or not");
        printer.error(&error);
        printer.note("not when quiet");
        insta::assert_snapshot!(messages.text(), @r"
        error: cannot read `a`: gone
          hint: make it
          hint: or not
        ");
        assert_eq!(data.text(), "");
    }

    #[test]
    fn data_for_a_pipe_is_kept_and_for_a_terminal_is_disarmed() {
        let text = "a\u{1b}]0;title\u{7}\tb\u{202e}\n";
        let (piped, data, _) = printer(Verbosity::Normal, false);
        piped.document(text).unwrap();
        assert_eq!(data.text(), text);
        let (shown, data, _) = printer(Verbosity::Normal, true);
        shown.document(text).unwrap();
        assert_eq!(data.text(), "a\u{fffd}]0;title\u{fffd}\tb\u{fffd}\n");
    }

    #[test]
    fn a_reader_that_has_left_is_no_error() {
        let printer = Printer::into_streams(Verbosity::Normal, false, Box::new(Closed), Box::new(Closed));
        printer.line("a").unwrap();
        printer.line("b").unwrap();
        printer.error(&Error::usage("x"));
    }

    #[test]
    fn details_are_for_those_who_ask() {
        let (printer, _, messages) = printer(Verbosity::Normal, false);
        printer.detail("detail");
        printer.note("note");
        printer.warning("odd\u{1b}[2J");
        assert_eq!(messages.text(), "note\nwarning: odd\u{fffd}[2J\n");
    }

    #[test]
    fn a_program_is_told_warnings_and_no_more() {
        let (printer, _, messages) = printer(Verbosity::Quiet, false);
        printer.warning("lost");
        let printer = printer.with_warnings();
        printer.note("note");
        printer.warning("told");
        assert_eq!(messages.text(), "warning: told\n");
    }
}
