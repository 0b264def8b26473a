//! Bytes to answers: stream decoders, the answer file, bounded logs.
//!
//! What a program prints goes through a [`Decoder`] of its declared format; the text that comes out goes to an
//! [`AnswerFile`], which owns `.response-NN.md.part`, `response-NN.md` and `errors/NN.partial.md`. Standard error goes to
//! an [`ErrorLog`], which owns `errors/NN.log`. Memory stays flat whatever is printed. Nothing here starts, stops or
//! judges a slot, and nothing here knows which model it is.

mod answer_file;
mod claude;
mod codex;
mod decoder;
mod error_log;
mod frame;
mod gemini;
mod head_tail;
mod lines;
mod notices;
mod opencode;
mod pattern;
mod progress;
mod prose;
mod provider_words;

pub use answer_file::{AnswerFacts, AnswerFile};
pub use decoder::{Decoder, FRAME_LIMIT};
pub use error_log::{ErrorLog, Redact, Unchanged};
pub use head_tail::HeadTail;
pub(crate) use head_tail::escape;
pub use pattern::{Pattern, PatternError};
pub use provider_words::{background_ceiling, logged_error, said_error, telling_line};
