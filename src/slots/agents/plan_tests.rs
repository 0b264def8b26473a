//! Command lines and environments of every kind of program.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::*;
use crate::config::{
    AgentKind, Environment, ModelIdentity, ModelSettings, OutputFormat, PromptVia, ResolvedModel, Target,
};

pub(super) fn model(agent: AgentKind, command: &[&str], settings: ModelSettings) -> ResolvedModel {
    ResolvedModel {
        name: "m".to_owned(),
        identity: ModelIdentity("process/m".to_owned()),
        target: Target::Process {
            agent,
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            model: (agent != AgentKind::Custom).then(|| "big".to_owned()),
            prompt: PromptVia::Stdin,
            output: OutputFormat::Text,
        },
        settings,
    }
}

pub(super) fn call(environment: &Environment) -> Call<'_> {
    Call {
        purpose: Purpose::Answer,
        talk: Talk::Alone,
        prompt_file: Path::new("/s/input.md"),
        work_dir: Path::new("/s/work/01"),
        private_dir: Path::new("/tmp/team-x"),
        retries: 2,
        nested_sandbox: NestedSandbox::Works,
        environment,
    }
}

fn argv(model: &ResolvedModel, call: &Call<'_>) -> String {
    let plan = plan(model, call).unwrap();
    plan.argv.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join("\n")
}

pub(super) fn variables(model: &ResolvedModel, environment: &Environment) -> BTreeMap<String, String> {
    let text = |value: std::ffi::OsString| value.into_string().unwrap();
    plan(model, &call(environment)).unwrap().env.into_iter().map(|(n, v)| (text(n), text(v))).collect()
}

fn full_environment() -> Environment {
    [
        ("PATH", "/usr/bin"),
        ("HOME", "/home/u"),
        ("LC_ALL", "C.UTF-8"),
        ("XDG_CONFIG_HOME", "/x"),
        ("https_proxy", "http://user:proxypassword@p:3128"),
        ("NODE_EXTRA_CA_CERTS", "/ca.pem"),
        ("PWD", "/elsewhere"),
        ("ANTHROPIC_API_KEY", "anthropic-secret"),
        ("CLAUDE_CONFIG_DIR", "/c"),
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_ENTRYPOINT", "cli"),
        ("CLAUDE_CODE_SSE_PORT", "1234"),
        ("OPENAI_API_KEY", "openai-secret"),
        ("CODEX_HOME", "/codex"),
        ("CODEX_SANDBOX_NETWORK_DISABLED", "1"),
        ("GEMINI_API_KEY", "gemini-secret"),
        ("GROQ_API_KEY", "groq-secret"),
        ("AWS_SECRET_ACCESS_KEY", "aws-secret"),
        ("GITHUB_TOKEN", "github-secret"),
        ("LD_PRELOAD", "/evil.so"),
        ("NODE_OPTIONS", "--require /evil.js"),
        ("TEAM_SESSIONS_DIR", "/s"),
    ]
    .into_iter()
    .collect()
}

#[test]
fn claude_answers_with_tools_that_only_read() {
    let environment = Environment::default();
    let settings = ModelSettings {
        system: Some("be short; $(rm -rf /)".to_owned()),
        reasoning_effort: Some("high".to_owned()),
        ..ModelSettings::default()
    };
    insta::assert_snapshot!(argv(&model(AgentKind::Claude, &["claude"], settings), &call(&environment)), @r"
    claude
    -p
    --output-format
    stream-json
    --verbose
    --no-session-persistence
    --disable-slash-commands
    --strict-mcp-config
    --setting-sources
    user
    --tools
    Read,Grep,Glob
    --allowedTools
    Read,Grep,Glob
    --model=big
    --effort=high
    --append-system-prompt=be short; $(rm -rf /)
    ");
}

#[test]
fn claude_judges_without_any_tool() {
    let environment = Environment::default();
    let call = Call { purpose: Purpose::Judge, ..call(&environment) };
    let argv = argv(&model(AgentKind::Claude, &["claude"], ModelSettings::default()), &call);
    assert!(argv.contains("\n--tools\n\n--model=big"), "{argv}");
    assert!(!argv.contains("--allowedTools"), "{argv}");
}

#[test]
fn codex_reads_its_prompt_from_standard_input() {
    let environment = Environment::default();
    let settings = ModelSettings {
        system: Some("a \"quoted\"\nline".to_owned()),
        reasoning_effort: Some("low".to_owned()),
        ..ModelSettings::default()
    };
    insta::assert_snapshot!(argv(&model(AgentKind::Codex, &["codex"], settings), &call(&environment)), @r#"
    codex
    exec
    --json
    --skip-git-repo-check
    --sandbox
    read-only
    --color
    never
    --ephemeral
    -c
    features.plugins=false
    -c
    analytics.enabled=false
    -c
    check_for_update_on_startup=false
    -c
    project_doc_max_bytes=0
    -c
    web_search="disabled"
    -c
    history.persistence="none"
    -c
    sqlite_home="/tmp/team-x/databases"
    -c
    model_reasoning_effort="low"
    -c
    developer_instructions="""
    a "quoted"
    line"""
    --model=big
    -
    "#);
}

#[test]
fn codex_leaves_the_sandbox_to_us_where_its_own_would_fail() {
    let environment = Environment::default();
    let call = Call { nested_sandbox: NestedSandbox::Fails, ..call(&environment) };
    let argv = argv(&model(AgentKind::Codex, &["codex"], ModelSettings::default()), &call);
    assert!(argv.contains("--sandbox\ndanger-full-access\n"), "{argv}");
}

#[test]
fn who_repairs_may_write_and_run_in_its_folder_and_is_not_asked() {
    let environment = Environment::default();
    let call = Call { purpose: Purpose::Fix, ..call(&environment) };
    let claude = argv(&model(AgentKind::Claude, &["claude"], ModelSettings::default()), &call);
    let tools = "Read,Grep,Glob,Edit,Write,Bash";
    assert!(claude.contains(&format!("\n--tools\n{tools}\n--allowedTools\n{tools}\n")), "{claude}");
    let codex = argv(&model(AgentKind::Codex, &["codex"], ModelSettings::default()), &call);
    assert!(codex.contains("--sandbox\nworkspace-write\n"), "{codex}");
    let outer = Call { nested_sandbox: NestedSandbox::Fails, ..call };
    let codex = argv(&model(AgentKind::Codex, &["codex"], ModelSettings::default()), &outer);
    assert!(codex.contains("--sandbox\ndanger-full-access\n"), "{codex}");
    let gemini = plan(&model(AgentKind::Gemini, &["gemini"], ModelSettings::default()), &call).unwrap();
    let rules = format!("{:?}", gemini.private);
    assert!(["replace", "write_file", "run_shell_command"].iter().all(|tool| rules.contains(tool)), "{rules}");
}

#[test]
fn a_command_of_the_users_gets_the_path_of_its_prompt_and_empty_input() {
    let environment = Environment::default();
    let mut model = model(AgentKind::Custom, &["prog", "--in={prompt_file}", "$HOME", ";"], ModelSettings::default());
    let Target::Process { prompt, .. } = &mut model.target else { unreachable!() };
    *prompt = PromptVia::File;
    let plan = plan(&model, &call(&environment)).unwrap();
    assert_eq!(plan.argv, ["prog", "--in=/s/input.md", "$HOME", ";"]);
    assert_eq!(plan.stdin, Stdin::Empty);
}

#[test]
fn claude_inherits_its_own_variables_and_no_other_key() {
    let names = variables(&model(AgentKind::Claude, &["claude"], ModelSettings::default()), &full_environment());
    insta::assert_debug_snapshot!(names, @r#"
    {
        "ANTHROPIC_API_KEY": "anthropic-secret",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "2",
        "CLAUDE_CONFIG_DIR": "/c",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
        "HOME": "/home/u",
        "LC_ALL": "C.UTF-8",
        "NODE_EXTRA_CA_CERTS": "/ca.pem",
        "PATH": "/usr/bin",
        "PWD": "/s/work/01",
        "XDG_CONFIG_HOME": "/x",
        "https_proxy": "http://user:proxypassword@p:3128",
    }
    "#);
}

#[test]
fn codex_inherits_its_own_variables_and_no_other_key() {
    let names = variables(&model(AgentKind::Codex, &["codex"], ModelSettings::default()), &full_environment());
    let special: Vec<&str> =
        names.keys().map(String::as_str).filter(|n| n.contains('_') && !n.starts_with("LC")).collect();
    let expected =
        ["CODEX_HOME", "CODEX_SQLITE_HOME", "NODE_EXTRA_CA_CERTS", "OPENAI_API_KEY", "XDG_CONFIG_HOME", "https_proxy"];
    assert_eq!(special, expected);
}

#[test]
fn a_command_of_the_users_inherits_no_key_but_what_it_declares() {
    let settings = ModelSettings {
        env: BTreeMap::from([
            ("MY_KEY".to_owned(), "${GROQ_API_KEY}".to_owned()),
            ("MODE".to_owned(), "a$b".to_owned()),
        ]),
        ..ModelSettings::default()
    };
    let environment = full_environment();
    let model = model(AgentKind::Custom, &["prog"], settings);
    let names = variables(&model, &environment);
    assert_eq!(names["MY_KEY"], "groq-secret");
    assert_eq!(names["MODE"], "a$b");
    assert_eq!(names["PWD"], "/s/work/01");
    assert!(!names.keys().any(|name| name.ends_with("_API_KEY") || name.ends_with("TOKEN")), "{names:?}");
    let secrets = plan(&model, &call(&environment)).unwrap().secret_values;
    assert_eq!(secrets, ["proxypassword", "groq-secret"]);
}

#[test]
fn secrets_that_a_program_gets_are_listed_and_not_in_the_debug_form() {
    let environment = full_environment();
    let plan = plan(&model(AgentKind::Claude, &["claude"], ModelSettings::default()), &call(&environment)).unwrap();
    assert_eq!(plan.secret_values, ["anthropic-secret", "proxypassword"]);
    assert!(!format!("{plan:?}").contains("secret\""));
}

#[test]
fn cloud_credentials_are_inherited_only_where_the_program_is_told_to_use_them() {
    let base = [("AWS_REGION", "eu"), ("AWS_SECRET_ACCESS_KEY", "aws-secret")];
    let model = model(AgentKind::Claude, &["claude"], ModelSettings::default());
    let without: Environment = base.into_iter().collect();
    assert!(!variables(&model, &without).contains_key("AWS_REGION"));
    let with: Environment = base.into_iter().chain([("CLAUDE_CODE_USE_BEDROCK", "1")]).collect();
    assert_eq!(variables(&model, &with)["AWS_SECRET_ACCESS_KEY"], "aws-secret");
}

#[test]
fn the_users_own_number_of_retries_wins() {
    let model = model(AgentKind::Claude, &["claude"], ModelSettings::default());
    assert_eq!(variables(&model, &Environment::default())["CLAUDE_CODE_MAX_RETRIES"], "2");
    let environment: Environment = [("CLAUDE_CODE_MAX_RETRIES", "7")].into_iter().collect();
    assert_eq!(variables(&model, &environment)["CLAUDE_CODE_MAX_RETRIES"], "7");
}

#[test]
fn a_known_program_behind_a_command_keeps_its_habits() {
    let names = variables(&model(AgentKind::Custom, &["gemini"], ModelSettings::default()), &full_environment());
    assert_eq!(names["GEMINI_API_KEY"], "gemini-secret");
    assert_eq!(names["GEMINI_TELEMETRY_ENABLED"], "false");
    assert!(!names.contains_key("OPENAI_API_KEY"));
}

/// The same model of another name.
fn asked(mut model: ResolvedModel, name: &str) -> ResolvedModel {
    if let Target::Process { model, .. } = &mut model.target {
        *model = Some(name.to_owned());
    }
    model
}

#[test]
fn claudish_passes_what_restricts_claude_on_to_it_and_leaves_it_the_prompt() {
    let environment = Environment::default();
    let settings = ModelSettings {
        system: Some("-be short".to_owned()),
        reasoning_effort: Some("high".to_owned()),
        max_tokens: Some(900),
        ..ModelSettings::default()
    };
    let model = asked(model(AgentKind::Claudish, &["claudish"], settings), "or@x/y");
    insta::assert_snapshot!(argv(&model, &call(&environment)), @r"
    claudish
    --model
    or@x/y
    --no-auto-approve
    --log-off
    --verbose
    --quiet
    -p
    --output-format
    stream-json
    --no-session-persistence
    --disable-slash-commands
    --strict-mcp-config
    --setting-sources
    user
    --tools
    Read,Grep,Glob
    --allowedTools
    Read,Grep,Glob
    --effort=high
    --append-system-prompt=-be short
    ");
    let judge = Call { purpose: Purpose::Judge, ..call(&environment) };
    assert!(argv(&model, &judge).contains("\n--tools\n\n--effort=high"));
    let names = variables(&model, &environment);
    assert_eq!(names["CLAUDE_CODE_MAX_OUTPUT_TOKENS"], "900");
    assert_eq!((&*names["CLAUDE_CODE_MAX_RETRIES"], &*names["DISABLE_AUTOUPDATER"]), ("2", "1"));
    assert_eq!((&*names["CLAUDISH_STATS"], &*names["CLAUDISH_DISABLE_CATALOG_WARM"]), ("0", "1"));
}

#[test]
fn llm_is_told_every_setting_and_logs_nothing() {
    let environment = Environment::default();
    let settings = ModelSettings {
        system: Some("be short".to_owned()),
        temperature: Some(0.2),
        top_p: Some(0.9),
        seed: Some(7),
        max_tokens: Some(900),
        reasoning_effort: Some("low".to_owned()),
        ..ModelSettings::default()
    };
    let model = model(AgentKind::Llm, &["llm"], settings);
    assert_eq!(
        argv(&model, &call(&environment)).replace('\n', " "),
        "llm prompt --no-log --database :memory: --hide-reasoning --model big --system be short --option temperature 0.2 \
         --option top_p 0.9 --option seed 7 --option max_tokens 900 --option reasoning_effort low"
    );
}

#[test]
fn a_program_with_many_providers_gets_the_key_of_the_one_that_is_asked() {
    let environment: Environment = full_environment()
        .iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .chain(
            [
                ("OPENROUTER_API_KEY", "openrouter-secret"),
                ("OPENAI_BASE_URL", "http://openai"),
                ("GEMINI_BASE_URL", "http://gemini"),
                ("LLM_GEMINI_KEY", "llm-gemini-secret"),
                ("LLM_MISTRAL_KEY", "llm-mistral-secret"),
                ("LLM_USER_PATH", "/llm"),
                ("LLM_MODEL", "another"),
                ("CLAUDE_CODE_OAUTH_TOKEN", "claude-secret"),
                ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "5"),
                ("CLAUDISH_MODEL_HAIKU", "another"),
                ("CLAUDISH_CONFIG", "/c.json"),
            ]
            .map(|(name, value)| (name.into(), value.into())),
        )
        .collect();
    let special = |agent: AgentKind, program: &str, name: &str| -> Vec<String> {
        let model = asked(model(agent, &[program], ModelSettings::default()), name);
        let variables = variables(&model, &environment);
        let parts = ["API_KEY", "TOKEN", "_KEY", "BASE_URL", "MODEL", "LLM", "CLAUDISH_C"];
        variables.into_keys().filter(|name| parts.iter().any(|part| name.contains(part))).collect()
    };
    let claudish = |name: &str| special(AgentKind::Claudish, "claudish", name);
    let always = ["CLAUDE_CODE_MAX_OUTPUT_TOKENS", "CLAUDISH_CONFIG"];
    let with = |more: &[&str]| {
        let mut all: Vec<String> = always.iter().chain(more).map(|name| (*name).to_owned()).collect();
        all.sort();
        all
    };
    assert_eq!(claudish("or@openai/gpt-5.3"), with(&["OPENROUTER_API_KEY"]));
    assert_eq!(claudish("oai@gpt-5.3"), with(&["OPENAI_API_KEY", "OPENAI_BASE_URL"]));
    assert_eq!(claudish("gemini-3-pro"), with(&["GEMINI_API_KEY", "GEMINI_BASE_URL"]));
    assert_eq!(claudish("claude-opus-5"), with(&["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"]));
    assert_eq!(claudish("my-own@thing"), with(&[]));
    // An address is no secret, and `llm` cannot be told by a name whether the model is asked by OpenAI's library.
    let llm = |name: &str| special(AgentKind::Llm, "llm", name);
    assert_eq!(llm("gpt-4o"), ["LLM_USER_PATH", "OPENAI_API_KEY", "OPENAI_BASE_URL"]);
    assert_eq!(llm("gemini-2.5-pro"), ["LLM_GEMINI_KEY", "LLM_USER_PATH", "OPENAI_BASE_URL"]);
    assert_eq!(llm("of-a-plugin"), ["LLM_USER_PATH", "OPENAI_BASE_URL"]);
}

#[test]
fn codex_has_the_retries_of_a_provider_of_the_users_own_bounded_unless_the_user_did() {
    let home = tempfile::tempdir().unwrap();
    let of = |config: &str| -> Vec<String> {
        crate::fs::replace(&home.path().join("config.toml"), config.as_bytes()).unwrap();
        // Also where only the model's own variables say so.
        let env = BTreeMap::from([("CODEX_HOME".to_owned(), home.path().display().to_string())]);
        let settings = ModelSettings { env, ..ModelSettings::default() };
        let argv = argv(&model(AgentKind::Codex, &["codex"], settings), &call(&Environment::default()));
        argv.lines().filter(|line| line.contains("max_retries")).map(str::to_owned).collect()
    };
    let provider = "model_provider = \"office\"\n[model_providers.office]\nbase_url = \"http://o/v1\"\n";
    assert_eq!(
        of(provider),
        ["model_providers.office.request_max_retries=2", "model_providers.office.stream_max_retries=0"]
    );
    assert_eq!(
        of(&format!("{provider}stream_max_retries = 9\n")),
        ["model_providers.office.request_max_retries=2"],
        "the user's own wins"
    );
    for built_in in ["", "model = \"m\"\n", "model_provider = \"openai\"\n", "not TOML"] {
        assert_eq!(of(built_in), Vec::<String>::new(), "{built_in}");
    }
}

#[test]
fn a_missing_variable_and_a_long_system_prompt_are_refused() {
    let environment = Environment::default();
    let env = BTreeMap::from([("K".to_owned(), "${ABSENT}".to_owned())]);
    let settings = ModelSettings { env, ..ModelSettings::default() };
    let error = plan(&model(AgentKind::Custom, &["p"], settings), &call(&environment)).unwrap_err();
    assert_eq!(error.to_string(), "`env.K`: environment variable `ABSENT` is not set");
    let settings = ModelSettings { system: Some("x".repeat(200_000)), ..ModelSettings::default() };
    let error = plan(&model(AgentKind::Claude, &["claude"], settings), &call(&environment)).unwrap_err();
    assert!(matches!(error, PlanError::SystemTooLong(_)));
}

/// A program, written by a child: a file that this process had open for writing could not be started while another test
/// forks.
fn script(dir: &Path, name: &str, text: &str) -> std::path::PathBuf {
    let path = dir.join(name);
    let written = std::process::Command::new("sh")
        .args(["-c", "printf '%s' \"$2\" > \"$1\" && chmod 755 \"$1\"", "sh"])
        .args([path.as_os_str(), text.as_ref()])
        .status();
    assert!(written.unwrap().success());
    path
}

#[tokio::test]
async fn a_version_is_the_first_line_and_a_silent_program_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let environment = Environment::of_this_process();
    let prog = script(dir.path(), "a", "#!/bin/sh\nread x\nprintf '\\n1.2.3 \\033[1m(prog)\\nmore\\n'\n");
    let version = version_of(&prog, &environment, Duration::from_secs(20)).await.unwrap();
    assert_eq!(version, "1.2.3 [1m(prog)");
    let prog = script(dir.path(), "b", "#!/bin/sh\necho 1; echo needs another >&2; exit 3\n");
    let error = version_of(&prog, &environment, Duration::from_secs(20)).await.unwrap_err().to_string();
    assert!(error.ends_with("b --version` gave no version: needs another"), "{error}");
    let prog = script(dir.path(), "c", "#!/bin/sh\nexec sleep 60\n");
    let started = std::time::Instant::now();
    let error = version_of(&prog, &environment, Duration::from_millis(200)).await.unwrap_err();
    assert!(matches!(error, VersionError::Deadline { .. }));
    assert!(started.elapsed() < Duration::from_secs(30));
}
