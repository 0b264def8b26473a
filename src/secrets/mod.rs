//! What must not be read: secrets in anything written or shown, and models' names before the verdict.
//!
//! Text comes in from programs, providers and the system; it leaves with secrets as `[redacted]` ([`Redactor`]) and
//! with what would name a slot as `[02.model]`, `[02.program]`, `[02.key]` ([`Mask`]). [`Scrub`] is both in one.
//! A name is found in escaped forms too, and takes the identifier that it is a part of with it. What a slot's program
//! says itself about its model is masked from then on in everything about that slot. No file is read or written, no
//! variable looked up; values and names are arguments.

mod decoded;
mod families;
mod forms;
mod lines;
mod mask;
mod names;
mod placeholder;
mod redactor;
mod reported;
mod scrub;
mod shapes;
mod stream;
mod token;

pub use families::{FAMILIES, Family, families_in};
pub use lines::ScrubLines;
pub use mask::{Mask, SlotNames};
pub use names::{key_words, model_words};
pub use placeholder::{Naming, Placeholder, reveal};
pub use redactor::{REDACTED, Redactor};
pub use scrub::Scrub;
pub use stream::RedactStream;
