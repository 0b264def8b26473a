//! The user's own tree, repository and branches while a fixer's program runs.

use super::world::{MENDS, Repo, keys, panel};
use crate::support::{TestEnv, ways};

/// What a fixer tries besides: the user's tree, settings, hooks, branches, stash and list of files, by every way there is.
const TRIES: &str = "project=$(cd \"$OLDPWD\" 2>/dev/null && pwd); home=$HOME/../project; \
    for p in \"$home\" ../../../..; do \
      echo x >> $p/src/sum.rs; echo x > $p/new.txt; rm -f $p/src/other.rs; chmod 000 $p/src; \
      mkdir -p $p/.git/hooks; echo 'exit 1' > $p/.git/hooks/pre-commit; \
      git -C $p config user.name somebody; git -C $p branch -f main topic; git -C $p stash; git -C $p add -A; \
      git -C $p tag mine; git --git-dir=$p/.git update-ref refs/heads/own HEAD; \
    done 2> tried";

/// Everything of the user's, with what is in the repository besides.
fn of_the_user(repo: &Repo) -> Vec<String> {
    let hooks = std::fs::read_dir(repo.env.path(".git/hooks")).map_or(0, Iterator::count);
    let refs = repo.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
    let own: Vec<&str> = refs.lines().filter(|line| !line.starts_with("refs/heads/team/")).collect();
    let files = repo.of_the_user();
    files.iter().map(|(name, bytes)| format!("{name} {bytes:?}")).chain([own.join("\n"), hooks.to_string()]).collect()
}

#[test]
fn a_fixer_and_the_checks_reach_the_users_files_and_settings_and_change_none_of_them() {
    for way in ways() {
        let fixer = format!(
            "cat > /dev/null; {TRIES}; cat $HOME/../project/src/sum.rs > seen; cmp -s seen src/sum.rs && {MENDS}; rm -f seen tried"
        );
        let test = format!("{TRIES}; rm -f tried; grep -q copied src/sum.rs");
        let settings = format!("fixer = \"fixer\"\ntest = {:?}", ["sh", "-c", &test]);
        let env = TestEnv::new().set("TEAM_ISOLATION", way);
        let repo = Repo::of(env, &panel("auto-fix", &fixer).key("fix", keys(&settings)));
        let before = of_the_user(&repo);
        repo.fix(&[], 0);
        assert_eq!(of_the_user(&repo), before, "{way}");
        assert_eq!(repo.states()["F01"], "verified", "{way}");
        assert!(!repo.report().contains("nothing keeps"), "{way}: {}", repo.report());
    }
}

#[test]
fn where_nothing_holds_it_what_it_changed_is_found_and_told() {
    let fixer =
        format!("{MENDS}; echo x > $HOME/../project/new.txt; git -C $HOME/../project config user.name somebody");
    let env = TestEnv::new().set("TEAM_ISOLATION", "none");
    let repo = Repo::of(env, &panel("auto-fix", &fixer));
    let (_, err) = repo.fix(&[], 0);
    let told = "nothing keeps the fixer and the checks from your own files here, and these changed meanwhile: ";
    let report = repo.report().replace('\\', "");
    for shown in [&err, &report] {
        assert!(shown.contains(&format!("{told}`.git/config`, `new.txt`; look whether that was you")), "{shown}");
    }
    assert!(!report.contains("reviewers and judges from your own"), "{report}");
    repo.team(&["verify", "latest"], 0);
}

#[test]
fn a_linked_work_tree_is_held_with_the_repository_that_it_is_of() {
    let fixer = format!(
        "{MENDS}; for p in $HOME/../project $HOME/../project/linked; do echo x > $p/new.txt; git -C $p tag mine; \
         git -C $p config user.name somebody; done 2> /dev/null; true"
    );
    let repo = Repo::with(&panel("auto-fix", &fixer));
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&["worktree", "add", "-q", "linked", "topic"]);
    let before = (repo.git(&["tag"]), std::fs::read(repo.env.path(".git/config")).unwrap());
    let output = repo.env.team(&["fix"]).current_dir(repo.env.path("linked")).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!((repo.git(&["tag"]), std::fs::read(repo.env.path(".git/config")).unwrap()), before);
    assert!(!repo.env.path("linked/new.txt").exists());
}
