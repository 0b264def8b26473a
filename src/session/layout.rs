//! Where each file of a session folder is. Paths only; nothing is read or made here.

use std::path::{Path, PathBuf};

use crate::ids::SlotId;

/// The paths of one panel's folder: a session, or one of its rounds of votes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    root: PathBuf,
}

impl Layout {
    /// The name of the folder that holds the snapshot that slots work in.
    pub const WORKSPACE: &'static str = "workspace";

    /// The name of the same while it is taken.
    pub const WORKSPACE_PART: &'static str = ".workspace.part";

    /// The name of the repository of a fix.
    pub const REPOSITORY: &'static str = "repository";

    /// The name of the folder that the fixer of a fix works in.
    pub const WORKTREE: &'static str = "worktree";

    /// The name of the folder in which results of a fix are checked.
    pub const CHECKS: &'static str = "checks";

    /// The name of the ledger of findings.
    pub const LEDGER: &'static str = "findings.jsonl";

    /// The name of the report of a pipeline session.
    pub const REPORT: &'static str = "report.md";

    /// The name of what a review came to, in its panel's folder.
    pub const CONSOLIDATED: &'static str = "consolidated.md";

    /// The name of the change that is reviewed.
    pub const PATCH: &'static str = "diff.patch";

    /// The name of the plan, or of the files, that are reviewed.
    pub const DESIGN: &'static str = "design.md";

    /// The layout below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The last part of the folder's path.
    #[must_use]
    pub fn name(&self) -> String {
        self.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// `session-meta.json`: what this session is and how it ended.
    #[must_use]
    pub fn meta(&self) -> PathBuf {
        self.root.join("session-meta.json")
    }

    /// `task.md`: the user's own text, where `input.md` has instructions added to it.
    #[must_use]
    pub fn task(&self) -> PathBuf {
        self.root.join("task.md")
    }

    /// `input.md`: the prompt that every slot receives.
    #[must_use]
    pub fn input(&self) -> PathBuf {
        self.root.join("input.md")
    }

    /// `manifest.json`: the only file that says who is who.
    #[must_use]
    pub fn manifest(&self) -> PathBuf {
        self.root.join("manifest.json")
    }

    /// `status.json`: the state of each slot.
    #[must_use]
    pub fn status(&self) -> PathBuf {
        self.root.join("status.json")
    }

    /// `events.jsonl`: the record.
    #[must_use]
    pub fn events(&self) -> PathBuf {
        self.root.join("events.jsonl")
    }

    /// `work/`: the parent of the slots' scratch folders.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// `work/NN/`: one slot's scratch folder.
    #[must_use]
    pub fn work_of(&self, slot: SlotId) -> PathBuf {
        self.work().join(slot.to_string())
    }

    /// `workspace/`: the snapshot that slots work in.
    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.root.join(Self::WORKSPACE)
    }

    /// `.workspace.part/`: the snapshot while it is taken.
    #[must_use]
    pub fn workspace_part(&self) -> PathBuf {
        self.root.join(Self::WORKSPACE_PART)
    }

    /// `errors/`: logs of slots that failed.
    #[must_use]
    pub fn errors(&self) -> PathBuf {
        self.root.join("errors")
    }

    /// `errors/NN.log`.
    #[must_use]
    pub fn error_log(&self, slot: SlotId) -> PathBuf {
        self.errors().join(format!("{slot}.log"))
    }

    /// `errors/NN.partial.md`: what a slot had written before it failed.
    #[must_use]
    pub fn partial(&self, slot: SlotId) -> PathBuf {
        self.errors().join(format!("{slot}.partial.md"))
    }

    /// `response-NN.md`: a complete answer.
    #[must_use]
    pub fn response(&self, slot: SlotId) -> PathBuf {
        self.root.join(Self::response_name(slot))
    }

    /// The file name of a complete answer.
    #[must_use]
    pub fn response_name(slot: SlotId) -> String {
        format!("response-{slot}.md")
    }

    /// `.response-NN.md.part`: an answer that is being written.
    #[must_use]
    pub fn response_part(&self, slot: SlotId) -> PathBuf {
        self.root.join(format!(".response-{slot}.md.part"))
    }

    /// `prompt-NN.md`: the prompt of one judge (in a round).
    #[must_use]
    pub fn prompt(&self, judge: SlotId) -> PathBuf {
        self.root.join(format!("prompt-{judge}.md"))
    }

    /// `votes.json`: the ballots of a round.
    #[must_use]
    pub fn votes(&self) -> PathBuf {
        self.root.join("votes.json")
    }

    /// `verdict.json`.
    #[must_use]
    pub fn verdict_json(&self) -> PathBuf {
        self.root.join("verdict.json")
    }

    /// `verdict.md`.
    #[must_use]
    pub fn verdict_md(&self) -> PathBuf {
        self.root.join("verdict.md")
    }

    /// `.lock`: held by the living owner.
    #[must_use]
    pub fn lock(&self) -> PathBuf {
        self.root.join(".lock")
    }

    /// `.requests/`: one file per request to a living owner.
    #[must_use]
    pub fn requests(&self) -> PathBuf {
        self.root.join(".requests")
    }

    /// The folder of a round of votes: `judging/`, then `judging-2/`, `judging-3/`.
    #[must_use]
    pub fn round(&self, round: Round) -> Self {
        Self::new(self.root.join(round.folder()))
    }

    /// The folder of a further turn of a round: `pass-2/`, `repair/`.
    #[must_use]
    pub fn turn(&self, turn: Turn) -> Self {
        Self::new(self.root.join(turn.folder()))
    }

    /// The folder of a panel inside of a pipeline session: `reviews/impl-review/`, `fixes/1/`.
    #[must_use]
    pub fn inner(&self, panel: InnerPanel) -> Self {
        Self::new(self.root.join(panel.folder()))
    }

    /// The panel of the pipeline in `session` that this folder is, or is in; `None` where it is in none.
    #[must_use]
    pub fn pipeline_panel(&self, session: &Self) -> Option<Self> {
        let inside = self.root.strip_prefix(&session.root).ok()?;
        let mut parts = inside.components();
        let (around, own) = (parts.next()?, parts.next()?);
        let is_one = ["reviews", "fixes"].iter().any(|name| around.as_os_str() == *name);
        is_one.then(|| Self::new(session.root.join(around).join(own)))
    }

    /// `findings.jsonl`: the ledger of a pipeline session.
    #[must_use]
    pub fn ledger(&self) -> PathBuf {
        self.root.join(Self::LEDGER)
    }

    /// `report.md`: how a pipeline session went.
    #[must_use]
    pub fn report(&self) -> PathBuf {
        self.root.join(Self::REPORT)
    }

    /// The rounds that exist, in order.
    #[must_use]
    pub fn rounds(&self) -> Vec<Round> {
        (1..).map(Round).take_while(|round| self.round(*round).root().is_dir()).collect()
    }
}

/// The number of a round of votes, from 1.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Round(pub u32);

impl Round {
    /// The name of its folder.
    #[must_use]
    pub fn folder(self) -> String {
        if self.0 == 1 { "judging".to_owned() } else { format!("judging-{}", self.0) }
    }
}

/// A further turn of the judges of a round, in a folder of its own inside of the round's (or of another turn's).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// The second pass: the same answers in reverse order.
    SecondPass,
    /// Those are asked once more whose reply lacks something, with what it lacks.
    Repair,
    /// Reviewers are asked the same anew whose repaired reply cannot be read either.
    Fresh,
}

impl Turn {
    /// Every turn that can be inside of a folder.
    pub const ALL: [Self; 3] = [Self::SecondPass, Self::Repair, Self::Fresh];

    /// The name of its folder.
    #[must_use]
    pub const fn folder(self) -> &'static str {
        match self {
            Self::SecondPass => "pass-2",
            Self::Repair => "repair",
            Self::Fresh => "fresh",
        }
    }
}

/// What a panel inside of a pipeline session does.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum InnerKind {
    /// It reviews a plan, or files as they are.
    PlanReview,
    /// It reviews a change.
    ImplReview,
    /// Its one member repairs.
    Fix,
}

impl InnerKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::PlanReview, Self::ImplReview, Self::Fix];

    /// Its name in paths and texts.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PlanReview => "plan-review",
            Self::ImplReview => "impl-review",
            Self::Fix => "fix",
        }
    }
}

/// A panel inside of a pipeline session.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
pub struct InnerPanel {
    /// What it does.
    pub kind: InnerKind,
    /// Which of its kind, from 1.
    pub number: u32,
}

impl InnerPanel {
    /// Its folder, from the session's.
    #[must_use]
    pub fn folder(self) -> String {
        match (self.kind, self.number) {
            (InnerKind::Fix, number) => format!("fixes/{number}"),
            (kind, 1) => format!("reviews/{}", kind.as_str()),
            (kind, number) => format!("reviews/{}-{number}", kind.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_rounds_have_folders_of_their_own() {
        let layout = Layout::new("s");
        assert_eq!(layout.round(Round(1)).verdict_md(), Path::new("s/judging/verdict.md"));
        assert_eq!(layout.round(Round(3)).root(), Path::new("s/judging-3"));
        let repair = layout.round(Round(1)).turn(Turn::SecondPass).turn(Turn::Repair);
        assert_eq!(repair.root(), Path::new("s/judging/pass-2/repair"));
    }

    #[test]
    fn panels_of_a_pipeline_have_folders_by_what_they_do_and_their_number() {
        let folder = |kind, number| InnerPanel { kind, number }.folder();
        assert_eq!(folder(InnerKind::PlanReview, 1), "reviews/plan-review");
        assert_eq!(folder(InnerKind::ImplReview, 2), "reviews/impl-review-2");
        assert_eq!(folder(InnerKind::Fix, 1), "fixes/1");
    }

    #[test]
    fn answers_are_named_by_anonymous_id() {
        let id = SlotId::panel(3).nth(2).unwrap();
        assert_eq!(Layout::new("s").response_part(id), Path::new("s/.response-03.md.part"));
    }
}
