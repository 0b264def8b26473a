//! The texts that reviewers and judges of a round are sent.

use super::round::Hashes;
use crate::error::Result;
use crate::findings::{BadFindings, FindingAssignment, Identified};
use crate::ids::SlotId;
use crate::judging::{BallotForm, Nonce};
use crate::prompts::{PromptName, Prompts};

/// What is asked of whom.
pub(in crate::pipeline) struct Texts<'a> {
    pub(in crate::pipeline) prompts: &'a Prompts,
    /// The prompt of every reviewer.
    pub(in crate::pipeline) input: &'a str,
    /// What is reviewed.
    pub(in crate::pipeline) artefact: &'a str,
    /// What it is meant to do, where that was said.
    pub(in crate::pipeline) intent: Option<&'a str>,
}
