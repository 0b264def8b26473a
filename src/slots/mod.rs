//! What can answer: agent command lines, model APIs, the managed local model, recordings.

pub mod agents;
pub mod http;
pub mod local;
mod network;
pub mod replay;
