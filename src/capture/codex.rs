//! `codex exec --json`.
//!
//! Text is in completed items of type `agent_message`; items of type `error` are notices. `error` frames announce each
//! reconnection and, at last, the error that `turn.failed` repeats; `turn.completed` clears them.

use std::io;

use serde::Deserialize;

use super::frame::{Loose, Text, Typed, frame_of};
use super::progress::Progress;
use super::prose::{Block, Prose};
use super::provider_words::{typed_error, why};
use crate::session::slot::{Activity, Output, StopReason, TypedError, Usage};

#[derive(Debug, Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    thread_id: Loose<'a>,
    #[serde(borrow, default)]
    item: Option<Item<'a>>,
    #[serde(borrow, default)]
    message: Loose<'a>,
    #[serde(borrow, default)]
    error: Option<Failure<'a>>,
    #[serde(borrow, default)]
    usage: Option<Tokens<'a>>,
}

impl Typed for Frame<'_> {
    fn has_type(&self) -> bool {
        self.kind.is_some()
    }
}

#[derive(Debug, Deserialize)]
struct Item<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
}

#[derive(Debug, Deserialize)]
struct Failure<'a> {
    #[serde(borrow, default)]
    message: Loose<'a>,
}

#[derive(Debug, Deserialize)]
struct Tokens<'a> {
    #[serde(borrow, default)]
    input_tokens: Loose<'a>,
    #[serde(borrow, default)]
    cached_input_tokens: Loose<'a>,
    #[serde(borrow, default)]
    output_tokens: Loose<'a>,
    #[serde(borrow, default)]
    reasoning_output_tokens: Loose<'a>,
}

/// The state of one stream.
#[derive(Debug, Default)]
pub(super) struct Codex {
    pub(super) progress: Progress,
    blocks: u64,
}

impl Codex {
    /// Takes one line; `false` when it is no frame.
    pub(super) fn line(&mut self, line: &[u8], prose: &mut Prose, out: &mut dyn Output) -> io::Result<bool> {
        let frame: Frame<'_> =
            match frame_of(line, &["item.completed", "turn.completed", "turn.failed"], &mut self.progress) {
                Ok(frame) => frame,
                Err(is_frame) => return Ok(is_frame),
            };
        self.progress.conversation(frame.thread_id.str());
        match frame.kind.as_ref().map(Text::raw) {
            Some(b"thread.started") => self.progress.taken_up = true,
            Some(b"turn.started") => {
                self.progress.go_on();
                self.progress.show(Activity::Waiting, out);
            }
            Some(b"item.started" | b"item.updated") => {
                if let Some(item) = &frame.item {
                    self.work(item, out);
                }
            }
            Some(b"item.completed") => {
                if let Some(item) = &frame.item {
                    self.item(item, prose, out)?;
                }
            }
            Some(b"error") => self.error(frame.message.str().unwrap_or_default(), out),
            Some(b"turn.failed") => {
                let words = frame.error.as_ref().and_then(|e| e.message.str()).unwrap_or_default();
                let earlier = self.progress.error.take();
                let error = match earlier {
                    Some(earlier) if words.is_empty() => earlier,
                    _ => typed_error(None, "", if words.is_empty() { "the turn failed" } else { words }),
                };
                self.progress.end(None, Some(error));
            }
            Some(b"turn.completed") => {
                self.progress.end(Some(StopReason::Done), None);
                // Cumulative over the thread, so the last one holds.
                self.progress.usage = frame.usage.as_ref().map(usage_of).or(self.progress.usage);
            }
            _ => {}
        }
        Ok(true)
    }

    fn item(&mut self, item: &Item<'_>, prose: &mut Prose, out: &mut dyn Output) -> io::Result<()> {
        match (item.kind.as_ref().map(Text::raw), &item.text) {
            (Some(b"agent_message"), Some(text)) => {
                let text = text.as_str();
                self.progress.go_on();
                if text.trim().is_empty() {
                    return Ok(());
                }
                self.blocks += 1;
                self.progress.show(Activity::Answering, out);
                prose.put(Block::Model(self.blocks), text.as_bytes(), out)
            }
            _ => {
                self.work(item, out);
                Ok(())
            }
        }
    }

    fn work(&mut self, item: &Item<'_>, out: &mut dyn Output) {
        match item.kind.as_ref().map(Text::raw) {
            Some(b"reasoning") => self.progress.show(Activity::Thinking, out),
            Some(b"command_execution" | b"file_change" | b"mcp_tool_call" | b"web_search") => {
                let name = item.kind.as_ref().map(|kind| kind.as_str().into_owned()).unwrap_or_default();
                self.progress.show(Activity::Tool(name), out);
            }
            _ => {}
        }
    }

    fn error(&mut self, words: &str, out: &mut dyn Output) {
        if let Some((attempt, of, cause)) = reconnecting(words) {
            let why = why(None, "", cause);
            self.progress.show(Activity::Retry { attempt, of, in_seconds: 0, why }, out);
        } else {
            self.progress.error = Some(error_of(words));
        }
    }
}

fn error_of(words: &str) -> TypedError {
    typed_error(None, "", words)
}

/// `Reconnecting... 2/5 (why)`.
fn reconnecting(words: &str) -> Option<(u32, u32, &str)> {
    let rest = words.strip_prefix("Reconnecting")?.trim_start_matches(['.', '…', ' ']);
    let (count, why) = rest.split_once(' ').unwrap_or((rest, ""));
    let (attempt, of) = count.split_once('/')?;
    let why = why.trim().trim_start_matches('(').trim_end_matches(')');
    Some((attempt.parse().ok()?, of.parse().ok()?, why))
}

fn usage_of(tokens: &Tokens<'_>) -> Usage {
    Usage {
        input_tokens: tokens.input_tokens.count(),
        cached_input_tokens: tokens.cached_input_tokens.count(),
        output_tokens: tokens.output_tokens.count(),
        reasoning_tokens: tokens.reasoning_output_tokens.count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reconnections_are_read_with_their_count_and_cause() {
        assert_eq!(reconnecting("Reconnecting... 2/5 (last status: 429)"), Some((2, 5, "last status: 429")));
        assert_eq!(reconnecting("Reconnecting... 1/5"), Some((1, 5, "")));
        assert_eq!(reconnecting("Reconnecting failed"), None);
        assert_eq!(reconnecting("exceeded retry limit"), None);
    }
}
