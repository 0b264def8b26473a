//! `models`, `doctor`, `config`, `init`, `completions` and the help texts, by the real program in a home of its own.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;

/// A home, a project and a folder of programs, all empty.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["home", "project", "bin"] {
            fs_err::create_dir(dir.path().join(folder)).unwrap();
        }
        // The search for settings ends here.
        fs_err::create_dir(dir.path().join("project/.git")).unwrap();
        Self { dir }
    }

    /// With a real repository.
    fn with_git() -> Self {
        let place = Self::new();
        fs_err::remove_dir(place.project().join(".git")).unwrap();
        let status = std::process::Command::new("git").args(["init", "-q"]).current_dir(place.project()).status();
        assert!(status.unwrap().success());
        place
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs_err::read_to_string(self.dir.path().join(path)).unwrap()
    }

    /// A program that is found in PATH and only says its version. A child writes it: a file that this process had open
    /// for writing could not be started while another test forks.
    fn program(&self, name: &str, script: &str) {
        let written = std::process::Command::new("sh")
            .args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$2\" > \"$1\" && chmod 755 \"$1\"", "sh"])
            .args([self.dir.path().join("bin").join(name).as_os_str(), script.as_ref()])
            .status();
        assert!(written.unwrap().success());
    }

    fn team(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_team"));
        command.env_clear().env("HOME", self.dir.path().join("home")).env("PATH", self.path());
        command.current_dir(self.project()).args(words);
        command
    }

    /// Only our programs, and git, wherever it is.
    fn path(&self) -> std::ffi::OsString {
        let git = std::env::split_paths(&std::env::var_os("PATH").unwrap()).find(|dir| dir.join("git").is_file());
        let link = self.dir.path().join("bin/git");
        if let Some(folder) = git
            && !link.exists()
        {
            std::os::unix::fs::symlink(folder.join("git"), link).unwrap();
        }
        self.dir.path().join("bin").into_os_string()
    }

    fn run(&self, words: &[&str]) -> (i32, String, String) {
        self.shown(&self.team(words).output().unwrap())
    }

    fn shown(&self, output: &Output) -> (i32, String, String) {
        let root = self.dir.path().canonicalize().unwrap();
        let text = |bytes: &[u8]| {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            text.replace(root.to_str().unwrap(), "[DIR]").replace(self.dir.path().to_str().unwrap(), "[DIR]")
        };
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    }
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn the_main_help_has_examples_and_exit_codes() {
    let (code, out, err) = Place::new().run(&["--help"]);
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out, @r#"
    Blind multi-model panels: fan one prompt out to many models, let judges vote without knowing who
    wrote what

    Usage: team [OPTIONS] <COMMAND>

    Commands:
      run            Ask every model of a panel the same thing
      judge          Let judges vote blind on a finished run
      run-and-judge  Ask, then vote: `run` and `judge` in one
      vote           Let every model of a panel vote on a text itself
      review         Let a panel review a plan, a change or files, and vote on what it finds
      fix            Review a change, and have what is found repaired on a branch of its own
      respond        Decide what a fix waits for, or what later runs leave
      gate           Let a panel vote on what a branch changes, or review it, in CI
      resume         Go on with a session that was cut off, stopped, or failed in part
      status         Show how far a session is
      list           List sessions, the newest first
      show           Show a session's answers and verdict
      verify         Check that a session's folder still is what its record says
      report         Make a report of a session: one HTML file that needs nothing else, or text
      stats          Count over sessions how each model did
      cancel         Stop a running session, or one slot of it
      gc             Remove what is left over, and list what stays
      doctor         Check whether everything is ready to ask the panel
      models         List what can be asked here and now
      config         Show the effective settings, each with where it comes from
      init           Write a commented `team.toml` from what is found here
      demo           See the whole thing work with a small local model
      mcp            Serve coding agents by the Model Context Protocol
      schema         Print the JSON Schema of what `team` writes
      completions    Print a completion script for a shell

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Global options:
          --sessions-dir <DIR>  Where sessions are kept [default: ai-docs/sessions, or as configured]
          --json                Print JSON: one object, or one event per line
      -q, --quiet               Print results and errors only
      -v, --verbose             Print more about what happens
          --no-color            No colour (also: the variable NO_COLOR)

    Examples:
      team demo                                                   see it work, without a key or a CLI
      team run-and-judge -m claude,codex,ollama@qwen3 task.md     blind answers, then a blind vote
      team run -m claude:opus,codex "Why is the sky blue?"        only the answers
      team judge latest                                           vote on a finished run
      team vote -m claude,codex,ollama@qwen3 plan.md              approve or reject a text
      team review -m claude,codex,gemini                          what in this branch survives a vote
      team fix --fixer claude                                     repaired on a branch of its own
      team resume                                                 go on where a run was cut off
      team show latest --reveal                                   who wrote what
      team verify latest                                          whether all is as it was recorded
      team report --open                                          all of it in the browser
      team stats                                                  how each model did over all sessions

    Exit codes:
      0    done: `run` has at least one answer, `judge` has a ranking, `vote` or `gate` approves,
           `review` passes, `fix` leaves nothing open that meets the bar
      1    `vote` or `gate` rejects, `review` is blocked by a finding, `fix` leaves one open
      2    wrong usage or configuration, or another process owns the session
      3    no decision
      4    nothing usable: no slot completed (with `--strict`: any slot is missing)
      5    `fix` waits for a decision; `team respond` answers
      6    an integrity check failed
      70   internal error
      128+n ended by signal n (130 also when cancelled from outside)

    Standard output is data, standard error is everything else.
    "#);
}

#[test]
fn the_help_of_run_names_every_option() {
    let (code, out, _) = Place::new().run(&["run", "--help"]);
    assert_eq!(code, 0);
    insta::assert_snapshot!(out, @r#"
    Ask every model of a panel the same thing

    Usage: team run [OPTIONS] [PROMPT|FILE]...

    Arguments:
      [PROMPT|FILE]...  The prompt, or one existing file that holds it

    Options:
      -m, --models <NAMES>      The models, separated by commas; may be repeated [default: the
                                configuration's]
      -i, --input <FILE|->      Read the prompt from a file, or `-` for standard input
          --context <NAME>      Take the panel of this kind of task, whatever the task's words:
                                `[contexts.NAME]` of the configuration
          --remember            Write the panel into `team.toml`, as that of `--context` where it is
                                given, so that it is the choice from now on
          --estimate            Say what would be sent and what it would cost, and start nothing
          --name <NAME>         A word for the session's name
          --session-path <DIR>  Put the session inside of this folder below the current one
          --legacy              Keep the session in a temporary folder, and copy the results to
                                `ai-docs/` after the verdict
      -h, --help                Print help

    Global options:
          --sessions-dir <DIR>  Where sessions are kept [default: ai-docs/sessions, or as configured]
          --json                Print JSON: one object, or one event per line
      -q, --quiet               Print results and errors only
      -v, --verbose             Print more about what happens
          --no-color            No colour (also: the variable NO_COLOR)

    Workspace:
          --workspace <DIR>   Let the programs of the panel work in a read-only snapshot of this folder
                              [default: `workspace` of the configuration, else an empty folder]
          --untracked <RULE>  What of the folder's files that git does not track is in the snapshot;
                              ignored ones never are [default: exclude] [possible values: exclude,
                              include]
          --no-workspace      Take no snapshot, whatever the configuration says

    Limits:
          --timeout <TIME>           The longest a slot may take, such as 10m; `none` for no limit
          --idle-timeout <TIME>      The longest a slot may print nothing, such as 90s; `none` for no
                                     limit
          --deadline <TIME>          The longest the whole command may take; `none` for no limit
          --jobs <N>                 Slots at once [default: all]
          --retries <N>              Retries of a request that failed before its first answer byte
                                     [default: 2]
          --max-cost <USD>           Stop when this many US dollars are spent, as far as it is known
                                     what models cost
          --min-bytes <BYTES>        An answer of fewer bytes counts as empty
          --require-pattern <REGEX>  An answer without a match of this regular expression counts as
                                     empty
          --strict                   Exit with 4 when any slot is missing
          --require-blind            Refuse to run where blindness cannot be enforced
          --offline                  Ask nothing over the network but the models: their names are not
                                     looked up at their providers first

    Examples:
      team run -m claude,codex question.md
      team run -m openai@gpt-4o -m ollama@qwen3 "Why is the sky blue?"
      git diff | team run -m claude,codex -i - --timeout 10m
      team run -m claude,codex --remember question.md
      team run -m claude,codex --workspace . "Where does this leak?"

    Without `-m`, the panel is that of `[contexts.x]` where the task's words are of that kind (debug,
    research, coding, review, architecture, testing, or one of your own), else `panel`, else what is
    found here. `team models` lists names.
    "#);
}

#[test]
fn a_usage_error_exits_with_2_and_prints_no_data() {
    let place = Place::new();
    for words in
        [&["rnu"][..], &["run", "--timeout", "90", "x"], &["completions", "tcsh"], &["judge", "--self-vote", "x"]]
    {
        let (code, out, err) = place.run(words);
        assert_eq!((code, out.as_str()), (2, ""), "{words:?}");
        assert!(err.starts_with("error: "), "{err}");
    }
}

#[test]
fn config_shows_each_value_with_where_it_comes_from() {
    let place = Place::new();
    place.write("home/.config/team/config.toml", "jobs = 2\n[models.fast]\nuse = \"openai@m\"\n");
    place.write("project/team.toml", "panel = [\"claude\", \"fast\"]\ntimeout = \"10m\"\n[models.fast]\nseed = 7\n");
    let output = place.team(&["config", "--sessions-dir", "elsewhere"]).env("TEAM_TIMEOUT", "90s").output().unwrap();
    let (code, out, err) = place.shown(&output);
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out, @r#"
    jobs = 2                      # [DIR]/home/.config/team/config.toml
    leaks = "mask"                # built-in
    models.fast.seed = 7          # [DIR]/project/team.toml
    models.fast.use = "openai@m"  # [DIR]/home/.config/team/config.toml
    offline = false               # built-in
    panel = ["claude", "fast"]    # [DIR]/project/team.toml
    passes = 1                    # built-in
    recuse = "none"               # built-in
    repair = true                 # built-in
    retries = 2                   # built-in
    self_vote = "model"           # built-in
    sessions_dir = "elsewhere"    # command line
    timeout = "1m30s"             # $TEAM_TIMEOUT
    "#);
    let (_, out, _) = place.run(&["config", "--json"]);
    let shown = json(&out);
    let timeout = shown["values"].as_array().unwrap().iter().find(|value| value["key"] == "timeout").unwrap();
    assert_eq!(timeout["layer"], "project");
    assert_eq!(timeout["value"], "10m");
    assert_eq!(shown["sessionsDir"], "[DIR]/project/ai-docs/sessions");
}

#[test]
fn unknown_keys_of_all_files_end_every_command_with_2() {
    let place = Place::new();
    place.write("home/.config/team/config.toml", "pannel = []\n");
    place.write("project/team.toml", "jbos = 2\n[models.a]\nuse = \"claude\"\nsytem = \"x\"\n");
    let (code, out, err) = place.run(&["models"]);
    assert_eq!((code, out.as_str()), (2, ""));
    insta::assert_snapshot!(err, @r"
    error: 3 problems in the configuration
      [DIR]/home/.config/team/config.toml:1: unknown key `pannel` (did you mean `panel`?)
      [DIR]/project/team.toml:1: unknown key `jbos` (did you mean `jobs`?)
      [DIR]/project/team.toml:4: unknown key `sytem` in `[models.a]` (did you mean `system`?)
    ");
}

#[test]
fn a_slip_in_a_variable_is_told() {
    let place = Place::new();
    let output = place.team(&["config"]).env("TEAM_SESSION_DIR", "x").output().unwrap();
    let (code, _, err) = place.shown(&output);
    assert_eq!(code, 0);
    assert!(err.contains("warning: environment variable `TEAM_SESSION_DIR` sets nothing"), "{err}");
}

#[test]
fn models_lists_what_is_here_and_never_a_key() {
    let place = Place::new();
    place.program("claude", "echo '2.1.0 (Claude Code)'");
    place.program("gemini", "echo 0.61.0");
    place.write(
        "project/team.toml",
        "[models.fast]\nuse = \"openai@m\"\n[models.broken]\nuse = \"cluade\"\n\
         [providers.ollama]\nbase_url = \"http://127.0.0.1:1\"\n[providers.lmstudio]\nbase_url = \"http://127.0.0.1:1/v1\"\n\
         [providers.llamacpp]\nbase_url = \"http://127.0.0.1:1/v1\"\n[providers.vllm]\nbase_url = \"http://127.0.0.1:1/v1\"\n",
    );
    let run = |words: &[&str]| {
        let output = place.team(words).env("OPENAI_API_KEY", "sk-very-secret").output().unwrap();
        place.shown(&output)
    };
    let (code, out, err) = run(&["models"]);
    assert_eq!((code, err.as_str()), (0, ""));
    insta::assert_snapshot!(out, @r"
    claude[:MODEL]             2.1.0 (Claude Code)
    internal                   the same as claude
    codex[:MODEL]              not installed
    gemini[:MODEL]             0.61.0
    opencode[:PROVIDER/MODEL]  not installed
    claudish:MODEL             not installed
    llm:MODEL                  not installed
    local@smollm2              not available: it needs Python 3, and `python3` is not to be found (see `TEAM_PYTHON`)
    anthropic@MODEL            needs ANTHROPIC_API_KEY
    deepseek@MODEL             needs DEEPSEEK_API_KEY
    google@MODEL               needs GEMINI_API_KEY
    groq@MODEL                 needs GROQ_API_KEY
    llamacpp@MODEL             nothing listens at http://127.0.0.1:1/v1
    lmstudio@MODEL             nothing listens at http://127.0.0.1:1/v1
    mistral@MODEL              needs MISTRAL_API_KEY
    ollama@MODEL               nothing listens at http://127.0.0.1:1
    openai@MODEL               OPENAI_API_KEY is set
    openrouter@MODEL           needs OPENROUTER_API_KEY
    vllm@MODEL                 nothing listens at http://127.0.0.1:1/v1
    xai@MODEL                  needs XAI_API_KEY
    replay:FILE[#FORMAT]       a recorded answer
    broken                     alias of cluade, which cannot be asked: `[models.broken]`: unknown model `cluade`
    fast                       alias of openai@m
    ");
    let (_, out, _) = run(&["models", "--json"]);
    assert!(!out.contains("very-secret"));
    let shown = json(&out);
    assert_eq!(shown["agents"][0]["version"], "2.1.0 (Claude Code)");
    assert_eq!(shown["agents"][1]["program"], serde_json::Value::Null);
    let openai = shown["providers"].as_array().unwrap().iter().find(|provider| provider["name"] == "openai").unwrap();
    assert_eq!(openai["keyPresent"], true);
}

#[test]
fn init_writes_a_file_that_loads_and_never_over_one() {
    let place = Place::new();
    place.program("claude", "echo 2.1.0");
    place.program("codex", "echo 0.171.0");
    let (code, out, err) = place.run(&["init", "--no-gitignore"]);
    assert_eq!((code, out.as_str()), (0, "[DIR]/project/team.toml\n"), "{err}");
    let written = place.read("project/team.toml");
    assert!(written.contains("panel = [\"claude\", \"codex\"]"), "{written}");
    assert_eq!(place.run(&["config"]).0, 0);
    let (code, out, err) = place.run(&["init"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("exists already and is left as it is"), "{err}");
    assert_eq!(place.read("project/team.toml"), written);
}

#[test]
fn init_adds_the_sessions_to_gitignore_only_when_told_to() {
    let place = Place::with_git();
    place.write("project/.gitignore", "/target");
    let (code, _, err) = place.run(&["init"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("use `--gitignore`"), "nobody can be asked here: {err}");
    assert_eq!(place.read("project/.gitignore"), "/target");
    fs_err::remove_file(place.project().join("team.toml")).unwrap();
    let (code, _, err) = place.run(&["init", "--gitignore"]);
    assert_eq!(code, 0, "{err}");
    let ignored = place.read("project/.gitignore");
    assert_eq!(ignored, "/target\n# sessions of `team`: prompts and answers\n/ai-docs/sessions/\n");
    fs_err::remove_file(place.project().join("team.toml")).unwrap();
    assert_eq!(place.run(&["init", "--gitignore"]).0, 0);
    assert_eq!(place.read("project/.gitignore"), ignored, "once is enough");
}

#[test]
fn init_leaves_a_file_that_is_there_and_does_the_rest() {
    let place = Place::with_git();
    place.write("project/team.toml", "sessions_dir = \"kept\"\n");
    let (code, out, err) = place.run(&["init", "--gitignore"]);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert!(err.contains("exists already and is left as it is") && err.contains("added `/kept/`"), "{err}");
    assert_eq!(place.read("project/team.toml"), "sessions_dir = \"kept\"\n");
    assert!(place.read("project/.gitignore").contains("/kept/\n"));
    let (code, _, err) = place.run(&["init", "--gitignore"]);
    assert_eq!(code, 0);
    assert!(err.contains("git ignores the sessions already"), "{err}");
    assert_eq!(place.run(&["init"]).0, 2, "nothing else was asked for");
}

#[test]
fn doctor_checks_the_models_that_are_named_also_without_a_panel() {
    let place = Place::new();
    let (code, out, _) = place.run(&["doctor", "-m", "openai@m,codex"]);
    assert_eq!(code, 2);
    assert_eq!(out.lines().last(), Some("not ready: openai@m, codex"), "{out}");
    assert!(out.contains("OPENAI_API_KEY is not set"), "{out}");
    place.program("agent", "echo 1.0");
    place.write("project/team.toml", "panel = [\"codex\"]\n[models.mine]\ncommand = [\"agent\"]\n");
    let (code, out, _) = place.run(&["doctor", "--models", "mine"]);
    assert_eq!(code, 0, "not the panel: {out}");
}

#[test]
fn a_folder_in_the_place_of_a_file_of_settings_is_an_error() {
    for folder in ["project/team.toml", "home/.config/team/config.toml"] {
        let place = Place::new();
        fs_err::create_dir_all(place.dir.path().join(folder)).unwrap();
        let (code, _, err) = place.run(&["config"]);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(folder) && err.contains("is a folder, not a file"), "{err}");
    }
}

#[test]
fn doctor_ends_in_one_decisive_line_and_leaves_nothing() {
    let place = Place::new();
    let (code, out, _) = place.run(&["doctor"]);
    assert_eq!(code, 2);
    assert_eq!(out.lines().last(), Some("not ready: panel"));

    place.program("agent", "echo 1.0");
    place.write(
        "project/team.toml",
        "panel = [\"mine\", \"codex\", \"openai@m\", \"here@m\", \"opsu\"]\n[models.mine]\ncommand = [\"agent\"]\n\
         [providers.here]\nwire = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\n",
    );
    let (code, out, err) = place.run(&["doctor"]);
    assert_eq!((code, err.as_str()), (2, ""));
    assert_eq!(out.lines().last(), Some("not ready: codex, openai@m, here@m, opsu"), "{out}");
    for said in ["`codex` is not installed", "OPENAI_API_KEY is not set", "nothing listens at", "unknown model `opsu`"]
    {
        assert!(out.contains(said), "{said}: {out}");
    }

    place.write("project/team.toml", "panel = [\"mine\"]\n[models.mine]\ncommand = [\"agent\"]\n");
    let (code, out, _) = place.run(&["doctor", "--json"]);
    assert_eq!(code, 0, "{out}");
    assert_eq!(json(&out)["ready"], true);
    let mut left: Vec<_> = fs_err::read_dir(place.project()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [".git", "team.toml"]);
}

#[test]
fn doctor_says_what_claudish_and_llm_lack() {
    let place = Place::new();
    place.write("project/team.toml", "panel = [\"claudish:or@x/y\", \"llm:gpt-4o\", \"llm:of-a-plugin\"]\n");
    place.program("claudish", "echo needs another program >&2; exit 1");
    let (code, out, _) = place.run(&["doctor"]);
    assert_eq!(code, 2);
    assert!(out.contains("claudish --version` gave no version: needs another program"), "{out}");
    assert!(out.contains("`llm` is not installed"), "{out}");

    place.program("claudish", "echo 10");
    place.program("llm", "echo 0.36");
    // A machine may have it where claudish finds it without PATH.
    let (code, out, _) = place.run(&["doctor"]);
    if !Path::new("/usr/local/bin/claude").exists() {
        assert_eq!(code, 2);
        assert!(out.contains("10; the program `claude`, which it runs, is not in PATH"), "{out}");
        assert_eq!(out.lines().last(), Some("not ready: claudish:or@x/y"));
    }

    place.program("claude", "echo 2");
    let (code, out, _) = place.run(&["doctor"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("warning  claudish:or@x/y  10; no sign-in was found"), "{out}");
    assert!(out.contains("warning  llm:gpt-4o       0.36; no sign-in was found"), "{out}");
    assert!(out.contains("ok       llm:of-a-plugin  0.36\n"), "{out}");
    let mut team = place.team(&["doctor"]);
    team.env("OPENROUTER_API_KEY", "k").env("OPENAI_API_KEY", "k");
    let (_, out, _) = place.shown(&team.output().unwrap());
    assert!(!out.contains("no sign-in was found"), "{out}");
}

#[test]
fn doctor_reports_a_configuration_that_does_not_load() {
    let place = Place::new();
    place.write("project/team.toml", "pannel = []\n");
    let (code, out, _) = place.run(&["doctor"]);
    assert_eq!(code, 2);
    assert!(out.contains("team.toml:1: unknown key `pannel`"), "{out}");
    assert!(out.contains("hint: did you mean `panel`?"), "{out}");
    assert_eq!(out.lines().last(), Some("not ready: configuration"));
}

#[test]
fn completions_name_the_commands() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let (code, out, _) = place.run(&["completions", shell]);
        assert_eq!(code, 0);
        assert!(out.contains("run-and-judge"), "{shell}");
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let place = Place::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_team"))
        .args(["completions", "bash"])
        .env("HOME", place.dir.path())
        .current_dir(Path::new(&place.project()))
        .stdout(writer)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
