//! `team init --skill`: files for coding agents, never over a user's own without consent.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::support::{McpClient, TestEnv, finish};

const SKILL: &str = ".claude/skills/team/SKILL.md";

const ALL: &str = "claude,codex,gemini,opencode";

/// A project without a program but `team` itself.
fn bare() -> TestEnv {
    let env = TestEnv::new();
    env.write("team.toml", "");
    let bin = PathBuf::from(env!("CARGO_BIN_EXE_team")).parent().unwrap().display().to_string();
    env.set("PATH", &bin)
}

fn read(env: &TestEnv, name: &str) -> String {
    std::fs::read_to_string(env.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn each_host_gets_the_skill_and_the_server_and_a_second_time_changes_nothing() {
    let env = bare();
    let (out, _) = finish(&env, &["init", "--skill", "--host", ALL], 0);
    let files = [
        SKILL,
        ".agents/skills/team/SKILL.md",
        ".mcp.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        "opencode.json",
    ];
    let paths: Vec<String> = files.iter().map(|file| env.path(file).display().to_string()).collect();
    assert_eq!(out.lines().collect::<Vec<_>>(), paths);
    let json = |name: &str| serde_json::from_str::<Value>(&read(&env, name)).unwrap();
    assert_eq!(json(".mcp.json"), json!({"mcpServers": {"team": {"command": "team", "args": ["mcp"]}}}));
    let gemini = json!({"command": "team", "args": ["mcp"], "timeout": 3_600_000});
    assert_eq!(json(".gemini/settings.json"), json!({"mcpServers": {"team": gemini}}));
    let opencode = json!({"type": "local", "command": ["team", "mcp"], "enabled": true});
    assert_eq!(json("opencode.json"), json!({"mcp": {"team": opencode}}));
    let codex: toml::Table = read(&env, ".codex/config.toml").parse().unwrap();
    assert_eq!(codex["mcp_servers"]["team"]["command"].as_str(), Some("team"));
    let before: Vec<String> = files.iter().map(|file| read(&env, file)).collect();
    let (out, err) = finish(&env, &["init", "--skill", "--host", ALL], 0);
    assert_eq!(out, "");
    assert_eq!(err.matches("is as it should be").count(), files.len(), "{err}");
    assert_eq!(files.map(|file| read(&env, file)).to_vec(), before);
}

#[test]
fn a_file_that_is_there_is_shown_and_changed_only_with_consent() {
    let env = bare();
    let own = "{\n  \"mcpServers\": {\n    \"mine\": {\n      \"command\": \"mine\"\n    }\n  }\n}\n";
    env.write(".mcp.json", own);
    env.write(SKILL, "an older one\n");
    let (out, err) = finish(&env, &["init", "--skill", "--host", "claude"], 2);
    assert_eq!(out, "");
    for line in ["--- .mcp.json", "+    \"team\": {", "-an older one", "hint: `--yes` makes the changes that are shown"]
    {
        assert!(err.contains(line), "{line} is not in:\n{err}");
    }
    assert!(err.contains(&format!("not changed: `{SKILL}`, `.mcp.json`")), "{err}");
    assert_eq!((read(&env, ".mcp.json"), read(&env, SKILL)), (own.to_owned(), "an older one\n".to_owned()));
    let (_, err) = finish(&env, &["init", "--skill", "--host", "claude", "--yes"], 0);
    assert!(err.contains("+    \"team\": {"), "{err}");
    let changed: Value = serde_json::from_str(&read(&env, ".mcp.json")).unwrap();
    assert_eq!(changed["mcpServers"]["mine"], json!({"command": "mine"}));
    assert_eq!(changed["mcpServers"]["team"]["args"], json!(["mcp"]));
    assert!(read(&env, SKILL).starts_with("---\nname: team\n"));
}

#[test]
fn on_a_terminal_each_change_is_asked_for() {
    let env = bare();
    env.write(".mcp.json", "{}\n");
    env.write(SKILL, "mine\n");
    let mut terminal = env.terminal(120, 120);
    terminal.press("team init --skill --host claude\n");
    terminal.wait_for(&format!("Change `{SKILL}`? [y/N]"));
    terminal.press("n\n");
    terminal.wait_for("Change `.mcp.json`? [y/N]");
    terminal.press("y\n");
    terminal.wait_for("not changed");
    terminal.leave();
    assert_eq!(read(&env, SKILL), "mine\n");
    assert!(read(&env, ".mcp.json").contains("\"team\""));
}

#[test]
fn without_a_name_the_agents_that_are_used_here_are_served() {
    let env = bare();
    env.write(".gemini/settings.json", "{\"theme\": \"dark\"}");
    let (_, err) = finish(&env, &["init", "--skill", "--yes"], 0);
    assert!(err.contains("folders that are trusted"), "{err}");
    assert!(read(&env, ".gemini/settings.json").contains("\"theme\": \"dark\""));
    assert!(env.path(".agents/skills/team/SKILL.md").is_file());
    assert!(!env.path(".mcp.json").exists() && !env.path(".codex").exists() && !env.path("opencode.json").exists());
}

#[test]
fn where_no_agent_is_found_claude_is_meant_and_the_settings_of_team_are_written_too() {
    let env = TestEnv::new().set("PATH", "/nowhere");
    let (out, err) = finish(&env, &["init", "--skill", "--no-gitignore"], 0);
    assert!(err.contains("no coding agent is found here"), "{err}");
    let own = env!("CARGO_BIN_EXE_team");
    assert!(err.contains("`team` is not on PATH, so the settings name"), "{err}");
    let settings: Value = serde_json::from_str(&read(&env, ".mcp.json")).unwrap();
    let command = settings["mcpServers"]["team"]["command"].as_str().unwrap();
    assert_eq!(std::fs::canonicalize(command).unwrap(), std::fs::canonicalize(own).unwrap());
    assert_eq!(out.lines().count(), 3, "{out}");
    assert!(env.path("team.toml").is_file() && env.path(SKILL).is_file());
}

#[test]
fn settings_that_cannot_be_changed_are_left_and_what_to_add_is_told() {
    let env = bare();
    env.write(".mcp.json", "{ // mine\n}\n");
    env.write("opencode.jsonc", "{}\n");
    let (_, err) = finish(&env, &["init", "--skill", "--host", "claude,opencode", "--yes"], 2);
    assert!(err.contains("`.mcp.json` is left as it is: it cannot be read as JSON"), "{err}");
    assert!(err.contains("`opencode.jsonc` may have comments") && err.contains("\"type\": \"local\""), "{err}");
    assert_eq!((read(&env, ".mcp.json").as_str(), read(&env, "opencode.jsonc").as_str()), ("{ // mine\n}\n", "{}\n"));
    // What could be done is done.
    assert!(env.path(SKILL).is_file());
}

#[test]
fn the_skill_is_one_and_its_calls_are_calls_that_the_server_takes() {
    let env = bare();
    finish(&env, &["init", "--skill", "--host", "claude"], 0);
    let text = read(&env, SKILL);
    let (head, body) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(&format!("{name}: "))).unwrap();
    assert_eq!(field("name"), "team");
    assert!((50..1024).contains(&field("description").len()));
    assert!(body.lines().count() < 80);
    let calls: Vec<&str> = body.split('`').filter(|code| code.starts_with("{\"mode\"")).collect();
    assert_eq!(calls.len(), 4, "{calls:?}");
    let mut client = McpClient::connect(&env);
    for call in calls {
        let said = client.refused(&serde_json::from_str(&call.replace("ID", "\"team-none\"")).unwrap());
        let expected =
            if call.contains("input_file") { "`question.md`, which cannot be read" } else { "no session `team-none`" };
        assert!(said.contains(expected), "{call}: {said}");
    }
    let decision = body.split('`').find(|code| code.starts_with("{\"path\"")).unwrap();
    let said =
        client.refused_of("team_respond", &serde_json::from_str(&decision.replace("ID", "\"team-none\"")).unwrap());
    assert!(said.contains("no session `team-none`"), "{said}");
    // Outside of a repository there is nothing to review; what the call says is understood all the same.
    for call in body.split('`').filter(|code| code.starts_with("{\"intent\"") || code.starts_with("{\"worktree\"")) {
        let said = client.refused_of("team_review", &serde_json::from_str(call).unwrap());
        assert!(said.contains("git"), "{call}: {said}");
    }
    client.leave();
}
