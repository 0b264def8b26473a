//! Every text sent to a model: templates embedded from `prompts/`, and a folder of the user's own over them.
//!
//! [`Prompts::embedded`] holds the texts of this build; [`Prompts::load`] lays a folder over them, file by file, and
//! refuses what it does not know. The SHA-256 of each text in use is recorded with a session. Nothing here knows what
//! a text is about, and nothing a model wrote ever becomes a template.

mod texts;

pub use texts::{PromptName, Prompts, PromptsError};
