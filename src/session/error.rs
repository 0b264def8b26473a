//! What can go wrong with a session folder.

use std::path::PathBuf;

use super::life::IllegalMove;
use super::meta::SessionState;
use super::slot::TransitionError;
use crate::error::{Error, ErrorKind};
use crate::ids::SlotId;

/// A session folder cannot be used as asked.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// No temporary session can be made.
    #[error("no temporary session can be made: {0}")]
    NoTemporary(std::io::Error),
    /// Neither the session's folder nor a temporary one could be made.
    #[error("{refused}; nor can a temporary session be made: {error}")]
    Nowhere {
        /// What is wrong with the session's folder.
        refused: String,
        /// What is wrong with the temporary one.
        error: std::io::Error,
    },
    /// A file of the session is not there.
    #[error("`{}` is missing", .0.display())]
    Missing(PathBuf),
    /// A file of the session cannot be read as what it should be.
    #[error("`{}` cannot be read: {why}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong and where.
        why: String,
    },
    /// A file was written by a newer program.
    #[error("`{}` has format version {found}; this program knows up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version known here.
        known: u32,
    },
    /// The record's chain of hashes does not hold.
    #[error("`{}` line {line}: {why}", path.display())]
    Chain {
        /// The record.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What does not match.
        why: String,
    },
    /// Another process owns the session.
    #[error("`{session}` is owned by {owner}")]
    Owned {
        /// The session.
        session: String,
        /// Who owns it.
        owner: String,
    },
    /// An answer is not the one that was recorded.
    #[error("`{}` is not the answer that was recorded", .0.display())]
    Changed(PathBuf),
    /// A file is not as the record says.
    #[error("`{}` is not as it was recorded", .0.display())]
    NotAsRecorded(PathBuf),
    /// The folder already holds a session.
    #[error("`{}` already holds a session", .0.display())]
    Exists(PathBuf),
    /// No session has this name.
    #[error("no session `{reference}` under `{}`", base.display())]
    NotFound {
        /// What was asked for.
        reference: String,
        /// Where it was looked for.
        base: PathBuf,
    },
    /// What was named by its path is no session.
    #[error("`{}` is no session: {why}", path.display())]
    NotASession {
        /// The path.
        path: PathBuf,
        /// What it is.
        why: &'static str,
    },
    /// A session's folder whose maker was stopped before it was whole.
    #[error(
        "`{}` never became a whole session: what made it was stopped before anybody was asked",
        .0.display()
    )]
    Unmade(PathBuf),
    /// What should hold sessions is no folder.
    #[error("sessions cannot be in `{}`: it is no folder", .0.display())]
    NotAFolder(PathBuf),
    /// More than one session has this prefix.
    #[error("`{reference}` could be any of {}", candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        reference: String,
        /// What it could be.
        candidates: Vec<String>,
    },
    /// The session has no such slot.
    #[error("session `{session}` has no slot `{slot}`")]
    NoSlot {
        /// The session.
        session: String,
        /// The slot.
        slot: SlotId,
    },
    /// A slot's life has no such move.
    #[error("slot {slot}: {source}")]
    Transition {
        /// The slot.
        slot: SlotId,
        /// The move.
        source: TransitionError,
    },
    /// A session's life has no such move.
    #[error("`{session}`: {source}")]
    Move {
        /// The session.
        session: String,
        /// The move.
        source: IllegalMove,
    },
    /// An answer that the record knows nothing of.
    #[error("`{}` is an answer that the record knows nothing of", .0.display())]
    Unrecorded(PathBuf),
    /// A record in a folder inside that the record around it never opened.
    #[error("`{}` is a record that the one around it knows nothing of", .0.display())]
    Untied(PathBuf),
    /// The session has ended: what belongs to it is sealed.
    #[error("`{session}` is {}: its conversations are sealed, and nothing is added to it", state.as_str())]
    Ended {
        /// The session.
        session: String,
        /// How it ended.
        state: SessionState,
    },
    /// The session waits for a decision already.
    #[error("`{session}` waits for decision {decision} already")]
    Waits {
        /// The session.
        session: String,
        /// The decision.
        decision: u32,
    },
    /// The session waits for no decision.
    #[error("`{0}` waits for no decision")]
    NothingToDecide(String),
    /// What was said is none of the choices.
    #[error("`{choice}` is no choice of the decision that `{session}` waits for; {}", offered(choices))]
    NoChoice {
        /// The session.
        session: String,
        /// What was said.
        choice: String,
        /// What can be said.
        choices: Vec<String>,
    },
    /// The session's folder belongs to somebody else, or lies where nothing is written.
    #[error("the session cannot be written to: {0}")]
    NotWritable(std::io::Error),
    /// The session's folder went away while it was in use.
    #[error("the session's folder `{}` was removed or replaced while it was in use", .0.display())]
    Gone(PathBuf),
}

fn offered(choices: &[String]) -> String {
    if choices.is_empty() { "say it in words".to_owned() } else { format!("choose one of {}", choices.join(", ")) }
}

impl From<SessionError> for Error {
    fn from(error: SessionError) -> Self {
        let (kind, hint) = match &error {
            SessionError::Io(source) => (ErrorKind::of_io(source), None),
            SessionError::Gone(_) => (ErrorKind::Io, None),
            SessionError::NotWritable(_) => (
                ErrorKind::Io,
                Some("get permission to write in its folder, or go on with a copy of it: every command takes a path"),
            ),
            SessionError::NoTemporary(error) => {
                let kind = match error.kind() {
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => ErrorKind::Config,
                    _ => ErrorKind::Io,
                };
                (kind, Some("set `TMPDIR` to a folder that is there and can be written to"))
            }
            SessionError::Nowhere { .. } => (
                ErrorKind::Io,
                Some("make room or give permission in one of the two, or name another folder with `--sessions-dir`"),
            ),
            SessionError::Newer { .. } => (ErrorKind::Integrity, None),
            SessionError::Missing(_) | SessionError::Malformed { .. } => (
                ErrorKind::Integrity,
                Some("a file of the session is gone or damaged: put it back from a copy, or run again"),
            ),
            SessionError::Chain { .. } => (
                ErrorKind::Integrity,
                Some(
                    "the record was changed after it was written: do not rely on it; `team verify` says what else differs",
                ),
            ),
            SessionError::Owned { .. } => (ErrorKind::Owned, Some("wait for it, or stop it with `team cancel`")),
            SessionError::Changed(_) => (
                ErrorKind::Integrity,
                Some("it was changed after its slot completed: do not rely on it; restore it, or run again"),
            ),
            SessionError::NotAsRecorded(_) => {
                (ErrorKind::Integrity, Some("do not rely on it; `team verify` says what else differs"))
            }
            SessionError::Exists(_) => (ErrorKind::Usage, Some("name another folder; nothing was changed")),
            SessionError::NotFound { .. } => (ErrorKind::NotFound, Some("`team list` shows the sessions there are")),
            SessionError::NotASession { .. } => {
                (ErrorKind::NotFound, Some("name a session's folder; `team list` shows the sessions there are"))
            }
            SessionError::Unmade(_) => (
                ErrorKind::NotFound,
                Some("run the same again; there is nothing in it to resume, and `team gc` removes it after an hour"),
            ),
            SessionError::NotAFolder(_) => (
                ErrorKind::Usage,
                Some("name a folder: `--sessions-dir`, `TEAM_SESSIONS_DIR`, or `sessions_dir` in `team.toml`"),
            ),
            SessionError::Ambiguous { .. } => (ErrorKind::Usage, Some("write more of the name")),
            SessionError::NoSlot { .. } => (ErrorKind::NotFound, Some("`team status` shows the slots there are")),
            SessionError::Ended { .. } => {
                (ErrorKind::Usage, Some("`team resume` goes on with what can be gone on with"))
            }
            SessionError::Waits { .. } => (ErrorKind::Usage, Some("answer that one first")),
            SessionError::NothingToDecide(_) => (ErrorKind::Usage, Some("`team status` shows how it stands")),
            SessionError::NoChoice { .. } => (ErrorKind::Usage, Some("nothing was changed")),
            SessionError::Transition { .. } | SessionError::Move { .. } => (ErrorKind::Internal, None),
            SessionError::Untied(_) => (
                ErrorKind::Integrity,
                Some("lines of the record around it are gone: put that back from a copy, or run again"),
            ),
            SessionError::Unrecorded(_) => {
                (ErrorKind::Integrity, Some("nobody knows who wrote it: move it away, then resume the session"))
            }
        };
        // A newer format is no broken one: the way out is a newer program.
        let (kind, hint) = match &error {
            SessionError::Newer { .. } => (ErrorKind::Usage, Some("use a newer `team`")),
            _ => (kind, hint),
        };
        let text = error.to_string();
        let made = Self::new(kind, text);
        match hint {
            Some(hint) => made.hint(hint),
            None => made,
        }
    }
}
