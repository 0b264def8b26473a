//! A folder that cannot be shown is refused before anything is made.

use super::world::{chmod, commit, looking};
use crate::support::{TeamToml, TestEnv, finish};

/// Fails unless this run is refused with each of `words`, and nothing was made.
#[track_caller]
fn refused(env: &TestEnv, arguments: &[&str], words: &[&str]) {
    let (out, err) = finish(env, &[&["run"], arguments, &["what?"]].concat(), 2);
    for word in words {
        assert!(err.contains(word), "no `{word}` in: {err}");
    }
    assert_eq!(out, "");
    assert!(env.sessions().is_empty(), "{err}");
}

#[test]
fn a_folder_that_is_none_is_named() {
    let env = looking();
    env.write("file.txt", "x");
    refused(&env, &["--workspace", "absent"], &["there is no folder `", "absent`", "name the folder"]);
    refused(&env, &["--workspace", "file.txt"], &["file.txt` is not a folder"]);
}

#[test]
fn sessions_are_no_workspace() {
    let env = looking();
    env.write("ai-docs/sessions/notes/a.md", "x");
    env.write("moved/team-x/session-meta.json", "{}");
    env.write("moved/team-x/deep/a.md", "x");
    for dir in ["ai-docs/sessions", "ai-docs/sessions/notes", "moved/team-x/deep"] {
        let (_, err) = finish(&env, &["run", "--workspace", dir, "what?"], 2);
        assert!(err.contains("where sessions are") && err.contains("--sessions-dir"), "{dir}: {err}");
    }
    let (_, err) = finish(&env, &["run", "--workspace", "moved", "--session-path", "moved", "what?"], 2);
    assert!(err.contains("where sessions are"), "{err}");
}

#[test]
fn what_belongs_to_git_is_no_workspace_and_an_empty_one_says_what_is_missing() {
    let env = looking();
    env.write("app/.gitignore", "*.log\n");
    commit(&env, "app");
    std::fs::create_dir(env.path("app/sub")).unwrap();
    refused(&env, &["--workspace", "app/.git"], &["belongs to git itself", "work tree"]);
    refused(&env, &["--workspace", "app/sub"], &["no file of", "name a folder that holds files"]);
    env.write("app/sub/new.rs", "x");
    refused(&env, &["--workspace", "app/sub"], &["no file of", "`--untracked include`"]);
    finish(&env, &["run", "--workspace", "app/sub", "--untracked", "include", "what?"], 0);
}

#[test]
fn too_much_is_refused_with_the_limit_and_a_next_step() {
    let env = looking();
    std::fs::create_dir(env.path("app")).unwrap();
    // Sparse: it takes no room.
    std::fs::File::create(env.path("app/large")).unwrap().set_len((1 << 30) + 1).unwrap();
    refused(&env, &["--workspace", "app"], &["holds more than 1024 MiB", "name a folder inside of it"]);
}

#[test]
fn a_file_that_cannot_be_read_is_named_before_anything_is_made() {
    let env = looking();
    env.write("app/a.txt", "x");
    chmod(&env.write("app/secret/key", "x"), 0o000);
    chmod(env.write("other/closed/key", "x").parent().unwrap(), 0o000);
    let wrapper = env.of_ordinary_user();
    let wrapper: Vec<&str> = wrapper.iter().map(String::as_str).collect();
    for (dir, named) in [("app", "app/secret/key"), ("other", "other/closed")] {
        let mut team = env.start_under(&wrapper, &["run", "--workspace", dir, "what?"]);
        assert_eq!(team.wait().code(), Some(2), "{}", team.stderr());
        let err = team.stderr();
        assert!(err.contains("cannot read") && err.contains(named) && err.contains("nothing was started"), "{err}");
        assert!(env.sessions().is_empty());
    }
    chmod(&env.path("other/closed"), 0o755);
}

#[test]
fn options_without_a_workspace_are_refused() {
    let env = looking();
    refused(&env, &["--untracked", "include"], &["there is none", "`--workspace DIR`"]);
    refused(&env, &["--workspace", ".", "--no-workspace"], &["cannot be used with"]);
    refused(&env, &["--workspace", ".", "--untracked", "some"], &["some", "include"]);
}

#[test]
fn a_panel_that_sees_no_files_is_refused_when_it_is_asked_to() {
    let config = TeamToml::new()
        .provider("nobody", &[("wire", "openai-chat".into()), ("base_url", "http://127.0.0.1:9".into())]);
    let env = TestEnv::with(&config);
    env.write("app/a.txt", "x");
    refused(
        &env,
        &["-m", "nobody@x", "--workspace", "app"],
        &["no model of the panel can see files", "name a program"],
    );
}
