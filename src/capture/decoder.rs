//! The decoder of one slot's standard output.

use std::io;

use super::claude::Claude;
use super::codex::Codex;
use super::gemini::Gemini;
use super::lines::{Lines, Piece};
use super::notices::Notices;
use super::opencode::Opencode;
use super::progress::Progress;
use super::prose::{Block, Prose};
use crate::config::OutputFormat;
use crate::session::slot::{Output, Reason, Spent, StopReason, StreamEnd, TypedError};

/// The longest frame that is read, in bytes. A longer one is an error of its slot.
pub const FRAME_LIMIT: usize = 64 << 20;

/// Turns what a program prints into its answer, by the declared format.
///
/// Any chunking of the same bytes gives the same answer. In the JSON formats an object with a string `type` is a frame,
/// known or not; any other line is part of the answer as it is, except blank lines between frames. `text` is passed
/// through byte for byte. The answer goes to [`Output::text`], what the slot does to [`Output::activity`];
/// [`Output::received`] is the caller's.
#[derive(Debug)]
pub struct Decoder {
    lines: Lines,
    frames: Frames,
    notices: Notices,
}

#[derive(Debug)]
struct Frames {
    format: Format,
    prose: Prose,
    too_long: bool,
}

#[derive(Debug)]
enum Format {
    Text(Progress),
    Claude(Box<Claude>),
    Codex(Codex),
    Gemini(Gemini),
    Opencode(Opencode),
}

impl Decoder {
    /// A decoder at the beginning of a stream.
    #[must_use]
    pub fn new(format: OutputFormat) -> Self {
        Self::with_limit(format, FRAME_LIMIT)
    }

    /// Bounds how often a program may repeat a failed request, where it says on standard error that it does; without
    /// this call that is left to the program.
    #[must_use]
    pub fn bounded(mut self, retries: Option<u32>) -> Self {
        self.notices = self.notices.with_limit(retries);
        self
    }

    /// The stream is a further turn of a conversation of which this was reported before. Some programs then report all of
    /// it again; what such a stream spends is what came since.
    #[must_use]
    pub fn after(mut self, before: Spent) -> Self {
        match &mut self.frames.format {
            Format::Claude(format) => format.progress.before = before,
            Format::Codex(format) => format.progress.before = before,
            // Each turn by itself, or nothing.
            Format::Text(_) | Format::Gemini(_) | Format::Opencode(_) => {}
        }
        self
    }

    fn with_limit(format: OutputFormat, limit: usize) -> Self {
        let notices = Notices::new(format);
        let format = match format {
            OutputFormat::Text => Format::Text(Progress::default()),
            OutputFormat::ClaudeStreamJson => Format::Claude(Box::default()),
            OutputFormat::CodexJson => Format::Codex(Codex::default()),
            OutputFormat::GeminiJson => Format::Gemini(Gemini::default()),
            OutputFormat::OpencodeJson => Format::Opencode(Opencode::default()),
        };
        Self { lines: Lines::new(limit), frames: Frames { format, prose: Prose::default(), too_long: false }, notices }
    }

    /// Takes the next bytes of the stream, in any pieces. The only errors are those of `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut dyn Output) -> io::Result<()> {
        if let Format::Text(_) = self.frames.format {
            return if bytes.is_empty() { Ok(()) } else { out.text(bytes) };
        }
        let frames = &mut self.frames;
        self.lines.push(bytes, &mut |piece| frames.take(piece, out))?;
        frames.format.progress_mut().tell_spent(out);
        if frames.format.progress_mut().take_answered() {
            self.notices.answered();
        }
        Ok(())
    }

    /// Takes the next bytes of the program's standard error, which some programs announce retries on.
    pub fn push_stderr(&mut self, bytes: &[u8], out: &mut dyn Output) {
        if let Some(retry) = self.notices.push(bytes) {
            self.frames.format.progress_mut().show(retry, out);
        }
    }

    /// Whether the program has repeated a failed request as often as it may: what it still does is in vain.
    #[must_use]
    pub const fn gave_up(&self) -> bool {
        self.notices.over()
    }

    /// The stream is at its end: flushes a last line without newline and says how the stream ended.
    pub fn finish(mut self, out: &mut dyn Output) -> io::Result<StreamEnd> {
        if let Some(line) = self.lines.finish() {
            // A frame that was being written when its program was stopped is no text of the answer.
            if !torn_frame(&line) {
                self.frames.take(Piece::Line(&line), out)?;
            }
        }
        let mut end = self.frames.finish(out)?;
        // Without a word about its end on standard output, the last failed request is why there is none.
        if end.error.is_none() && end.stop.is_none() {
            end.error = self.notices.failure();
        }
        Ok(end)
    }

    /// Whether the format's terminal event has come, so that nothing more is needed from the program.
    #[must_use]
    pub fn answer_complete(&self) -> bool {
        self.frames.format.progress().complete
    }

    /// The program's own name of the conversation, once it said it.
    #[must_use]
    pub fn conversation(&self) -> Option<&str> {
        self.frames.format.progress().conversation.as_deref()
    }

    /// What the program waits for from a person who is not there, while it does.
    #[must_use]
    pub fn waiting_for(&self) -> Option<&str> {
        self.frames.format.progress().waiting_for.as_deref()
    }
}

impl Frames {
    fn take(&mut self, piece: Piece<'_>, out: &mut dyn Output) -> io::Result<()> {
        match piece {
            Piece::TooLong => {
                self.too_long = true;
                Ok(())
            }
            Piece::Part(part) => self.prose.put(Block::Plain, part, out),
            Piece::Line(line) => {
                if self.format.line(line, &mut self.prose, out)? {
                    return Ok(());
                }
                // Blank lines count between lines of text; between frames they are padding.
                if line.trim_ascii().is_empty() && self.prose.block() != Some(Block::Plain) {
                    return Ok(());
                }
                self.prose.put(Block::Plain, line, out)
            }
        }
    }

    fn finish(self, out: &mut dyn Output) -> io::Result<StreamEnd> {
        if let Format::Text(_) = self.format {
            return Ok(StreamEnd { stop: Some(StopReason::Done), ..StreamEnd::default() });
        }
        self.prose.finish(out)?;
        let mut end = self.format.into_progress().into_end();
        if self.too_long {
            let limit = FRAME_LIMIT >> 20;
            end.error = Some(TypedError::new(Reason::BadOutput, format!("a frame is longer than {limit} MiB")));
        }
        Ok(end)
    }
}

impl Format {
    fn line(&mut self, line: &[u8], prose: &mut Prose, out: &mut dyn Output) -> io::Result<bool> {
        match self {
            Self::Text(_) => Ok(false),
            Self::Claude(format) => format.line(line, prose, out),
            Self::Codex(format) => format.line(line, prose, out),
            Self::Gemini(format) => format.line(line, prose, out),
            Self::Opencode(format) => format.line(line, prose, out),
        }
    }

    fn progress(&self) -> &Progress {
        match self {
            Self::Text(progress) => progress,
            Self::Claude(format) => &format.progress,
            Self::Codex(format) => &format.progress,
            Self::Gemini(format) => &format.progress,
            Self::Opencode(format) => &format.progress,
        }
    }

    fn progress_mut(&mut self) -> &mut Progress {
        match self {
            Self::Text(progress) => progress,
            Self::Claude(format) => &mut format.progress,
            Self::Codex(format) => &mut format.progress,
            Self::Gemini(format) => &mut format.progress,
            Self::Opencode(format) => &mut format.progress,
        }
    }

    fn into_progress(self) -> Progress {
        match self {
            Self::Text(progress) => progress,
            Self::Claude(format) => format.progress,
            Self::Codex(format) => format.progress,
            Self::Gemini(format) => format.progress,
            Self::Opencode(format) => format.progress,
        }
    }
}

fn torn_frame(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"{\"")
        && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err_and(|error| error.is_eof())
}

#[cfg(test)]
#[path = "decoder_tests.rs"]
mod tests;
