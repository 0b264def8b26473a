//! Seats of the real programs in front of the scripted provider.

use std::path::PathBuf;
use std::process::Output;

use toml::Value;

use crate::provider::ScriptedProvider;
use crate::support::{Session, TeamToml, TestEnv};
use crate::tools::path_with_agents;

/// A key that no test may find in any file.
pub(crate) const KEY: &str = "sk-scripted-0123456789abcdef";

/// A project, and the provider that its seats ask.
pub(crate) struct World {
    pub(crate) env: TestEnv,
    pub(crate) provider: ScriptedProvider,
}

/// The name of a program's seat in a scenario.
pub(crate) fn seat(program: &str, scenario: &str) -> String {
    format!("{program}-{scenario}")
}

impl World {
    /// A seat for each program in each scenario.
    pub(crate) fn new(programs: &[&str], scenarios: &[&str]) -> Self {
        let provider = ScriptedProvider::start();
        let env = TestEnv::new().set("PATH", &path_with_agents()).set("SCRIPTED_KEY", KEY);
        let mut config = TeamToml::new();
        for program in programs {
            for scenario in scenarios {
                let keys = keys_of(&env, program, scenario, &provider.scenario(scenario));
                config = config.model(&seat(program, scenario), &keys);
            }
        }
        env.write("team.toml", config.text());
        Self { env, provider }
    }

    /// Runs a command to its end, and checks that the key is nowhere.
    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> (Option<i32>, String, Session) {
        let output = self.env.team(arguments).timeout(std::time::Duration::from_secs(300)).output().unwrap();
        let Output { stdout, stderr, status } = &output;
        let said = format!("{}\n{}", String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr));
        assert!(!said.contains(KEY), "{said}");
        let session = self.env.session();
        for file in session.files() {
            let bytes = std::fs::read(session.path(&file)).unwrap();
            assert!(memchr::memmem::find(&bytes, KEY.as_bytes()).is_none(), "`{file}` holds the key");
        }
        self.env.wait_for_no_processes();
        (status.code(), said, session)
    }
}

/// Where the settings of programs are: beside the project, which may be a repository that nobody may write to.
pub(crate) fn settings(env: &TestEnv, name: &str) -> PathBuf {
    env.home().with_file_name("settings").join(name)
}

fn set(env: &TestEnv, name: &str, text: impl AsRef<[u8]>) {
    let path = settings(env, name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// How a program is told to ask `url`.
pub(crate) fn keys_of(env: &TestEnv, program: &str, scenario: &str, url: &str) -> Vec<(&'static str, Value)> {
    let uses = |model: &str| ("use", Value::from(format!("{program}{model}")));
    let variables = |pairs: &[(&str, &str)]| {
        let table = pairs.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
        ("env", Value::Table(table))
    };
    match program {
        "claude" => {
            vec![uses(""), variables(&[("ANTHROPIC_BASE_URL", url), ("ANTHROPIC_API_KEY", "${SCRIPTED_KEY}")])]
        }
        "codex" => {
            let home = format!("codex-{scenario}");
            set(
                env,
                &format!("{home}/config.toml"),
                format!(
                    "model = \"scripted\"\nmodel_provider = \"scripted\"\n[model_providers.scripted]\n\
                     name = \"scripted\"\nbase_url = \"{url}/v1\"\nenv_key = \"SCRIPTED_KEY\"\nwire_api = \"responses\"\n"
                ),
            );
            let home = settings(env, &home);
            vec![uses(""), variables(&[("CODEX_HOME", home.to_str().unwrap()), ("SCRIPTED_KEY", "${SCRIPTED_KEY}")])]
        }
        "gemini" => {
            // Beside an address of one's own, it wants to be told that a key is the way to sign in.
            let choice = r#"{"security": {"auth": {"selectedType": "gemini-api-key"}}}"#;
            set(env, "gemini/.gemini/settings.json", choice);
            let home = settings(env, "gemini");
            let home = ("GEMINI_CLI_HOME", home.to_str().unwrap());
            let key = ("GEMINI_API_KEY", "${SCRIPTED_KEY}");
            vec![uses(":gemini-2.5-pro"), variables(&[home, ("GOOGLE_GEMINI_BASE_URL", url), key])]
        }
        "opencode" => {
            // What it would install at its first start, from a registry that is no part of a test.
            let dependencies = r#""dependencies": {"@opencode-ai/plugin": "*"}"#;
            let folder = "config/opencode";
            let config = settings(env, "config");
            set(env, &format!("{folder}/package.json"), format!("{{{dependencies}}}"));
            set(env, &format!("{folder}/package-lock.json"), format!(r#"{{"packages": {{"": {{{dependencies}}}}}}}"#));
            set(env, &format!("{folder}/node_modules/.keep"), "");
            let content = serde_json::json!({ "provider": { "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "options": { "baseURL": format!("{url}/v1"), "apiKey": "{env:SCRIPTED_KEY}" },
                "models": { "one": {} },
            }}});
            vec![
                uses(":scripted/one"),
                variables(&[
                    ("XDG_CONFIG_HOME", config.to_str().unwrap()),
                    ("OPENCODE_CONFIG_CONTENT", &content.to_string()),
                ]),
            ]
        }
        "claudish" => {
            vec![uses(":oai@scripted"), variables(&[("OPENAI_BASE_URL", url), ("OPENAI_API_KEY", "${SCRIPTED_KEY}")])]
        }
        "llm" => {
            let folder = format!("llm-{scenario}");
            set(
                env,
                &format!("{folder}/extra-openai-models.yaml"),
                format!(
                    "- model_id: scripted\n  model_name: scripted\n  api_base: \"{url}/v1\"\n  api_key_name: scripted\n"
                ),
            );
            let folder = settings(env, &folder);
            vec![
                uses(":scripted"),
                variables(&[("LLM_USER_PATH", folder.to_str().unwrap()), ("OPENAI_API_KEY", "${SCRIPTED_KEY}")]),
            ]
        }
        other => panic!("nobody knows how `{other}` is told"),
    }
}
