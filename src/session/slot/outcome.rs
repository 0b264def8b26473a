//! What drivers and decoders report about an attempt, before anybody judges it.

use std::io;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Reason;
use super::cost::Spent;
use crate::money::Usd;

/// Where a driver's text and news go.
///
/// A failed `text` is an error of that slot's file; the driver passes it on unchanged and stops.
pub trait Output: Send {
    /// A piece of the answer, in order.
    fn text(&mut self, piece: &[u8]) -> io::Result<()>;
    /// What the slot is doing now.
    fn activity(&mut self, activity: Activity);
    /// Bytes came in, whatever they mean: the sign of life that an idle limit looks at.
    fn received(&mut self, bytes: usize);
    /// What the stream has reported so far of its use of the model.
    fn spent(&mut self, _spent: Spent) {}
}

/// What a slot is doing, for people; never text of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Activity {
    /// Waits for its turn, a limiter or a server.
    Queued,
    /// Connected or started, nothing has come yet.
    Waiting,
    /// Reasons without answer text.
    Thinking,
    /// Writes the answer.
    Answering,
    /// Uses a tool of this name.
    Tool(String),
    /// Is tried again after an error, `attempt` of `of` (0 = unknown).
    Retry {
        /// Which retry this is, from 1.
        attempt: u32,
        /// How many there are at most.
        of: u32,
        /// Seconds until it starts (0 = at once, or unknown).
        in_seconds: u64,
        /// Why, short and without names.
        why: String,
    },
}

impl Activity {
    /// How [`Self::Queued`] is written.
    pub const QUEUED: &'static str = "queued";

    /// How [`Self::Waiting`] is written.
    pub const WAITING: &'static str = "waiting";

    /// How [`Self::Retry`] begins when it is written.
    pub const RETRY: &'static str = "retry ";
}

impl std::fmt::Display for Activity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Queued => f.write_str(Self::QUEUED),
            Self::Waiting => f.write_str(Self::WAITING),
            Self::Thinking => f.write_str("thinking"),
            Self::Answering => f.write_str("answering"),
            Self::Tool(name) => write!(f, "tool {name}"),
            Self::Retry { attempt, of, in_seconds, why } => {
                write!(f, "retry {attempt}")?;
                if *of > 0 {
                    write!(f, "/{of}")?;
                }
                if *in_seconds > 0 {
                    write!(f, " in {in_seconds}s")?;
                }
                write!(f, " ({why})")
            }
        }
    }
}

/// Tokens as the model's own side reported them; what was not reported stays unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Tokens of the prompt, cached ones included.
    pub input_tokens: Option<u64>,
    /// Tokens of the prompt that were read from a cache.
    pub cached_input_tokens: Option<u64>,
    /// Tokens of the output, reasoning included.
    pub output_tokens: Option<u64>,
    /// Tokens spent on reasoning.
    pub reasoning_tokens: Option<u64>,
}

/// An error that the stream, the provider or the system stated in its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedError {
    /// Its class.
    pub reason: Reason,
    /// The other side's words, unredacted; whoever writes or shows them redacts first.
    pub detail: String,
}

impl TypedError {
    /// An error of class `reason` in the words `detail`.
    pub fn new(reason: Reason, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }
}

/// Why the model stopped writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// It was done.
    Done,
    /// A length limit cut it.
    Length,
    /// It declined, or a safety filter stopped it.
    Refused,
}

/// What a finished stream said about the answer besides its text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamEnd {
    /// The error that it ended with.
    pub error: Option<TypedError>,
    /// Why the model stopped; `None` when the format has a terminal event and it never came.
    pub stop: Option<StopReason>,
    /// Tokens, where reported.
    pub usage: Option<Usage>,
    /// The cost, where the stream itself reported it.
    pub cost: Option<Usd>,
    /// The program's own name of the conversation.
    pub conversation: Option<String>,
    /// Whether the program took up the conversation that it names: without that it may have failed to find it.
    pub taken_up: bool,
    /// What the stream reported as it stands: some programs count a whole conversation in each of its turns.
    pub reported: Spent,
    /// Settings that the other side refused and that were left out.
    pub dropped_settings: Vec<String>,
}
