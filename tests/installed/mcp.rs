//! `team mcp` with clients that others wrote: the official one for Python, the inspector, and the coding agents.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::provider::ScriptedProvider;
use crate::support::{DEADLINE, TestEnv, finish, voters};
use crate::tools::{cache, path_with_agents};

/// A project with a panel of two that answer and approve, and a path on which the agents and `team` are found.
fn world() -> TestEnv {
    let own = Path::new(env!("CARGO_BIN_EXE_team")).parent().unwrap().display().to_string();
    let env = TestEnv::new().set("PATH", &format!("{own}:{}", path_with_agents()));
    env.write("team.toml", voters(&[("zebra", "black", "approve"), ("yak", "brown", "approve")]).text());
    env
}

/// Runs another program in this world to its end.
fn run(env: &TestEnv, program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let team = env.command_under(&[], &[]);
    let mut command = Command::new(program);
    command.args(arguments).current_dir(env.project()).env_clear();
    command.envs(team.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.envs(variables.iter().copied());
    assert_cmd::Command::from_std(command).timeout(4 * DEADLINE).output().unwrap()
}

/// The same; fails unless it ends well. Gives its standard output.
#[track_caller]
fn output(env: &TestEnv, program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let Output { status, stdout, stderr } = run(env, program, arguments, variables);
    let (out, err) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{}: {status}\n{out}\n{err}", program.display());
    out.into_owned()
}

fn installed(name: &str) -> PathBuf {
    let path = cache().join(name);
    assert!(path.exists(), "`{}` is missing: `.ci/run` installs it", path.display());
    path
}

#[test]
fn the_official_python_client_is_served_in_each_revision() {
    for (mode, revision) in [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")] {
        let env = world();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/mcp_client.py");
        let arguments = [script.to_str().unwrap(), mode, env!("CARGO_BIN_EXE_team"), "Which is it?"];
        let seen: Value = serde_json::from_str(&output(&env, &installed("mcp/bin/python"), &arguments, &[])).unwrap();
        assert_eq!(
            (&seen["revision"], &seen["tools"]),
            (&json!(revision), &json!(["team", "team_review", "team_fix", "team_respond"])),
            "{mode}"
        );
        assert_eq!(seen["prompts"], json!(["best-answer", "approve", "review-change", "fix-findings", "read-verdict"]));
        assert_eq!((&seen["judged"]["result"], &seen["lists"]), (&json!("done"), &json!(20)));
        let session = env.session();
        assert_eq!(seen["judged"]["session"], session.id());
        for text in [&seen["verdict"], &seen["resource"]] {
            assert_eq!(*text, json!(session.text("verdict.md")), "{mode}");
        }
        assert_eq!(seen["resources"][0], format!("team://sessions/{}/verdict", session.id()));
        assert_eq!(seen["refused"][0], true);
        assert!(seen["refused"][1].as_str().unwrap().contains("did you mean `input`"), "{seen}");
        let progress: Vec<f64> =
            seen["progress"].as_array().unwrap().iter().map(|told| told[0].as_f64().unwrap()).collect();
        assert!(progress.len() > 2 && progress.windows(2).all(|pair| pair[0] < pair[1]), "{progress:?}");
        env.wait_for_no_processes();
    }
}

#[test]
fn the_inspector_lists_calls_and_reads() {
    let env = world();
    let inspector = installed("inspector/node_modules/.bin/mcp-inspector");
    let ask = |arguments: &[&str]| -> Value {
        let arguments = [&["--cli", env!("CARGO_BIN_EXE_team"), "mcp", "--method"], arguments].concat();
        serde_json::from_str(&output(&env, &inspector, &arguments, &[])).unwrap()
    };
    assert_eq!(ask(&["tools/list"])["tools"][0]["inputSchema"]["additionalProperties"], false);
    let call =
        ["tools/call", "--tool-name", "team", "--tool-arg", "mode=run-and-judge", "--tool-arg", "self_vote=slot"];
    let called = ask(&[&call[..], &["--tool-arg", "input=Which is it?"]].concat());
    let object: Value = serde_json::from_str(called["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&called["isError"], &object["result"]), (&json!(false), &json!("done")));
    let listed = ask(&["tools/call", "--tool-name", "team", "--tool-arg", "mode=list", "--tool-arg", "limit=1"]);
    assert!(listed["content"][0]["text"].as_str().unwrap().contains(&env.session().id()), "{listed}");
    let uri = ask(&["resources/list"])["resources"][0]["uri"].as_str().unwrap().to_owned();
    let read = ask(&["resources/read", "--uri", &uri]);
    assert_eq!(read["contents"][0]["text"], env.session().text("verdict.md"));
    let prompt = ask(&["prompts/get", "--prompt-name", "approve", "--prompt-args", "file=plan.md"]);
    assert!(prompt["messages"][0]["content"]["text"].as_str().unwrap().contains("plan.md"), "{prompt}");
    env.wait_for_no_processes();
}

#[test]
fn claude_finds_the_skill_and_calls_the_server_as_init_wrote_them() {
    let env = world();
    finish(&env, &["init", "--skill", "--host", "claude"], 0);
    let provider = ScriptedProvider::start();
    let variables = [
        ("ANTHROPIC_BASE_URL", provider.scenario("toolmcp")),
        ("ANTHROPIC_API_KEY", "sk-scripted".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        // Otherwise it looks for tools first, and the script knows no search.
        ("ENABLE_TOOL_SEARCH", "false".to_owned()),
    ];
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let arguments = ["-p", "--output-format", "stream-json", "--verbose", "--strict-mcp-config", "--mcp-config"];
    let arguments =
        [&arguments[..], &[".mcp.json", "--allowedTools", "mcp__team__team", "--", "Ask the panel."]].concat();
    let claude = installed("agents/node_modules/.bin/claude");
    let frames = output(&env, &claude, &arguments, &variables);
    let frames: Vec<Value> = frames.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let init = frames.iter().find(|frame| frame["subtype"] == "init").unwrap();
    assert_eq!(
        (&init["mcp_servers"][0]["name"], &init["mcp_servers"][0]["status"]),
        (&json!("team"), &json!("connected"))
    );
    assert!(init["skills"].as_array().unwrap().contains(&json!("team")), "{}", init["skills"]);
    let result = frames.iter().find_map(|frame| {
        let content = &frame["message"]["content"][0];
        (content["type"] == "tool_result").then(|| content["content"][0]["text"].as_str().unwrap().to_owned())
    });
    let result: Value = serde_json::from_str(&result.unwrap()).unwrap();
    assert_eq!((&result["result"], &result["session"]), (&json!("done"), &json!(env.session().id())));
    assert!(env.session().has("verdict.md"));
    env.wait_for_no_processes();
}

#[test]
fn the_settings_that_init_writes_are_read_by_each_host() {
    let env = world();
    finish(&env, &["init", "--skill", "--host", "codex,gemini,opencode"], 0);
    let project = env.project().canonicalize().unwrap().display().to_string();
    let home = |file: &str, text: &str| {
        let path = env.home().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    home(".codex/config.toml", &format!("[projects.{project:?}]\ntrust_level = \"trusted\"\n"));
    home(".gemini/trustedFolders.json", &json!({ project: "TRUST_FOLDER" }).to_string());
    // What opencode would install at its first start.
    home("opencode/package.json", r#"{"dependencies": {"@opencode-ai/plugin": "*"}}"#);
    home("opencode/package-lock.json", r#"{"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}"#);
    home("opencode/node_modules/.keep", "");
    let config = env.home().display().to_string();
    for program in ["codex", "gemini", "opencode"] {
        let path = installed(&format!("agents/node_modules/.bin/{program}"));
        let variables = if program == "opencode" { vec![("XDG_CONFIG_HOME", config.as_str())] } else { Vec::new() };
        let Output { stdout, stderr, .. } = run(&env, &path, &["mcp", "list"], &variables);
        let said = [stdout, stderr].concat();
        let said = String::from_utf8_lossy(&said).to_lowercase();
        // codex does not start a server to list it, the others do.
        let expected = if program == "codex" { "enabled" } else { "connected" };
        assert!(said.contains("team") && said.contains(expected), "{program}: {said}");
        assert!(!said.contains("disconnected"), "{program}: {said}");
    }
    env.wait_for_no_processes();
}
