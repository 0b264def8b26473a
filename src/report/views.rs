//! What `team status`, `team list` and `team show` print with `--json`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::fix_record::FixRecord;
use super::whose::{FindingCounts, WhoseTurn};
use crate::findings::{FindingRecord, ReviewResult};
use crate::ids::{DateTime, FormatVersion, SlotId};
use crate::session::slot::SlotState;
use crate::session::{History, Manifest, Meta, SessionKind, SessionState, Status, View};
use crate::verdict::{TaskVerdict, Verdict};

/// How far a session is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusReport {
    /// The version of this format.
    version: FormatVersion,
    /// The session's folder.
    path: PathBuf,
    /// The living owner, in words.
    owner: Option<String>,
    /// Whose turn it is in a review or a fix; `null` where it is over, and of everything else.
    turn: Option<WhoseTurn>,
    /// The session; what has no living owner is shown as interrupted and lost.
    status: Status,
    /// The newest panel inside of a pipeline session.
    panel: Option<FolderReport>,
    /// The newest round of votes.
    round: Option<FolderReport>,
}

/// A panel or a round of votes inside of a session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FolderReport {
    /// Its folder in the session's.
    folder: String,
    /// Its slots or judges.
    status: Status,
}

impl From<View> for StatusReport {
    fn from(view: View) -> Self {
        let turn = WhoseTurn::of(&view);
        let of_round = view.round.as_ref().map(|(round, _)| view.folder_of(*round));
        let round = of_round.zip(view.round).map(|(folder, (_, status))| FolderReport { folder, status });
        let panel = view.inner.map(|(panel, status)| FolderReport { folder: panel.folder(), status });
        let path = view.layout.root().to_owned();
        Self { version: FormatVersion::CURRENT, path, owner: view.owner, turn, status: view.status, panel, round }
    }
}

/// One session of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListEntry {
    /// Its id.
    session: String,
    /// What kind of session it is.
    #[serde(rename = "type")]
    kind: SessionKind,
    /// What it is about, in a few words of the user's.
    target: String,
    /// When it began.
    #[schemars(with = "DateTime")]
    started_at: Timestamp,
    /// How it stands.
    state: SessionState,
    /// How many seats there are; of a review or a fix in its newest panel.
    seats: usize,
    /// How many of them completed.
    completed: usize,
    /// How the findings of a review or a fix stand.
    findings: Option<FindingCounts>,
}

impl ListEntry {
    /// The entry of the session in `view`.
    #[must_use]
    pub fn new(view: &View) -> Self {
        let (meta, panel) = (&view.meta, view.panel());
        Self {
            session: meta.session_id.clone(),
            kind: meta.kind,
            target: meta.target.clone(),
            started_at: meta.started_at,
            state: view.state(),
            seats: panel.models.len(),
            completed: panel.count(SlotState::Completed),
            findings: FindingCounts::of(view),
        }
    }
}

/// A verdict on answers, on the task itself, or on what reviewers found.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is only described")]
enum AnyVerdict {
    /// On answers.
    Answers(Box<Verdict>),
    /// On the task.
    Task(Box<TaskVerdict>),
    /// On what reviewers found.
    Review(Box<ReviewResult>),
}

/// All of a session but the answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionReport {
    /// The version of this format.
    version: FormatVersion,
    /// The session's folder.
    path: PathBuf,
    /// What it is.
    meta: Meta,
    /// How it stands.
    status: Status,
    /// The newest verdict.
    #[schemars(with = "Option<AnyVerdict>")]
    verdict: Option<Value>,
    /// Of a review or a fix the findings, by id, each with how it stands; `null` of another session.
    findings: Option<Vec<FindingRecord>>,
    /// Of a fix how it went; `null` of another session.
    fix: Option<FixRecord>,
    /// The model behind each slot, with `--reveal`.
    models: Option<BTreeMap<SlotId, String>>,
}

impl SessionReport {
    /// The session in `view` with its verdict and its findings, where there are some; with names likewise.
    #[must_use]
    pub fn new(
        view: &View,
        verdict: Option<Value>,
        findings: Option<Vec<FindingRecord>>,
        names: Option<&Manifest>,
    ) -> Self {
        let records = || History::read(&view.layout.events()).map(|history| history.records).unwrap_or_default();
        let name = |names: &Manifest| names.models.iter().map(|(slot, member)| (*slot, member.model.clone())).collect();
        Self {
            version: FormatVersion::CURRENT,
            path: view.layout.root().to_owned(),
            meta: view.meta.clone(),
            status: view.status.clone(),
            verdict,
            findings,
            fix: (view.meta.kind == SessionKind::Fix).then(|| FixRecord::of(&records())),
            models: names.map(name),
        }
    }
}
