//! One answer as it comes in: from the bytes of a response to text, and a verdict on how it ended.

use std::io;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::Response;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::events::{Framing, LARGEST_EVENT, Reader, TooLarge};
use super::failure::{Stated, readable};
use super::reset::stated_wait;
use super::transport::transport;
use super::wire::{Adapter, Decoder, Malformed, Piece};
use crate::session::slot::{Activity, Output, Reason, Spent, StopReason, StreamEnd, TypedError};

/// How long the rest of a stream (usage, the last event) is waited for once the model has said that it is done.
const DRAIN: Duration = Duration::from_secs(5);

/// How much of a stream's beginning is kept, to say what it was if it was no stream.
const KEPT_LEAD: usize = 512;

/// How an attempt went.
#[derive(Debug)]
pub(super) enum Attempt {
    /// It ended for good, well or not.
    Ended(StreamEnd),
    /// It failed before anything of an answer came, so it may be tried again.
    NotBegun(NotBegun),
}

/// Why nothing of an answer came.
#[derive(Debug)]
pub(super) enum NotBegun {
    /// The server said so.
    Stated {
        /// Its words.
        stated: Stated,
        /// How long it asks to wait.
        wait: Option<Duration>,
    },
    /// There was no connection, or it broke.
    Connection(String),
}

/// Reads the body of a 200.
///
/// A connection that breaks before the first event of the answer is a network error and may be tried again. Once an
/// event came, work was done and billed: then any end without the format's terminal event, orderly or not, is
/// `truncated`, and nothing is asked again.
pub(super) async fn read(
    mut response: Response,
    adapter: &dyn Adapter,
    out: &mut dyn Output,
    stop: &CancellationToken,
) -> io::Result<Attempt> {
    let mut reading = Reading::new(adapter);
    let mut drained = None;
    // One registration for the whole answer: all slots share the token, and a chunk may hold a single word.
    let mut stopped = std::pin::pin!(stop.cancelled());
    loop {
        let chunk = tokio::select! {
            biased;
            () = &mut stopped => return Ok(Attempt::Ended(reading.cancelled())),
            chunk = response.chunk() => chunk,
            () = tokio::time::sleep_until(drained.unwrap_or_else(Instant::now)), if drained.is_some() => Ok(None),
        };
        match chunk {
            Ok(Some(bytes)) => {
                out.received(bytes.len());
                reading.take(&bytes, out)?;
                if reading.over {
                    return Ok(reading.finish());
                }
                if reading.end.stop.is_some() {
                    // Text after a stop means that it was none: the wait begins anew.
                    let wait_until = Instant::now() + DRAIN;
                    if std::mem::take(&mut reading.went_on) {
                        drained = Some(wait_until);
                    }
                    drained.get_or_insert(wait_until);
                }
            }
            Ok(None) => {
                reading.last(out)?;
                return Ok(reading.finish());
            }
            Err(error) => {
                reading.cut(out)?;
                return Ok(reading.broken(transport(error)));
            }
        }
    }
}

/// What kind of body a 200 turned out to have; gateways answer a stream request with all of them, under any type.
enum Body {
    /// Nothing but blanks so far.
    Unknown,
    /// A stream of events.
    Events(Reader),
    /// One JSON value, kept until it is whole.
    Json(Vec<u8>),
    /// A web page or other text, of which the beginning is kept.
    Page(Vec<u8>),
}

struct Reading {
    framing: Framing,
    decoder: Box<dyn Decoder>,
    body: Body,
    /// Bytes of blanks and byte-order mark before the kind of body is known; of a stream then its beginning.
    lead: Vec<u8>,
    /// The stream had an event, whatever it meant.
    has_events: bool,
    pieces: Vec<Piece>,
    /// An event of the answer came.
    begun: bool,
    /// The text so far is white space only.
    blank: bool,
    thought: bool,
    answering: bool,
    /// Text came after a stop: some servers put one into every event.
    went_on: bool,
    /// A stop came, and no text after it.
    stop_stands: bool,
    refusal: String,
    error: Option<Stated>,
    /// Nothing that follows matters.
    over: bool,
    end: StreamEnd,
}

impl Reading {
    fn new(adapter: &dyn Adapter) -> Self {
        Self {
            framing: adapter.framing(),
            decoder: adapter.decoder(),
            body: Body::Unknown,
            lead: Vec::new(),
            has_events: false,
            pieces: Vec::new(),
            begun: false,
            blank: true,
            thought: false,
            answering: false,
            went_on: false,
            stop_stands: false,
            refusal: String::new(),
            error: None,
            over: false,
            end: StreamEnd::default(),
        }
    }

    fn take(&mut self, bytes: &[u8], out: &mut dyn Output) -> io::Result<()> {
        match &mut self.body {
            Body::Unknown => {
                self.lead.extend_from_slice(bytes);
                let Some(first) = first_meaningful_byte(&self.lead) else { return Ok(()) };
                let lead = std::mem::take(&mut self.lead);
                // From here on the field holds the beginning of a stream.
                self.body = match (first, self.framing) {
                    (b'{', Framing::JsonLines) => Body::Events(Reader::new(Framing::JsonLines)),
                    (b'{' | b'[', _) => Body::Json(Vec::new()),
                    (b'<', _) => Body::Page(Vec::new()),
                    // Where lines of JSON were expected too: a gateway may put them into events.
                    _ => Body::Events(Reader::new(Framing::ServerSent)),
                };
                self.take(&lead, out)
            }
            Body::Events(reader) => {
                if self.lead.len() < KEPT_LEAD {
                    self.lead.extend_from_slice(&bytes[..bytes.len().min(KEPT_LEAD)]);
                }
                let (decoder, pieces, has_events) = (&mut self.decoder, &mut self.pieces, &mut self.has_events);
                let mut malformed = None;
                let result = reader.push(bytes, |event| {
                    *has_events = true;
                    if malformed.is_none() {
                        malformed = decoder.event(event.name, event.data, pieces).err();
                    }
                });
                self.apply(out)?;
                self.check(result, malformed);
                Ok(())
            }
            Body::Json(whole) => {
                if whole.len() + bytes.len() > LARGEST_EVENT {
                    self.fail(Reason::BadOutput, TooLarge.to_string());
                } else {
                    whole.extend_from_slice(bytes);
                }
                Ok(())
            }
            Body::Page(page) => {
                page.extend_from_slice(bytes);
                // A title stands near the beginning; the rest of a page says nothing.
                if page.len() > 16 << 10 {
                    let text = readable(page);
                    self.fail(Reason::BadOutput, format!("the answer is {text}"));
                }
                Ok(())
            }
        }
    }

    /// The body is over: what is still held back is read.
    fn last(&mut self, out: &mut dyn Output) -> io::Result<()> {
        match std::mem::replace(&mut self.body, Body::Unknown) {
            Body::Unknown => {}
            Body::Events(reader) => {
                let (decoder, pieces, has_events) = (&mut self.decoder, &mut self.pieces, &mut self.has_events);
                let mut malformed = None;
                let lines = reader.framing() == Framing::JsonLines;
                let result = reader.finish(|event| {
                    *has_events = true;
                    // Half an event is what a cut leaves behind; that the stream is cut is said elsewhere.
                    let wrong = decoder.event(event.name, event.data, pieces).err();
                    malformed = wrong.filter(|_| lines && is_no_json(event.data));
                });
                self.apply(out)?;
                self.check(result, malformed);
            }
            Body::Json(whole) => {
                let malformed = self.decoder.whole(&whole, &mut self.pieces).err();
                self.apply(out)?;
                self.check(Ok(()), malformed);
            }
            Body::Page(page) => self.fail(Reason::BadOutput, format!("the answer is {}", readable(&page))),
        }
        Ok(())
    }

    /// The connection broke: what came whole is read, half a JSON value is not.
    fn cut(&mut self, out: &mut dyn Output) -> io::Result<()> {
        match &self.body {
            Body::Json(_) => {
                self.begun = true;
                return Ok(());
            }
            // Half an event is work that was done, and billed, as much as a whole one.
            Body::Events(reader) => self.begun |= reader.is_within_event(),
            Body::Unknown | Body::Page(_) => {}
        }
        self.last(out)
    }

    fn check(&mut self, result: Result<(), TooLarge>, malformed: Option<Malformed>) {
        if self.over {
            return;
        }
        if let Some(Malformed(text)) = malformed {
            self.fail(Reason::BadOutput, text);
        } else if let Err(error) = result {
            self.fail(Reason::BadOutput, error.to_string());
        }
    }

    fn fail(&mut self, reason: Reason, detail: String) {
        self.begun = true;
        self.over = true;
        self.end.error = Some(TypedError::new(reason, detail));
    }

    fn apply(&mut self, out: &mut dyn Output) -> io::Result<()> {
        for piece in std::mem::take(&mut self.pieces) {
            if self.over {
                break;
            }
            // That the prompt was counted is no part of an answer.
            self.begun |= !matches!(piece, Piece::Error(_) | Piece::Usage(_) | Piece::Cost(_));
            match piece {
                Piece::Begun => {}
                Piece::Text(text) => {
                    if !std::mem::replace(&mut self.answering, true) {
                        out.activity(Activity::Answering);
                    }
                    self.blank &= text.trim().is_empty();
                    self.went_on |= self.end.stop.is_some();
                    self.stop_stands = false;
                    out.text(text.as_bytes())?;
                }
                Piece::Thinking => {
                    if self.answering || !self.thought {
                        out.activity(Activity::Thinking);
                    }
                    self.thought = true;
                    self.answering = false;
                }
                Piece::Refusal(text) => self.refusal.push_str(&text),
                Piece::Stop(stop) => self.end.stop = Some(graver(self.end.stop, stop)),
                Piece::Usage(usage) => {
                    self.end.usage = Some(usage);
                    out.spent(Spent { usage: Some(usage), cost: self.end.cost });
                }
                Piece::Cost(cost) => self.end.cost = Some(cost),
                Piece::Broken(stated) | Piece::Error(stated) => {
                    self.error = Some(stated);
                    self.over = true;
                }
                Piece::End => {
                    self.end.stop.get_or_insert(StopReason::Done);
                    self.over = true;
                }
            }
        }
        Ok(())
    }

    fn cancelled(mut self) -> StreamEnd {
        self.end.error = Some(TypedError::new(Reason::Cancelled, "stopped while the answer was awaited"));
        self.end
    }

    /// The transport failed.
    fn broken(self, why: String) -> Attempt {
        if self.error.is_some() || self.end.error.is_some() || self.end.stop.is_some() {
            return self.finish();
        }
        if !self.begun {
            return Attempt::NotBegun(NotBegun::Connection(why));
        }
        self.ended_as(Reason::Truncated, format!("the connection broke in the middle of the answer: {why}"))
    }

    /// The body ended in order.
    fn finish(mut self) -> Attempt {
        if let Some(stated) = self.error.take() {
            if !self.begun {
                let wait = stated_wait(&stated, Timestamp::now());
                return Attempt::NotBegun(NotBegun::Stated { stated, wait });
            }
            self.end.error = Some(stated.typed());
            return Attempt::Ended(self.end);
        }
        if self.end.error.is_some() {
            return Attempt::Ended(self.end);
        }
        if !self.refusal.is_empty() {
            self.end.stop = Some(StopReason::Refused);
            let words = std::mem::take(&mut self.refusal);
            return self.ended_as(Reason::Refused, words);
        }
        let lead = self.lead.trim_ascii();
        // A stream may hold comments only; other text is something else's answer.
        if !self.has_events && self.end.stop.is_none() && !lead.is_empty() && !lead.starts_with(b":") {
            let detail = format!("the answer is no stream of events: {}", readable(lead));
            return self.ended_as(Reason::BadOutput, detail);
        }
        match self.end.stop {
            None => self.ended_as(Reason::Truncated, "the stream ended without saying that the answer was done".into()),
            Some(StopReason::Refused) => Attempt::Ended(self.end),
            Some(StopReason::Done | StopReason::Length) => match self.spent_on_reasoning() {
                Some(detail) => self.ended_as(Reason::EmptyOutput, detail),
                None => Attempt::Ended(self.end),
            },
        }
    }

    /// Why there is no text although the model worked, where that is known.
    fn spent_on_reasoning(&self) -> Option<String> {
        if !self.blank {
            return None;
        }
        let tokens = self.end.usage.and_then(|usage| usage.reasoning_tokens).filter(|tokens| *tokens > 0);
        let cut = if self.end.stop == Some(StopReason::Length) { ", until the length limit" } else { "" };
        match tokens {
            Some(tokens) => Some(format!("no text: the model spent {tokens} tokens on reasoning{cut}")),
            None if self.thought => Some(format!("no text: the model only reasoned{cut}")),
            None => None,
        }
    }

    fn ended_as(mut self, reason: Reason, detail: String) -> Attempt {
        self.end.error = Some(TypedError::new(reason, detail));
        Attempt::Ended(self.end)
    }
}

/// Of two stops the one that says less good of the answer: later events may repeat one, or correct it.
const fn graver(old: Option<StopReason>, new: StopReason) -> StopReason {
    match (old, new) {
        (Some(StopReason::Refused), _) | (_, StopReason::Refused) => StopReason::Refused,
        (Some(StopReason::Length), _) | (_, StopReason::Length) => StopReason::Length,
        (None | Some(StopReason::Done), StopReason::Done) => StopReason::Done,
    }
}

/// Whether `data` is not even the beginning of a JSON value.
fn is_no_json(data: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(data).is_err_and(|error| !error.is_eof())
}

/// The first byte that is neither white space nor of a byte-order mark.
fn first_meaningful_byte(lead: &[u8]) -> Option<u8> {
    let mark = b"\xef\xbb\xbf";
    let lead = lead.strip_prefix(mark).unwrap_or(lead);
    if mark.starts_with(lead) {
        return None;
    }
    lead.iter().copied().find(|byte| !byte.is_ascii_whitespace())
}
