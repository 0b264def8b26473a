//! What is in the snapshot.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::world::{chmod, commit, git, looking, seen, verifies};
use crate::support::{TestEnv, finish};

#[test]
fn a_program_works_in_what_git_tracks_as_it_is_now() {
    let env = looking();
    env.write("app/.gitignore", "*.log\n");
    env.write("app/src/main.rs", "fn main() {}\n");
    env.write("app/gone.rs", "old\n");
    chmod(&env.write("app/run.sh", "exit\n"), 0o755);
    std::os::unix::fs::symlink("/nonexistent/outside", env.path("app/link")).unwrap();
    commit(&env, "app");
    env.write("app/src/main.rs", "fn main() { changed() }\n");
    env.write("app/staged.rs", "staged\n");
    git(&env, "app", &["add", "staged.rs"]);
    std::fs::remove_file(env.path("app/gone.rs")).unwrap();
    env.write("app/new.rs", "untracked\n");
    env.write("app/debug.log", "ignored\n");

    let (text, err, session) = seen(&env, &["--workspace", "app"]);
    let names: Vec<&str> =
        text.lines().filter_map(|line| Some(line.split_once(' ')?.0)).filter(|n| !n.ends_with(':')).collect();
    assert_eq!(names, [".gitignore", "link", "run.sh", "src", "src/main.rs", "staged.rs"], "{text}");
    assert!(text.contains("./src/main.rs: fn main() { changed() }"), "{text}");
    assert!(text.contains("link l 0777 /nonexistent/outside"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("run.sh f 07") || line.starts_with("run.sh f 05")), "{text}");
    assert!(err.contains("5 files") && err.contains("what git tracks, as it is now"), "{err}");
    assert!(err.contains("not in the workspace: 1 untracked file (`--untracked include`"), "{err}");
    let taken = session.events().into_iter().find(|event| event["event"] == "workspace_taken").unwrap();
    assert_eq!((&taken["files"], &taken["bytes"]), (&5.into(), &42.into()));
    assert_eq!(taken["tree"].as_str().unwrap().len(), 64);
    assert_eq!(std::fs::read_to_string(env.path("app/src/main.rs")).unwrap(), "fn main() { changed() }\n");
    verifies(&env);
}

#[test]
fn untracked_files_are_taken_on_request_and_ignored_ones_never() {
    let env = looking();
    env.write("app/.gitignore", "*.log\n");
    commit(&env, "app");
    env.write("app/new.rs", "untracked\n");
    env.write("app/debug.log", "ignored\n");
    let (text, err, _) = seen(&env, &["--workspace", "app", "--untracked", "include"]);
    assert!(text.contains("new.rs f") && !text.contains("debug.log"), "{text}");
    assert!(!err.contains("not in the workspace"), "{err}");
    verifies(&env);
}

#[test]
fn a_folder_inside_of_a_repository_is_shown_alone() {
    let env = looking();
    env.write("app/secret/key", "k\n");
    env.write("app/docs/guide/a.md", "a\n");
    commit(&env, "app");
    let (text, _, _) = seen(&env, &["--workspace", "app/docs"]);
    assert!(text.contains("guide d") && text.contains("guide/a.md f") && !text.contains("key"), "{text}");
}

#[test]
fn a_folder_that_is_in_no_repository_or_ignored_by_one_is_copied_whole() {
    for ignored in [false, true] {
        let env = looking();
        env.write("app/data/.hidden", "h\n");
        std::fs::create_dir_all(env.path("app/data/empty")).unwrap();
        if ignored {
            env.write(".gitignore", "/app/\n");
            git(&env, ".", &["init", "-q"]);
        }
        let (text, err, _) = seen(&env, &["--workspace", "app"]);
        assert!(text.contains("data/.hidden f") && text.contains("data/empty d"), "{text}");
        assert!(err.contains("all of the folder"), "{err}");
        verifies(&env);
    }
}

/// A world that holds sessions, tracked ones too, and a repository in another.
fn with_sessions() -> TestEnv {
    let env = looking();
    env.write("a.md", "a\n");
    // A session that is tracked, one of another place, and what only looks like one.
    for name in ["ai-docs/sessions/team-old-20260101-000000-aaaa", "kept/team-older"] {
        env.write(&format!("{name}/session-meta.json"), "{}");
        env.write(&format!("{name}/manifest.json"), "{\"narwhal\": 1}");
        env.write(&format!("{name}/deep/response-01.md"), "narwhal");
    }
    env.write("web/manifest.json", "{\"name\": \"site\"}");
    commit(&env, ".");
    env.write("nested/inner.md", "inner\n");
    commit(&env, "nested");
    env
}

#[test]
fn no_session_and_nothing_of_git_itself_is_in_it_whoever_tracks_them() {
    for untracked in ["exclude", "include"] {
        let env = with_sessions();
        let (_, err) =
            finish(&env, &["run", "--name", "new", "--workspace", ".", "--untracked", untracked, "what?"], 0);
        let session = env.sessions().into_iter().find(|session| session.id().starts_with("team-new")).unwrap();
        let text = session.text("response-01.md");
        assert!(text.contains("web/manifest.json f") && text.contains("a.md f"), "{text}");
        assert!(!text.contains("narwhal") && !text.contains("sessions") && !text.contains("team-older"), "{text}");
        assert!(!text.contains(".git"), "{text}");
        assert_eq!(text.contains("nested/inner.md f"), untracked == "include", "{text}");
        assert!(err.contains("`ai-docs/sessions`") && err.contains("`kept/team-older`"), "{err}");
        finish(&env, &["verify", &session.id()], 0);
    }
}

#[test]
fn of_a_folder_without_git_sessions_are_left_out_too() {
    let env = looking();
    env.write("app/a.md", "a\n");
    env.write("app/ai-docs/sessions/old/notes.md", "narwhal\n");
    env.write("app/kept/manifest.json", "{}");
    env.write("app/kept/events.jsonl", "narwhal\n");
    env.write("app/nested/.git/config", "narwhal\n");
    env.write("app/web/manifest.json", "{}");
    let run = ["run", "--workspace", "app", "--sessions-dir", "app/ai-docs/sessions", "what?"];
    let (_, err) = finish(&env, &run, 2);
    assert!(
        err.contains("git cannot say what") && err.contains("nested` holds"),
        "a broken repository is no plain folder: {err}"
    );
    std::fs::remove_dir_all(env.path("app/nested")).unwrap();
    let (out, err) = finish(&env, &run, 0);
    let text = std::fs::read_to_string(std::path::Path::new(out.trim()).join("response-01.md")).unwrap();
    assert!(text.contains("a.md f") && text.contains("web/manifest.json f"), "{text}");
    assert!(!text.contains("narwhal") && !text.contains("kept") && !text.contains("sessions"), "{text}");
    assert!(err.contains("`ai-docs/sessions`, `kept` (sessions)"), "{err}");
}

#[test]
fn submodules_are_shown_as_they_are_checked_out_and_others_are_told() {
    let env = looking();
    env.write("origin/lib.rs", "one\n");
    commit(&env, "origin");
    env.write("app/a.rs", "a\n");
    commit(&env, "app");
    let origin = env.path("origin").display().to_string();
    git(&env, "app", &["submodule", "--quiet", "add", &origin, "lib"]);
    git(&env, "app", &["submodule", "--quiet", "add", &origin, "absent"]);
    git(&env, "app", &["submodule", "--quiet", "deinit", "-f", "absent"]);
    env.write("app/lib/lib.rs", "two\n");
    let (text, err, _) = seen(&env, &["--workspace", "app"]);
    assert!(text.contains("./lib/lib.rs: two"), "{text}");
    assert!(!text.contains("absent/") && !text.contains("lib/.git"), "{text}");
    assert!(err.contains("not in the workspace: `absent` (not checked out)"), "{err}");
}

#[test]
fn links_are_not_followed_not_even_in_the_middle_of_a_path() {
    let env = looking();
    env.write("outside/b.txt", "narwhal\n");
    env.write("app/a/b.txt", "inside\n");
    env.write("app/c.txt", "c\n");
    commit(&env, "app");
    std::fs::remove_dir_all(env.path("app/a")).unwrap();
    std::os::unix::fs::symlink("../outside", env.path("app/a")).unwrap();
    let (text, _, session) = seen(&env, &["--workspace", "app", "--untracked", "include"]);
    assert!(text.contains("a l 0777 ../outside") && !text.contains("narwhal"), "{text}");
    assert!(!session.has("workspace/a/b.txt"));
}

#[test]
fn names_that_are_no_text_are_kept_and_what_is_no_file_is_told() {
    let env = looking();
    let name = OsStr::from_bytes(b"caf\xe9\n.txt");
    std::fs::create_dir(env.path("app")).unwrap();
    std::fs::write(env.path("app").join(name), "latin\n").unwrap();
    let mode = nix::sys::stat::Mode::S_IRWXU;
    nix::unistd::mkfifo(&env.path("app/pipe"), mode).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(env.path("app/sock")).unwrap();
    let (_, err) = finish(&env, &["run", "--workspace", "app", "what?"], 0);
    let session = env.session();
    let answer = std::fs::read(session.path("response-01.md")).unwrap();
    assert!(answer.windows(6).any(|bytes| bytes == b"caf\xe9\n."), "{answer:?}");
    assert!(session.path("workspace").join(name).exists());
    assert!(!session.has("workspace/pipe") && !session.has("workspace/sock"));
    assert!(
        err.contains("`pipe`") && err.contains("`sock`") && err.contains("(neither file, folder nor link)"),
        "{err}"
    );
    verifies(&env);
}

#[test]
fn what_a_program_would_obey_where_it_runs_is_left_out_and_told() {
    let env = looking();
    env.write("app/.gemini/settings.json", "{\"mcpServers\": {\"x\": {\"command\": \"narwhal\"}}}");
    env.write("app/.env", "GOOGLE_GEMINI_BASE_URL=http://narwhal\n");
    env.write("app/bunfig.toml", "preload = [\"./narwhal.ts\"]\n");
    env.write("app/sub/.env", "deeper\n");
    commit(&env, "app");
    let (text, err, _) = seen(&env, &["--workspace", "app"]);
    assert!(!text.contains("narwhal") && text.contains("sub/.env f"), "{text}");
    assert!(err.contains("`.env`, `.gemini`, `bunfig.toml` (programs that run there would obey it)"), "{err}");
}

#[test]
fn a_folder_whose_git_is_none_is_a_folder_and_a_repository_beside_it_is_one() {
    let env = looking();
    env.write("ng/own.txt", "x");
    env.write("ng/empty/a.txt", "x");
    std::fs::create_dir(env.path("ng/empty/.git")).unwrap();
    env.write("ng/astray/b.txt", "x");
    env.write("ng/astray/.git", "gitdir: /nowhere/at/all\n");
    env.write("ng/real/tracked.txt", "x");
    commit(&env, "ng/real");
    env.write("ng/real/loose.txt", "x");
    let (answer, _, _) = seen(&env, &["--workspace", "ng"]);
    for file in ["own.txt", "empty/a.txt", "astray/b.txt", "real/tracked.txt"] {
        assert!(answer.contains(&format!("{file} f")), "no {file} in: {answer}");
    }
    assert!(!answer.contains("loose.txt") && !answer.contains(".git"), "{answer}");
}
