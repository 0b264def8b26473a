//! `verdict.json` as bytes, written once and recomputed by anyone.

use serde::Serialize;

use crate::judging::{Votes, VotesError};

use super::tally;

/// The bytes of `verdict.json`: indented JSON and a final line feed, as [`crate::fs::replace_json`] writes it.
///
/// # Errors
/// Fails only if the verdict cannot be serialised, which its types rule out.
pub fn to_json(verdict: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(verdict)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// What `verdict.json` must be, byte for byte, given the bytes of `votes.json`.
///
/// # Errors
/// `votes` is not a `votes.json` that this program reads.
pub fn recompute(votes: &[u8]) -> Result<Vec<u8>, VotesError> {
    Ok(to_json(&tally(&Votes::from_json(votes)?))?)
}
