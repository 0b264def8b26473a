//! What is sent of a change, and what is not, with the reason: the receipt covers every file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use globset::GlobSet;

use super::base::ask_failed;
use super::secret_files::{SecretFiles, exact_set};
use crate::error::{Error, Result};
use crate::git::{Change, ChangedFile, CommitId, Git, Patch, RepoPath};
use crate::report::ci::{ChangeWord, OmissionReason, SeenFile};
use crate::secrets::Redactor;

/// So much is read of a file at least, to tell whether it is text.
const SNIFFED: u64 = 8000;

/// What is said about a file's text that is not sent as it is.
const REDACTED: &str = "what looks like a key is replaced by `[redacted]`";
const LOSSY: &str = "bytes that are no UTF-8 are shown as U+FFFD";

/// How much is sent, and of what not.
#[derive(Debug)]
pub(in crate::pipeline) struct Limits<'a> {
    /// The most bytes in all.
    pub(in crate::pipeline) max_bytes: u64,
    /// Patterns of files that nobody needs to look at.
    pub(in crate::pipeline) ignore: &'a [String],
    /// Folders of sessions, relative to the root; those that a commit holds elsewhere are found there.
    pub(in crate::pipeline) sessions: &'a [PathBuf],
    /// The section of settings that they are from.
    pub(in crate::pipeline) section: &'static str,
    /// Takes keys out of what is sent.
    pub(in crate::pipeline) redactor: &'a Redactor,
}

/// What is sent of a change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Every file, in git's order.
    pub files: Vec<SeenFile>,
    /// The text.
    pub text: String,
}

/// Looks at each of `files`.
pub(in crate::pipeline) async fn look_at_diff(
    git: &Git,
    (from, to): (&CommitId, &CommitId),
    files: &[ChangedFile],
    limits: &Limits<'_>,
) -> Result<Coverage> {
    let ignored = exact_set(limits.ignore).map_err(|error| {
        Error::config(format!("`{}.ignore`: {error}", limits.section)).hint("write it like `*.lock` or `gen/**`")
    })?;
    let secret = SecretFiles::new();
    let mut coverage = Coverage::default();
    let mut room = limits.max_bytes;
    // Of both sides: a session that was moved away or deleted shows what it held.
    let paths = git.paths_of(to).await.map_err(ask_failed)?;
    let all = paths.iter().chain(files.iter().flat_map(ChangedFile::paths));
    let mut sessions = sessions_among(all);
    sessions.extend(limits.sessions.iter().map(PathBuf::as_path));
    let named: Vec<_> = files.iter().map(|file| by_name(file, &ignored, limits, &secret, &sessions)).collect();
    // Of the others nothing is read.
    let read = files.iter().zip(&named).filter(|(_, named)| named.is_none()).map(|(file, _)| file);
    let mut patches = git.patches(from, to, read, limits.max_bytes.max(SNIFFED));
    for (file, named) in files.iter().zip(named) {
        let mut seen = SeenFile {
            path: file.path.to_string(),
            old_path: file.old_path.as_ref().map(ToString::to_string),
            change: word(file.change),
            sent_bytes: 0,
            omitted: None,
            note: None,
        };
        match named {
            Some((reason, note)) => (seen.omitted, seen.note) = (Some(reason), note),
            None => {
                let patch = patches.next().await.map_err(ask_failed)?;
                let patch = patch.ok_or_else(|| Error::internal(format!("git told no patch of `{}`", file.path)))?;
                match text_of(&patch, room, limits.redactor) {
                    Ok((text, note)) => {
                        let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
                        room = room.saturating_sub(bytes);
                        (seen.sent_bytes, seen.note) = (bytes, note);
                        coverage.text.push_str(&text);
                        if !coverage.text.ends_with('\n') {
                            coverage.text.push('\n');
                        }
                    }
                    Err(reason) => seen.omitted = Some(reason),
                }
            }
        }
        coverage.files.push(seen);
    }
    Ok(coverage)
}

/// The folders among these files in which a session of `team` is.
pub(in crate::pipeline) fn sessions_among<'a>(files: impl Iterator<Item = &'a RepoPath>) -> BTreeSet<&'a Path> {
    let metas = files.filter(|path| path.name() == b"session-meta.json");
    metas.filter_map(|path| path.as_path().parent()).filter(|folder| !folder.as_os_str().is_empty()).collect()
}

/// What a file's names and kind alone decide.
fn by_name(
    file: &ChangedFile,
    ignored: &GlobSet,
    limits: &Limits<'_>,
    secret: &SecretFiles,
    sessions: &BTreeSet<&Path>,
) -> Option<(OmissionReason, Option<String>)> {
    // A file that had such a name shows what it held, whatever it is called now.
    if let Some(pattern) = file.paths().find_map(|path| secret.matches(path)) {
        return Some((OmissionReason::Secret, Some(format!("by its name, `{pattern}`"))));
    }
    if file.paths().any(|path| path.as_path().ancestors().any(|part| sessions.contains(part))) {
        return Some((OmissionReason::Session, None));
    }
    // Moved out of what nobody needs to look at, it is something to look at; moved into it too.
    if file.paths().all(|path| ignored.is_match(path.as_path())) {
        let index = ignored.matches(file.path.as_path()).first().copied();
        let pattern = index.and_then(|index| limits.ignore.get(index));
        return Some((
            OmissionReason::Ignored,
            pattern.map(|pattern| format!("by `{pattern}` of `{}.ignore`", limits.section)),
        ));
    }
    file.is_submodule().then_some((OmissionReason::Submodule, None))
}

/// The text that is sent of a patch, and what to say about it.
fn text_of(patch: &Patch, room: u64, redactor: &Redactor) -> Result<(String, Option<String>), OmissionReason> {
    if memchr::memchr(0, &patch.bytes).is_some() {
        return Err(OmissionReason::Binary);
    }
    let clean = redactor.bytes(&patch.bytes);
    let mut notes = Vec::new();
    if clean != patch.bytes {
        notes.push(REDACTED);
    }
    let text = match String::from_utf8(clean) {
        Ok(text) => text,
        Err(error) => {
            notes.push(LOSSY);
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        }
    };
    if patch.cut || u64::try_from(text.len()).unwrap_or(u64::MAX) > room {
        return Err(OmissionReason::TooLarge);
    }
    Ok((text, (!notes.is_empty()).then(|| notes.join("; "))))
}

const fn word(change: Change) -> ChangeWord {
    match change {
        Change::Added => ChangeWord::Added,
        Change::Deleted => ChangeWord::Deleted,
        Change::Modified => ChangeWord::Modified,
        Change::Renamed => ChangeWord::Renamed,
        Change::TypeChanged => ChangeWord::TypeChanged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(bytes: &[u8]) -> Patch {
        Patch { bytes: bytes.to_vec(), cut: false }
    }

    #[test]
    fn what_is_no_text_or_too_large_is_left_out_as_a_whole() {
        let redactor = Redactor::new(["hunter2hunter2"]);
        let text = |patch: &Patch, room| text_of(patch, room, &redactor);
        assert_eq!(text(&patch(b"a\0b"), 100), Err(OmissionReason::Binary));
        assert_eq!(text(&patch(b"abcd"), 3), Err(OmissionReason::TooLarge));
        assert_eq!(text(&Patch { bytes: b"ab".to_vec(), cut: true }, 100), Err(OmissionReason::TooLarge));
        assert_eq!(text(&patch(b"abc"), 3), Ok(("abc".to_owned(), None)));
        let (sent, note) = text(&patch(b"+a \xff hunter2hunter2\r\n"), 100).unwrap();
        assert_eq!(sent, "+a \u{fffd} [redacted]\r\n");
        assert!(note.unwrap().contains("U+FFFD"));
    }
}
