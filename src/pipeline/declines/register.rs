//! `declines.jsonl` in a folder of sessions: a line for each decision. Append-only; of several about the same finding of the
//! same session the last one counts.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::point::{BranchPoint, Holding};
use crate::error::{Error, Result};
use crate::findings::{DeclineOrigin, EarlierDecline, EarlierDeclines, Finding, FindingId, Remark};
use crate::fs;
use crate::git::{Git, Listed};
use crate::ids::FormatVersion;
use crate::pipeline::gate::ask_failed;

/// How long one question to git may take.
pub(super) const GIT_LIMIT: Duration = Duration::from_secs(120);

/// The most bytes of a line that is believed: what is declined is bounded.
const LINE_BYTES: usize = 256 * 1024;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Line {
    version: FormatVersion,
    at: Timestamp,
    /// The session in which the finding is.
    session: String,
    finding: FindingId,
    /// Who decided, as git calls that person.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    by: Option<String>,
    #[serde(flatten)]
    said: Said,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
enum Said {
    Declined {
        /// Where it was looked at; none outside of git.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        point: Option<BranchPoint>,
        content: Box<Finding>,
        note: Remark,
    },
    TakenBack,
}

/// What a person decides about a finding of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct NewDecision {
    /// Which session's.
    pub session: String,
    /// Which finding.
    pub finding: FindingId,
    /// Who decides, as git calls that person.
    pub by: Option<String>,
    /// That it is left, where it was looked at and why; `None` where that is taken back.
    pub declined: Option<(Option<BranchPoint>, Finding, Remark)>,
}

/// What was found in the register.
#[derive(Debug, Default)]
pub struct FoundDeclines {
    /// What holds.
    pub declines: EarlierDeclines,
    /// What a person should know: lines that cannot be read, a register that must not be trusted.
    pub warnings: Vec<String>,
}

/// The decisions that a folder of sessions keeps.
#[derive(Debug, Clone)]
pub struct DeclineRegister {
    folder: PathBuf,
}

impl DeclineRegister {
    /// The name of its file.
    pub const FILE: &str = "declines.jsonl";

    /// That of the folder `sessions`, which need not exist.
    #[must_use]
    pub fn of(sessions: &Path) -> Self {
        Self { folder: sessions.to_owned() }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(Self::FILE)
    }

    /// What was decided and holds at `here`; outside of git, what was decided outside of git.
    ///
    /// # Errors
    /// The file cannot be read, or git cannot be asked. One that is not there holds nothing.
    pub async fn at(&self, here: Option<&BranchPoint>) -> Result<FoundDeclines> {
        let mut found = FoundDeclines::default();
        let (lines, unread) = self.lines()?;
        if lines.is_empty() && unread.is_empty() {
            return Ok(found);
        }
        if let Some(why) = self.untrusted().await? {
            found.warnings.push(format!("earlier declines are not taken into account: {why}"));
            return Ok(found);
        }
        found.warnings = unread;
        let mut holding = here.map(Holding::new);
        let mut declines = Vec::new();
        for line in in_force(lines) {
            let Said::Declined { point, content, note } = line.said else { continue };
            let holds = match (&point, &mut holding) {
                (Some(point), Some(holding)) => holding.is_here(point).await?,
                (None, None) => true,
                _ => false,
            };
            if holds {
                let origin = DeclineOrigin { session: line.session, finding: line.finding, at: line.at, by: line.by };
                declines.push(EarlierDecline { origin, content: *content, note: Remark::new(note.as_str()) });
            }
        }
        let (declines, left_out) = EarlierDeclines::new(declines);
        if left_out > 0 {
            let most = EarlierDeclines::MOST;
            found.warnings.push(format!("more than {most} declines hold here: the {left_out} oldest are left out"));
        }
        found.declines = declines;
        Ok(found)
    }

    /// The decisions that hold about findings of `session`, by finding.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of_session(&self, session: &str) -> Result<Vec<FindingId>> {
        let held = in_force(self.lines()?.0);
        let own = held.into_iter().filter(|line| line.session == session);
        Ok(own.filter(|line| matches!(line.said, Said::Declined { .. })).map(|line| line.finding).collect())
    }

    /// Adds decisions; what the register says already is not said again. Durable when this returns.
    ///
    /// # Errors
    /// The register must not be written, for git tracks it, or cannot be.
    pub async fn add(&self, decisions: Vec<NewDecision>, now: Timestamp) -> Result<()> {
        if decisions.is_empty() {
            return Ok(());
        }
        let shown = self.path().display().to_string();
        if let Some(why) = self.untrusted().await? {
            return Err(Error::config(format!("the decision is not kept for later runs: {why}")));
        }
        let (held, _) = self.lines()?;
        let held = in_force(held);
        for decision in decisions {
            let NewDecision { session, finding, by, declined } = decision;
            let said = match declined {
                Some((point, content, note)) => Said::Declined { point, content: Box::new(content), note },
                None => Said::TakenBack,
            };
            if held.iter().any(|line| line.session == session && line.finding == finding && line.said == said) {
                continue;
            }
            let line = Line { version: FormatVersion::CURRENT, at: now, session, finding, by, said };
            let bytes = serde_json::to_vec(&line).map_err(|error| Error::internal(error.to_string()))?;
            fs::append_line(&self.path(), &bytes)
                .map_err(|source| Error::io(format!("the decision is not kept for later runs in `{shown}`"), source))?;
        }
        Ok(())
    }

    /// Why it is not to be trusted, where git tracks it: it could be a part of what is reviewed.
    async fn untrusted(&self) -> Result<Option<String>> {
        let Ok(folder) = self.folder.canonicalize() else { return Ok(None) };
        let git = Git::new(&folder, GIT_LIMIT);
        let is_repository = match git.work_tree().await {
            Ok(root) => root.is_some(),
            // Without git there is nothing that it tracks.
            Err(crate::git::GitError::Spawn(_)) => false,
            Err(error) => return Err(ask_failed(error)),
        };
        if !is_repository {
            return Ok(None);
        }
        let tracked = git.tracked_as(Self::FILE).await.map_err(ask_failed)?;
        let is_tracked = tracked.iter().any(|listed| matches!(listed, Listed::File(_) | Listed::Repository(_)));
        Ok(is_tracked.then(|| {
            format!(
                "git tracks `{}`, so it could come with what is reviewed; ignore the folder of sessions, and take the \
                 file out with `git rm --cached`",
                self.path().display()
            )
        }))
    }

    /// Every line that can be read, and what there is to say of the others.
    fn lines(&self) -> Result<(Vec<Line>, Vec<String>)> {
        let path = self.path();
        let bytes = match fs::read_plain(&path) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok((Vec::new(), Vec::new()));
            }
            Err(source) => {
                return Err(Error::io(format!("cannot read `{}`, where declines are kept", path.display()), source)
                    .hint("move it away to go on without them"));
            }
        };
        let mut unread = Vec::new();
        let lines = bytes.split(|byte| *byte == b'\n').zip(1..).filter(|(line, _)| !line.trim_ascii().is_empty());
        let read = lines.filter_map(|(bytes, number): (&[u8], u64)| match read_line(bytes) {
            Ok(line) => Some(line),
            Err(why) => {
                unread.push(format!("`{}`, line {number}: {why}; it is passed over", path.display()));
                None
            }
        });
        let read = read.collect();
        Ok((read, unread))
    }
}

fn read_line(bytes: &[u8]) -> std::result::Result<Line, String> {
    #[derive(Deserialize)]
    struct Versioned {
        version: FormatVersion,
    }
    if bytes.len() > LINE_BYTES {
        return Err(format!("more than {LINE_BYTES} bytes"));
    }
    match serde_json::from_slice::<Versioned>(bytes) {
        Ok(Versioned { version }) if version > FormatVersion::CURRENT => {
            let (found, known) = (version.0, FormatVersion::CURRENT.0);
            Err(format!("written by a newer `team` (format version {found}; this one knows up to {known})"))
        }
        _ => serde_json::from_slice(bytes).map_err(|error| format!("no decision that can be read ({error})")),
    }
}

/// The last word about each finding.
fn in_force(lines: Vec<Line>) -> Vec<Line> {
    let mut last: BTreeMap<(String, FindingId), Line> = BTreeMap::new();
    for line in lines {
        last.insert((line.session.clone(), line.finding), line);
    }
    last.into_values().collect()
}
