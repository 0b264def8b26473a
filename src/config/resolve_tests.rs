//! Tables of names, and what they stand for.

use std::path::Path;

use super::*;

fn environment() -> Environment {
    [("HOME", "/nobody"), ("PRESENT", "v")].into_iter().collect()
}

fn with_config(toml: &str) -> (tempfile::TempDir, Config) {
    let dir = tempfile::tempdir().unwrap();
    crate::fs::create_dir_all(&dir.path().join(".git")).unwrap();
    crate::fs::replace(&dir.path().join("team.toml"), toml.as_bytes()).unwrap();
    let config = Config::load(dir.path(), &environment(), FileSettings::default()).unwrap();
    (dir, config)
}

fn resolve(config: &Config, name: &str) -> Result<ResolvedModel, ResolveError> {
    Models::new(config, &environment()).resolve(name)
}

fn shown(config: &Config, name: &str) -> String {
    match resolve(config, name) {
        Ok(model) => {
            let target = match &model.target {
                Target::Process { command, model, output, .. } => {
                    format!("{} {} {}", command.join(" "), model.as_deref().unwrap_or("-"), output.as_str())
                }
                Target::Http { provider, model } => {
                    format!("{} {model} {}", provider.base_url, provider.api_key_env.as_deref().unwrap_or("-"))
                }
                Target::Local { model } => model.clone(),
                Target::Replay { output, pace, .. } => format!("{} {pace:?}", output.as_str()),
            };
            format!("{name} = {} | {target}\n", model.identity)
        }
        Err(error) => format!("{name} ! {error} | {}\n", error.hints().first().cloned().unwrap_or_default()),
    }
}

#[test]
fn every_kind_of_name_resolves() {
    let (_dir, config) = with_config(
        "[providers.mine]\nwire = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9/v1/\"\n\
         [models.fast]\nuse = \"openai@gpt-4o-mini\"\n[models.chained]\nuse = \"fast\"\nseed = 1\n\
         [models.mycmd]\ncommand = [\"prog\", \"-x\"]\noutput = \"gemini-json\"\n\
         [models.claude]\nsystem = \"short\"\n[models.codex]\nuse = \"codex\"",
    );
    let names = [
        "internal",
        "claude",
        "claude:opus",
        "codex",
        "codex:gpt-5",
        "gemini",
        "gemini:pro",
        "opencode:a/b",
        "claudish:x@y",
        "llm:x",
        "local@smollm2",
        "ollama@qwen3:8b",
        "llamacpp@m",
        "lmstudio@m",
        "vllm@a/b",
        "openai@gpt-4o",
        "anthropic@claude-opus-4",
        "google@gemini-pro",
        "openrouter@anthropic/claude-opus-4",
        "groq@m",
        "mistral@m",
        "deepseek@m",
        "xai@grok-4",
        "mine@m@x",
        "fast",
        "chained",
        "mycmd",
    ];
    let table: String = names.iter().map(|name| shown(&config, name)).collect();
    insta::assert_snapshot!(table, @r"
    internal = process/claude | claude - claude-stream-json
    claude = process/claude | claude - claude-stream-json
    claude:opus = process/claude/opus | claude opus claude-stream-json
    codex = process/codex | codex - codex-json
    codex:gpt-5 = process/codex/gpt-5 | codex gpt-5 codex-json
    gemini = process/gemini | gemini - gemini-json
    gemini:pro = process/gemini/pro | gemini pro gemini-json
    opencode:a/b = process/opencode/a/b | opencode a/b opencode-json
    claudish:x@y = process/claudish/x@y | claudish x@y claude-stream-json
    llm:x = process/llm/x | llm x text
    local@smollm2 = local/smollm2 | smollm2
    ollama@qwen3:8b = http/ollama/qwen3:8b | http://127.0.0.1:11434 qwen3:8b -
    llamacpp@m = http/llamacpp/m | http://127.0.0.1:8080/v1 m -
    lmstudio@m = http/lmstudio/m | http://127.0.0.1:1234/v1 m -
    vllm@a/b = http/vllm/a/b | http://127.0.0.1:8000/v1 a/b -
    openai@gpt-4o = http/openai/gpt-4o | https://api.openai.com/v1 gpt-4o OPENAI_API_KEY
    anthropic@claude-opus-4 = http/anthropic/claude-opus-4 | https://api.anthropic.com/v1 claude-opus-4 ANTHROPIC_API_KEY
    google@gemini-pro = http/google/gemini-pro | https://generativelanguage.googleapis.com/v1beta gemini-pro GEMINI_API_KEY
    openrouter@anthropic/claude-opus-4 = http/openrouter/anthropic/claude-opus-4 | https://openrouter.ai/api/v1 anthropic/claude-opus-4 OPENROUTER_API_KEY
    groq@m = http/groq/m | https://api.groq.com/openai/v1 m GROQ_API_KEY
    mistral@m = http/mistral/m | https://api.mistral.ai/v1 m MISTRAL_API_KEY
    deepseek@m = http/deepseek/m | https://api.deepseek.com m DEEPSEEK_API_KEY
    xai@grok-4 = http/xai/grok-4 | https://api.x.ai/v1 grok-4 XAI_API_KEY
    mine@m@x = http/mine/m@x | http://127.0.0.1:9/v1 m@x -
    fast = http/openai/gpt-4o-mini | https://api.openai.com/v1 gpt-4o-mini OPENAI_API_KEY
    chained = http/openai/gpt-4o-mini | https://api.openai.com/v1 gpt-4o-mini OPENAI_API_KEY
    mycmd = command/mycmd | prog -x - gemini-json
    ");
    assert_eq!(resolve(&config, "claude").unwrap().settings.system.as_deref(), Some("short"));
    assert_eq!(resolve(&config, "chained").unwrap().settings.seed, Some(1));
    assert_eq!(resolve(&config, "chained").unwrap().name, "chained", "the user's own word is kept");
}

#[test]
fn a_wrong_name_says_what_was_meant_or_what_exists() {
    let (_dir, config) = with_config("[models.fast]\nuse = \"claude\"");
    let names = [
        "cluade",
        "Claude",
        "claude@opus",
        "openai:gpt-4o",
        "opnai@gpt-4o",
        "local@qwen",
        "local@",
        "openai@",
        "claude:",
        "smollm2",
        "fsat",
        "internal:opus",
        "llm",
        "claudish",
        "gemini:",
        "gemni:pro",
        "opencode@a/b",
        "zzzzzzzz",
        "",
    ];
    let table: String = names.iter().map(|name| shown(&config, name)).collect();
    insta::assert_snapshot!(table, @r#"
    cluade ! unknown model `cluade` | did you mean `claude`?
    Claude ! unknown model `Claude` | did you mean `claude`?
    claude@opus ! unknown model `claude@opus` | did you mean `claude:opus`?
    openai:gpt-4o ! unknown model `openai:gpt-4o` | did you mean `openai@gpt-4o`?
    opnai@gpt-4o ! unknown model `opnai@gpt-4o` | did you mean `openai@gpt-4o`?
    local@qwen ! unknown model `local@qwen` | did you mean `local@smollm2`?
    local@ ! `local@` names no model: write `local@smollm2` | 
    openai@ ! `openai@` names no model: write `openai@MODEL` | 
    claude: ! `claude:` names no model: write `claude:MODEL` | 
    smollm2 ! unknown model `smollm2` | did you mean `local@smollm2`?
    fsat ! unknown model `fsat` | did you mean `fast`?
    internal:opus ! unknown model `internal:opus` | known: aliases fast; internal, claude[:MODEL], codex[:MODEL], gemini[:MODEL], opencode[:PROVIDER/MODEL], claudish:MODEL, llm:MODEL, local@smollm2, anthropic@MODEL, deepseek@MODEL, google@MODEL, groq@MODEL, llamacpp@MODEL, lmstudio@MODEL, mistral@MODEL, ollama@MODEL, openai@MODEL, openrouter@MODEL, vllm@MODEL, xai@MODEL, replay:FILE[#FORMAT]
    llm ! `llm` names no model: write `llm:MODEL` | 
    claudish ! `claudish` names no model: write `claudish:MODEL` | 
    gemini: ! `gemini:` names no model: write `gemini:MODEL` | 
    gemni:pro ! unknown model `gemni:pro` | did you mean `gemini:pro`?
    opencode@a/b ! unknown model `opencode@a/b` | did you mean `opencode:a/b`?
    zzzzzzzz ! unknown model `zzzzzzzz` | known: aliases fast; internal, claude[:MODEL], codex[:MODEL], gemini[:MODEL], opencode[:PROVIDER/MODEL], claudish:MODEL, llm:MODEL, local@smollm2, anthropic@MODEL, deepseek@MODEL, google@MODEL, groq@MODEL, llamacpp@MODEL, lmstudio@MODEL, mistral@MODEL, ollama@MODEL, openai@MODEL, openrouter@MODEL, vllm@MODEL, xai@MODEL, replay:FILE[#FORMAT]
     ! unknown model `` | known: aliases fast; internal, claude[:MODEL], codex[:MODEL], gemini[:MODEL], opencode[:PROVIDER/MODEL], claudish:MODEL, llm:MODEL, local@smollm2, anthropic@MODEL, deepseek@MODEL, google@MODEL, groq@MODEL, llamacpp@MODEL, lmstudio@MODEL, mistral@MODEL, ollama@MODEL, openai@MODEL, openrouter@MODEL, vllm@MODEL, xai@MODEL, replay:FILE[#FORMAT]
    "#);
}

#[test]
fn aliases_in_a_circle_are_found() {
    let (_dir, config) = with_config(
        "[models.a]\nuse = \"b\"\n[models.b]\nuse = \"c\"\n[models.c]\nuse = \"a\"\n[models.d]\nuse = \"d\"",
    );
    assert_eq!(resolve(&config, "a").unwrap_err().to_string(), "aliases go round in a circle: a -> b -> c -> a");
    assert_eq!(resolve(&config, "d").unwrap_err().to_string(), "aliases go round in a circle: d -> d");
}

#[test]
fn a_wrong_name_inside_an_alias_names_the_alias() {
    let (_dir, config) = with_config("[models.a]\nuse = \"cluade\"");
    let error = resolve(&config, "a").unwrap_err();
    assert_eq!(error.to_string(), "`[models.a]`: unknown model `cluade`");
    assert_eq!(error.hints()[0], "did you mean `claude`?");
}

#[test]
fn a_missing_variable_is_named_and_only_where_it_is_used() {
    let (_dir, config) = with_config(
        "[models.a]\nuse = \"claude\"\nenv = { X = \"${ABSENT}\" }\n[models.b]\nuse = \"claude\"\nenv = { X = \"${PRESENT}\" }\n\
         [providers.p]\nwire = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9\"\nheaders = { \"X-Org\" = \"${ABSENT}\" }",
    );
    assert_eq!(
        resolve(&config, "a").unwrap_err().to_string(),
        "`a` needs `env.X`: environment variable `ABSENT` is not set"
    );
    assert!(resolve(&config, "p@m").unwrap_err().to_string().contains("`headers.X-Org`"));
    assert!(resolve(&config, "b").is_ok());
}

#[test]
fn a_setting_that_would_be_dropped_is_an_error() {
    let (_dir, config) =
        with_config("[models.a]\nuse = \"claude\"\ntemperature = 0\n[models.b]\nuse = \"openai@m\"\ntemperature = 0");
    assert_eq!(resolve(&config, "a").unwrap_err().to_string(), "`a` takes no `temperature`");
    assert_eq!(resolve(&config, "b").unwrap().settings.temperature, Some(0.0));
}

#[test]
fn a_recording_is_found_from_the_folder_of_its_file() {
    let (dir, config) = with_config("[models.r]\nuse = \"replay:a.jsonl#codex-json@2000\"");
    let file = dir.path().join("a.jsonl");
    crate::fs::replace(&file, b"{}").unwrap();
    let sub = dir.path().join("sub");
    crate::fs::create_dir_all(&sub).unwrap();
    let from_sub = Config::load(&sub, &environment(), FileSettings::default()).unwrap();
    for config in [&config, &from_sub] {
        let target = resolve(config, "r").unwrap().target;
        assert_eq!(target, Target::Replay { file: file.clone(), output: OutputFormat::CodexJson, pace: Some(2000) });
    }
    assert!(resolve(&from_sub, "replay:a.jsonl").unwrap_err().to_string().contains("no recording"));
    assert!(resolve(&config, "replay:a.jsonl#xml").unwrap_err().to_string().contains("claude-stream-json"));
    assert!(resolve(&config, "replay:a.jsonl#text@fast").is_err());
    resolve(&config, "replay:a.jsonl").unwrap();
    crate::fs::replace(&file, b"{\"type\":\"system\",\"model\":\"m\"}\nmore\n").unwrap();
    let frames = resolve(&config, "replay:a.jsonl").unwrap_err().to_string();
    assert!(frames.contains("`#claude-stream-json`"), "{frames}");
}

#[test]
fn a_relative_program_is_the_one_beside_its_file() {
    let (dir, config) =
        with_config("[models.a]\ncommand = [\"./agent.sh\"]\n[models.f]\ncommand = [\"x\"]\nprompt = \"file\"");
    let Target::Process { command, .. } = resolve(&config, "a").unwrap().target else { unreachable!() };
    assert_eq!(Path::new(&command[0]), dir.path().join("agent.sh"));
    assert!(resolve(&config, "f").unwrap_err().to_string().contains("{prompt_file}"));
}

#[test]
fn all_wrong_names_are_told_at_once() {
    let (_dir, config) = with_config("");
    let names = ["cluade", "claude", "codx"].map(str::to_owned);
    let error = Models::new(&config, &environment()).resolve_all(&names).unwrap_err();
    assert_eq!(error.to_string(), "2 models cannot be asked\n  unknown model `cluade`\n  unknown model `codx`");
    assert_eq!(error.kind().exit_code().code(), 2);
}

#[test]
fn layers_are_laid_in_order_and_remembered() {
    let dir = tempfile::tempdir().unwrap();
    let (home, project) = (dir.path().join("home"), dir.path().join("project"));
    for folder in [home.join(".config/team"), project.join(".git"), project.join(".claude"), project.join("sub")] {
        crate::fs::create_dir_all(&folder).unwrap();
    }
    let write = |path: &Path, text: &str| crate::fs::replace(path, text.as_bytes()).unwrap();
    write(
        &home.join(".config/team/config.toml"),
        "panel = [\"user\"]\njobs = 1\ntimeout = \"1m\"\nretries = 7\nsessions_dir = \"s\"",
    );
    write(&project.join(".claude/multimodel-team.json"), r#"{"defaultModels": ["imported"]}"#);
    let environment: Environment =
        [("HOME", home.to_str().unwrap()), ("TEAM_JOBS", "3"), ("TEAM_TIMEOUT", "3m")].into_iter().collect();
    let cwd = project.join("sub");
    let flags = FileSettings { timeout: Some(Limit::Unlimited), ..FileSettings::default() };
    let config = Config::load(&cwd, &environment, flags.clone()).unwrap();
    assert_eq!(config.settings().panel, ["user"], "what is ours is above the other program's file");
    assert_eq!(config.settings().sessions_dir, cwd.join("s"), "a user's relative folder starts from here");
    write(&project.join("team.toml"), "panel = [\"project\"]\njobs = 2\nsessions_dir = \"p\"");
    let config = Config::load(&cwd, &environment, flags).unwrap();
    let settings = config.settings();
    assert_eq!(settings.panel, ["project"]);
    assert_eq!(settings.jobs.unwrap().get(), 3);
    assert_eq!(settings.timeout, None);
    assert_eq!(settings.retries, 7);
    assert_eq!(settings.sessions_dir, project.join("p"), "a project's relative folder starts from its file");
    let layer = |key: &str| config.origin(&[key]).unwrap().layer();
    assert_eq!(
        ["panel", "jobs", "timeout", "retries", "self_vote", "sessions_dir"].map(layer),
        ["project", "environment", "flag", "user", "built-in", "project"]
    );
}

#[test]
fn of_a_panel_that_was_kept_what_is_gone_is_left_out_and_what_is_wrong_is_an_error() {
    let (_dir, config) = with_config(
        "[models.good]\nuse = \"claude\"\n[models.old]\nuse = \"gone\"\n[models.bad]\nuse = \"claude\"\ntemperature = 1",
    );
    let environment = environment();
    let models = Models::new(&config, &environment);
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let kept = models.resolve_kept(&names(&["missing", "good", "old", "replay:nowhere"])).unwrap();
    assert_eq!(kept.models.iter().map(|model| model.name.as_str()).collect::<Vec<_>>(), ["good"]);
    let gone: Vec<&str> = kept.gone.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(gone, ["missing", "old", "replay:nowhere"]);
    let wrong = models.resolve_kept(&names(&["good", "bad"])).unwrap_err().to_string();
    assert!(wrong.contains("`bad` takes no `temperature`"), "{wrong}");
    let wrong = models.resolve_kept(&names(&["missing", "old"])).unwrap_err().to_string();
    assert!(wrong.contains("2 models cannot be asked") && wrong.contains("`missing`"), "{wrong}");
}

#[test]
fn a_broken_file_of_another_program_is_a_warning() {
    let (dir, _) = with_config("");
    crate::fs::create_dir_all(&dir.path().join(".claude")).unwrap();
    crate::fs::replace(&dir.path().join(".claude/multimodel-team.json"), b"{").unwrap();
    let config = Config::load(dir.path(), &environment(), FileSettings::default()).unwrap();
    assert_eq!(config.warnings().len(), 1);
    assert!(config.warnings()[0].contains("multimodel-team.json"));
}

#[test]
fn an_incomplete_section_is_found_after_all_layers_are_laid() {
    let dir = tempfile::tempdir().unwrap();
    crate::fs::create_dir_all(&dir.path().join(".git")).unwrap();
    let text = "[providers.mine]\napi_key_env = \"K\"\n[providers.openai]\nmax_concurrent = 2\n[models.x]\nseed = 1";
    crate::fs::replace(&dir.path().join("team.toml"), text.as_bytes()).unwrap();
    let error = Config::load(dir.path(), &environment(), FileSettings::default()).unwrap_err();
    let messages: Vec<&str> = error.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "`[models.x]` has neither `use` nor `command`",
            "`[providers.mine]` has no `wire`",
            "`[providers.mine]` has no `base_url`"
        ]
    );
    assert!(error.problems[0].place.ends_with("team.toml"));
}

#[test]
fn a_wire_that_only_one_maker_speaks_names_it_whatever_the_endpoint_is_called() {
    let provider = |name: &str, wire: &str| {
        format!("[providers.{name}]\nwire = \"{wire}\"\nbase_url = \"http://10.0.0.5:8000\"\n")
    };
    let wires = ["openai-chat", "openai-responses", "anthropic-messages", "gemini-generate", "ollama-chat"];
    let text: String = wires.iter().enumerate().map(|(at, wire)| provider(&format!("p{at}"), wire)).collect();
    let (_dir, config) = with_config(&text);
    let words = |at: usize| resolve(&config, &format!("p{at}@mm")).unwrap().naming_words().model.join(" ");
    assert_eq!(words(0), "10.0.0.5:8000 p0@mm mm p0");
    for (at, maker) in [(1, "OpenAI"), (2, "Anthropic"), (3, "Google"), (4, "Ollama")] {
        assert!(words(at).contains(maker), "{}", words(at));
    }
}

#[test]
fn an_address_is_understood_with_and_without_its_makers_version() {
    for (wire, written, used) in [
        ("anthropic-messages", "https://h", "https://h/v1"),
        ("anthropic-messages", "https://h/anthropic/", "https://h/anthropic/v1"),
        ("anthropic-messages", "https://h/v1/", "https://h/v1"),
        ("gemini-generate", "https://h/", "https://h/v1beta"),
        ("gemini-generate", "https://h/v1", "https://h/v1"),
        ("ollama-chat", "http://h:11434/", "http://h:11434"),
        ("openai-chat", "http://h", "http://h"),
    ] {
        let (_dir, config) = with_config(&format!("[providers.p]\nwire = \"{wire}\"\nbase_url = \"{written}\""));
        let Target::Http { provider, .. } = resolve(&config, "p@m").unwrap().target else { unreachable!() };
        assert_eq!(provider.base_url, used, "{wire} {written}");
    }
}

#[test]
fn ollamas_own_chat_is_not_below_v1() {
    let dir = tempfile::tempdir().unwrap();
    crate::fs::create_dir_all(&dir.path().join(".git")).unwrap();
    let load = |text: &str| {
        crate::fs::replace(&dir.path().join("team.toml"), text.as_bytes()).unwrap();
        Config::load(dir.path(), &environment(), FileSettings::default())
    };
    let wrong = "[providers.ollama]\nbase_url = \"http://10.0.0.5:11434/v1/\"\n";
    let error = load(wrong).unwrap_err();
    let message =
        "`[providers.ollama]` has the `base_url` `http://10.0.0.5:11434/v1`, where `ollama-chat` is not spoken";
    assert_eq!(error.problems[0].message, message);
    load(&format!("{wrong}wire = \"openai-chat\"")).unwrap();
}

#[test]
fn naming_words_cover_model_vendor_program_and_key() {
    let (_dir, config) = with_config(
        "[models.swift]\nuse = \"openrouter@anthropic/claude-opus-4.1\"\n\
         [models.own]\ncommand = [\"/opt/tools/gem\", \"-m\", \"gemini-2.5-pro\"]\nenv = { GEM_KEY = \"${PRESENT}\" }",
    );
    let words = |name: &str| {
        let words = resolve(&config, name).unwrap().naming_words();
        format!("{name}: {} / {} / {}\n", words.model.join(" "), words.program.join(" "), words.key.join(" "))
    };
    let table: String = [
        "claude:opus",
        "internal",
        "codex",
        "openai@o3",
        "xai@grok-4",
        "swift",
        "own",
        "local@smollm2",
        "ollama@qwen3:8b",
    ]
    .map(words)
    .concat();
    insta::assert_snapshot!(table, @r"
    claude:opus: Claude Code claude:opus Anthropic opus / claude / CLAUDE_CODE_OAUTH_TOKEN ANTHROPIC_AUTH_TOKEN ANTHROPIC_API_KEY
    internal: Claude Code Anthropic / claude / CLAUDE_CODE_OAUTH_TOKEN ANTHROPIC_AUTH_TOKEN ANTHROPIC_API_KEY
    codex: OpenAI / codex / OPENAI_API_KEY CODEX_API_KEY
    openai@o3: api.openai.com openai.com openai@o3 OpenAI openai o3 /  / OPENAI_API_KEY
    xai@grok-4: xai@grok-4 api.x.ai grok-4 grok x.ai xAI xai /  / XAI_API_KEY
    swift: anthropic/claude-opus-4.1 claude-opus-4.1 openrouter.ai openrouter Anthropic anthropic claude swift opus /  / OPENROUTER_API_KEY
    own: gemini-2.5-pro Google gemini own / /opt/tools/gem gem / GEM_KEY PRESENT
    local@smollm2: local@smollm2 HuggingFace smollm2 smollm /  / 
    ollama@qwen3:8b: 127.0.0.1:11434 ollama@qwen3:8b qwen3:8b Alibaba Ollama ollama qwen3 qwen 8b /  /
    ");
}

#[test]
fn several_models_in_one_name_are_refused() {
    let (_dir, config) = with_config("[models.chain]\nuse = \"claudish:oai@gpt-5+or@x/y\"");
    let error = resolve(&config, "chain").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`[models.chain]`: `claudish:oai@gpt-5+or@x/y` names several models: one after the other would be asked until \
         one answers"
    );
    assert_eq!(error.hints(), ["name one; the others can be members of the panel"]);
    assert!(resolve(&config, "llm:a+b").is_ok());
}
