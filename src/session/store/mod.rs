//! What the users of a session need of it, in narrow traits, so that each takes no more than it uses and can be tried
//! without a folder.
//!
//! | Trait | Gives |
//! | --- | --- |
//! | [`LifeCycle`] | how a session stands; its end, and going on after it |
//! | [`Events`] | the record, and the status folded from it |
//! | [`Metadata`] | what the session says of itself |
//! | [`Messages`] | role conversations |
//! | [`Checkpoints`] | waiting decisions |
//! | [`Statistics`] | numbers folded from the record |
//! | [`Sessions`] | the catalogue: making, listing, finding and opening |
//!
//! The folder is the one backend of the program ([`Session`](super::Session), [`PanelFolder`](super::PanelFolder),
//! [`Catalogue`](super::Catalogue)): the traits are a view of it and no second way of writing. The one in memory is for unit
//! tests; both pass the same suite.

#[cfg(test)]
mod conformance;
mod folder;
#[cfg(test)]
pub(crate) mod memory;
mod traits;

pub use traits::{Checkpoints, Events, LifeCycle, Messages, Metadata, Sessions, Statistics};
