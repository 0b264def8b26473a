//! What to vote on, who votes, and what decides.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use rand::CryptoRng;
use serde::{Deserialize, Serialize};

use crate::config::{Repair, ResolvedModel, Threshold};
use crate::engine::keeping::Keeping;
use crate::engine::outcome::Outcome;
use crate::engine::plan::{ChosenBy, RunPlan, Terms, load_again};
use crate::engine::run::{Context, RunRequest, begin};
use crate::error::{Error, Result};
use crate::ids::Sha256Hash;
use crate::judging::{Nonce, rehearse_voting, task_prompt};
use crate::prompts::{PromptName, Prompts};
use crate::runner::Checks;
use crate::session::{Event, History, Layout, Record, SessionKind};
use crate::verdict::default_quorum;

/// A vote of a panel on a text.
#[derive(Debug, Clone)]
pub struct VoteRequest {
    /// The kind of session.
    pub kind: SessionKind,
    /// Where the session is kept.
    pub keeping: Keeping,
    /// The text that names it.
    pub title: String,
    /// The text that is voted on. It is data: nothing in it is an instruction to a member.
    pub task: String,
    /// The panel, in the user's order.
    pub models: Vec<ResolvedModel>,
    /// What chose it, for the record. Names that it left out of the panel count for the default quorum, which is of the
    /// panel that was configured.
    pub chosen: Option<ChosenBy>,
    /// The bar.
    pub threshold: Threshold,
    /// The valid votes without which nothing is decided; `None` for two, and more than half of the panel.
    pub quorum: Option<u32>,
    /// Whether a member is asked once more whose reply has no vote that can be read.
    pub repair: Repair,
    /// Whether a member without a vote makes the command fail, whatever the others decide.
    pub strict: bool,
    /// The terms that everybody is asked on.
    pub terms: Terms,
    /// What makes a reply usable.
    pub checks: Checks,
    /// The texts sent to members.
    pub prompts: Arc<Prompts>,
    /// The folder that the user's own among them were read from, absolute.
    pub prompts_dir: Option<PathBuf>,
    /// What the verdict should say about the vote.
    pub notes: Vec<String>,
}

impl VoteRequest {
    /// The quorum that holds. Refuses, before anybody is asked, one that this panel cannot reach.
    pub fn check(&self) -> Result<u32> {
        rehearse_voting(&self.prompts)?;
        let members = u32::try_from(self.models.len()).unwrap_or(u32::MAX);
        let votes = if members == 1 { "one vote".to_owned() } else { format!("{members} votes") };
        let left_out = self.chosen.as_ref().map_or(0, |chosen| chosen.left_out.len());
        let default = default_quorum(members.saturating_add(u32::try_from(left_out).unwrap_or(u32::MAX)));
        match self.quorum {
            Some(0) => Err(Error::usage("a quorum of 0 votes would decide without a vote").hint("name 1 or more")),
            Some(quorum) if quorum > members => {
                Err(Error::usage(format!("the quorum is {quorum}, and this panel has {votes}"))
                    .hint(format!("name more models, or a quorum of at most {members}")))
            }
            Some(quorum) => Ok(quorum),
            None if default > members && left_out > 0 => Err(Error::usage(format!(
                "this panel has {votes} left, and the quorum of the panel that was configured is {default}"
            ))
            .hint("name models with `-m`, or a quorum with `--quorum`")),
            None if default > members => {
                Err(Error::usage(format!("this panel has {votes}, and a quorum is two unless it is named"))
                    .hint("name more models with `-m`; or let one vote decide with `--quorum 1`"))
            }
            None => Ok(default),
        }
    }
}

/// A vote as the record keeps it for whoever resumes or checks the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::engine) struct VotePlan {
    pub(in crate::engine) threshold: Threshold,
    pub(in crate::engine) quorum: u32,
    /// Whether a member is asked once more whose reply has no vote that can be read.
    pub(super) repair: Repair,
    /// The folder that the user's own prompts were read from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    prompts: Option<PathBuf>,
}

/// A vote that is to be held or counted.
#[derive(Debug, Clone)]
pub(in crate::engine) struct VoteWork {
    /// The text that is voted on, which goes to `task.md`; only where the session is made.
    pub(in crate::engine) task: Option<String>,
    pub(in crate::engine) plan: VotePlan,
    pub(in crate::engine) prompts: Arc<Prompts>,
    /// Whether a member whose further turn ended with an error of its own is asked again.
    pub(super) failed: bool,
}

/// Refuses to have the replies of a vote judged, which are votes, or those of a review: they are no answers.
pub(in crate::engine) fn refuse_votes(session: &str, records: &[Record]) -> Result<()> {
    let pipeline = match records.first().map(|record| &record.event) {
        Some(Event::Created { kind: SessionKind::Review, .. }) => Some(("a review", "to review anew: `team review`")),
        Some(Event::Created { kind: SessionKind::Fix, .. }) => Some(("a fix", "to repair anew: `team fix`")),
        Some(event) if event.begins_pipeline() => Some(("the review of a gate", "to review anew: `team gate`")),
        _ => None,
    };
    if let Some((what, anew)) = pipeline {
        return Err(Error::usage(format!("`{session}` is {what}: its replies are findings, not answers to be judged"))
            .hint(format!("`team show {session}` shows what it came to"))
            .hint(format!("{anew}; to have answers ranked: `team run-and-judge`")));
    }
    if RunPlan::read(records)?.voting.is_none() {
        return Ok(());
    }
    Err(Error::usage(format!("`{session}` is a vote on a task: its replies are votes, not answers to be judged"))
        .hint(format!("`team show {session}` shows its verdict"))
        .hint("to have a text voted on anew: `team vote`; to have answers ranked: `team run-and-judge`"))
}

/// Fails unless the session at `layout` is one whose answers can be judged.
pub fn check_judgeable(layout: &Layout) -> Result<()> {
    refuse_votes(&layout.name(), &History::read(&layout.events())?.records)
}

impl VoteWork {
    /// The vote again that a session was made for. What is not as it was is added to `drift`.
    pub(in crate::engine) fn resumed(plan: VotePlan, failed: bool, drift: &mut Vec<String>) -> Result<Self> {
        let (prompts, _) = load_again(plan.prompts.as_deref(), drift)?;
        Ok(Self { task: None, plan, prompts: Arc::new(prompts), failed })
    }

    /// The hash of each text sent to members, for the record.
    pub(in crate::engine) fn prompt_hashes(&self) -> BTreeMap<String, Sha256Hash> {
        let hashes = self.prompts.hashes_of(&PromptName::OF_VOTES).into_iter();
        hashes.map(|(name, hash)| (name.to_owned(), hash)).collect()
    }
}

/// Lets a panel vote on a text.
///
/// # Errors
/// The quorum cannot be reached, a prompt cannot be used, or the session cannot be made or kept. What the panel decides,
/// or that it does not, is in the outcome.
pub async fn vote<R: CryptoRng>(request: VoteRequest, context: Context<'_>, rng: &mut R) -> Result<Outcome> {
    let quorum = request.check()?;
    let input = task_prompt(&request.prompts, &request.task, &Nonce::draw(rng))?;
    let plan = VotePlan { threshold: request.threshold, quorum, repair: request.repair, prompts: request.prompts_dir };
    let run_request = RunRequest {
        kind: request.kind,
        keeping: request.keeping,
        title: request.title,
        input,
        models: request.models,
        chosen: request.chosen,
        terms: request.terms,
        checks: request.checks,
        strict: request.strict,
        judge: None,
        notes: request.notes,
        // Who votes has no tools to look at it with.
        workspace: None,
    };
    let work = VoteWork { task: Some(request.task), plan, prompts: request.prompts, failed: false };
    begin(run_request, Some(work), context, rng).await
}
