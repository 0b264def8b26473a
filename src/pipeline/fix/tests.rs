//! Fixes of real repositories, with nobody asked.

#![expect(clippy::disallowed_methods, reason = "users and fixers edit files")]

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::inspect::{Flaw, Inspected, Inspection, LARGEST};
use super::scope::{Outside, Scope};
use super::store::Store;
use super::uncommitted::commit_uncommitted;
use crate::git::{CommitId, Git, RepoPath};
use crate::secrets::Redactor;

struct World {
    root: tempfile::TempDir,
    redactor: Redactor,
}

impl World {
    fn new() -> Self {
        let world = Self { root: tempfile::tempdir().unwrap(), redactor: Redactor::new(["hunter2hunter2"]) };
        std::fs::create_dir(world.path("user")).unwrap();
        world.git(&["init", "-q", "-b", "main"]);
        world.write("user/src/a.txt", "one\ntwo\nthree\n");
        world.write("user/src/other.txt", "other\n");
        world.write("user/tests/a.txt", "test\n");
        world.write("user/.gitignore", "build/\n");
        std::fs::write(world.path("user/pixel.png"), b"\x89PNG\0\0").unwrap();
        world.git(&["add", "-A"]);
        world.git(&["commit", "-q", "-m", "first"]);
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn git_in(&self, folder: &str, words: &[&str]) -> String {
        let identity = ["-c", "user.name=u", "-c", "user.email=u@localhost", "-c", "commit.gpgsign=false"];
        let mut command = std::process::Command::new("git");
        let output = command.args(identity).args(words).current_dir(self.path(folder)).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn git(&self, words: &[&str]) -> String {
        self.git_in("user", words)
    }

    async fn store(&self) -> Store {
        let source = Git::new(&self.path("user"), Duration::from_secs(60));
        Store::open(&self.path("repository"), &source).await.unwrap()
    }

    async fn head(&self) -> CommitId {
        self.store().await.source().commit("HEAD").await.unwrap().unwrap()
    }

    /// A fixer's folder of its own, as `base` has it.
    async fn attempt(&self, store: &Store, base: &CommitId) -> PathBuf {
        let folder = self.path("files");
        store.fresh(&folder, "fixer", base).await.unwrap();
        store.lend(&folder, base).await.unwrap();
        folder
    }

    async fn inspect(&self, store: &Store, base: &CommitId) -> Inspected {
        let scope = self.scope();
        self.inspection(store, base, &scope).folder(&self.path("files"), "fixer").await.unwrap()
    }

    fn scope(&self) -> Scope {
        Scope::new([RepoPath::new("src/a.txt"), RepoPath::new("team.toml")], &["docs/**".to_owned()]).unwrap()
    }

    fn inspection<'a>(&'a self, store: &'a Store, base: &'a CommitId, scope: &'a Scope) -> Inspection<'a> {
        Inspection { store, base, scope, redactor: &self.redactor, seconds: 1_700_000_000 }
    }
}

fn told(inspected: &Inspected) -> BTreeSet<String> {
    match inspected {
        Inspected::Flawed(flaws) => flaws.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_a_fixer_changed_is_committed_and_reaches_the_user_as_one_new_branch() {
    let world = World::new();
    let (store, head) = (world.store().await, world.head().await);
    let folder = world.attempt(&store, &head).await;
    assert_eq!(world.git_in("files", &["status", "--porcelain"]), "");
    assert_eq!(world.git_in("files", &["rev-parse", "HEAD"]).trim(), head.as_str());
    assert_eq!(world.inspect(&store, &head).await, Inspected::Nothing);
    // It may commit and stash by itself: that is its own repository's.
    world.write("files/src/a.txt", "one\n2\nthree\n");
    world.git_in("files", &["stash", "-q"]);
    world.git_in("files", &["stash", "pop", "-q"]);
    world.git_in("files", &["commit", "-q", "-am", "mine"]);
    world.write("files/tests/new.txt", "a new test\n");
    world.write("files/build/out.o", "ignored\n");
    let Inspected::Sound { tree, files } = world.inspect(&store, &head).await else { panic!() };
    let names: Vec<String> = files.iter().map(|file| file.path.to_string()).collect();
    assert_eq!(names, ["src/a.txt", "tests/new.txt"]);
    let commit = store.commit(&tree, &head, "fix: F01\n", 1_700_000_000).await.unwrap();
    store.advance(None, &commit).await.unwrap();
    assert_eq!(store.tip().await.unwrap(), Some(commit.clone()));
    assert!(store.advance(Some(&head), &head).await.is_err(), "another owner's step is not overwritten");

    store.publish("team/fix-x", &commit).await.unwrap();
    store.publish("team/fix-x", &commit).await.unwrap();
    assert_eq!(world.git(&["rev-parse", "team/fix-x"]).trim(), commit.as_str());
    assert_eq!(world.git(&["log", "--format=%an %s", "team/fix-x"]), "team fix: F01\nu first\n");
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    assert_eq!(world.git(&["branch", "--format=%(refname:short)"]), "main\nteam/fix-x\n");
    assert_eq!(world.git(&["stash", "list"]), "");
    let other = world.git(&["commit-tree", "-m", "x", "HEAD^{tree}"]);
    let other = store.commit_of(other.trim()).await.unwrap();
    let error = store.publish("team/fix-x", &other).await.unwrap_err();
    assert!(error.to_string().contains("a branch `team/fix-x` already"), "{error}");

    // The next attempt begins at the commit, whatever lies in the folder.
    std::fs::set_permissions(folder.join("build"), std::fs::Permissions::from_mode(0o0)).unwrap();
    world.attempt(&store, &commit).await;
    assert!(!folder.join("build").exists());
    assert_eq!(world.git_in("files", &["log", "--format=%s"]), "fix: F01\nfirst\n");
    assert_eq!(world.inspect(&store, &commit).await, Inspected::Nothing);
}

#[tokio::test]
async fn everything_that_is_wrong_with_a_result_is_told_at_once_and_by_name() {
    let world = World::new();
    let (store, head) = (world.store().await, world.head().await);
    let folder = world.attempt(&store, &head).await;
    world.write("files/src/other.txt", "changed\n");
    world.write("files/tests/a.txt", "weaker\n");
    world.write("files/team.toml", "[fix]\ntest = [\"true\"]\n");
    world.write("files/docs/.env", "A=b\n");
    world.write("files/docs/large.txt", &"x".repeat(LARGEST as usize + 1));
    std::fs::create_dir(folder.join("docs/inner")).unwrap();
    world.git_in("files/docs/inner", &["init", "-q"]);
    world.write("files/docs/inner/x", "x");
    let expected = [
        "`docs/.env` holds keys by its name (`.env`)",
        "`docs/inner/` is another repository",
        "`docs/large.txt` has 1048577 bytes; 1048576 are the most",
        "`src/other.txt` is not among the files that may be changed",
        "`team.toml` decides how the result is checked, and may not be changed",
        "`tests/a.txt` is not among the files that may be changed",
    ];
    assert_eq!(told(&world.inspect(&store, &head).await), expected.map(str::to_owned).into());

    world.attempt(&store, &head).await;
    world.write("files/docs/key.txt", "password hunter2hunter2\n");
    std::fs::write(folder.join("docs/x.bin"), b"a\0b").unwrap();
    symlink("../../outside", folder.join("docs/out")).unwrap();
    symlink("key.txt", folder.join("docs/in")).unwrap();
    world.write("files/src/a.txt", "<<<<<<< ours\none\n=======\n1\n>>>>>>> theirs\n");
    std::fs::remove_file(folder.join("pixel.png")).unwrap();
    let expected = [
        "`docs/key.txt` has a new line with what looks like a key",
        "`docs/out` is a link that leads out of the repository",
        "`docs/x.bin` is no text",
        "`pixel.png` is not among the files that may be changed",
        "`src/a.txt` has marks of a conflict",
    ];
    // The name alone is wrong of one, so nothing else was taken in; without it the rest is looked at.
    assert_eq!(told(&world.inspect(&store, &head).await), [expected[3].to_owned()].into());
    std::fs::write(folder.join("pixel.png"), b"\x89PNG\0\0").unwrap();
    let rest = expected.iter().filter(|told| !told.contains("pixel")).map(|told| (*told).to_owned()).collect();
    assert_eq!(told(&world.inspect(&store, &head).await), rest);
}

#[tokio::test]
async fn a_repository_that_was_moved_back_or_aside_does_not_count_even_where_the_files_look_right() {
    let world = World::new();
    world.write("user/src/a.txt", "second\n");
    world.git(&["commit", "-q", "-am", "second"]);
    let (store, head) = (world.store().await, world.head().await);
    let moved = |told: BTreeSet<String>, why: &str| {
        assert!(told.len() == 1 && told.first().unwrap().contains(why), "{told:?}");
    };
    world.attempt(&store, &head).await;
    world.git_in("files", &["reset", "-q", "--hard", "HEAD~1"]);
    world.write("files/src/a.txt", "fixed\n");
    moved(told(&world.inspect(&store, &head).await), "does not come after");
    world.attempt(&store, &head).await;
    world.git_in("files", &["checkout", "-q", "--orphan", "aside"]);
    world.git_in("files", &["commit", "-q", "-m", "aside"]);
    moved(told(&world.inspect(&store, &head).await), "does not come after");
    // A branch of its own, packed, is after it all the same.
    world.attempt(&store, &head).await;
    world.git_in("files", &["checkout", "-q", "-b", "own"]);
    world.write("files/src/a.txt", "fixed\n");
    world.git_in("files", &["commit", "-q", "-am", "own"]);
    world.git_in("files", &["pack-refs", "--all"]);
    assert!(matches!(world.inspect(&store, &head).await, Inspected::Sound { .. }));
    for (damage, why) in [("ref: ../../x\n", "leads elsewhere"), ("ref: refs/heads/none\n", "without a commit")] {
        world.write("files/.git/HEAD", damage);
        moved(told(&world.inspect(&store, &head).await), why);
    }
    std::fs::remove_dir_all(world.path("files/.git")).unwrap();
    moved(told(&world.inspect(&store, &head).await), "is gone");
}

#[tokio::test]
async fn what_a_fixer_sets_up_in_its_repository_is_not_run_when_the_result_is_looked_at() {
    let world = World::new();
    let (store, head) = (world.store().await, world.head().await);
    world.attempt(&store, &head).await;
    let trap = format!("touch {}", world.path("sprung").display());
    for setting in ["core.fsmonitor", "filter.x.clean", "filter.x.process", "diff.external", "core.sshCommand"] {
        world.git_in("files", &["config", setting, &trap]);
    }
    world.write("files/.git/info/attributes", "* filter=x\n");
    world.write("files/src/a.txt", "fixed\n");
    assert!(matches!(world.inspect(&store, &head).await, Inspected::Sound { .. }));
    assert!(!world.path("sprung").exists());
}

#[tokio::test]
async fn a_patch_is_looked_at_like_a_folder_and_needs_none() {
    let world = World::new();
    let (store, head) = (world.store().await, world.head().await);
    let scope = world.scope();
    let inspection = world.inspection(&store, &head, &scope);
    let patch = |path: &str| format!("--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
    let Inspected::Sound { files, .. } = inspection.patch(patch("src/a.txt").as_bytes(), "patch").await.unwrap() else {
        panic!()
    };
    assert_eq!(files.len(), 1);
    let flawed = inspection.patch(patch("src/none.txt").as_bytes(), "patch").await.unwrap();
    assert!(told(&flawed).first().unwrap().starts_with("git cannot take it: "), "{flawed:?}");
    let new = "--- /dev/null\n+++ b/.github/workflows/x.yml\n@@ -0,0 +1 @@\n+on: push\n";
    let flawed = inspection.patch(new.as_bytes(), "patch").await.unwrap();
    let path = RepoPath::new(".github/workflows/x.yml");
    assert_eq!(flawed, Inspected::Flawed(vec![Flaw::Outside(path, Outside::Protected)]));
}

#[tokio::test]
async fn uncommitted_work_is_taken_without_keys_sessions_and_the_users_index() {
    let world = World::new();
    let (store, head) = (world.store().await, world.head().await);
    let skip = |path: &RepoPath| path.as_bytes().starts_with(b"ai-docs/");
    assert_eq!(commit_uncommitted(&store, &head, 0, skip).await.unwrap(), None);
    world.write("user/src/a.txt", "edited\n");
    world.write("user/src/.env", "KEY=1\n");
    world.write("user/prod.pem", "staged key\n");
    world.git(&["add", "prod.pem"]);
    world.write("user/ai-docs/sessions/x/input.md", "a session\n");
    world.write("user/new.txt", "new\n");
    world.write("user/build/out.o", "ignored\n");
    let status = world.git(&["status", "--porcelain"]);
    let taken = commit_uncommitted(&store, &head, 0, skip).await.unwrap().unwrap();
    let names: Vec<String> = taken.files.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["new.txt", "src/a.txt"]);
    let left: Vec<String> = taken.left_out.iter().map(|(path, why)| format!("{path}: {why}")).collect();
    let keys = "it holds keys";
    assert_eq!(
        left,
        [format!("prod.pem: by its name (`*.pem`) {keys}"), format!("src/.env: by its name (`.env`) {keys}")]
    );
    assert!(store.git().is_ancestor(&head, &taken.commit).await.unwrap());
    assert_eq!(world.git(&["status", "--porcelain"]), status);
    // The fixer's folder has it, and the fixer's own repository too.
    world.attempt(&store, &taken.commit).await;
    assert_eq!(std::fs::read_to_string(world.path("files/new.txt")).unwrap(), "new\n");
    assert_eq!(world.git_in("files", &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_fix_goes_on_where_the_repository_was_moved_to_and_after_an_owner_that_was_killed() {
    let world = World::new();
    let (store, head) = (world.store().await, world.head().await);
    world.attempt(&store, &head).await;
    world.write("files/src/a.txt", "fixed\n");
    let Inspected::Sound { tree, .. } = world.inspect(&store, &head).await else { panic!() };
    let commit = store.commit(&tree, &head, "fix\n", 0).await.unwrap();
    store.advance(None, &commit).await.unwrap();
    // Moved away, together with an owner's lock that nobody holds any more.
    std::fs::rename(world.path("user"), world.path("moved")).unwrap();
    std::fs::create_dir(world.path("away")).unwrap();
    std::fs::rename(world.path("repository"), world.path("away/repository")).unwrap();
    world.write("away/repository/refs/heads/fix.lock", "");
    world.write("away/repository/index-fixer.lock", "");
    let source = Git::new(&world.path("moved"), Duration::from_secs(60));
    let store = Store::open(&world.path("away/repository"), &source).await.unwrap();
    assert_eq!(store.tip().await.unwrap(), Some(commit.clone()));
    assert_eq!(world.attempt(&store, &commit).await, world.path("files"));
    assert_eq!(std::fs::read_to_string(world.path("files/src/a.txt")).unwrap(), "fixed\n");
    store.advance(Some(&commit), &head).await.unwrap();
    let error = store.commit_of(&"9".repeat(40)).await.unwrap_err();
    assert!(error.to_string().contains("is not in the repository at"), "{error}");
}

#[tokio::test]
async fn a_folder_of_checks_keeps_what_a_build_made_and_has_the_files_of_the_commit() {
    let world = World::new();
    let (store, head) = (world.store().await, world.head().await);
    let folder: &Path = &world.path("checks");
    store.refreshed(folder, "checks", &head).await.unwrap();
    world.write("checks/build/cache", "made\n");
    world.write("checks/src/a.txt", "changed by a test\n");
    world.attempt(&store, &head).await;
    world.write("files/tests/new.txt", "test\n");
    let Inspected::Sound { tree, .. } = world.inspect(&store, &head).await else { panic!() };
    let commit = store.commit(&tree, &head, "fix\n", 0).await.unwrap();
    // What is in the way of a file of the commit does not win.
    world.write("checks/tests/new.txt", "made by a test\n");
    store.refreshed(folder, "checks", &commit).await.unwrap();
    assert_eq!(std::fs::read_to_string(folder.join("tests/new.txt")).unwrap(), "test\n");
    assert_eq!(std::fs::read_to_string(folder.join("src/a.txt")).unwrap(), "one\ntwo\nthree\n");
    assert_eq!(std::fs::read_to_string(folder.join("build/cache")).unwrap(), "made\n");
}
