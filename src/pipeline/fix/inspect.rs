//! What a fixer left in its folder, looked at before anything of it counts.
//!
//! Nothing that lies there is run or obeyed: files are read through a list and a repository of `team`'s own. All that is
//! wrong is told at once, for whoever tries again.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use fs_err as files;

use super::scope::{Outside, Scope};
use super::store::{Store, failed};
use crate::error::Result;
use crate::git::{ChangedFile, CommitId, EntryKind, Git, RepoPath, TreeId};
use crate::pipeline::gate::SecretFiles;
use crate::secrets::Redactor;

/// The most files that one fix changes.
const MOST_FILES: usize = 200;

/// The largest file that a fix makes or changes.
pub(crate) const LARGEST: u64 = 1024 * 1024;

/// So much of a file's beginning is looked at to tell whether it is text, as git does.
const SNIFFED: usize = 8000;

/// The largest file of a repository that says where its `HEAD` is.
const LARGEST_REFERENCES: u64 = 4 * 1024 * 1024;

/// Something by which a result does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// Its repository is at a commit that does not descend from the one it was given.
    HeadMoved {
        /// Where it is.
        found: String,
    },
    /// Its repository cannot be read.
    NoHead(&'static str),
    /// A file that is not its to change.
    Outside(RepoPath, Outside),
    /// A file that holds keys by its name.
    SecretFile(RepoPath, &'static str),
    /// A file that holds what looks like a key.
    Key(RepoPath),
    /// A file that is too large.
    Large(RepoPath, u64),
    /// A file that is no text, and was text or was not there.
    Binary(RepoPath),
    /// A link out of the repository.
    LinkOut(RepoPath),
    /// Another repository.
    Repository(RepoPath),
    /// A file with marks of a conflict that it had not.
    Conflict(RepoPath),
    /// It changed more files than anybody would look at.
    Many(usize),
    /// Git cannot take it.
    Refused(String),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeadMoved { found } => write!(
                f,
                "the repository was moved to commit {found}, which does not come after the one that the work began at"
            ),
            Self::NoHead(why) => write!(f, "the repository was damaged: {why}"),
            Self::Outside(path, Outside::Scope) => write!(f, "`{path}` is not among the files that may be changed"),
            Self::Outside(path, Outside::Protected) => {
                write!(f, "`{path}` decides how the result is checked, and may not be changed")
            }
            Self::SecretFile(path, pattern) => write!(f, "`{path}` holds keys by its name (`{pattern}`)"),
            Self::Key(path) => write!(f, "`{path}` has a new line with what looks like a key"),
            Self::Large(path, bytes) => write!(f, "`{path}` has {bytes} bytes; {LARGEST} are the most"),
            Self::Binary(path) => write!(f, "`{path}` is no text"),
            Self::LinkOut(path) => write!(f, "`{path}` is a link that leads out of the repository"),
            Self::Repository(path) => write!(f, "`{path}` is another repository"),
            Self::Conflict(path) => write!(f, "`{path}` has marks of a conflict"),
            Self::Many(count) => write!(f, "{count} files were changed; {MOST_FILES} are the most"),
            Self::Refused(why) => write!(f, "git cannot take it: {why}"),
        }
    }
}

/// What became of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Inspected {
    /// Nothing was changed.
    Nothing,
    /// Something was, and it does not count.
    Flawed(Vec<Flaw>),
    /// It can be committed.
    Sound {
        /// What it holds.
        tree: TreeId,
        /// What it changed.
        files: Vec<ChangedFile>,
    },
}

/// How a result is looked at.
#[derive(Debug)]
pub(crate) struct Inspection<'a> {
    /// The repository of the fix.
    pub(crate) store: &'a Store,
    /// The commit that the attempt began at.
    pub(crate) base: &'a CommitId,
    /// What may be changed.
    pub(crate) scope: &'a Scope,
    /// Finds keys.
    pub(crate) redactor: &'a Redactor,
    /// When, in seconds since 1970.
    pub(crate) seconds: i64,
}

impl Inspection<'_> {
    /// Looks at the folder of an attempt, which [`Store::fresh`] filled under the name `list`. However often: what was
    /// taken into the list the last time counts as changed again.
    pub(crate) async fn folder(&self, folder: &Path, list: &str) -> Result<Inspected> {
        let mut flaws: Vec<Flaw> = self.head(folder).await?.into_iter().collect();
        let git = self.store.with_files(folder, list);
        git.list_again_as(self.base).await.map_err(failed("list the files of the commit"))?;
        let differing = match git.differing().await {
            Ok(differing) => differing,
            Err(error) => return Ok(Inspected::Flawed(vec![Flaw::Refused(error.to_string())])),
        };
        let before = flaws.len();
        self.names(folder, &git, &differing, &mut flaws).await?;
        if differing.is_empty() {
            return Ok(if flaws.is_empty() { Inspected::Nothing } else { Inspected::Flawed(flaws) });
        }
        if flaws.len() > before {
            // Nothing of it is taken in: it may be of any size.
            return Ok(Inspected::Flawed(flaws));
        }
        if let Err(error) = git.stage(&differing).await {
            flaws.push(Flaw::Refused(error.to_string()));
            return Ok(Inspected::Flawed(flaws));
        }
        self.listed(&git, flaws).await
    }

    /// Looks at what a patch makes of the commit; `list` is a name that nothing else has.
    pub(crate) async fn patch(&self, patch: &[u8], list: &str) -> Result<Inspected> {
        self.store.forget(list)?;
        let git = self.store.git_with_list(list);
        git.list_as(self.base).await.map_err(failed("list the files of the commit"))?;
        if let Err(error) = git.apply_to_list(patch).await {
            return Ok(Inspected::Flawed(vec![Flaw::Refused(error.to_string())]));
        }
        let inspected = self.listed(&git, Vec::new()).await?;
        self.store.forget(list)?;
        Ok(inspected)
    }

    /// What is wrong with what the list holds, after `flaws`.
    async fn listed(&self, git: &Git, mut flaws: Vec<Flaw>) -> Result<Inspected> {
        let doing = "look at what was changed";
        let tree = match git.write_tree().await {
            Ok(tree) => tree,
            Err(error) => {
                flaws.push(Flaw::Refused(error.to_string()));
                return Ok(Inspected::Flawed(flaws));
            }
        };
        if flaws.is_empty() && tree == self.store.git().tree_of(self.base).await.map_err(failed(doing))? {
            return Ok(Inspected::Nothing);
        }
        // Compared as a commit that nobody will know of.
        let commit = self.store.commit(&tree, self.base, "team: looked at\n", self.seconds).await?;
        let files = self.store.git().changed_files(self.base, &commit).await.map_err(failed(doing))?;
        if files.len() > MOST_FILES {
            flaws.push(Flaw::Many(files.len()));
            return Ok(Inspected::Flawed(flaws));
        }
        let secret = SecretFiles::new();
        for file in &files {
            for path in file.paths() {
                // The other name of what was renamed is one that was there.
                let is_new = path == &file.path && (file.old.is_none() || file.old_path.is_some());
                self.name(path, is_new, &secret, &mut flaws);
            }
            self.content(file, &commit, &mut flaws).await?;
        }
        flaws.dedup();
        Ok(if flaws.is_empty() { Inspected::Sound { tree, files } } else { Inspected::Flawed(flaws) })
    }

    /// What names and sizes say, before anything is taken in.
    async fn names(&self, folder: &Path, git: &Git, differing: &[RepoPath], flaws: &mut Vec<Flaw>) -> Result<()> {
        if differing.len() > MOST_FILES {
            flaws.push(Flaw::Many(differing.len()));
            return Ok(());
        }
        let secret = SecretFiles::new();
        for path in differing {
            if path.as_bytes().ends_with(b"/") {
                flaws.push(Flaw::Repository(path.clone()));
                continue;
            }
            let known = git.entry_at(self.base, path).await.map_err(failed("look at what was changed"))?;
            self.name(path, known.is_none(), &secret, flaws);
            if let Ok(found) = files::symlink_metadata(folder.join(path.as_path()))
                && found.is_file()
                && found.len() > LARGEST
            {
                flaws.push(Flaw::Large(path.clone(), found.len()));
            }
        }
        Ok(())
    }

    fn name(&self, path: &RepoPath, is_new: bool, secret: &SecretFiles, flaws: &mut Vec<Flaw>) {
        if let Some(pattern) = secret.matches(path) {
            flaws.push(Flaw::SecretFile(path.clone(), pattern));
        } else if let Some(outside) = self.scope.forbids(path, is_new) {
            flaws.push(Flaw::Outside(path.clone(), outside));
        }
    }

    /// What the new content of a file says.
    async fn content(&self, file: &ChangedFile, commit: &CommitId, flaws: &mut Vec<Flaw>) -> Result<()> {
        let git = self.store.git();
        let doing = "look at what was changed";
        let path = &file.path;
        let Some(entry) = git.entry_at(commit, path).await.map_err(failed(doing))? else { return Ok(()) };
        if entry.kind == EntryKind::Submodule {
            flaws.push(Flaw::Repository(path.clone()));
            return Ok(());
        }
        let Ok(new) = git.content(&entry, LARGEST).await else {
            flaws.push(Flaw::Large(path.clone(), LARGEST + 1));
            return Ok(());
        };
        if entry.kind == EntryKind::Link {
            if leads_out(path, &new) {
                flaws.push(Flaw::LinkOut(path.clone()));
            }
            return Ok(());
        }
        let old_path = file.old_path.as_ref().unwrap_or(path);
        let old = match git.entry_at(self.base, old_path).await.map_err(failed(doing))? {
            Some(entry) if entry.kind == EntryKind::File => git.content(&entry, 8 * LARGEST).await.unwrap_or_default(),
            _ => Vec::new(),
        };
        if is_binary(&new) && !is_binary(&old) {
            flaws.push(Flaw::Binary(path.clone()));
            return Ok(());
        }
        if conflicts(&new) > conflicts(&old) {
            flaws.push(Flaw::Conflict(path.clone()));
        }
        // Keys that stood there before are not the fixer's; those of new lines are.
        let known: std::collections::HashSet<&[u8]> = old.split(|byte| *byte == b'\n').collect();
        let added: Vec<&[u8]> = new.split(|byte| *byte == b'\n').filter(|line| !known.contains(line)).collect();
        let added = added.join(&b'\n');
        if self.redactor.bytes(&added) != added {
            flaws.push(Flaw::Key(path.clone()));
        }
        Ok(())
    }

    /// Whether the repository in the folder is where it was, or at a commit after that.
    async fn head(&self, folder: &Path) -> Result<Option<Flaw>> {
        let own = folder.join(".git");
        let found = match head_of(&own) {
            Ok(found) => found,
            Err(why) => return Ok(Some(Flaw::NoHead(why))),
        };
        if found == self.base.as_str() {
            return Ok(None);
        }
        // Its objects are only looked at; its settings are not read.
        let git = self.store.git().seeing(&own.join("objects"));
        let descends = match git.commit(&found).await {
            Ok(Some(commit)) => git.is_ancestor(self.base, &commit).await.unwrap_or(false),
            _ => false,
        };
        Ok((!descends).then(|| Flaw::HeadMoved { found: found.chars().take(12).collect() }))
    }
}

/// Whether this is no text, by its beginning.
fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, &bytes[..bytes.len().min(SNIFFED)]).is_some()
}

/// How many marks of conflicts there are.
fn conflicts(bytes: &[u8]) -> usize {
    let marks: [&[u8]; 3] = [b"<<<<<<< ", b">>>>>>> ", b"||||||| "];
    bytes.split(|byte| *byte == b'\n').filter(|line| marks.iter().any(|mark| line.starts_with(mark))).count()
}

/// Whether a link at `path` with this target leads out of the repository, or into what is git's own.
fn leads_out(path: &RepoPath, target: &[u8]) -> bool {
    let target = Path::new(std::ffi::OsStr::from_bytes(target));
    let mut depth = path.as_path().parent().map_or(0, |folder| folder.components().count());
    for part in target.components() {
        match part {
            Component::Normal(name) if name.eq_ignore_ascii_case(".git") => return true,
            Component::Normal(_) => depth += 1,
            Component::ParentDir => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return true,
            },
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return true,
        }
    }
    false
}

/// The commit that `HEAD` of a repository names. Read by hand: whoever worked there may have changed its settings.
fn head_of(own: &Path) -> Result<String, &'static str> {
    let read = |path: &Path| -> Option<String> {
        let found = files::symlink_metadata(path).ok()?;
        if !found.is_file() || found.len() > LARGEST_REFERENCES {
            return None;
        }
        files::read_to_string(path).ok()
    };
    if !files::symlink_metadata(own).is_ok_and(|found| found.is_dir()) {
        return Err("its `.git` is gone");
    }
    let head = read(&own.join("HEAD")).ok_or("its `HEAD` cannot be read")?;
    let head = head.trim_end();
    let Some(reference) = head.strip_prefix("ref: ") else { return Ok(head.to_owned()) };
    let plain = Path::new(reference).components().all(|part| matches!(part, Component::Normal(_)));
    if !reference.starts_with("refs/") || !plain {
        return Err("its `HEAD` leads elsewhere");
    }
    if let Some(hash) = read(&own.join(reference)) {
        return Ok(hash.trim_end().to_owned());
    }
    let packed = read(&own.join("packed-refs")).unwrap_or_default();
    let hash = packed.lines().find_map(|line| line.strip_suffix(reference)?.strip_suffix(' '));
    hash.map(str::to_owned).ok_or("its `HEAD` names a branch without a commit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_stays_inside_whatever_way_it_takes() {
        let out = |path: &str, target: &str| leads_out(&RepoPath::new(path), target.as_bytes());
        for (path, target) in [("a", "b"), ("d/a", "../b"), ("d/e/a", "../../d/./x"), ("a", "d/../b")] {
            assert!(!out(path, target), "{path} -> {target}");
        }
        for (path, target) in
            [("a", "/etc/passwd"), ("a", "../x"), ("d/a", "../../x"), ("a", "d/../../x"), ("a", ".git/config")]
        {
            assert!(out(path, target), "{path} -> {target}");
        }
    }
}
