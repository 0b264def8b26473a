//! What a slot gets from a provider that behaves, misbehaves, or is not there.

mod answers;
mod conversations;
mod failures;
mod question;
mod wires;
