//! Conversations of a pipeline's roles: gone on with by a program's own id or by saying everything again, begun anew where
//! that fails, and kept with the session.

mod kept;
pub(crate) mod killed;
mod programs;
mod replayed;
mod world;
