//! The texts that reviewers and judges of a round are sent.

use super::request::ReviewWork;
use super::round::Hashes;
use crate::error::Result;
use crate::findings::{BadFindings, FindingAssignment, Identified};
use crate::ids::SlotId;
use crate::judging::{BallotForm, Nonce};
use crate::prompts::Prompts;

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

impl Texts<'_> {
    pub(in crate::pipeline) fn hashes_of(_prompts: &Prompts) -> Hashes {
        Hashes::new()
    }
    pub(super) fn reviewer_hashes(&self) -> Hashes {
        Hashes::new()
    }
    pub(super) fn judge_hashes(&self) -> Hashes {
        Hashes::new()
    }
    pub(in crate::pipeline) fn reviewer(
        _prompts: &Prompts,
        work: &ReviewWork,
        artefact: &str,
        _workspace: bool,
        nonce: &Nonce,
    ) -> Result<String> {
        Ok(format!("Review {}\n{nonce}\n{artefact}\n", work.told))
    }
    pub(super) fn repair(
        &self,
        _slot: SlotId,
        _reply: &[u8],
        bad: &BadFindings,
        _context: Option<u64>,
    ) -> Result<String> {
        Ok(format!("{}\n{bad}", self.input))
    }
    pub(super) fn vote(
        &self,
        assignment: &FindingAssignment,
        findings: &[Identified],
        _form: BallotForm,
    ) -> Result<String> {
        let mut text = format!("Vote on these findings\n{}\n", self.artefact);
        for (id, alias) in &assignment.shown {
            let title = findings.iter().find(|f| f.id == *id).map(|f| f.merged.finding.title.clone());
            text.push_str(&format!("### Finding {alias}\n{}\n", title.unwrap_or_default()));
        }
        Ok(text)
    }
}
