//! What a command is to do, as the record keeps it for whoever resumes the session. It names no model: the named judges
//! are in the manifest.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::import::ImportRequest;
use super::judge::JudgeRequest;
use super::keeping::Keeping;
use super::run::RunRequest;
use super::vote::{VotePlan, VoteWork};
use super::workspace::Selection;
use crate::capture::Pattern;
use crate::config::{Leaks, OwnAnswers, Passes, Recuse, Repair, ResolvedModel, SelfVote, Untracked, VoteRules};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::Sha256Hash;
use crate::judging::ImportPattern;
use crate::money::Usd;
use crate::prompts::Prompts;
use crate::runner::{Checks, Limits};
use crate::session::{Event, Layout, Record, SessionError};

/// The terms that a command asks on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terms {
    /// The user's limits.
    pub limits: Limits,
    /// The longest that the whole command may take.
    pub deadline: Option<Duration>,
    /// The most that the whole command may spend.
    pub max_cost: Option<Usd>,
    /// Whether nobody is asked where blindness cannot be enforced.
    pub require_blind: bool,
}

/// [`Terms`] as they are written, times in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct WrittenTerms {
    timeout_ms: Option<u64>,
    idle_timeout_ms: Option<u64>,
    deadline_ms: Option<u64>,
    jobs: Option<usize>,
    retries: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_cost: Option<Usd>,
    require_blind: bool,
}

impl Default for WrittenTerms {
    fn default() -> Self {
        Terms::default().into()
    }
}

impl From<Terms> for WrittenTerms {
    fn from(terms: Terms) -> Self {
        let millis = |time: Option<Duration>| time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        Self {
            timeout_ms: millis(terms.limits.timeout),
            idle_timeout_ms: millis(terms.limits.idle_timeout),
            deadline_ms: millis(terms.deadline),
            jobs: terms.limits.jobs,
            retries: terms.limits.retries,
            max_cost: terms.max_cost,
            require_blind: terms.require_blind,
        }
    }
}

impl From<WrittenTerms> for Terms {
    fn from(written: WrittenTerms) -> Self {
        Self {
            limits: Limits {
                timeout: written.timeout_ms.map(Duration::from_millis),
                idle_timeout: written.idle_timeout_ms.map(Duration::from_millis),
                jobs: written.jobs,
                retries: written.retries,
            },
            deadline: written.deadline_ms.map(Duration::from_millis),
            max_cost: written.max_cost,
            require_blind: written.require_blind,
        }
    }
}

/// Where the judges of a round come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Bench {
    /// They are the panel itself.
    Panel,
    /// They were named.
    Named,
}

/// How answers are judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JudgePlan {
    bench: Bench,
    self_vote: SelfVote,
    recuse: Recuse,
    leaks: Leaks,
    passes: Passes,
    repair: Repair,
    /// The folder that the user's own prompts were read from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    prompts: Option<PathBuf>,
}

impl JudgePlan {
    fn of(request: &JudgeRequest) -> Self {
        let VoteRules { own, leaks, passes, repair } = request.rules;
        Self {
            bench: if request.judges.is_some() { Bench::Named } else { Bench::Panel },
            self_vote: own.self_vote,
            recuse: own.recuse,
            leaks,
            passes,
            repair,
            prompts: request.prompts_dir.clone(),
        }
    }

    /// The request again; `named` are the judges of the manifest. What is not as it was is added to `drift`.
    pub(super) fn request(
        &self,
        named: impl FnOnce() -> Vec<ResolvedModel>,
        drift: &mut Vec<String>,
    ) -> Result<JudgeRequest> {
        let (prompts, prompts_dir) = load_again(self.prompts.as_deref(), drift)?;
        let own = OwnAnswers { self_vote: self.self_vote, recuse: self.recuse };
        Ok(JudgeRequest {
            judges: (self.bench == Bench::Named).then(named),
            rules: VoteRules { own, leaks: self.leaks, passes: self.passes, repair: self.repair },
            prompts: Arc::new(prompts),
            prompts_dir: prompts_dir.map(Path::to_owned),
        })
    }
}

/// What chose the panel. It does not name its members.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ChosenBy {
    /// The layer of settings, as `team config --json` names it; `found` where there was none.
    pub layer: String,
    /// The kind of task, where its panel was taken.
    pub context: Option<String>,
    /// The words of the task by which it was known to be of this kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// Names that were left out of the panel because they stand for nothing any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// What a snapshot is to be taken of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WorkspacePlan {
    /// The folder; absent where its path is no text, which the record cannot hold.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    dir: Option<String>,
    #[serde(default)]
    pub(super) untracked: Untracked,
}

impl WorkspacePlan {
    fn of(selection: &Selection) -> Self {
        Self { dir: selection.root().to_str().map(str::to_owned), untracked: selection.untracked() }
    }

    /// The folder.
    pub(super) fn dir(&self) -> Option<&Path> {
        self.dir.as_deref().map(Path::new)
    }
}

/// What a run does, votes included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RunPlan {
    terms: WrittenTerms,
    min_bytes: Option<u64>,
    require_pattern: Option<String>,
    pub(super) strict: bool,
    /// Whether the results are copied to flat names after a verdict.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) legacy: bool,
    pub(super) judging: Option<JudgePlan>,
    #[serde(skip_serializing_if = "Option::is_none")]
    panel: Option<ChosenBy>,
    /// The panel votes on the task itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) voting: Option<VotePlan>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    /// The folder of which a snapshot is taken before anybody is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) workspace: Option<WorkspacePlan>,
}

impl RunPlan {
    pub(super) fn of(request: &RunRequest, vote: Option<&VoteWork>) -> Self {
        Self {
            terms: request.terms.into(),
            min_bytes: request.checks.min_bytes,
            require_pattern: request.checks.pattern.as_ref().map(|pattern| pattern.as_str().to_owned()),
            strict: request.strict,
            legacy: request.keeping == Keeping::Legacy,
            judging: request.judge.as_ref().map(JudgePlan::of),
            panel: request.chosen.clone(),
            voting: vote.map(|vote| vote.plan.clone()),
            notes: request.notes.clone(),
            workspace: request.workspace.as_ref().map(WorkspacePlan::of),
        }
    }

    pub(super) fn terms(&self) -> Terms {
        self.terms.clone().into()
    }

    pub(super) fn checks(&self) -> Result<Checks> {
        let pattern = self.require_pattern.as_deref().map(Pattern::new).transpose();
        let pattern = pattern.map_err(|error| unreadable(&error))?;
        Ok(Checks { min_bytes: self.min_bytes, pattern })
    }

    /// The plan on record; a session of an earlier program has none and only asks its slots.
    pub(super) fn read(records: &[Record]) -> Result<Self> {
        Ok(read(records)?.unwrap_or_default())
    }
}

/// What a round does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RoundPlan {
    #[serde(default)]
    terms: WrittenTerms,
    pub(super) judging: JudgePlan,
}

impl RoundPlan {
    pub(super) fn of(request: &JudgeRequest, terms: Terms) -> Self {
        Self { terms: terms.into(), judging: JudgePlan::of(request) }
    }

    pub(super) fn terms(&self) -> Terms {
        self.terms.clone().into()
    }

    /// The plan on record; a round of ballots from elsewhere has another.
    pub(super) fn read(records: &[Record]) -> Result<Option<Self>> {
        if ImportPlan::read(records)?.is_some() { Ok(None) } else { read(records) }
    }
}

/// What a round of ballots from elsewhere is counted from: what the user called its files. What they are read by, and the
/// hash of each, is recorded when its copy is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ImportPlan {
    import: Vec<String>,
}

impl ImportPlan {
    pub(super) fn of(request: &ImportRequest) -> Self {
        Self { import: request.files.iter().map(|(name, _)| name.clone()).collect() }
    }

    /// The plan on record; a round whose judges are asked has another, one of an earlier program none.
    pub(super) fn read(records: &[Record]) -> Result<Option<Self>> {
        match records.first().map(|record| &record.event) {
            Some(Event::Created { plan: Some(plan), .. }) if plan.get("import").is_some() => read(records),
            _ => Ok(None),
        }
    }

    /// What the user called the files, in order.
    pub(super) fn names(&self) -> &[String] {
        &self.import
    }

    /// What the user called the `index`-th file, from 0.
    pub(super) fn name(&self, index: usize) -> Option<&str> {
        self.import.get(index).map(String::as_str)
    }

    /// The request again, from the copies in the round's folder; `None` when the owner was stopped before all of them were
    /// recorded.
    pub(super) fn request(&self, records: &[Record], layout: &Layout) -> Result<Option<ImportRequest>> {
        let kept = records.iter().filter_map(|record| match &record.event {
            Event::Imported { file, sha256, pattern } => Some((file, *sha256, pattern)),
            _ => None,
        });
        let mut request = ImportRequest { files: Vec::new(), pattern: None };
        for ((file, sha256, pattern), name) in kept.zip(&self.import) {
            let path = layout.root().join(file);
            let bytes = fs_err::read(&path).map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => SessionError::Missing(path.clone()),
                _ => SessionError::Io(error),
            })?;
            if Sha256Hash::of(&bytes) != sha256 {
                return Err(SessionError::NotAsRecorded(path).into());
            }
            request.pattern =
                pattern.as_deref().map(ImportPattern::new).transpose().map_err(|error| unreadable(&error))?;
            request.files.push((name.clone(), bytes));
        }
        Ok((request.files.len() == self.import.len()).then_some(request))
    }
}

/// The texts that models were to be asked with, read again from the user's folder, with that folder. Where they cannot be
/// read any more, which is added to `drift`, they are the built-in ones.
pub(crate) fn load_again<'a>(folder: Option<&'a Path>, drift: &mut Vec<String>) -> Result<(Prompts, Option<&'a Path>)> {
    match Prompts::load(folder) {
        Ok(prompts) => Ok((prompts, folder)),
        Err(error) => {
            drift.push(format!(
                "the prompts of `--prompts` cannot be used, so they would be the built-in ones: {error}"
            ));
            let built_in = Prompts::load(None).map_err(|error| Error::internal(error.to_string()))?;
            Ok((built_in, None))
        }
    }
}

fn read<T: for<'de> Deserialize<'de>>(records: &[Record]) -> Result<Option<T>> {
    match records.first().map(|record| &record.event) {
        Some(Event::Created { plan: Some(plan), .. }) => {
            serde_json::from_value((**plan).clone()).map(Some).map_err(|error| unreadable(&error))
        }
        _ => Ok(None),
    }
}

/// As the record keeps it.
pub(crate) fn written(plan: &impl Serialize) -> Result<serde_json::Value> {
    serde_json::to_value(plan).map_err(|error| Error::internal(error.to_string()))
}

fn unreadable(error: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Integrity, format!("the plan on the session's record cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_read_back_as_they_were_written() {
        let terms = Terms {
            limits: Limits {
                timeout: Some(Duration::from_millis(1500)),
                jobs: Some(3),
                retries: 5,
                ..Limits::default()
            },
            deadline: Some(Duration::from_secs(3600)),
            max_cost: Some(Usd::from_nanos(1)),
            require_blind: true,
        };
        let json = serde_json::to_value(WrittenTerms::from(terms)).unwrap();
        assert_eq!(json["timeoutMs"], 1500);
        assert!(json["idleTimeoutMs"].is_null());
        let written: WrittenTerms = serde_json::from_value(json).unwrap();
        assert_eq!(Terms::from(written), terms);
    }
}
