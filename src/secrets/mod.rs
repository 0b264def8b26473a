//! What must not be read: secrets in anything written or shown, and models' names before the verdict.
//!
//! Text comes in from programs, providers and the system; it leaves with secrets as `[redacted]` ([`Redactor`]) and
//! with what would name a slot as `[02.model]`, `[02.program]`, `[02.key]` ([`Mask`]). [`Scrub`] is both in one.
//! Everything here is pure: no file is read or written, no variable looked up; values and names are arguments.

mod families;
mod forms;
mod lines;
mod mask;
mod names;
mod placeholder;
mod redactor;
mod scrub;
mod shapes;
mod stream;

pub use families::{FAMILIES, Family, families_in};
pub use lines::ScrubLines;
pub use mask::{Mask, SlotNames};
pub use names::{key_words, model_words};
pub use placeholder::{Naming, Placeholder, reveal};
pub use redactor::{REDACTED, Redactor};
pub use scrub::Scrub;
pub use stream::RedactStream;
