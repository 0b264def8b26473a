//! Layered settings, and what a model's name stands for.
//!
//! Files: `team.toml`, the nearest one in the current directory or above it, up to the root of the git work tree (outside
//! of one, of the file system); the user's `$XDG_CONFIG_HOME/team/config.toml`, else `~/.config/team/config.toml`. Both
//! have the same keys ([`FileSettings`]). `.claude/multimodel-team.json` of an earlier program is read below `team.toml`.
//! Variables: [`VARIABLES`]. This module reads files and never writes one.
//!
//! Order: built-in < imported < user < project < environment < flags, key by key, lists replaced as a whole. A relative
//! `sessions_dir`, `workspace`, program or recording in a `team.toml` starts from its folder, everywhere else from the
//! current one. An unknown key is an error. A name is resolved once, before any side effect, into a
//! [`ResolvedModel`] that holds everything needed to ask it; the manifest keeps that for a later resume.

mod base_url;
mod builtin;
mod context_words;
mod duration;
mod environment;
mod fail_on;
mod file;
mod fix;
mod gate;
mod imported;
mod layer;
mod literal_secret;
mod load;
mod naming;
mod nearest;
mod panel_choice;
mod pipeline;
mod places;
mod problem;
mod read;
mod remember;
mod resolve;
#[cfg(test)]
mod resolve_tests;
mod review;
mod rules;
mod threshold;
mod variables;
mod variables_layer;

pub use crate::model::{
    AgentKind, ModelIdentity, ModelSettings, OutputFormat, Price, PromptVia, Provider, ResolvedModel, Setting, Target,
    Wire,
};
pub use builtin::{LOCAL_CONTEXT_TOKENS, LOCAL_MODEL, is_known_provider};
pub use duration::{DurationError, Limit, format_duration, parse_duration};
pub use environment::Environment;
pub use fail_on::{Consensus, FailOn, Severity};
pub use file::{ContextEntry, FileSettings, ModelEntry, ProviderEntry, SelfVote};
pub use fix::{FixEntry, FixSettings};
pub use gate::{GateEntry, GateKind, GateOutputs, GateSettings, GateSubject, OmittedRule};
pub use layer::Origin;
pub use literal_secret::names_a_secret;
pub use load::{Config, EffectiveValue, ProjectFiles, Settings};
pub use naming::NamingWords;
pub use nearest::{close_matches, nearest};
pub use panel_choice::{ContextBy, PanelChoice, PanelSource};
pub use pipeline::{PipelineEntry, SessionReuse};
pub use places::{IMPORTED_FILE, PROJECT_FILE};
pub use problem::{ConfigError, Problem};
pub use remember::{Remembered, with_panel};
pub use resolve::{Kept, Models, ResolveError};
pub use review::{ReviewEntry, ReviewSettings};
pub use rules::{Leaks, OwnAnswers, Passes, Recuse, Repair, Untracked, VoteRules};
pub use threshold::{Percent, Threshold};
pub use variables::{VariableError, expand, variables_in};
pub use variables_layer::{VARIABLES, split_names};
