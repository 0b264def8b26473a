//! `gemini --output-format stream-json`.
//!
//! Text comes as deltas of `message` frames with the role `assistant`; what stands between two tool calls is one block.
//! `result.status` is the truth about success: the exit code can be 0 although it says `error`.

use std::io;

use serde::Deserialize;

use super::frame::{Content, Loose, Text, Typed, frame_of};
use super::progress::Progress;
use super::prose::{Block, Prose, Written};
use super::provider_words::typed_error;
use crate::session::slot::{Activity, Output, Reason, StopReason, TypedError, Usage};

#[derive(Debug, Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    session_id: Loose<'a>,
    #[serde(borrow, default)]
    role: Loose<'a>,
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(borrow, default)]
    delta: Loose<'a>,
    #[serde(borrow, default)]
    tool_name: Loose<'a>,
    #[serde(borrow, default)]
    severity: Loose<'a>,
    #[serde(borrow, default)]
    message: Loose<'a>,
    #[serde(borrow, default)]
    status: Loose<'a>,
    #[serde(borrow, default)]
    error: Option<Failure<'a>>,
    #[serde(borrow, default)]
    stats: Option<Stats<'a>>,
}

impl Typed for Frame<'_> {
    fn has_type(&self) -> bool {
        self.kind.is_some()
    }
}

#[derive(Debug, Deserialize)]
struct Failure<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Loose<'a>,
    #[serde(borrow, default)]
    message: Loose<'a>,
    #[serde(borrow, default)]
    code: Loose<'a>,
}

#[derive(Debug, Deserialize)]
struct Stats<'a> {
    #[serde(borrow, default)]
    total_tokens: Loose<'a>,
    #[serde(borrow, default)]
    input_tokens: Loose<'a>,
    #[serde(borrow, default)]
    output_tokens: Loose<'a>,
    #[serde(borrow, default)]
    cached: Loose<'a>,
}

/// The state of one stream.
#[derive(Debug, Default)]
pub(super) struct Gemini {
    pub(super) progress: Progress,
    block: u64,
    written: Written,
}

impl Gemini {
    /// Takes one line; `false` when it is no frame.
    pub(super) fn line(&mut self, line: &[u8], prose: &mut Prose, out: &mut dyn Output) -> io::Result<bool> {
        let frame: Frame<'_> = match frame_of(line, &["message", "result"], &mut self.progress) {
            Ok(frame) => frame,
            Err(is_frame) => return Ok(is_frame),
        };
        self.progress.conversation(frame.session_id.str());
        match frame.kind.as_ref().map(Text::raw) {
            Some(b"init") => {
                self.progress.taken_up = true;
                self.progress.show(Activity::Waiting, out);
            }
            Some(b"message") if frame.role.str() == Some("assistant") => self.message(&frame, prose, out)?,
            Some(b"message" | b"tool_result") => self.next_block(),
            Some(b"tool_use") => {
                self.next_block();
                self.progress.show(Activity::Tool(frame.tool_name.str().unwrap_or("tool").to_owned()), out);
            }
            // Warnings are notices.
            Some(b"error") if frame.severity.str() != Some("warning") => {
                self.progress.error = Some(failure(None, "", frame.message.str().unwrap_or_default()));
            }
            Some(b"result") => self.result(&frame),
            _ => {}
        }
        Ok(true)
    }

    fn next_block(&mut self) {
        self.block += 1;
        self.written = Written::default();
    }

    fn message(&mut self, frame: &Frame<'_>, prose: &mut Prose, out: &mut dyn Output) -> io::Result<()> {
        self.progress.go_on();
        match &frame.content {
            Some(Content::Whole(text)) => self.text(text, frame.delta.is_true(), prose, out),
            Some(Content::Blocks(blocks)) => {
                for text in blocks.iter().filter_map(|block| block.text.as_ref()) {
                    self.text(text, frame.delta.is_true(), prose, out)?;
                }
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn text(&mut self, text: &Text<'_>, delta: bool, prose: &mut Prose, out: &mut dyn Output) -> io::Result<()> {
        let text = text.as_str();
        let mut new = text.as_bytes();
        if !delta {
            // A message in one piece: all of a new block, or the sum of the deltas before it.
            match self.written.rest_of(new) {
                Some(rest) => new = rest,
                None => self.next_block(),
            }
        }
        self.progress.show(Activity::Answering, out);
        self.written.add(new);
        prose.put(Block::Model(self.block), new, out)?;
        if !delta {
            self.next_block();
        }
        Ok(())
    }

    fn result(&mut self, frame: &Frame<'_>) {
        let failed = frame.status.str() != Some("success");
        if failed {
            let earlier = self.progress.error.take();
            let stated = frame.error.as_ref().map(|e| {
                let words = e.message.str().unwrap_or_default();
                failure(e.code.status(), e.kind.str().unwrap_or_default(), words)
            });
            let status = frame.status.str().unwrap_or("missing");
            let error = stated.or(earlier).unwrap_or_else(|| typed_error(None, "", &format!("result status {status}")));
            self.progress.end(None, Some(error));
        } else {
            self.progress.end(Some(StopReason::Done), None);
        }
        let usage = frame.stats.as_ref().map(usage_of);
        // A call that failed before anything was counted reports zeros; they mean unknown.
        self.progress.usage = usage
            .filter(|usage| {
                !failed || usage.input_tokens.is_some_and(|n| n > 0) || usage.output_tokens.is_some_and(|n| n > 0)
            })
            .or(self.progress.usage);
        self.next_block();
    }
}

/// An error of the program, whose words are often those of what it is made with, in brackets of its own.
fn failure(status: Option<u16>, kind: &str, words: &str) -> TypedError {
    let inside = words.strip_prefix("[API Error: ").and_then(|words| words.rsplit_once(']'));
    let (bare, advice) = inside.unwrap_or((words, ""));
    // It advises a larger quota whenever there were too many requests; the status itself is not in the frame.
    let status = status.or_else(|| advice.contains("try again later").then_some(429));
    // This is all that is said of a connection that was cut in the middle of an answer.
    match bare {
        "terminated" => TypedError::new(Reason::Network, "the connection was cut (terminated)"),
        _ => typed_error(status, kind, bare),
    }
}

fn usage_of(stats: &Stats<'_>) -> Usage {
    let (input, output) = (stats.input_tokens.count(), stats.output_tokens.count());
    // Thoughts are in the total only.
    let reasoning = match (stats.total_tokens.count(), input, output) {
        (Some(total), Some(input), Some(output)) => total.checked_sub(input.saturating_add(output)),
        _ => None,
    };
    Usage {
        input_tokens: input,
        cached_input_tokens: stats.cached.count(),
        output_tokens: output.map(|n| n.saturating_add(reasoning.unwrap_or(0))),
        reasoning_tokens: reasoning,
    }
}
