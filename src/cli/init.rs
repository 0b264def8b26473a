//! `team init`: a commented `team.toml` from what is found here.

use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use super::args::InitArgs;
use super::context::Context;
use super::inventory::{self, Inventory, LocalModel};
use super::skill::{self, Consent};
use crate::config::{AgentKind, Config, Environment, FileSettings, PROJECT_FILE};
use crate::error::{Error, ExitCode};
use crate::{fs, git};

/// How long git may take to answer.
const GIT_LIMIT: Duration = Duration::from_secs(10);

/// Writes the file, never over one, and offers to keep the sessions out of git.
pub(super) async fn init(
    context: &Context,
    args: &InitArgs,
    local: Option<&dyn Fn() -> LocalModel>,
) -> Result<ExitCode, Error> {
    let path = context.cwd.join(PROJECT_FILE);
    let exists = || {
        Error::usage(format!("`{}` exists already and is left as it is", path.display()))
            .hint("`team config` shows what it sets; move it away to have a new one written")
    };
    if path.symlink_metadata().is_ok() {
        if !args.gitignore && !args.skill {
            return Err(exists());
        }
        // The rest of what was asked for can still be done.
        let config = context.load(context.global.settings())?;
        context.printer.note(format!("`{}` exists already and is left as it is", path.display()));
        if args.gitignore {
            ignore_sessions(context, args, &config.settings().sessions_dir).await?;
        }
        return write_skill(context, args);
    }
    let config = context.load(context.global.settings())?;
    let inventory = inventory::take(&config, &context.environment, local.map(|look| look())).await;
    let text = contents(&inventory);
    match fs::create_exclusive(&path) {
        Ok(mut file) => {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
        }
        // Somebody was faster.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Err(exists()),
        Err(error) => return Err(error.into()),
    }
    context.printer.line(path.display().to_string())?;
    // What was written decides from here on, and it is known to load.
    let config = Config::load(&context.cwd, &Environment::default(), FileSettings::default())?;
    ignore_sessions(context, args, &config.settings().sessions_dir).await?;
    let code = write_skill(context, args)?;
    context.printer.note("next: `team doctor` checks the panel, `team run-and-judge task.md` asks it");
    Ok(code)
}

/// The skill and the settings of coding agents, where they are asked for.
fn write_skill(context: &Context, args: &InitArgs) -> Result<ExitCode, Error> {
    if !args.skill {
        return Ok(ExitCode::DONE);
    }
    let ask =
        |question: &str| Ok(answer(context, question)?.is_some_and(|answer| matches!(answer.as_str(), "y" | "yes")));
    let consent = match (args.yes, can_ask(context)) {
        (true, _) => Consent::Given,
        (false, true) => Consent::Asked(&ask),
        (false, false) => Consent::Absent,
    };
    skill::write(context, &args.host, &consent)
}

async fn ignore_sessions(context: &Context, args: &InitArgs, sessions: &Path) -> Result<(), Error> {
    if args.no_gitignore {
        return Ok(());
    }
    let git = git::Git::new(&context.cwd, GIT_LIMIT);
    let root = match git.work_tree().await {
        Ok(Some(root)) => root,
        Ok(None) if args.gitignore => {
            return Err(Error::usage(format!("`{}` is not in a git work tree", context.cwd.display()))
                .hint("leave `--gitignore` out, or run `git init` first"));
        }
        Ok(None) => return Ok(()),
        Err(error) if args.gitignore => return Err(Error::config("cannot ask git").with_source(error)),
        Err(error) => {
            context.printer.detail(format!("the sessions are not kept out of git: {error}"));
            return Ok(());
        }
    };
    // Git gives the real path, the sessions folder may go through a link.
    let cwd = context.cwd.canonicalize()?;
    let real = sessions.strip_prefix(&context.cwd).map_or_else(|_| sessions.to_owned(), |rest| cwd.join(rest));
    let Ok(relative) = real.strip_prefix(&root) else { return Ok(()) };
    if git.is_ignored(&relative_to_cwd(&root, relative)).await.unwrap_or(false) {
        let text = "git ignores the sessions already";
        if args.gitignore {
            context.printer.note(text)
        } else {
            context.printer.detail(text)
        }
        return Ok(());
    }
    let line = format!("/{}/", relative.display());
    if !(args.gitignore || asked(context, &line)?) {
        context
            .printer
            .note(format!("git would commit the sessions: add `{line}` to `.gitignore`, or use `--gitignore`"));
        return Ok(());
    }
    let file = root.join(".gitignore");
    // A link stays a link: its target is what is replaced.
    let file = file.canonicalize().unwrap_or(file);
    let text = match fs_err::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error.into()),
    };
    if let Some(changed) = git::with_line(&text, &line, "sessions of `team`: prompts and answers") {
        fs::replace(&file, changed.as_bytes())?;
        context.printer.note(format!("added `{line}` to `{}`", file.display()));
    }
    Ok(())
}

/// A path that git, started in the current directory, understands.
fn relative_to_cwd(root: &Path, relative: &Path) -> std::path::PathBuf {
    root.join(relative).join("x")
}

/// Whether somebody is there to be asked.
fn can_ask(context: &Context) -> bool {
    context.printer.is_interactive() && std::io::stdin().is_terminal() && !context.global.json
}

/// What a person answers, in lower case. The end of the input is no answer.
fn answer(context: &Context, question: &str) -> Result<Option<String>, Error> {
    context.printer.note(question);
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer)?;
    Ok((read > 0).then(|| answer.trim().to_lowercase()))
}

fn asked(context: &Context, line: &str) -> Result<bool, Error> {
    if !can_ask(context) {
        return Ok(false);
    }
    let question = format!("Add `{line}` to `.gitignore`, so that sessions are not committed? [Y/n]");
    Ok(answer(context, &question)?.is_some_and(|answer| matches!(answer.as_str(), "" | "y" | "yes")))
}

/// The text of the file.
fn contents(inventory: &Inventory) -> String {
    // Only what can be asked by its bare name has a place in a panel that is written unasked.
    let panel: Vec<&str> = inventory
        .agents
        .iter()
        .filter(|agent| agent.program.is_some() && !AgentKind::of_program(&agent.name).needs_model())
        .map(|agent| agent.name.as_str())
        .collect();
    let list = panel.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let mut text = String::from(
        "# Settings of `team` for this project. `team config` shows what holds and why, `team models` lists names.\n\
         # Keys of model APIs never stand here: a provider names the variable that holds its key.\n\n\
         # The models that answer when `-m` is not given. At least two, of different makers, make a panel.\n",
    );
    if panel.is_empty() {
        text.push_str("# No agent was found here. For example:\n# panel = [\"claude\", \"codex\", \"openai@MODEL\"]\n");
    } else {
        text.push_str(&format!("panel = [{list}]\n"));
    }
    let usable: Vec<String> = inventory
        .providers
        .iter()
        .filter(|endpoint| endpoint.is_usable())
        .map(|endpoint| format!("\"{}@MODEL\"", endpoint.name))
        .collect();
    if !usable.is_empty() {
        text.push_str(&format!("# Also usable here, with a model's id: {}\n", usable.join(", ")));
    }
    text.push_str(
        "\n# The models that vote, where they are others than the panel.\n\
         # judges = [\"claude\", \"codex\"]\n\
         # Which answers a judge does not see: those of its own \"model\", its own \"slot\", or none (\"include\").\n\
         # self_vote = \"model\"\n\
         # Also those of its model's vendor: \"vendor\".\n\
         # recuse = \"none\"\n\
         # An answer that names its author: \"mask\" the name for the judges, \"flag\" it, or \"fail\" the answer.\n\
         # leaks = \"mask\"\n\
         # 2 asks each judge again in reverse order; a vote that flips is none.\n\
         # passes = 1\n\
         # Whether a judge is asked once more for what its ballot lacks.\n\
         # repair = true\n\
         # The bar of `team vote`: \"majority\", \"supermajority\", \"unanimous\", or \"N%\" of the valid votes.\n\
         # threshold = \"majority\"\n\n\
         # Where sessions are kept, from this file's folder.\n\
         # sessions_dir = \"ai-docs/sessions\"\n\
         # The folder of which programs see a read-only snapshot, from this file's folder.\n\
         # workspace = \".\"\n\
         # Also what git neither tracks nor ignores there: \"include\".\n\
         # untracked = \"exclude\"\n\n\
         # Limits; without them no slot is ended for being slow.\n\
         # timeout = \"20m\"\n# idle_timeout = \"5m\"\n# deadline = \"1h\"\n# jobs = 4\n# retries = 2\n\n\
         # Over the rounds of a pipeline a reviewer and the fixer keep their conversations: \"off\" asks anew each time.\n\
         # [pipeline]\n# session_reuse = \"on\"\n\n\
         # Aliases: a model with settings of its own.\n\
         # [models.careful]\n# use = \"openai@MODEL\"\n# temperature = 0.2\n# system = \"Think before you answer.\"\n",
    );
    text.push_str(
        "\n# Any server that speaks \"openai-chat\", \"openai-responses\", \"anthropic-messages\", \"gemini-generate\" or\n\
         # \"ollama-chat\".\n\
         # [providers.mine]\n# wire = \"openai-chat\"\n# base_url = \"http://127.0.0.1:8080/v1\"\n\
         # api_key_env = \"MINE_API_KEY\"\n",
    );
    text.push_str(
        "\n# What `team gate` has the panel vote on in CI; it goes by this file as the base of a change has it.\n\
         # [gate]\n# what = \"diff\"\n# panel = [\"claude\", \"codex\"]\n# quorum = 2\n# deadline = \"30m\"\n# max_cost = 2.50\n\
         # max_bytes = 262144\n# ignore = [\"*.lock\"]\n\
         # What follows when a file was not looked at: a \"person\" must, or it is only a \"report\".\n\
         # omitted = \"person\"\n# [gate.outputs]\n# junit = \"team-gate.xml\"\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::inventory::{Agent, Endpoint};

    fn agent(name: &str, found: bool) -> Agent {
        Agent {
            name: name.to_owned(),
            form: name.to_owned(),
            program: found.then(|| name.into()),
            version: None,
            problem: None,
        }
    }

    fn inventory(found: &[&str]) -> Inventory {
        let endpoint = Endpoint {
            name: "openai".to_owned(),
            base_url: "https://api.openai.com/v1".to_owned(),
            api_key_env: Some("OPENAI_API_KEY".to_owned()),
            key_present: Some(found.contains(&"openai")),
            listening: None,
        };
        let agents = |names: &[&str]| names.iter().map(|name| agent(name, found.contains(name))).collect();
        Inventory::of(agents(&["claude", "codex", "gemini", "opencode", "llm"]), vec![endpoint])
    }

    fn load(text: &str) -> Config {
        let dir = tempfile::tempdir().unwrap();
        fs::replace(&dir.path().join(PROJECT_FILE), text.as_bytes()).unwrap();
        Config::load(dir.path(), &Environment::default(), FileSettings::default()).unwrap()
    }

    #[test]
    fn what_is_written_loads_and_names_what_was_found() {
        assert_eq!(load(&contents(&inventory(&[]))).settings().panel, Vec::<String>::new());
        let text = contents(&inventory(&["claude", "gemini", "opencode", "llm", "openai"]));
        let config = load(&text);
        assert_eq!(config.settings().panel, ["claude", "gemini", "opencode"]);
        let environment = Environment::default();
        let models = crate::config::Models::new(&config, &environment);
        assert_eq!(models.resolve_all(&config.settings().panel).unwrap().len(), 3);
        assert!(text.contains("# Also usable here, with a model's id: \"openai@MODEL\""), "{text}");
    }

    #[test]
    fn every_setting_that_is_shown_as_a_comment_is_a_valid_one() {
        let text = contents(&inventory(&[]));
        // Lines that begin with `# [` or hold `key = ` are settings; all others are prose.
        let uncommented: String = text
            .lines()
            .filter_map(|line| line.strip_prefix("# "))
            .filter(|line| line.starts_with('[') || line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' ')))
            .map(|line| format!("{line}\n"))
            .collect();
        let config = load(&uncommented);
        assert_eq!(config.settings().jobs.unwrap().get(), 4);
        assert_eq!(config.settings().gate.quorum.unwrap().get(), 2);
        assert_eq!(config.settings().models["careful"].temperature, Some(0.2));
        assert_eq!(config.settings().providers["mine"].api_key_env.as_deref(), Some("MINE_API_KEY"));
    }
}
