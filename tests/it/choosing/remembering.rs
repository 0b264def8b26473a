//! `--remember`.

use crate::support::{TeamToml, TestEnv, finish};

fn config() -> String {
    let agents = TeamToml::new().agent("quoll", &["swallow", "print A"]).agent("wombat", &["swallow", "print B"]);
    format!("# Ours.\njobs = 2 # two\n\n{}", agents.text())
}

#[test]
fn a_choice_is_kept_on_demand_only_and_the_rest_of_the_file_stays() {
    let env = TestEnv::new();
    let before = config();
    let file = env.write("team.toml", &before);
    finish(&env, &["run", "-m", "wombat", "x"], 0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    let (_, err) = finish(&env, &["run", "-m", "wombat,quoll", "--remember", "x"], 0);
    assert!(err.contains("remembered in `") && err.contains("team.toml`: panel = [\"wombat\", \"quoll\"]"), "{err}");
    let after = std::fs::read_to_string(&file).unwrap();
    assert_eq!(after.replacen("panel = [\"wombat\", \"quoll\"]\n", "", 1), before);
    let (_, err) = finish(&env, &["run", "--remember", "x"], 0);
    assert!(err.contains("panel: `panel` of `") && err.contains("in `team.toml` already"), "{err}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), after);
}

#[test]
fn comments_in_the_list_and_the_ends_of_lines_stay() {
    let env = TestEnv::new();
    let text = format!("panel = [\n  # first\n  \"quoll\", # quick\n]\n{}", config()).replace('\n', "\r\n");
    let file = env.write("team.toml", &text);
    finish(&env, &["run", "-m", "wombat,quoll", "--remember", "x"], 0);
    let after = std::fs::read_to_string(&file).unwrap();
    let list = "panel = [\r\n  \"wombat\",\r\n  # first\r\n  \"quoll\", # quick\r\n]\r\n";
    assert_eq!(after, text.replacen("panel = [\r\n  # first\r\n  \"quoll\", # quick\r\n]\r\n", list, 1));
}

#[test]
fn the_panel_of_a_kind_of_task_is_kept_as_that() {
    let env = TestEnv::new();
    let file = env.write("team.toml", config());
    let (_, err) = finish(&env, &["run", "-m", "quoll", "--context", "debug", "--remember", "x"], 0);
    assert!(err.contains("[contexts.debug] panel = [\"quoll\"]"), "{err}");
    assert!(std::fs::read_to_string(&file).unwrap().contains("[contexts.debug]\npanel = [\"quoll\"]\n"));
    let (_, err) = finish(&env, &["run", "Is it a bug?"], 0);
    assert!(err.contains("`[contexts.debug]`"), "{err}");
}

#[test]
fn where_there_is_no_file_one_is_made_and_a_wrong_name_is_never_kept() {
    let env = TestEnv::new();
    let recording = env.write("a.md", "An answer.\n");
    let name = format!("replay:{}", recording.display());
    finish(&env, &["run", "-m", &format!("{name},wrong"), "--remember", "x"], 2);
    assert!(!env.path("team.toml").exists());
    finish(&env, &["run", "-m", &name, "--remember", "x"], 0);
    assert_eq!(std::fs::read_to_string(env.path("team.toml")).unwrap(), format!("panel = [\"{name}\"]\n"));
    finish(&env, &["run", "x"], 0);
}
