//! The front end for coding agents: a server of the Model Context Protocol on standard input and output.
//!
//! Standard output is the protocol and nothing else. What asks models is a `team` process of its own for each call
//! (`child`): it owns its session, tells its events, and ends with this server or, detached, goes on without it. What
//! only looks is read from the sessions' folders (`look`), so that a server that was started anew knows about every
//! session. No reply names a model before the verdict, unless it was asked to and the record says so.

mod arguments;
mod ask;
mod blocking;
mod card;
mod child;
mod closed;
mod id_finder;
mod job;
mod look;
mod place;
mod progress;
mod prompts;
mod reply;
mod resources;
mod server;
mod tools;
mod transport;
mod warnings;
mod words;
mod work;
mod work_arguments;
mod work_card;

pub use server::serve;
