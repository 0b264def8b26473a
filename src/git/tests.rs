//! Work beside real repositories.
#![expect(clippy::disallowed_methods, reason = "a user edits files")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::*;

const LIMIT: Duration = Duration::from_secs(60);

/// A user's repository, and a place beside it.
struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { root: tempfile::tempdir().unwrap() };
        for folder in ["user", "store", "files"] {
            std::fs::create_dir(world.path(folder)).unwrap();
        }
        world.run(&["init", "-q", "-b", "main"]);
        world.write("user/a.txt", b"one\ntwo\nthree\n");
        world.write("user/b/c.sh", b"#!/bin/sh\n");
        std::os::unix::fs::symlink("a.txt", world.path("user/link")).unwrap();
        world.run(&["add", "-A"]);
        world.run(&["commit", "-q", "-m", "first"]);
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    #[expect(clippy::disallowed_methods, reason = "a user edits a file")]
    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// Git as the user runs it.
    fn run(&self, words: &[&str]) -> String {
        let identity = ["-c", "user.name=u", "-c", "user.email=u@localhost", "-c", "commit.gpgsign=false"];
        let mut command = std::process::Command::new("git");
        let output = command.args(identity).args(words).current_dir(self.path("user")).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn user(&self) -> Git {
        Git::new(&self.path("user"), LIMIT)
    }

    async fn head(&self) -> CommitId {
        self.user().commit("HEAD").await.unwrap().unwrap()
    }

    /// A repository beside the user's, with a list of the files of `files`.
    async fn store(&self) -> Git {
        let lender = self.user().lender().await.unwrap();
        let store = Git::of_repository(&self.path("store"), LIMIT);
        store.init(RepositoryKind::Bare, &lender).await.unwrap();
        self.write("store/objects/info/alternates", &[lender.objects.as_os_str().as_bytes(), b"\n"].concat());
        store.with_files(&self.path("files"), &self.path("store/index-files"))
    }

    /// All that the user has, byte for byte.
    fn untouched(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn add(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_symlink() {
                    found.insert(path.clone(), std::fs::read_link(&path).unwrap().into_os_string().as_bytes().into());
                } else if path.is_dir() {
                    found.insert(path.clone(), Vec::new());
                    add(&path, found);
                } else {
                    found.insert(path.clone(), std::fs::read(&path).unwrap());
                }
            }
        }
        let mut found = BTreeMap::new();
        add(&self.path("user"), &mut found);
        found
    }
}

fn shown(paths: &[RepoPath]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn what_is_changed_in_a_folder_beside_is_committed_there_and_the_users_repository_stays_byte_for_byte() {
    let world = World::new();
    let before = world.untouched();
    let head = world.head().await;
    let git = world.store().await;
    git.check_out(&head).await.unwrap();
    assert_eq!(std::fs::read(world.path("files/a.txt")).unwrap(), b"one\ntwo\nthree\n");
    assert!(world.path("files/link").is_symlink());
    assert_eq!(git.differing().await.unwrap(), []);

    world.write("files/a.txt", b"one\n2\nthree\n");
    world.write("files/néw.txt", b"x");
    world.write("files/d/new.txt", b"x");
    std::fs::remove_file(world.path("files/b/c.sh")).unwrap();
    let odd = RepoPath::new(&b"odd\n\xff"[..]);
    let odd_file = world.path("files").join(OsStr::from_bytes(odd.as_bytes()));
    std::fs::copy(world.path("files/a.txt"), odd_file).unwrap();
    let differing = git.differing().await.unwrap();
    assert!(differing.contains(&odd) && differing.contains(&RepoPath::new("b/c.sh")), "{:?}", shown(&differing));
    git.stage(&differing).await.unwrap();
    assert_eq!(git.differing().await.unwrap(), []);
    let tree = git.write_tree().await.unwrap();
    let new = NewCommit { tree: &tree, parent: &head, message: "fix: é\n\nbody\n", seconds: 1_700_000_000 };
    let commit = git.commit_tree(new).await.unwrap();
    assert_eq!(git.commit_tree(new).await.unwrap(), commit, "the same commit twice");
    assert!(git.is_ancestor(&head, &commit).await.unwrap());
    let changed = git.changed_files(&head, &commit).await.unwrap();
    assert_eq!(changed.len(), differing.len());
    assert_eq!(world.untouched(), before);
}

#[tokio::test]
async fn a_branch_is_made_once_and_nothing_else_of_the_user_changes() {
    let world = World::new();
    let head = world.head().await;
    let git = world.store().await;
    git.check_out(&head).await.unwrap();
    world.write("files/a.txt", b"changed\n");
    git.stage(&[RepoPath::new("a.txt")]).await.unwrap();
    let tree = git.write_tree().await.unwrap();
    let new = NewCommit { tree: &tree, parent: &head, message: "m", seconds: 0 };
    let commit = git.commit_tree(new).await.unwrap();
    git.update_reference("refs/heads/result", &commit, Expected::Absent).await.unwrap();
    // A hook of the user's would stop everything.
    world.write("user/.git/hooks/reference-transaction", b"#!/bin/sh\nexit 1\n");
    let hook = world.path("user/.git/hooks/reference-transaction");
    std::fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let user = world.user();
    let index = std::fs::read(world.path("user/.git/index")).unwrap();
    user.take_commits(&world.path("store"), "refs/heads/result", &commit).await.unwrap();
    user.update_reference("refs/heads/team/fix-1", &commit, Expected::Absent).await.unwrap();
    let error = user.update_reference("refs/heads/team/fix-1", &head, Expected::Absent).await.unwrap_err();
    assert!(error.to_string().contains("team/fix-1"), "{error}");
    assert_eq!(world.run(&["rev-parse", "team/fix-1"]).trim(), commit.as_str());
    assert_eq!(world.run(&["branch", "--show-current"]), "main\n");
    assert_eq!(world.run(&["status", "--porcelain"]), "");
    assert_eq!(std::fs::read(world.path("user/.git/index")).unwrap(), index);
    assert_eq!(std::fs::read_to_string(world.path("user/a.txt")).unwrap(), "one\ntwo\nthree\n");
    // Another commit than the one that is meant is not taken for it.
    let error = user.take_commits(&world.path("store"), "refs/heads/result", &commit_of('9')).await.unwrap_err();
    assert!(error.to_string().contains("is not commit 999"), "{error}");
}

fn commit_of(digit: char) -> CommitId {
    CommitId::parse(&digit.to_string().repeat(40)).unwrap()
}

#[tokio::test]
async fn what_the_user_has_not_committed_is_committed_beside_and_stays_uncommitted() {
    let world = World::new();
    let head = world.head().await;
    let git = world.store().await;
    world.write("user/a.txt", b"edited\n");
    world.write("user/staged.txt", b"staged\n");
    world.run(&["add", "staged.txt"]);
    world.write("user/staged.txt", b"staged and edited\n");
    world.write("user/untracked.txt", b"u\n");
    std::fs::remove_file(world.path("user/link")).unwrap();
    let before = world.untouched();
    let user = world.user();
    let lender = user.lender().await.unwrap();
    std::fs::copy(world.path("user/.git/index"), world.path("store/index-user")).unwrap();
    let user = user.with_index(&world.path("store/index-user"), &world.path("store/objects"), &lender);
    assert!(!user.is_unmerged().await.unwrap());
    let differing = user.differing().await.unwrap();
    assert_eq!(shown(&differing), ["a.txt", "link", "staged.txt", "untracked.txt"]);
    user.stage(&differing).await.unwrap();
    let tree = user.write_tree().await.unwrap();
    let new = NewCommit { tree: &tree, parent: &head, message: "uncommitted", seconds: 0 };
    let commit = git.commit_tree(new).await.unwrap();
    let changed = git.changed_files(&head, &commit).await.unwrap();
    let words: Vec<String> = changed.iter().map(|file| format!("{:?} {}", file.change, file.path)).collect();
    assert_eq!(words, ["Modified a.txt", "Deleted link", "Added staged.txt", "Added untracked.txt"]);
    let file = git.entry_at(&commit, &RepoPath::new("staged.txt")).await.unwrap().unwrap();
    assert_eq!(git.content(&file, 100).await.unwrap(), b"staged and edited\n");
    assert_eq!(world.untouched(), before);
}

#[tokio::test]
async fn a_patch_is_applied_as_a_whole_or_not_at_all_whatever_it_counts() {
    let world = World::new();
    let head = world.head().await;
    let git = world.store().await;
    let try_it = async |patch: &[u8]| {
        git.list_as(&head).await.unwrap();
        match git.apply_to_list(patch).await {
            Ok(()) => Ok(git.write_tree().await.unwrap()),
            Err(error) => Err(error.to_string()),
        }
    };
    let good = b"--- a/a.txt\n+++ b/a.txt\n@@ -1,9 +1,7 @@\n one\n-two\n+2\n three\n";
    let tree = try_it(good).await.unwrap();
    let new = NewCommit { tree: &tree, parent: &head, message: "m", seconds: 0 };
    let commit = git.commit_tree(new).await.unwrap();
    let patch = git.whole_patch(&head, &commit, 10_000).await.unwrap();
    assert!(patch.bytes.ends_with(b"@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"), "{:?}", patch.bytes.escape_ascii());
    assert_eq!(try_it(&patch.bytes).await.unwrap(), tree, "what is written is what is read");
    assert!(git.whole_patch(&head, &commit, 20).await.unwrap().cut);

    let before = git.tree_of(&head).await.unwrap();
    for (bad, told) in [
        (&b"--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-zwei\n+2\n three\n"[..], "patch does not apply"),
        (b"--- a/none.txt\n+++ b/none.txt\n@@ -1 +1 @@\n-x\n+y\n", "none.txt"),
        (b"--- /dev/null\n+++ b/../out.txt\n@@ -0,0 +1 @@\n+x\n", "invalid path"),
        (b"--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n", "invalid path"),
        (b"this is no patch\n", "No valid patches"),
    ] {
        let error = try_it(bad).await.unwrap_err();
        assert!(error.contains(told), "{error}");
        assert_eq!(git.write_tree().await.unwrap(), before);
    }
}

#[tokio::test]
async fn a_clone_without_its_beginning_lends_its_commits_as_well() {
    let world = World::new();
    world.write("user/a.txt", b"second\n");
    world.run(&["commit", "-q", "-am", "second"]);
    let from = format!("file://{}", world.path("user").display());
    world.run(&["clone", "-q", "--depth=1", &from, &world.path("shallow").display().to_string()]);
    let shallow = Git::new(&world.path("shallow"), LIMIT);
    let lender = shallow.lender().await.unwrap();
    assert!(lender.shallow.is_file() && lender.objects.is_dir(), "{lender:?}");
    assert_eq!(lender.format, "sha1");
    let plain = world.user().lender().await.unwrap();
    assert!(!plain.shallow.exists());
    // From a folder inside and from a linked worktree the same is found.
    let inside = Git::new(&world.path("user/b"), LIMIT).lender().await.unwrap();
    assert_eq!(inside, plain);
    world.run(&["worktree", "add", "-q", "--detach", &world.path("linked").display().to_string()]);
    let linked = Git::new(&world.path("linked"), LIMIT).lender().await.unwrap();
    assert_eq!((linked.objects, linked.exclude), (plain.objects, plain.exclude));
}
