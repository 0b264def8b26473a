//! Agent command lines: from a resolved model to the program, arguments and environment of one process.
//!
//! Data enters as a [`ResolvedModel`](crate::config::ResolvedModel) and an [`Environment`](crate::config::Environment),
//! and leaves as a [`ProcessPlan`]. Nothing is started here, except for `--version` ([`version_of`]), and no file is
//! written. There is no shell, and a prompt is never an argument. A program inherits an allow-list of variables: what
//! any program needs and what its own vendor reads, never another vendor's key. What is particular to one program is in
//! the file of its name.

mod claude;
mod claudish;
mod codex;
mod conversation;
mod gemini;
mod habits;
mod inherited;
mod jsonc;
mod llm;
mod locate;
mod opencode;
mod plan;
#[cfg(test)]
mod plan_conversation_tests;
#[cfg(test)]
mod plan_own_files_tests;
#[cfg(test)]
mod plan_tests;
mod private;
mod sign_in;
mod traces;
mod version;

pub use conversation::{ConversationId, Files, Talk, Transcript, TranscriptFiles, keeps_conversations, restore};
pub use habits::known_program;
pub use locate::locate;
pub use plan::{Call, HomeUse, NestedSandbox, PlanError, ProcessPlan, Purpose, Stdin, plan};
pub use private::PrivateFile;
pub use sign_in::{SignIn, claudish_finds_claude, sign_in};
pub use version::{VersionError, version_of};
