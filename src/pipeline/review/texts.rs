//! The texts that reviewers and judges of a round are sent.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

use super::request::ReviewWork;
use super::round::Hashes;
use crate::config::{Leaks, ResolvedModel};
use crate::engine::leak_scan;
use crate::error::{Error, Result};
use crate::findings::{
    Artefact, BadFindings, DeclineOrigin, DeclinedFinding, EarlierDeclines, Excerpts, Finding, FindingAssignment,
    FindingId, FindingState, FindingVotePrompt, Findings, Identified, ReviewPhase, ReviewPrompt, Sight,
    finding_vote_prompt, findings_repair_prompt, review_prompt,
};
use crate::fs::Folder;
use crate::judging::{BallotForm, CopyRules, LeakScan, Nonce, PromptError};
use crate::prompts::{PromptName, Prompts};
use crate::runner::Workspace;
use crate::secrets::Redactor;
use crate::session::InnerKind;

/// What is voted on.
pub(super) struct Disputed<'a> {
    /// The findings.
    pub(super) findings: &'a [Identified],
    /// What stands at the places that they name, for judges that cannot look there themselves.
    pub(super) excerpts: Excerpts,
    /// Those that what is reviewed is said to mend.
    pub(super) claimed: BTreeSet<FindingId>,
}

impl<'a> Disputed<'a> {
    /// `findings` about `artefact`; `workspace` is the snapshot that those who found them could look at. What is cut out
    /// of it goes to others' models, so `redactor` takes keys out of it.
    pub(super) fn new(
        findings: &'a [Identified],
        claimed: &[Identified],
        artefact: &Artefact<'_>,
        workspace: Option<&Workspace>,
        redactor: &Redactor,
    ) -> Self {
        let named = findings.iter().map(|found| (found.id, &found.merged.finding));
        let excerpts = match workspace {
            Some(workspace) => {
                Excerpts::of(named, artefact.text, |file| Some(redactor.text(&text_below(workspace.folder(), file)?)))
            }
            None => Excerpts::default(),
        };
        Self { findings, excerpts, claimed: claimed.iter().map(|found| found.id).collect() }
    }
}

/// The largest file that something is cut out of.
const LARGEST: u64 = 4 * 1024 * 1024;

/// The text of `file` below `root`; `None` where there is none. No link is followed: one may lead out of the snapshot.
fn text_below(root: &Path, file: &str) -> Option<String> {
    let (folders, name) = file.rsplit_once('/').unwrap_or(("", file));
    let mut folders = folders.split('/').filter(|part| !part.is_empty());
    let folder = folders.try_fold(Folder::open(root).ok()?, |folder, part| folder.inside(part).ok())?;
    let bytes = folder.read(OsStr::new(name), LARGEST).ok()?;
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// What is asked of whom in a round.
pub(in crate::pipeline) struct Texts<'a> {
    /// The templates.
    pub(in crate::pipeline) prompts: &'a Prompts,
    /// The prompt of every reviewer.
    pub(in crate::pipeline) input: &'a str,
    /// What is reviewed, as judges see it.
    pub(in crate::pipeline) artefact: Artefact<'a>,
    /// What happens to text by which a reviewer names itself.
    pub(in crate::pipeline) leaks: Leaks,
    /// Finds it.
    pub(in crate::pipeline) scan: LeakScan,
    /// What people decided to leave, the newest first.
    pub(in crate::pipeline) declined: &'a [DeclinedFinding<'a>],
}

impl<'a> Texts<'a> {
    /// The hash of each template that a review uses.
    pub(in crate::pipeline) fn hashes_of(prompts: &Prompts) -> Hashes {
        named(prompts, &PromptName::OF_REVIEWS)
    }

    /// What is reviewed, as `work` says it and `text` holds it.
    pub(in crate::pipeline) fn artefact_of(
        work: &'a ReviewWork,
        text: &'a str,
        omitted: &'a [String],
        sight: Sight,
    ) -> Artefact<'a> {
        let phase = match work.phase {
            InnerKind::PlanReview => ReviewPhase::Plan,
            InnerKind::ImplReview | InnerKind::Fix => ReviewPhase::Change,
        };
        Artefact { phase, about: &work.told, text, intent: work.intent.as_deref(), omitted, sight }
    }

    /// What finds the names of `models` in findings.
    pub(in crate::pipeline) fn scan_of(models: &[ResolvedModel]) -> LeakScan {
        leak_scan(models)
    }

    /// The prompt of every reviewer of a first round.
    pub(in crate::pipeline) fn first(
        prompts: &Prompts,
        artefact: Artefact<'_>,
        declined: &[DeclinedFinding<'_>],
        nonce: &Nonce,
    ) -> Result<String> {
        let ask = ReviewPrompt { artefact, open: &[], declined };
        review_prompt(prompts, &ask, nonce).map_err(|error| unusable(&error))
    }

    pub(super) fn reviewer_hashes(&self) -> Hashes {
        named(self.prompts, &[PromptName::Review, PromptName::FindingsFormat, PromptName::FindingsRepair])
    }

    pub(super) fn judge_hashes(&self) -> Hashes {
        named(self.prompts, &[PromptName::FindingsVote, PromptName::FindingsVoteRepair])
    }

    /// What a reviewer is asked whose `reply` cannot be read; without it where it knows what it said.
    pub(super) fn repair(&self, reply: Option<&[u8]>, bad: &BadFindings, nonce: &Nonce) -> Result<String> {
        let reply = reply.map(String::from_utf8_lossy);
        findings_repair_prompt(self.prompts, bad, reply.as_deref(), nonce).map_err(|error| unusable(&error))
    }

    /// What the judge of `assignment` is asked; with its `reply`, what it is asked once more.
    pub(super) fn vote(
        &self,
        assignment: &FindingAssignment,
        about: &Disputed<'_>,
        sight: Sight,
        form: BallotForm,
        reply: Option<&[u8]>,
    ) -> Result<String> {
        let findings: Vec<(FindingId, &Finding)> =
            about.findings.iter().map(|found| (found.id, &found.merged.finding)).collect();
        let artefact = Artefact { sight, ..self.artefact };
        let copy = CopyRules { scan: &self.scan, leaks: self.leaks };
        let reply = reply.map(String::from_utf8_lossy);
        let reply = reply.as_deref();
        let (excerpts, claimed) = (&about.excerpts, &about.claimed);
        let declined = self.declined;
        let ask = FindingVotePrompt {
            artefact,
            findings: &findings,
            assignment,
            claimed,
            declined,
            form,
            copy,
            excerpts,
            reply,
        };
        finding_vote_prompt(self.prompts, &ask).map_err(|error| unusable(&error))
    }
}

/// What people had decided to leave when the review `number` of the session began, the newest first: in this session, then
/// before it, as far as that was not found again here.
pub(in crate::pipeline) fn declined<'a>(
    findings: &'a Findings,
    earlier: &'a EarlierDeclines,
    number: u32,
) -> Vec<DeclinedFinding<'a>> {
    // What the review itself found is left out: whoever goes on with it asks the rest the same.
    let before = || findings.iter().filter(move |record| record.first_round < number);
    let mut declined: Vec<DeclinedFinding<'a>> = before()
        .filter(|record| record.state == FindingState::Declined)
        .map(|record| DeclinedFinding {
            id: Some(record.id),
            finding: &record.finding,
            note: record.note.as_ref().map(|note| note.as_str()),
        })
        .collect();
    declined.reverse();
    // One that was taken back here is not told of as declined either.
    let is_known = |origin: &DeclineOrigin| before().any(|record| record.declined_before.as_ref() == Some(origin));
    let before = earlier.iter().filter(|earlier| !is_known(&earlier.origin));
    declined.extend(before.map(|earlier| DeclinedFinding {
        id: None,
        finding: &earlier.content,
        note: Some(earlier.note.as_str()),
    }));
    declined
}

/// A line for each file that is a part of what is reviewed and was not sent.
pub(in crate::pipeline) fn omitted(work: &ReviewWork) -> Vec<String> {
    let omitted = work.files.iter().filter_map(|file| Some((file, file.omitted?)));
    omitted.map(|(file, reason)| format!("{}: {}", file.path, reason.describe())).collect()
}

fn named(prompts: &Prompts, names: &[PromptName]) -> Hashes {
    let hashes: BTreeMap<&str, _> = prompts.hashes_of(names);
    hashes.into_iter().map(|(name, hash)| (name.to_owned(), hash)).collect()
}

pub(in crate::pipeline) fn unusable(error: &PromptError) -> Error {
    Error::config(error.to_string()).hint("`--prompts DIR` holds copies of the files that it replaces")
}
