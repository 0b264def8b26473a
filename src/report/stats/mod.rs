//! `team stats`: what many sessions say about the models that took part.
//!
//! [`gather()`] reads folders, some files of each, and writes nothing; [`Stats::count`] is a pure function of what it found;
//! [`stats_text`] and [`stats_csv`] show it. A session counts once, with its newest verdict, and only when that is the one
//! on record and the session is not at work: what has no verdict names no model, here neither. What is left out is counted
//! by its reason. Sessions whose newest votes were imported are apart.

mod count;
mod csv;
mod entry;
mod gather;
mod model;
mod text;

pub use csv::stats_csv;
pub use gather::{Gathered, Wanted, gather};
pub use model::{By, Cost, Group, ModelStats, Share, Skipped, Spread, Stats, Sum};
pub use text::stats_text;
