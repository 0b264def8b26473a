//! `opencode run --format json`.
//!
//! Text parts come whole, perhaps again when they grow. `step_finish` with another reason than `tool-calls` ends the
//! answer; an `error` frame stands until a later step finishes well.

use std::io;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::frame::{Loose, Text, Typed, frame_of};
use super::progress::Progress;
use super::prose::{Block, Prose, Written};
use super::provider_words::typed_error;
use crate::money::Usd;
use crate::session::slot::{Activity, Output, StopReason};

#[derive(Debug, Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow, default, rename = "sessionID")]
    session: Loose<'a>,
    #[serde(borrow, default)]
    part: Option<Part<'a>>,
    #[serde(borrow, default)]
    error: Option<Failure<'a>>,
}

impl Typed for Frame<'_> {
    fn has_type(&self) -> bool {
        self.kind.is_some()
    }
}

#[derive(Debug, Deserialize)]
struct Part<'a> {
    #[serde(borrow, default)]
    id: Loose<'a>,
    #[serde(borrow, default, rename = "sessionID")]
    session: Loose<'a>,
    #[serde(borrow, default, rename = "messageID")]
    message: Loose<'a>,
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
    #[serde(default)]
    time: Option<IgnoredAny>,
    #[serde(borrow, default)]
    synthetic: Loose<'a>,
    #[serde(borrow, default)]
    ignored: Loose<'a>,
    #[serde(borrow, default)]
    tool: Loose<'a>,
    #[serde(borrow, default)]
    reason: Loose<'a>,
    #[serde(borrow, default)]
    tokens: Option<Tokens<'a>>,
    #[serde(borrow, default)]
    cost: Loose<'a>,
}

#[derive(Debug, Deserialize)]
struct Tokens<'a> {
    #[serde(borrow, default)]
    total: Loose<'a>,
    #[serde(borrow, default)]
    input: Loose<'a>,
    #[serde(borrow, default)]
    output: Loose<'a>,
    #[serde(borrow, default)]
    reasoning: Loose<'a>,
    #[serde(borrow, default)]
    cache: Option<Cache<'a>>,
}

#[derive(Debug, Deserialize)]
struct Cache<'a> {
    #[serde(borrow, default)]
    read: Loose<'a>,
    #[serde(borrow, default)]
    write: Loose<'a>,
}

#[derive(Debug, Deserialize)]
struct Failure<'a> {
    #[serde(borrow, default)]
    name: Loose<'a>,
    #[serde(borrow, default)]
    message: Loose<'a>,
    #[serde(borrow, default)]
    data: Option<FailureData<'a>>,
}

#[derive(Debug, Deserialize)]
struct FailureData<'a> {
    #[serde(borrow, default)]
    message: Loose<'a>,
    #[serde(borrow, default, rename = "statusCode")]
    status: Loose<'a>,
    #[serde(borrow, default, rename = "responseBody")]
    body: Loose<'a>,
}

/// The state of one stream.
#[derive(Debug, Default)]
pub(super) struct Opencode {
    pub(super) progress: Progress,
    block: u64,
    part: Option<String>,
    written: Written,
    /// The assistant's message that the current step belongs to.
    message: Option<String>,
}

impl Opencode {
    /// Takes one line; `false` when it is no frame.
    pub(super) fn line(&mut self, line: &[u8], prose: &mut Prose, out: &mut dyn Output) -> io::Result<bool> {
        let frame: Frame<'_> = match frame_of(line, &["text", "step_finish", "error"], &mut self.progress) {
            Ok(frame) => frame,
            Err(is_frame) => return Ok(is_frame),
        };
        self.progress.conversation(frame.session.str());
        self.progress.taken_up |= frame.session.str().is_some();
        if self.of_a_sub_agent(&frame) {
            return Ok(true);
        }
        match (frame.kind.as_ref().map(Text::raw), &frame.part) {
            (Some(b"step_start"), part) => {
                self.message = part.as_ref().and_then(|part| part.message.str()).map(str::to_owned);
                self.progress.go_on();
                self.progress.show(Activity::Waiting, out);
            }
            (Some(b"text"), Some(part)) => self.text(part, prose, out)?,
            (Some(b"reasoning"), _) => self.progress.show(Activity::Thinking, out),
            (Some(b"tool_use"), Some(part)) => {
                self.progress.show(Activity::Tool(part.tool.str().unwrap_or("tool").to_owned()), out);
            }
            (Some(b"step_finish"), Some(part)) => self.step_finish(part),
            (Some(b"error"), _) => self.error(frame.error.as_ref()),
            _ => {}
        }
        Ok(true)
    }

    fn of_a_sub_agent(&self, frame: &Frame<'_>) -> bool {
        let Some(own) = self.progress.conversation.as_deref() else { return false };
        let part = frame.part.as_ref().and_then(|part| part.session.str());
        [frame.session.str(), part].into_iter().flatten().any(|session| session != own)
    }

    fn text(&mut self, part: &Part<'_>, prose: &mut Prose, out: &mut dyn Output) -> io::Result<()> {
        let Some(text) = &part.text else { return Ok(()) };
        // The user's own message may be echoed; it has no time and belongs to no step.
        let echo = part.time.is_none() && part.message.str() != self.message.as_deref();
        if echo || part.synthetic.is_true() || part.ignored.is_true() {
            return Ok(());
        }
        let text = text.as_str();
        let mut new = text.as_bytes();
        let same = part.id.str().is_some() && part.id.str() == self.part.as_deref();
        match self.written.rest_of(new).filter(|_| same) {
            Some(rest) => new = rest,
            None => {
                self.block += 1;
                self.written = Written::default();
                self.part = part.id.str().map(str::to_owned);
            }
        }
        self.written.add(new);
        self.progress.show(Activity::Answering, out);
        prose.put(Block::Model(self.block), new, out)
    }

    fn step_finish(&mut self, part: &Part<'_>) {
        match part.reason.str() {
            // The agent itself goes on after these two.
            Some("tool-calls" | "unknown") => self.progress.go_on(),
            Some("length") => self.progress.end(Some(StopReason::Length), None),
            Some("content-filter") => self.progress.end(Some(StopReason::Refused), None),
            Some("error") => {
                let error = self.progress.error.take();
                let error = error.unwrap_or_else(|| typed_error(None, "", "a step ended with an error"));
                self.progress.end(None, Some(error));
            }
            _ => self.progress.end(Some(StopReason::Done), None),
        }
        if let Some(tokens) = &part.tokens {
            let sum = self.progress.usage.get_or_insert_default();
            let cached = tokens.cache.as_ref().and_then(|cache| cache.read.count());
            let written = tokens.cache.as_ref().and_then(|cache| cache.write.count());
            let input = tokens.input.count().map(|n| n + cached.unwrap_or(0) + written.unwrap_or(0));
            // Reasoning is inside or outside of `output`, by version; the total settles it.
            let output = match (tokens.total.count(), input) {
                (Some(total), Some(input)) if total >= input => Some(total - input),
                _ => tokens.output.count(),
            };
            grow(&mut sum.input_tokens, input);
            grow(&mut sum.cached_input_tokens, cached);
            grow(&mut sum.output_tokens, output);
            grow(&mut sum.reasoning_tokens, tokens.reasoning.count());
        }
        // A model without a known price reports 0, which means unknown.
        if let Some(cost) = part.cost.amount().filter(|cost| *cost > 0.0).and_then(Usd::reported) {
            let sum = self.progress.cost.unwrap_or_default();
            self.progress.cost = Some(sum.plus(cost));
        }
    }

    fn error(&mut self, failure: Option<&Failure<'_>>) {
        let data = failure.and_then(|f| f.data.as_ref());
        let name = failure.and_then(|f| f.name.str()).unwrap_or_default();
        let words = data.and_then(|d| d.message.str()).or_else(|| failure.and_then(|f| f.message.str()));
        let status = data.and_then(|d| d.status.status());
        let mut error = typed_error(status, name, words.unwrap_or(name));
        if let Some(body) = data.and_then(|d| d.body.str()) {
            // The provider's own type is only in its body.
            let inner = typed_error(status, name, body);
            if inner.reason != crate::session::slot::Reason::ApiError {
                error.reason = inner.reason;
            }
        }
        self.progress.end(None, Some(error));
    }
}

fn grow(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}
