//! The patches of many files with few calls.
//!
//! One call tells the patches of up to [`BATCH`] files. It is read as far as is needed for at least one of them; what of it
//! is whole is taken, and the next call begins where it was cut. A patch is found by its header, which is unambiguous: no
//! line of a content begins like one, and names are quoted as git quotes them. What is not found so is asked for alone.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsStr;

use super::call::{Git, GitError};
use super::diff::{Change, ChangedFile, Patch, RepoPath};
use super::revision::CommitId;

/// Files in one call: so many paths fit on a command line, however long they are.
const BATCH: usize = 200;

/// So much of a call is read at least.
const READ: u64 = 4 * 1024 * 1024;

/// The beginning of a header.
const HEADER: &[u8] = b"diff --git ";

/// The patches of some files, one after the other.
#[derive(Debug)]
pub struct Patches<'a> {
    git: &'a Git,
    from: &'a CommitId,
    to: &'a CommitId,
    /// The most bytes of one patch.
    most: u64,
    left: VecDeque<&'a ChangedFile>,
    ready: VecDeque<Patch>,
}

impl Git {
    /// How each of `files` changed between two commits, of at most `most` bytes each.
    #[must_use]
    pub fn patches<'a>(
        &'a self,
        from: &'a CommitId,
        to: &'a CommitId,
        files: impl IntoIterator<Item = &'a ChangedFile>,
        most: u64,
    ) -> Patches<'a> {
        Patches { git: self, from, to, most, left: files.into_iter().collect(), ready: VecDeque::new() }
    }
}

impl Patches<'_> {
    /// The patch of the next file; `None` when there is no more.
    pub async fn next(&mut self) -> Result<Option<Patch>, GitError> {
        if self.ready.is_empty() {
            self.fetch().await?;
        }
        Ok(self.ready.pop_front())
    }

    /// Gets the patches of some of the files that are left, of one at least where there is one.
    async fn fetch(&mut self) -> Result<(), GitError> {
        let Some(first) = self.left.front() else { return Ok(()) };
        // Among fewer files git might pair others than it did among all, so that the two kinds are kept apart.
        let renamed = first.change == Change::Renamed;
        let same_kind = |file: &&&ChangedFile| (file.change == Change::Renamed) == renamed;
        let batch: Vec<&ChangedFile> = self.left.iter().take(BATCH).take_while(same_kind).copied().collect();
        let enough = READ.max(self.most.saturating_mul(2));
        let renames = if renamed { "-M" } else { "--no-renames" };
        let paths = batch.iter().flat_map(|file| file.paths());
        let (bytes, cut) = self.git.patch_text(self.from, self.to, renames, paths, enough).await?;
        let mut sections = Sections::of(&bytes);
        for file in &batch {
            match sections.take(&header(file)) {
                Some((bytes, is_last)) if !(cut && is_last) => {
                    self.ready.push_back(limited(bytes, self.most, false));
                }
                Some((bytes, _)) if bytes.len() as u64 > self.most => {
                    self.ready.push_back(limited(bytes, self.most, true));
                }
                // Behind the cut: for the next call.
                _ if cut => break,
                None | Some(_) => {
                    let alone = self.alone(file).await?;
                    self.ready.push_back(alone);
                }
            }
        }
        if self.ready.is_empty()
            && let Some(file) = batch.first()
        {
            let alone = self.alone(file).await?;
            self.ready.push_back(alone);
        }
        self.left.drain(..self.ready.len());
        Ok(())
    }

    /// The patch of one file from a call of its own.
    async fn alone(&self, file: &ChangedFile) -> Result<Patch, GitError> {
        let (bytes, cut) = self.git.patch_text(self.from, self.to, "-M", file.paths(), self.most).await?;
        Ok(Patch { bytes, cut })
    }
}

fn limited(mut bytes: Vec<u8>, most: u64, cut: bool) -> Patch {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let cut = cut || bytes.len() > most;
    bytes.truncate(most);
    Patch { bytes, cut }
}

/// What a call printed, by the headers.
struct Sections<'a> {
    /// The parts of a header, of which a file that became another kind of thing has two.
    parts: HashMap<&'a [u8], Vec<&'a [u8]>>,
    last: Option<&'a [u8]>,
}

impl<'a> Sections<'a> {
    fn of(text: &'a [u8]) -> Self {
        let inside = memchr::memmem::find_iter(text, b"\ndiff --git ").map(|at| at + 1);
        let starts: Vec<usize> = text.starts_with(HEADER).then_some(0).into_iter().chain(inside).collect();
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        let mut parts: HashMap<&[u8], Vec<&[u8]>> = HashMap::new();
        let mut last = None;
        for (start, end) in starts.iter().copied().zip(ends) {
            let section = &text[start..end];
            let header = memchr::memchr(b'\n', section).map_or(section, |end| &section[..end]);
            parts.entry(header).or_default().push(section);
            last = Some(header);
        }
        Self { parts, last }
    }

    /// The patch under `header`, and whether it is the last that was printed.
    fn take(&mut self, header: &[u8]) -> Option<(Vec<u8>, bool)> {
        let parts = self.parts.remove(header)?;
        Some((parts.concat(), self.last == Some(header)))
    }
}

/// The line that a file's patch begins with.
fn header(file: &ChangedFile) -> Vec<u8> {
    let mut line = HEADER.to_vec();
    quote(b"a/", file.old_path.as_ref().unwrap_or(&file.path), &mut line);
    line.push(b' ');
    quote(b"b/", &file.path, &mut line);
    line
}

/// Adds a name as git writes it with `core.quotePath` off.
fn quote(prefix: &[u8], path: &RepoPath, line: &mut Vec<u8>) {
    let path = path.as_bytes();
    if !path.iter().any(|byte| byte.is_ascii_control() || matches!(byte, b'"' | b'\\')) {
        line.extend(prefix.iter().chain(path));
        return;
    }
    line.push(b'"');
    line.extend(prefix);
    for byte in path {
        match byte {
            b'"' | b'\\' => line.extend([b'\\', *byte]),
            0x07..=0x0d => line.extend([b'\\', b"abtnvfr"[usize::from(byte - 0x07)]]),
            _ if byte.is_ascii_control() => line.extend(format!("\\{byte:03o}").bytes()),
            _ => line.push(*byte),
        }
    }
    line.push(b'"');
}

impl Git {
    /// The patches of `paths`, of at most `most` bytes in all, and whether there is more.
    ///
    /// A branch can declare any file binary by its attributes, so that nobody would look at it: content is shown as text
    /// here, and whoever reads decides.
    async fn patch_text<'p>(
        &self,
        from: &'p CommitId,
        to: &'p CommitId,
        renames: &'p str,
        paths: impl Iterator<Item = &'p RepoPath>,
        most: u64,
    ) -> Result<(Vec<u8>, bool), GitError> {
        let words = ["--literal-pathspecs", "diff-tree", "-r", "-p", renames, "--text", "-U5", "--full-index"];
        let more = ["--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--submodule=short"];
        let last = ["--ignore-submodules=none", "--src-prefix=a/", "--dst-prefix=b/", from.as_str(), to.as_str(), "--"];
        let words = words.into_iter().chain(more).chain(last).map(OsStr::new);
        let words: Vec<&OsStr> = words.chain(paths.map(RepoPath::as_os_str)).collect();
        let answer = self.read(&words, most).await?;
        if answer.cut {
            return Ok((answer.stdout, true));
        }
        Ok((answer.whole("diff-tree", most)?, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::time::Duration;

    /// Commits what is in `folder`, and gives the commit.
    async fn commit(git: &Git, folder: &Path) -> CommitId {
        for words in [&["add", "-A"][..], &["commit", "-q", "--allow-empty", "-m", "x"]] {
            let mut command = std::process::Command::new("git");
            command.args(["-c", "user.name=T", "-c", "user.email=t@example.org"]).args(words);
            assert!(command.current_dir(folder).status().unwrap().success());
        }
        git.commit("HEAD").await.unwrap().unwrap()
    }

    /// A repository with two commits: `before`, then `after`.
    async fn changed(before: &[(&str, &str)], after: &[(&str, &str)]) -> (tempfile::TempDir, Git, CommitId, CommitId) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        assert!(std::process::Command::new("git").args(["init", "-q"]).current_dir(&root).status().unwrap().success());
        let git = Git::new(&root, Duration::from_secs(60));
        let mut commits = Vec::new();
        for files in [before, after] {
            for entry in fs_err::read_dir(&root).unwrap().map(Result::unwrap).filter(|e| e.file_name() != ".git") {
                let path = entry.path();
                if path.is_dir() { fs_err::remove_dir_all(path).unwrap() } else { fs_err::remove_file(path).unwrap() }
            }
            for (name, text) in files {
                let path = root.join(name);
                fs_err::create_dir_all(path.parent().unwrap()).unwrap();
                fs_err::write(path, text).unwrap();
            }
            commits.push(commit(&git, &root).await);
        }
        let to = commits.pop().unwrap();
        (folder, git, commits.pop().unwrap(), to)
    }

    /// Every patch as it comes in batches, which must be the one that comes alone.
    async fn all(git: &Git, from: &CommitId, to: &CommitId, most: u64) -> Vec<(String, Patch)> {
        let files = git.changed_files(from, to).await.unwrap();
        let mut patches = git.patches(from, to, &files, most);
        let mut found = Vec::new();
        for file in &files {
            let patch = patches.next().await.unwrap().unwrap();
            found.push((file.path.to_string(), patch));
        }
        assert_eq!(patches.next().await.unwrap(), None);
        found
    }

    #[tokio::test]
    async fn each_file_gets_the_patch_of_its_own_whatever_its_name_and_in_whichever_call() {
        let long: String = (0..40).map(|n| format!("line {n}\n")).collect();
        let names =
            ["a b", "tab\there", "quote\"d", "back\\slash", "é", "new\nline", "-dash", ":(glob)*", "bell\u{7}\u{1}"];
        let before: Vec<(&str, &str)> = [("moved from", long.as_str()), ("turns/x", "file\n"), ("file", "x\n")].into();
        let texts: Vec<String> = (0..BATCH + 50).map(|n| format!("many/{n:04}")).collect();
        let mut after: Vec<(&str, &str)> = names.iter().map(|name| (*name, *name)).collect();
        after.extend(texts.iter().map(|name| (name.as_str(), name.as_str())));
        after.extend([("moved\tto", long.as_str()), ("turns", "no folder\n"), ("file/inside", "y\n")]);
        after.push(("fake", "diff --git a/file b/file\n+x\n"));
        let (_folder, git, from, to) = changed(&before, &after).await;
        let found = all(&git, &from, &to, 8000).await;
        assert_eq!(found.len(), names.len() + texts.len() + 6);
        for (name, Patch { bytes, cut }) in found {
            let text = String::from_utf8(bytes).unwrap();
            assert!(!cut && text.starts_with("diff --git "), "{name}: {text}");
            assert_eq!(text.matches("\ndiff --git ").count(), 0, "{name}: {text}");
            match name.as_str() {
                "moved\\x09to" => assert!(text.contains("rename from moved from\nrename to \"moved\\tto\""), "{text}"),
                "turns" => assert!(text.contains("+no folder") && !text.contains("-file"), "{text}"),
                "turns/x" => assert!(text.contains("-file") && !text.contains("+no folder"), "{text}"),
                "file" => assert!(text.contains("-x") && !text.contains("+y"), "{text}"),
                "fake" => assert!(text.contains("+diff --git a/file b/file"), "{text}"),
                "new\\x0aline" => assert!(text.contains("+new\n+line"), "{text}"),
                _ if name.starts_with("many/") => assert!(text.contains(&format!("+{name}\n")), "{text}"),
                _ => {}
            }
        }
    }

    #[tokio::test]
    async fn a_patch_that_is_too_long_is_cut_and_those_behind_it_come_all_the_same() {
        let huge = "0123456789\n".repeat(600_000);
        let (_folder, git, from, to) =
            changed(&[], &[("a", "a\n"), ("b", &huge), ("c", "c\n"), ("d", &huge), ("e", "e\n")]).await;
        let found = all(&git, &from, &to, 10_000).await;
        let shown: Vec<(&str, bool, bool)> =
            found.iter().map(|(name, patch)| (name.as_str(), patch.cut, patch.bytes.len() == 10_000)).collect();
        let (whole, cut) = ((false, false), (true, true));
        assert_eq!(
            shown,
            [("a", whole), ("b", cut), ("c", whole), ("d", cut), ("e", whole)].map(|(n, (a, b))| (n, a, b))
        );
    }

    #[tokio::test]
    async fn a_file_that_becomes_a_link_has_both_parts_in_one_patch() {
        let (folder, git, from, _) = changed(&[("x", "text\n")], &[("x", "text\n")]).await;
        fs_err::remove_file(folder.path().join("x")).unwrap();
        std::os::unix::fs::symlink("elsewhere", folder.path().join("x")).unwrap();
        let to = commit(&git, folder.path()).await;
        let [(_, patch)] = all(&git, &from, &to, 8000).await.try_into().unwrap();
        let text = String::from_utf8(patch.bytes).unwrap();
        assert!(text.contains("-text") && text.contains("+elsewhere"), "{text}");
        assert_eq!(text.matches("diff --git a/x b/x").count(), 2);
    }
}
