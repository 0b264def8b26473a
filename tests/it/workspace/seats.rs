//! Who sees the workspace, and where it is set.

use super::world::{looking, script, seen};
use crate::support::{TeamToml, TestEnv, finish};

#[test]
fn a_model_that_cannot_see_files_is_named_at_the_start_and_the_verdict_says_how_many_there_are() {
    let config = TeamToml::new()
        .provider("nobody", &[("wire", "openai-chat".into()), ("base_url", "http://127.0.0.1:9".into())])
        .agent("one", &["answer one", "vote approve"])
        .agent("two", &["answer two", "vote approve"])
        .key("retries", 0.into());
    let env = TestEnv::with(&config);
    env.write("app/a.txt", "x");
    let (out, err) = finish(&env, &["run-and-judge", "-m", "one,nobody@x,two", "--workspace", "app", "what?"], 3);
    assert!(err.contains("warning: `nobody@x` sees nothing of the workspace: only programs can read files"), "{err}");
    assert!(out.contains("judges saw none of it, nor did 1 of 3 seats, which are no programs"), "{out}");
}

#[test]
fn judges_work_in_their_own_empty_folder() {
    let env = TestEnv::new();
    let places = env.path("places").display().to_string();
    let text = format!("cat > prompt 2>/dev/null; pwd >> '{places}'; ls >> '{places}'; echo an answer");
    let config =
        ["one", "two"].iter().fold(TeamToml::new().panel(&["one", "two"]), |config, name| script(config, name, &text));
    env.write("team.toml", config.text());
    env.write("app/a.txt", "x");
    finish(&env, &["run-and-judge", "--no-repair", "--workspace", "app", "what?"], 3);
    let text = std::fs::read_to_string(&places).unwrap();
    let session = env.session();
    let judging = format!("{}/judging/work/", session.dir().canonicalize().unwrap().display());
    assert_eq!(text.lines().filter(|line| line.starts_with(&judging)).count(), 2, "{text}");
    assert_eq!(text.lines().filter(|line| line.ends_with("/workspace")).count(), 2, "{text}");
    assert_eq!(text.lines().filter(|line| *line == "a.txt").count(), 2, "{text}");
}

#[test]
fn a_project_sets_it_from_its_own_folder_and_a_flag_takes_it_away() {
    let env = looking();
    let text = std::fs::read_to_string(env.path("team.toml")).unwrap();
    env.write("sub/team.toml", format!("workspace = \"../app\"\nuntracked = \"include\"\n{text}"));
    env.write("app/a.txt", "x");
    let run = |arguments: &[&str]| {
        let mut team = env.team(&[&["run", "--sessions-dir", "../ai-docs/sessions"], arguments, &["what?"]].concat());
        let output = team.current_dir(env.path("sub")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        env.sessions().last().unwrap().clone()
    };
    let session = run(&["--name", "a"]);
    assert!(session.text("response-01.md").contains("a.txt f"));
    let session = run(&["--name", "b", "--no-workspace"]);
    assert!(!session.has("workspace"));
}

#[test]
fn a_variable_sets_it() {
    let env = looking().set("TEAM_WORKSPACE", "app").set("TEAM_UNTRACKED", "include");
    env.write("app/a.txt", "x");
    assert!(seen(&env, &[]).0.contains("a.txt f"));
    let (out, _) = finish(&env, &["config"], 0);
    assert!(out.contains("$TEAM_WORKSPACE") && out.contains("untracked = \"include\""), "{out}");
}

#[test]
fn a_configured_workspace_that_nobody_can_see_is_told_and_not_taken() {
    let config = TeamToml::new().key("workspace", "app".into());
    let env = TestEnv::with(&config);
    env.write("app/a.txt", "x");
    env.write("answer.txt", "an answer");
    let (_, err) = finish(&env, &["run", "-m", "replay:answer.txt", "what?"], 0);
    assert!(err.contains("is not used: no model of the panel can see files"), "{err}");
    assert!(!env.session().has("workspace"));
}
