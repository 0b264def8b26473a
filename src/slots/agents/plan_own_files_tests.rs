//! What programs are told by files and variables of their own.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::plan_tests::{call, model, variables};
use super::*;
use crate::config::{AgentKind, Environment, ModelSettings, Target};

fn environment(home: &Path, more: &[(&str, &str)]) -> Environment {
    [("HOME", home.to_str().unwrap()), ("PATH", "/usr/bin")].into_iter().chain(more.iter().copied()).collect()
}

fn write(home: &Path, name: &str, text: &str) {
    let path = home.join(name);
    crate::fs::create_dir_all(path.parent().unwrap()).unwrap();
    crate::fs::replace(&path, text.as_bytes()).unwrap();
}

fn gemini(environment: &Environment, settings: ModelSettings) -> Result<ProcessPlan, PlanError> {
    plan(&model(AgentKind::Gemini, &["gemini"], settings), &call(environment))
}

fn text<'a>(plan: &'a ProcessPlan, name: &str) -> Option<&'a str> {
    plan.private.iter().find_map(|file| match file {
        PrivateFile::Text(path, text) if path == Path::new(name) => Some(text.as_str()),
        _ => None,
    })
}

fn settings_of(plan: &ProcessPlan) -> Value {
    serde_json::from_str(text(plan, "home/.gemini/settings.json").unwrap()).unwrap()
}

#[test]
fn gemini_reads_and_nothing_else_and_its_judge_has_no_tool() {
    let home = tempfile::tempdir().unwrap();
    let environment = environment(home.path(), &[]);
    let model = model(AgentKind::Gemini, &["gemini"], ModelSettings::default());
    let answer = plan(&model, &call(&environment)).unwrap();
    let argv: Vec<_> = answer.argv.iter().map(|word| word.to_string_lossy()).collect();
    insta::assert_snapshot!(argv.join(" "), @"gemini --output-format stream-json --approval-mode default --extensions none --admin-policy /tmp/team-x/policy.toml --model=big");
    insta::assert_snapshot!(text(&answer, "policy.toml").unwrap(), @r#"
    [[rule]]
    toolName = "*"
    decision = "deny"
    priority = 100

    [[rule]]
    toolName = ["glob", "grep_search", "list_directory", "read_file"]
    decision = "allow"
    priority = 200
    "#);
    let judge = plan(&model, &Call { purpose: Purpose::Judge, ..call(&environment) }).unwrap();
    assert!(!text(&judge, "policy.toml").unwrap().contains("allow"));
}

#[test]
fn gemini_has_the_users_settings_over_ours_and_a_home_of_its_own() {
    let home = tempfile::tempdir().unwrap();
    let ours = settings_of(&gemini(&environment(home.path(), &[]), ModelSettings::default()).unwrap());
    let expected = json!({
        "general": {"maxAttempts": 3, "enableAutoUpdate": false, "enableAutoUpdateNotification": false},
        "privacy": {"usageStatisticsEnabled": false},
        "context": {"memoryBoundaryMarkers": []},
    });
    assert_eq!(ours, expected);

    let users = "{ // mine\n \"general\": {\"maxAttempts\": 7,}, \"mcpServers\": {\"x\": {\"command\": \"evil\"}},\
                 \"privacy\": {\"usageStatisticsEnabled\": true}, \"context\": {\"memoryBoundaryMarkers\": [\".git\"]},\
                 \"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}}";
    for name in ["oauth_creds.json", "policies/mine.toml", "tmp/x/chats", "history/x", "projects.json"] {
        write(home.path(), &format!(".gemini/{name}"), "");
    }
    write(home.path(), ".gemini/settings.json", users);
    write(home.path(), ".env", "GEMINI_API_KEY=k");
    let plan = gemini(&environment(home.path(), &[]), ModelSettings::default()).unwrap();
    let settings = settings_of(&plan);
    assert_eq!(
        settings["general"],
        json!({"maxAttempts": 7, "enableAutoUpdate": false, "enableAutoUpdateNotification": false})
    );
    assert_eq!(settings["privacy"]["usageStatisticsEnabled"], true);
    assert_eq!(settings["security"]["auth"]["selectedType"], "gemini-api-key");
    assert_eq!((&settings["context"]["memoryBoundaryMarkers"], &settings["mcpServers"]), (&json!([]), &Value::Null));
    let links: Vec<_> = plan.private.iter().filter(|file| matches!(file, PrivateFile::Link(..))).collect();
    let link = |name: &str| PrivateFile::Link(Path::new("home").join(name), home.path().join(name));
    assert_eq!(links, [&link(".gemini/oauth_creds.json"), &link(".gemini/policies"), &link(".env")]);
    let variables: BTreeMap<_, _> = plan.env.into_iter().collect();
    assert_eq!(variables[std::ffi::OsStr::new("GEMINI_CLI_HOME")], "/tmp/team-x/home");
    assert_eq!(variables[std::ffi::OsStr::new("TMPDIR")], "/tmp/team-x/tmp");
}

#[test]
fn retries_that_the_user_set_are_left_to_gemini() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(gemini(&environment(home.path(), &[]), ModelSettings::default()).unwrap().retries, Some(2));
    let other = home.path().join("other");
    write(&other, ".gemini/settings.json", r#"{"general": {"maxAttempts": 4}}"#);
    let environment = environment(home.path(), &[("GEMINI_CLI_HOME", other.to_str().unwrap())]);
    let plan = gemini(&environment, ModelSettings::default()).unwrap();
    assert_eq!((plan.retries, &settings_of(&plan)["general"]["maxAttempts"]), (None, &json!(4)));
}

#[test]
fn settings_that_cannot_be_read_are_named() {
    let home = tempfile::tempdir().unwrap();
    let environment = environment(home.path(), &[]);
    for (text, said) in [("{\"a\" 1}", "expected `:`"), ("[]", "it is no JSON object")] {
        write(home.path(), ".gemini/settings.json", text);
        let error = gemini(&environment, ModelSettings::default()).unwrap_err().to_string();
        assert!(error.contains(".gemini/settings.json`: ") && error.contains(said), "{error}");
    }
}

#[test]
fn a_system_prompt_is_added_to_what_the_user_told_the_program() {
    let home = tempfile::tempdir().unwrap();
    let environment =
        environment(home.path(), &[("OPENCODE_CONFIG_CONTENT", r#"{"instructions": ["mine.md"], "x": 1}"#)]);
    let settings = ModelSettings { system: Some("be short".to_owned()), ..ModelSettings::default() };
    let plan = gemini(&environment, settings.clone()).unwrap();
    assert_eq!(text(&plan, "home/.gemini/GEMINI.md"), Some("be short"));
    write(home.path(), ".gemini/GEMINI.md", "I am Ada.\n");
    let plan = gemini(&environment, settings.clone()).unwrap();
    assert_eq!(text(&plan, "home/.gemini/GEMINI.md"), Some("I am Ada.\n\nbe short"));
    assert!(!plan.private.iter().any(|file| matches!(file, PrivateFile::Link(name, _) if name.ends_with("GEMINI.md"))));

    let model = model(AgentKind::Opencode, &["opencode"], settings);
    let content = &variables(&model, &environment)["OPENCODE_CONFIG_CONTENT"];
    let content: Value = serde_json::from_str(content).unwrap();
    assert_eq!(content, json!({"snapshot": false, "instructions": ["mine.md", "/tmp/team-x/system.md"], "x": 1}));
}

#[test]
fn opencode_never_asks_and_only_reads() {
    let home = tempfile::tempdir().unwrap();
    // What the caller's own session allows is not meant for a seat.
    let environment = environment(home.path(), &[("OPENCODE_PERMISSION", "{\"bash\": \"allow\"}")]);
    let settings = ModelSettings { reasoning_effort: Some("high".to_owned()), ..ModelSettings::default() };
    let model = model(AgentKind::Opencode, &["opencode"], settings);
    let plan = plan(&model, &call(&environment)).unwrap();
    let argv: Vec<_> = plan.argv.iter().map(|word| word.to_string_lossy()).collect();
    insta::assert_snapshot!(argv.join(" "), @"opencode run --format json --title team --print-logs --log-level WARN --model=big --variant=high");
    assert_eq!(plan.retries, Some(2));
    for (purpose, allowed) in [
        (Purpose::Answer, &["glob", "grep", "list", "read"][..]),
        (Purpose::Fix, &["bash", "edit", "glob", "grep", "list", "read"]),
        (Purpose::Judge, &[]),
    ] {
        let plan = super::plan(&model, &Call { purpose, ..call(&environment) }).unwrap();
        let variables: BTreeMap<_, _> = plan.env.into_iter().collect();
        let rules = variables[std::ffi::OsStr::new("OPENCODE_PERMISSION")].to_str().unwrap();
        let rules: BTreeMap<String, String> = serde_json::from_str(rules).unwrap();
        let found: Vec<&str> =
            rules.iter().filter(|(_, rule)| *rule != "deny").map(|(tool, _)| tool.as_str()).collect();
        assert_eq!((found.as_slice(), rules["*"].as_str()), (allowed, "deny"));
    }
}

/// The variables whose names say that they hold a key.
fn keys(asked: Option<&str>, environment: &Environment) -> Vec<String> {
    let mut model = model(AgentKind::Opencode, &["opencode"], ModelSettings::default());
    let Target::Process { model: name, .. } = &mut model.target else { unreachable!() };
    *name = asked.map(str::to_owned);
    let names = variables(&model, environment).into_keys();
    names.filter(|name| name.contains("KEY") || name.contains("TOKEN") || name == "PLAIN").collect()
}

#[test]
fn opencode_gets_the_key_of_the_vendor_that_is_asked_and_of_no_other() {
    let home = tempfile::tempdir().unwrap();
    let all = [
        ("ANTHROPIC_API_KEY", "anthropic-secret"),
        ("OPENAI_API_KEY", "openai-secret"),
        ("GROQ_API_KEY", "groq-secret"),
        ("PLAIN", "configured-secret"),
        ("GITHUB_TOKEN", "github-secret"),
    ];
    let environment = environment(home.path(), &all);
    assert_eq!(keys(Some("anthropic/claude-x"), &environment), ["ANTHROPIC_API_KEY"]);
    assert_eq!(keys(None, &environment), Vec::<String>::new(), "nobody is known to be asked");
    let config = r#"{
        "model": "groq/llama", // by default
        "provider": {
            "office": {"options": {"apiKey": "{env:PLAIN}"}},
            "groq": {"options": {"apiKey": "{env:GROQ_API_KEY}"}},
        },
    }"#;
    write(home.path(), ".config/opencode/opencode.jsonc", config);
    assert_eq!(keys(None, &environment), ["GROQ_API_KEY"], "the model of its configuration");
    assert_eq!(keys(Some("office/big"), &environment), ["PLAIN"]);
    write(home.path(), ".config/opencode/opencode.jsonc", &config.replace("groq/llama", "default"));
    assert_eq!(keys(None, &environment), ["GROQ_API_KEY", "PLAIN"], "whoever its configuration has keys of");

    let mut office = model(AgentKind::Opencode, &["opencode"], ModelSettings::default());
    let Target::Process { model, .. } = &mut office.target else { unreachable!() };
    *model = Some("office/big".to_owned());
    assert_eq!(plan(&office, &call(&environment)).unwrap().secret_values, ["configured-secret"]);
}

#[test]
fn codex_keeps_its_databases_in_the_private_folder_unless_the_model_says_where() {
    let home = tempfile::tempdir().unwrap();
    // One for all of the user's is shared, whoever named it.
    let environment = environment(home.path(), &[("CODEX_SQLITE_HOME", "/shared")]);
    let folder = PrivateFile::Folder("databases".into());
    for (agent, command) in [(AgentKind::Codex, &["codex"][..]), (AgentKind::Custom, &["/opt/codex", "exec", "-"])] {
        let found = plan(&model(agent, command, ModelSettings::default()), &call(&environment)).unwrap();
        let set = found.env.iter().find(|(name, _)| name == "CODEX_SQLITE_HOME").map(|(_, value)| value.clone());
        assert_eq!(set, Some("/tmp/team-x/databases".into()), "{command:?}");
        assert!(found.private.contains(&folder), "{command:?}");
    }
    let env = [("CODEX_SQLITE_HOME".to_owned(), "/mine".to_owned())].into_iter().collect();
    let settings = ModelSettings { env, ..ModelSettings::default() };
    let found = plan(&model(AgentKind::Codex, &["codex"], settings), &call(&environment)).unwrap();
    assert!(found.env.contains(&("CODEX_SQLITE_HOME".into(), "/mine".into())));
    assert!(
        !found.private.contains(&folder) && !found.argv.iter().any(|word| word.to_string_lossy().contains("sqlite"))
    );
}
