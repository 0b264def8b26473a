//! What a gate found.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::findings::FindingsReport;
use crate::config::{GateKind, GateSubject};
use crate::ids::FormatVersion;
use crate::report::FixRecord;

/// What a gate found: what `team gate --json` prints, and what every other output is made of.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateReport {
    /// The version of this format.
    pub version: FormatVersion,
    /// The command that it is of.
    pub command: ReportCommand,
    /// Whether a panel voted on the whole, or reviewed it.
    pub kind: GateKind,
    /// How it ended.
    pub outcome: GateOutcome,
    /// The exit code.
    pub exit_code: u8,
    /// How it ended, in one line.
    pub summary: String,
    /// Why, and what to do next.
    pub details: Vec<String>,
    /// What was looked at; `null` where the gate did not get that far.
    pub subject: Option<SubjectReport>,
    /// Where the gate's settings came from.
    pub settings: Vec<Origin>,
    /// Files by which the branch would change the gate.
    pub settings_changed: Vec<String>,
    /// Every file that changed: looked at, or why not.
    pub files: Vec<SeenFile>,
    /// The vote; `null` where none was taken.
    pub ruling: Option<Ruling>,
    /// What a review found; `null` where none was held.
    pub findings: Option<FindingsReport>,
    /// How a fix went; `null` where none was made.
    pub fix: Option<FixRecord>,
    /// What a reader should know besides.
    pub warnings: Vec<String>,
    /// The session's folder.
    pub session: Option<PathBuf>,
}

/// The command that a report is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportCommand {
    /// `team gate`.
    Gate,
    /// `team review`.
    Review,
    /// `team fix`.
    Fix,
}

impl ReportCommand {
    /// The command, in full.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gate => "team gate",
            Self::Review => "team review",
            Self::Fix => "team fix",
        }
    }
}

/// How a gate ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// The panel approved, and all of it was looked at.
    Approved,
    /// There was nothing to look at.
    Unchanged,
    /// The panel rejected.
    Rejected,
    /// The votes decide nothing, or a person must look.
    NoDecision,
    /// The gate could not do its work.
    Failed,
}

impl GateOutcome {
    /// Whether CI may go on.
    #[must_use]
    pub const fn passes(self) -> bool {
        matches!(self, Self::Approved | Self::Unchanged)
    }

    /// The word of the formats.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Unchanged => "unchanged",
            Self::Rejected => "rejected",
            Self::NoDecision => "no_decision",
            Self::Failed => "failed",
        }
    }
}

/// What was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubjectReport {
    /// What kind of thing.
    pub what: GateSubject,
    /// The plan's path, or the command.
    pub name: Option<String>,
    /// How the base is called.
    pub base: String,
    /// The commit that the settings are from.
    pub base_commit: String,
    /// The commit that the branch was made from.
    pub merge_base: String,
    /// The commit that was looked at.
    pub head: String,
    /// The last commit of the pull request, where `head` is its merge into the base.
    pub pull_request_head: Option<String>,
}

/// A file or layer that settings came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// The layer.
    pub layer: String,
    /// The file.
    pub from: String,
}

/// A file that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeenFile {
    /// Its path; bytes that are no UTF-8, and control characters, as `\xNN`.
    pub path: String,
    /// The path that it had.
    pub old_path: Option<String>,
    /// What became of it.
    pub change: ChangeWord,
    /// Bytes of the change that were sent.
    pub sent_bytes: u64,
    /// Why it was not looked at; `null` where it was.
    pub omitted: Option<OmissionReason>,
    /// More about that.
    pub note: Option<String>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeWord {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// Its content or its mode is another.
    Modified,
    /// It has another name.
    Renamed,
    /// It is a file turned into a link, or the like.
    TypeChanged,
    /// It is as it was: it is looked at as a whole.
    Unchanged,
}

impl ChangeWord {
    /// The word of the formats.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Deleted => "deleted",
            Self::Modified => "modified",
            Self::Renamed => "renamed",
            Self::TypeChanged => "type changed",
            Self::Unchanged => "unchanged",
        }
    }
}

/// Why a file was not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OmissionReason {
    /// The base's settings say that nobody needs to.
    Ignored,
    /// Its name is one of files that hold keys.
    Secret,
    /// It is no text.
    Binary,
    /// It does not fit into what may be sent.
    TooLarge,
    /// It is another repository.
    Submodule,
    /// It is in a session of `team`, which says who wrote what.
    Session,
}

impl OmissionReason {
    /// In words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Ignored => "ignored by the settings of the base",
            Self::Secret => "a file that holds keys, by its name: never sent",
            Self::Binary => "no text",
            Self::TooLarge => "too large for `max_bytes`",
            Self::Submodule => "another repository, of which only a commit is named here",
            Self::Session => "in a session of `team`: never sent",
        }
    }
}

/// What the panel said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ruling {
    /// The decision: `approved`, `rejected`, `split` or `inconclusive`.
    pub decision: String,
    /// The bar.
    pub threshold: String,
    /// Approvals or rejections that reach it.
    pub needed: u32,
    /// The valid votes without which nothing is decided.
    pub quorum: u32,
    /// Approvals.
    pub approvals: u32,
    /// Rejections.
    pub rejections: u32,
    /// Abstentions, which count to nothing.
    pub abstentions: u32,
    /// Members without a vote.
    pub missing: u32,
    /// The configured panel.
    pub members: Vec<Member>,
    /// Faults that members named, the most frequent first.
    pub key_issues: Vec<Issue>,
}

/// One member of the panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Its number.
    pub id: String,
    /// Its model.
    pub model: String,
    /// `approve`, `reject` or `abstain`; `null` where it has none.
    pub vote: Option<String>,
    /// From 1 to 10.
    pub confidence: Option<u8>,
    /// Its reason, or why there is no vote.
    pub summary: Option<String>,
}

/// A fault that members named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Issue {
    /// In the words of the first.
    pub text: String,
    /// How many named it.
    pub count: u32,
}

/// What a gate that does not pass is, for formats that list findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding<'a> {
    /// The rule that it breaks.
    pub rule: Rule,
    /// The file that it is shown at, in its first line.
    pub path: &'a str,
}

/// What a gate can find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The panel rejected.
    Rejected,
    /// No decision.
    NoDecision,
    /// The gate did not do its work.
    Failed,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 3] = [Self::Rejected, Self::NoDecision, Self::Failed];

    /// Its id in reports.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Rejected => "team-gate/rejected",
            Self::NoDecision => "team-gate/no-decision",
            Self::Failed => "team-gate/failed",
        }
    }

    /// What it means.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Rejected => "A panel of models voted on the change and rejected it",
            Self::NoDecision => "The panel's votes decide nothing, or a person must look at the change",
            Self::Failed => "The gate could not do its work, so nobody has approved the change",
        }
    }
}

/// Where a finding is shown when no file changed.
const NOWHERE: &str = "team.toml";

impl GateReport {
    /// What it finds; nothing where it passes, or where the findings of a review say for themselves why it does not.
    #[must_use]
    pub fn finding(&self) -> Option<Finding<'_>> {
        let rule = match self.outcome {
            GateOutcome::Approved | GateOutcome::Unchanged => return None,
            GateOutcome::Rejected if self.sustained().next().is_some() => return None,
            GateOutcome::Rejected => Rule::Rejected,
            GateOutcome::NoDecision => Rule::NoDecision,
            GateOutcome::Failed => Rule::Failed,
        };
        Some(Finding { rule, path: self.place() })
    }

    /// The first file that was looked at and is still there, else the first that changed.
    pub(super) fn place(&self) -> &str {
        let plan = self.subject.as_ref().filter(|subject| subject.what == GateSubject::Plan);
        if let Some(path) = plan.and_then(|subject| subject.name.as_deref()) {
            return path;
        }
        let there = |file: &&SeenFile| file.change != ChangeWord::Deleted;
        let looked = self.files.iter().filter(|file| file.omitted.is_none()).find(there);
        let file = looked.or_else(|| self.files.iter().find(there)).or_else(|| self.files.first());
        file.map_or(NOWHERE, |file| file.path.as_str())
    }

    /// What tells a finding from others over all runs: its rule and what the gate looks at, and neither the commit, nor the
    /// votes, nor the place, which the next run may show otherwise.
    #[must_use]
    pub fn fingerprint(&self, rule: Rule) -> String {
        let what = match &self.subject {
            Some(subject) => format!("{:?} {}", subject.what, subject.name.as_deref().unwrap_or_default()),
            None => String::new(),
        };
        let digest = Sha256::digest(format!("team gate 1\0{}\0{what}", rule.id()));
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Files that were not looked at.
    pub fn omitted(&self) -> impl Iterator<Item = (&SeenFile, OmissionReason)> {
        self.files.iter().filter_map(|file| Some((file, file.omitted?)))
    }

    /// How much was looked at, in words.
    #[must_use]
    pub fn coverage(&self) -> String {
        let all = self.files.len();
        let omitted = self.omitted().count();
        let files = if all == 1 { "file" } else { "files" };
        format!("{} of {all} changed {files} looked at", all - omitted)
    }
}
