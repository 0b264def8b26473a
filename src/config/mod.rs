//! Layered settings, and what a model's name stands for.
//!
//! Order: built-in < user < project < environment < flags. A name is resolved once, before any side effect, into a
//! [`ResolvedModel`] that holds everything needed to ask it; the manifest keeps that for a later resume.

mod duration;
mod model;

pub use duration::{DurationError, parse_duration};
pub use model::{
    AgentKind, ModelIdentity, ModelSettings, OutputFormat, PromptVia, Provider, ResolvedModel, Target, Wire,
};
