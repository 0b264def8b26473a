//! What a review is asked for, and how its session's record keeps that for whoever resumes or checks it.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::subject::{Source, Subject, SubjectKind};
use crate::config::{FailOn, Leaks, OwnAnswers, Recuse, ResolvedModel, SelfVote, SessionReuse};
use crate::engine::{Keeping, Terms, WrittenTerms, answer_of, judge_of, load_again, refuse_too_dear};
use crate::error::{Error, ErrorKind, Result};
use crate::findings::{EarlierDeclines, MissingSeats, Seats};
use crate::ids::{Sha256Hash, SlotId};
use crate::judging::{Answer, Judge, check_panel};
use crate::pipeline::declines::BranchPoint;
use crate::prompts::Prompts;
use crate::report::ci::SeenFile;
use crate::session::{Event, InnerKind, Record, SessionKind};
use crate::verdict::default_quorum;

/// A review by a panel.
#[derive(Debug, Clone)]
pub struct ReviewRequest {
    /// The kind of session: of a review by itself, or of what asks for one.
    pub kind: SessionKind,
    /// Where the session is kept.
    pub keeping: Keeping,
    /// The text that names it.
    pub title: String,
    /// What is reviewed.
    pub subject: Subject,
    /// What it is meant to do, in the author's words.
    pub intent: Option<String>,
    /// Who reviews, in the user's order.
    pub models: Vec<ResolvedModel>,
    /// Who votes on what they find; `None` for the reviewers themselves.
    pub judges: Option<Vec<ResolvedModel>>,
    /// Whose findings are kept from whom.
    pub own: OwnAnswers,
    /// What happens to text by which a reviewer names itself, before judges see it.
    pub leaks: Leaks,
    /// What stops the change.
    pub fail_on: FailOn,
    /// The fewest reviewers whose findings can be read; `None` for two, and more than half of the panel.
    pub quorum: Option<u32>,
    /// What a reviewer without such findings means.
    pub missing: MissingSeats,
    /// Whether whoever is asked again is asked in the conversation that it had.
    pub session_reuse: SessionReuse,
    /// The terms that everybody is asked on.
    pub terms: Terms,
    /// The texts sent to models.
    pub prompts: Arc<Prompts>,
    /// The folder that the user's own among them were read from, absolute.
    pub prompts_dir: Option<PathBuf>,
    /// What the report should say besides.
    pub notes: Vec<String>,
    /// What people declined in earlier sessions, and holds here.
    pub declined: EarlierDeclines,
}

impl ReviewRequest {
    /// The quorum that holds. Refuses, before anybody is asked, one that this panel cannot reach, and a panel whose
    /// findings nobody could vote on.
    pub fn check(&self) -> Result<u32> {
        let members = u32::try_from(self.models.len()).unwrap_or(u32::MAX);
        let size = if members == 1 { "one reviewer".to_owned() } else { format!("{members} reviewers") };
        let default = default_quorum(members);
        let quorum = match self.quorum {
            Some(0) => return Err(Error::usage("a quorum of 0 reviewers is none").hint("name 1 or more")),
            Some(quorum) if quorum > members => {
                return Err(Error::usage(format!("the quorum is {quorum}, and this panel has {size}"))
                    .hint(format!("name more models, or a quorum of at most {members}")));
            }
            Some(quorum) => quorum,
            None if default > members => {
                return Err(Error::usage(format!("this panel has {size}, and a quorum is two unless it is named"))
                    .hint("name more models with `-m`; or let one review do with `--quorum 1`"));
            }
            None => default,
        };
        // What a single reviewer finds is found by more than half of the panel: nobody needs to vote on it.
        if members > 1 {
            check_panel(&self.seats(), &self.bench(), self.own)?;
        }
        Ok(quorum)
    }

    /// Refuses a budget of which a reviewer or a judge cannot even be asked. While the review goes on it would be seen
    /// which one that is.
    pub(in crate::pipeline) fn check_budget(&self) -> Result<()> {
        let Some(most) = self.terms.max_cost else { return Ok(()) };
        let bytes = self.subject.text.len() as u64;
        refuse_too_dear(most, &self.models, bytes)?;
        refuse_too_dear(most, self.judges.as_deref().unwrap_or_default(), bytes)
    }

    fn seats(&self) -> Vec<Answer> {
        SlotId::panel(self.models.len()).zip(&self.models).map(|(id, model)| answer_of(id, model)).collect()
    }

    /// The judges, each with its own seat among the reviewers. The ids are drawn later; any one-to-one choice tells the
    /// same.
    fn bench(&self) -> Vec<Judge> {
        let models = self.judges.as_ref().unwrap_or(&self.models);
        let judge = |(id, model)| judge_of(id, model, self.judges.is_none().then_some(id));
        SlotId::panel(models.len()).zip(models).map(judge).collect()
    }

    /// Everybody who may be asked.
    #[must_use]
    pub fn asked(&self) -> Vec<&ResolvedModel> {
        self.models.iter().chain(self.judges.iter().flatten()).collect()
    }
}

/// A review as the record of its session keeps it. It names no model: those are in the manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::pipeline) struct ReviewPlan {
    terms: WrittenTerms,
    pub(in crate::pipeline) review: ReviewWork,
}

/// What is to be done in a review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::pipeline) struct ReviewWork {
    pub(in crate::pipeline) kind: SubjectKind,
    pub(in crate::pipeline) phase: InnerKind,
    /// What is reviewed, in words.
    pub(in crate::pipeline) told: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(in crate::pipeline) base: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(in crate::pipeline) from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(in crate::pipeline) head: Option<String>,
    /// The hash of its file.
    pub(in crate::pipeline) sha256: Sha256Hash,
    pub(in crate::pipeline) files: Vec<SeenFile>,
    pub(in crate::pipeline) source: Source,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(in crate::pipeline) intent: Option<String>,
    self_vote: SelfVote,
    recuse: Recuse,
    pub(in crate::pipeline) leaks: Leaks,
    pub(in crate::pipeline) fail_on: FailOn,
    pub(in crate::pipeline) quorum: u32,
    pub(in crate::pipeline) missing: MissingSeats,
    /// Absent in sessions of versions that kept no conversations.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(in crate::pipeline) session_reuse: Option<SessionReuse>,
    /// The folder that the user's own prompts were read from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    prompts: Option<PathBuf>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(in crate::pipeline) notes: Vec<String>,
    /// Where on a branch it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(in crate::pipeline) point: Option<BranchPoint>,
    /// What people declined in earlier sessions, and held when this one began.
    #[serde(skip_serializing_if = "EarlierDeclines::is_empty", default)]
    pub(in crate::pipeline) declined: EarlierDeclines,
}

impl ReviewPlan {
    pub(in crate::pipeline) fn of(request: &ReviewRequest, quorum: u32) -> Self {
        let Subject { kind, phase, told, base, from, head, text, files, warnings, source, point } = &request.subject;
        let notes = warnings.iter().chain(&request.notes).cloned().collect();
        let review = ReviewWork {
            kind: *kind,
            phase: *phase,
            told: told.clone(),
            base: base.clone(),
            from: from.clone(),
            head: head.clone(),
            sha256: Sha256Hash::of(text.as_bytes()),
            files: files.clone(),
            source: source.clone(),
            intent: request.intent.clone(),
            self_vote: request.own.self_vote,
            recuse: request.own.recuse,
            leaks: request.leaks,
            fail_on: request.fail_on,
            quorum,
            missing: request.missing,
            session_reuse: Some(request.session_reuse),
            prompts: request.prompts_dir.clone(),
            notes,
            point: point.clone(),
            declined: request.declined.clone(),
        };
        Self { terms: request.terms.into(), review }
    }

    /// The plan on record.
    pub(in crate::pipeline) fn read(records: &[Record]) -> Result<Self> {
        let plan = match records.first().map(|record| &record.event) {
            Some(Event::Created { plan: Some(plan), .. }) => serde_json::from_value((**plan).clone()),
            _ => return Err(Error::new(ErrorKind::Integrity, "the session's record holds no plan of a review")),
        };
        plan.map_err(|error| {
            Error::new(ErrorKind::Integrity, format!("the plan on the session's record cannot be read: {error}"))
        })
    }

    pub(in crate::pipeline) fn terms(&self) -> Terms {
        self.terms.clone().into()
    }
}

impl ReviewWork {
    pub(in crate::pipeline) const fn own(&self) -> OwnAnswers {
        OwnAnswers { self_vote: self.self_vote, recuse: self.recuse }
    }

    /// The texts that models are asked with, read again from the user's folder; what is wrong with that is added to
    /// `drift`.
    pub(in crate::pipeline) fn prompts(&self, drift: &mut Vec<String>) -> Result<Arc<Prompts>> {
        load_again(self.prompts.as_deref(), drift).map(|(prompts, _)| Arc::new(prompts))
    }

    /// The seats of the verdict.
    pub(in crate::pipeline) fn seats(&self, panel: usize, usable: usize) -> Seats {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Seats { panel: count(panel), usable: count(usable), quorum: self.quorum, missing: self.missing }
    }
}
