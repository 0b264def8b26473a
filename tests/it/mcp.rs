//! `team mcp`, by a client that writes the protocol's own lines.

mod calls;
mod ends;
mod faults;
mod looks;
mod protocol;
mod works;
mod world;
