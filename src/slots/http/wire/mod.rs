//! The wire formats: what each one's request looks like and what its events mean.
//!
//! An adapter is stateless and makes a [`Decoder`] per answer; everything that is the same for all formats happens
//! outside of here, in terms of [`Piece`]s.

mod adapter;
mod anthropic_messages;
mod gemini_generate;
mod ollama_chat;
mod openai_chat;
mod openai_responses;
mod refused;

pub(super) use adapter::{Adapter, Decoder, Malformed, Optional, Piece, adapter};
pub(super) use refused::without_refused_field;
