//! Conversations that a program keeps: what it calls them, and where their transcripts are.
//!
//! A program that goes on with a conversation finds it by an id of its own in files of its own. Both are taken along:
//! the id is checked to be a whole one, and the files are those of that conversation and no others.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::fs::{self, EntryKind, Folder};
use crate::model::{AgentKind, Target};

/// What an agent leaves of a conversation is read this far; a longer one is not gone on with.
const LARGEST: u64 = 64 << 20;

/// How deep a transcript lies, and of how many files it is.
const DEEPEST: usize = 6;
const MOST_FILES: usize = 2000;

/// A program's own name of a conversation, whole: programs also take paths, names and beginnings of ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationId(String);

impl ConversationId {
    /// The id `text` of a conversation with `agent`; `None` where it is none, or the agent goes on with none.
    #[must_use]
    pub fn parse(agent: AgentKind, text: &str) -> Option<Self> {
        let is_id = match agent {
            AgentKind::Claude | AgentKind::Codex | AgentKind::Gemini => is_uuid(text),
            AgentKind::Opencode => text.strip_prefix("ses_").is_some_and(|rest| {
                (16..=64).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
            }),
            AgentKind::Claudish | AgentKind::Llm | AgentKind::Custom => false,
        };
        is_id.then(|| Self(text.to_owned()))
    }

    /// As the program writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConversationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_uuid(text: &str) -> bool {
    let lengths = [8, 4, 4, 4, 12];
    let mut parts = text.split('-');
    lengths.iter().all(|length| {
        parts.next().is_some_and(|part| part.len() == *length && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
    }) && parts.next().is_none()
}

/// Whether `target` can go on with a conversation by itself. A command of the user's own is not among those: only the
/// user knows what its arguments do.
#[must_use]
pub const fn keeps_conversations(target: &Target) -> bool {
    match target {
        Target::Process { agent, .. } => {
            matches!(agent, AgentKind::Claude | AgentKind::Codex | AgentKind::Gemini | AgentKind::Opencode)
        }
        Target::Http { .. } | Target::Local { .. } | Target::Replay { .. } => false,
    }
}

/// What a call is in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Talk<'a> {
    /// It stands alone: the program keeps nothing where it can be told so.
    #[default]
    Alone,
    /// It begins a conversation that may be gone on with.
    Begins,
    /// It goes on with this one.
    GoesOn(&'a ConversationId),
}

/// Where a program keeps a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// The folder, absolute; it need not exist.
    pub folder: PathBuf,
    /// Where it is in HOME, if HOME is what moves it.
    pub in_home: Option<PathBuf>,
    /// What of the folder it is.
    pub files: TranscriptFiles,
}

/// Which files of its folder a transcript is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptFiles {
    /// Those that have the conversation's id in their name or in that of a folder around them.
    ById,
    /// All of them.
    All,
    /// These.
    Named(&'static [&'static str]),
}

/// Files by their paths below a transcript's folder.
pub type Files = BTreeMap<String, Vec<u8>>;

impl TranscriptFiles {
    /// Reads the files of the conversation `id` in `folder`. Links are not followed.
    ///
    /// # Errors
    /// They cannot be read, or are larger than anybody would want to keep.
    pub fn collect(self, folder: &Path, id: &ConversationId) -> io::Result<Files> {
        let mut found = Files::new();
        let mut left = LARGEST;
        let folder = match Folder::open(folder) {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            Err(error) => return Err(error),
        };
        self.collect_in(&folder, "", id, &mut left, &mut found)?;
        Ok(found)
    }

    fn collect_in(
        self,
        folder: &Folder,
        above: &str,
        id: &ConversationId,
        left: &mut u64,
        found: &mut Files,
    ) -> io::Result<()> {
        for (name, kind) in folder.entries()? {
            // A name that is no text is none that these programs give.
            let Some(name) = name.to_str() else { continue };
            let path = format!("{above}{name}");
            match kind {
                EntryKind::Folder if path.matches('/').count() < DEEPEST => {
                    if !matches!(self, Self::Named(_)) {
                        self.collect_in(&folder.inside(name)?, &format!("{path}/"), id, left, found)?;
                    }
                }
                EntryKind::File if self.holds(&path, id) => {
                    let bytes = folder.read(name.as_ref(), *left)?;
                    *left -= bytes.len() as u64;
                    found.insert(path, bytes);
                    if found.len() > MOST_FILES {
                        return Err(io::Error::other(format!("it has more than {MOST_FILES} files")));
                    }
                }
                EntryKind::Folder | EntryKind::File | EntryKind::Other => {}
            }
        }
        Ok(())
    }

    fn holds(self, path: &str, id: &ConversationId) -> bool {
        match self {
            Self::ById => path.contains(id.as_str()),
            Self::All => true,
            Self::Named(names) => names.contains(&path),
        }
    }
}

/// Puts `files` into `folder`, where the program looks for them.
///
/// # Errors
/// They cannot be written, or one of them would lie elsewhere.
pub fn restore(folder: &Path, files: &Files) -> io::Result<()> {
    for (name, bytes) in files {
        let below = Path::new(name);
        let inside = !name.is_empty() && below.components().all(|part| matches!(part, Component::Normal(_)));
        if !inside {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("`{name}` leads out of its folder")));
        }
        let path = folder.join(below);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::replace(&path, bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "87bdf956-63e8-44f2-ba94-461fb59b8df1";

    fn id() -> ConversationId {
        ConversationId::parse(AgentKind::Claude, ID).unwrap()
    }

    #[test]
    fn only_a_whole_id_of_the_programs_own_kind_is_one() {
        for agent in [AgentKind::Claude, AgentKind::Codex, AgentKind::Gemini] {
            assert_eq!(ConversationId::parse(agent, ID).unwrap().as_str(), ID);
            for text in ["latest", "5", "", "87bdf956", "../x.jsonl", "ses_dd2928fb5ffeKYlnBkmpCSnd42"] {
                assert_eq!(ConversationId::parse(agent, text), None, "{text}");
            }
            assert_eq!(ConversationId::parse(agent, &format!("{ID}-1")), None);
            assert_eq!(ConversationId::parse(agent, &ID.replace('8', "g")), None);
            assert_eq!(ConversationId::parse(agent, &format!(" {ID}")), None);
        }
        assert!(ConversationId::parse(AgentKind::Opencode, "ses_dd2928fb5ffeKYlnBkmpCSnd42").is_some());
        for text in ["ses_", "ses_x' or 1=1 --abcdefgh", ID] {
            assert_eq!(ConversationId::parse(AgentKind::Opencode, text), None, "{text}");
        }
        assert_eq!(ConversationId::parse(AgentKind::Custom, ID), None);
    }

    #[test]
    fn the_files_of_one_conversation_are_taken_along_and_nobody_elses() {
        let place = tempfile::tempdir().unwrap();
        let from = place.path().join("projects");
        let own = format!("-home-u/{ID}.jsonl");
        let aside = format!("-home-u/{ID}/tool-results/1.txt");
        for (path, text) in [(&*own, "a"), (&*aside, "b"), ("-home-u/other.jsonl", "c")] {
            let path = from.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::replace(&path, text.as_bytes()).unwrap();
        }
        fs::link(&from.join("-home-u/other.jsonl"), &from.join(format!("-home-u/{ID}.link"))).unwrap();
        let files = TranscriptFiles::ById.collect(&from, &id()).unwrap();
        assert_eq!(files, Files::from([(own.clone(), b"a".to_vec()), (aside, b"b".to_vec())]));
        let to = place.path().join("moved/projects");
        restore(&to, &files).unwrap();
        assert_eq!(fs_err::read(to.join(own)).unwrap(), b"a");
        assert_eq!(TranscriptFiles::ById.collect(&place.path().join("none"), &id()).unwrap(), Files::new());
        let named = TranscriptFiles::Named(&["other.jsonl"]);
        assert_eq!(named.collect(&from.join("-home-u"), &id()).unwrap().len(), 1);
    }

    #[test]
    fn a_file_that_would_lie_elsewhere_is_not_put_back() {
        let place = tempfile::tempdir().unwrap();
        for name in ["../x", "/x", "a/../../x", "."] {
            let error = restore(&place.path().join("f"), &Files::from([(name.to_owned(), Vec::new())])).unwrap_err();
            assert!(error.to_string().contains("leads out of its folder"), "{error}");
        }
        assert!(!place.path().join("x").exists());
    }
}
