//! What a process may see, and the chain of small processes that holds it.
//!
//! An agent is never a child of `team` itself. `team` starts `team __exec` (the *outer* stage), that starts
//! `team __init` (the *init* stage), and only that starts the agent:
//!
//! ```text
//! team ──socket── __exec ──socket── __init ──> agent ──> its tools
//!                 lifeline, signals, reaps, kills
//!                 namespaces         what is left
//! ```
//!
//! Every stage kills what is below it when the one above it is gone, so a SIGKILL of any of them leaves nothing
//! behind. With [`Mechanism::Namespaces`] the init stage is process 1 of a namespace and the kernel does the
//! killing; without, both stages are child subreapers and walk the tree below them.
//!
//! Before it starts the agent, init arranges what that may see of the file system by an [`Enclosure`]: under namespaces
//! with mounts, under [`Mechanism::Landlock`] with rules, else not at all.
//!
//! In: a `wire::Launch` over the socket that is the outer stage's standard input, never over a command line or
//! an environment, where a neighbour could read it. Out: `wire::Report`s over the same socket. [`probe()`] finds out
//! which mechanism works here by running the whole chain to its end. This module owns no file on disk
//! but the self-test's canary, for a few milliseconds.

mod enclosure;
mod mechanism;
mod probe;
mod scratch;
pub(crate) mod stage;
pub(crate) mod wire;

pub use enclosure::{Absent, Access, Enclosure, Place, Shown};
pub use mechanism::{Containment, Level, Mechanism, OVERRIDE_VARIABLE, Preference, UnknownPreference};
pub use probe::{Attempt, Fact, Facts, Probe, Refusal, probe, try_mechanism};
pub(crate) use scratch::Scratch;
pub use wire::Step;
