//! The whole command line.
//!
//! Nothing is decided here: values are parsed, and what is not given is left to the configuration.

mod ask;
mod choice;
mod fix;
mod gate;
mod gc;
mod limits;
mod report;
mod resume;
mod review;
mod stats;
mod verify;
mod vote;
mod words;
mod workspace;

use std::num::{IntErrorKind, NonZeroUsize, ParseIntError};
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand};

use super::skill::Host;
use crate::config::{FileSettings, Leaks, Passes, Recuse, Repair, SelfVote};
use crate::report::Format;

pub use ask::AskArgs;
pub use choice::ChoiceArgs;
pub use fix::{FixArgs, RepairArgs, RespondArgs};
pub use gate::{GateArgs, OutputArgs};
pub use gc::GcArgs;
pub use limits::{LimitArgs, PaceArgs};
pub use report::ReportArgs;
pub use resume::ResumeArgs;
pub use review::{ReviewArgs, ReviewRuleArgs, ReviewerArgs, TargetArgs};
pub use stats::{Moment, StatsArgs};
pub use verify::VerifyArgs;
pub use vote::{VoteArgs, VotingArgs};
pub use workspace::WorkspaceArgs;

const EXAMPLES: &str = "\
Examples:
  team demo                                                   see it work, without a key or a CLI
  team run-and-judge -m claude,codex,ollama@qwen3 task.md     blind answers, then a blind vote
  team run -m claude:opus,codex \"Why is the sky blue?\"        only the answers
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

Standard output is data, standard error is everything else.";

const MCP: &str = "\
A server of the Model Context Protocol on standard input and output, for revisions 2025-11-25 (with its handshake) and \
2026-07-28 (without one). A client starts it, for example by this entry in the `.mcp.json` of a project:

  {\"mcpServers\": {\"team\": {\"command\": \"team\", \"args\": [\"mcp\"]}}}

`team init --skill` writes this for the agents that are found here, and a skill. The server works in the folder that it is started \
in. Its tool `team` has a `mode`, which is what this command line calls a command; `team_review`, `team_fix` and `team_respond` \
are commands of their own. Standard output is the protocol and nothing else. When the client is gone, what it started is stopped cleanly, except \
what it asked to have detached.";

/// Blind multi-model panels: one prompt to many models, judged without knowing who wrote what
#[derive(Debug, Parser)]
#[command(name = "team", version, about, after_help = EXAMPLES, max_term_width = 100)]
#[command(arg_required_else_help = true, disable_help_subcommand = true, propagate_version = false)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Default, Args)]
pub struct GlobalArgs {
    /// Where sessions are kept [default: ai-docs/sessions, or as configured]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub sessions_dir: Option<PathBuf>,
    /// Print JSON: one object, or one event per line
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
    /// Print results and errors only
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Global options")]
    pub quiet: bool,
    /// Print more about what happens
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub verbose: bool,
    /// No colour (also: the variable NO_COLOR)
    #[arg(long, global = true, help_heading = "Global options")]
    pub no_color: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
// The options of a command are put together when that command is given, not at every start. Its own help then begins
// with the first line of what holds its options.
#[command(defer = true)]
pub enum Command {
    /// Ask every model of a panel the same thing
    Run(RunArgs),
    /// Let judges vote blind on a finished run
    Judge(JudgeArgs),
    /// Ask, then vote: `run` and `judge` in one
    RunAndJudge(RunAndJudgeArgs),
    /// Let every model of a panel vote on a text itself
    Vote(VoteArgs),
    /// Let a panel review a plan, a change or files, and vote on what it finds
    Review(ReviewArgs),
    /// Review a change, and have what is found repaired on a branch of its own
    Fix(FixArgs),
    /// Decide what a fix waits for, or what later runs leave
    Respond(RespondArgs),
    /// Let a panel vote on what a branch changes, or review it, in CI
    Gate(GateArgs),
    /// Go on with a session that was cut off, stopped, or failed in part
    Resume(ResumeArgs),
    /// Show how far a session is
    Status(StatusArgs),
    /// List sessions, the newest first
    List(ListArgs),
    /// Show a session's answers and verdict
    Show(ShowArgs),
    /// Check that a session's folder still is what its record says
    Verify(VerifyArgs),
    /// Make a report of a session: one HTML file that needs nothing else, or text
    Report(ReportArgs),
    /// Count over sessions how each model did
    Stats(StatsArgs),
    /// Stop a running session, or one slot of it
    Cancel(CancelArgs),
    /// Remove what is left over, and list what stays
    Gc(GcArgs),
    /// Check whether everything is ready to ask the panel
    Doctor(DoctorArgs),
    /// List what can be asked here and now
    Models,
    /// Show the effective settings, each with where it comes from
    Config,
    /// Write a commented `team.toml` from what is found here
    Init(InitArgs),
    /// See the whole thing work with a small local model
    Demo(DemoArgs),
    /// Serve coding agents by the Model Context Protocol
    #[command(after_help = MCP)]
    Mcp,
    /// Print the JSON Schema of what `team` writes
    Schema(SchemaArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// Ask every model of a panel the same thing
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  team run -m claude,codex question.md
  team run -m openai@gpt-4o -m ollama@qwen3 \"Why is the sky blue?\"
  git diff | team run -m claude,codex -i - --timeout 10m
  team run -m claude,codex --remember question.md
  team run -m claude,codex --workspace . \"Where does this leak?\"

Without `-m`, the panel is that of `[contexts.x]` where the task's words are of that kind (debug, \
research, coding, review, architecture, testing, or one of your own), else `panel`, else what is \
found here. `team models` lists names.")]
pub struct RunArgs {
    /// What to ask, and whom.
    #[command(flatten)]
    pub ask: AskArgs,
    /// The files that programs may read.
    #[command(flatten)]
    pub workspace: WorkspaceArgs,
    /// Limits and demands.
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Let judges vote blind on a finished run
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  team judge latest
  team judge team-stats-20260209 --judges claude,codex --self-vote slot
  team judge latest --passes 2
  team judge latest --import other/judging/votes.json
  team judge latest --import judge.txt --import-pattern '^(?<answer>\\d\\d): (?<verdict>\\w+)'

Imported ballots are counted by the same code, and nobody is asked. Without a pattern a file is in the schema of \
`votes.json`. With one, each match is a vote (groups `answer`, `verdict`) or a judgement of two answers against each other \
(groups `a`, `b`, `winner`); `judge`, `confidence` and `summary` may be there as well. Answers are named by their number or \
by their model, by one judge not by both, winners also by `A`, `B` or `tie`.")]
pub struct JudgeArgs {
    /// A session's folder, id, beginning of its id, or `latest`
    #[arg(default_value = "latest", value_name = "SESSION")]
    pub session: String,
    /// Count ballots from elsewhere instead of asking anybody; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "judges", "self_vote", "recuse", "leaks", "passes", "no_repair", "prompts", "require_blind",
    ])]
    pub import: Vec<PathBuf>,
    /// The regular expression whose every match in an imported file is one judgement
    #[arg(long, value_name = "REGEX", requires = "import")]
    pub import_pattern: Option<String>,
    /// Say what would be sent and what it would cost, and start nothing
    #[arg(long, conflicts_with = "import")]
    pub estimate: bool,
    /// How to judge.
    #[command(flatten)]
    pub judging: JudgingArgs,
    /// Limits and demands.
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Ask, then vote: `run` and `judge` in one
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  team run-and-judge -m claude,codex,ollama@qwen3 question.md
  team run-and-judge -m claude,codex --judges openai@gpt-4o,groq@llama-3.3-70b question.md")]
pub struct RunAndJudgeArgs {
    /// What to ask, and whom.
    #[command(flatten)]
    pub ask: AskArgs,
    /// The files that programs may read.
    #[command(flatten)]
    pub workspace: WorkspaceArgs,
    /// How to judge.
    #[command(flatten)]
    pub judging: JudgingArgs,
    /// Limits and demands.
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// How to judge.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Judging")]
pub struct JudgingArgs {
    /// The models that vote, separated by commas; may be repeated [default: the panel]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = model_name)]
    pub judges: Vec<String>,
    /// Hide from a judge the answers of its own model, only that of its own seat, or include all
    #[arg(long, value_name = "RULE", value_enum)]
    pub self_vote: Option<SelfVote>,
    /// Hide from a judge also the answers of its own model's vendor
    #[arg(long, value_name = "RULE", value_enum)]
    pub recuse: Option<Recuse>,
    /// What to do about text by which an author names itself: mask it for the judges, only count it, or leave the
    /// answer out of the vote [default: mask]
    #[arg(long, value_name = "RULE", value_enum)]
    pub leaks: Option<Leaks>,
    /// Ask each judge once, or twice with the answers in reverse order, where a vote that flips is none [default: 1]
    #[arg(long, value_name = "N")]
    pub passes: Option<Passes>,
    /// Do not ask a judge once more for the votes that its ballot lacks
    #[arg(long)]
    pub no_repair: bool,
    /// Take the prompts from this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    pub prompts: Option<PathBuf>,
}

/// A session.
#[derive(Debug, Clone, Args)]
pub struct SessionArgs {
    /// A session's folder, id, beginning of its id, or `latest`
    #[arg(default_value = "latest", value_name = "SESSION")]
    pub session: String,
}

/// Show how far a session is
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  team status latest
  team status --watch                    follow a run in another terminal; Ctrl-C leaves it alone
  team status --watch --json | jq .      its events as they come, after those that were")]
pub struct StatusArgs {
    /// Which one.
    #[command(flatten)]
    pub session: SessionArgs,
    /// Show what happens until the session ends
    #[arg(short, long)]
    pub watch: bool,
}

/// List sessions, the newest first
#[derive(Debug, Clone, Args)]
pub struct ListArgs {
    /// The most sessions to list
    #[arg(short = 'n', long, value_name = "N", value_parser = count::<NonZeroUsize>, allow_negative_numbers = true)]
    pub limit: Option<NonZeroUsize>,
}

/// Show a session's answers and verdict
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  team show latest
  team show latest 02             the answer of slot 02, or why there is none
  team show latest --reveal       also says who wrote what, and records that it did")]
pub struct ShowArgs {
    /// Which one.
    #[command(flatten)]
    pub session: SessionArgs,
    /// Only this slot, such as 02; or of a review or a fix this finding, such as F01
    #[arg(value_name = "SLOT|FINDING")]
    pub slot: Option<String>,
    /// Say which model each slot is
    #[arg(long)]
    pub reveal: bool,
}

/// Stop a running session, or one slot of it
#[derive(Debug, Clone, Args)]
pub struct CancelArgs {
    /// Which one.
    #[command(flatten)]
    pub session: SessionArgs,
    /// Only this slot, such as 02
    #[arg(value_name = "SLOT")]
    pub slot: Option<String>,
}

/// Check whether everything is ready to ask the panel
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Exit codes:
  0  ready
  2  not ready: the last line says why")]
pub struct DoctorArgs {
    /// The models to check, separated by commas; may be repeated [default: the panel and its judges]
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',', value_parser = model_name)]
    pub models: Vec<String>,
    /// Also ask each of them one short question (this may cost a little)
    #[arg(long)]
    pub deep: bool,
}

/// Write a commented `team.toml` from what is found here
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  team init --gitignore
  team init --skill                       for the coding agents that are found here
  team init --skill --host claude,codex

`--skill` writes `team/SKILL.md` into the folder of skills of each, and `team mcp` into its settings of this project:
  claude    .claude/skills  .mcp.json
  codex     .agents/skills  .codex/config.toml
  gemini    .agents/skills  .gemini/settings.json
  opencode  .agents/skills  opencode.json
A file that is there already is changed only after the change was shown and agreed to; a second time changes nothing.")]
pub struct InitArgs {
    /// Also add the sessions folder to `.gitignore`
    #[arg(long, conflicts_with = "no_gitignore")]
    pub gitignore: bool,
    /// Leave `.gitignore` alone, and do not ask
    #[arg(long)]
    pub no_gitignore: bool,
    /// Also write a skill for coding agents, and make `team mcp` known to them
    #[arg(long)]
    pub skill: bool,
    /// For these coding agents, separated by commas [default: those that are found here]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_enum, requires = "skill")]
    pub host: Vec<Host>,
    /// Change files that are there already without asking
    #[arg(long, requires = "skill")]
    pub yes: bool,
}

/// See the whole thing work with a small local model
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
The first time it sets up the model (127 MB, kept in the cache folder). It exits with 0 when there is a verdict, \
whatever so small a model voted.")]
pub struct DemoArgs {
    /// The question [default: a built-in one]
    #[arg(value_name = "PROMPT")]
    pub words: Vec<String>,
}

/// Print the JSON Schema of what `team` writes
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  team schema                     the names, and what each is the schema of
  team schema events > events.schema.json")]
pub struct SchemaArgs {
    /// Of what [default: list the names]
    #[arg(value_name = "FORMAT", value_enum)]
    pub format: Option<Format>,
}

/// Print a completion script for a shell
#[derive(Debug, Clone, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

impl GlobalArgs {
    /// What these set, as the highest layer of the configuration.
    #[must_use]
    pub fn settings(&self) -> FileSettings {
        FileSettings { sessions_dir: self.sessions_dir.clone(), ..FileSettings::default() }
    }
}

impl JudgingArgs {
    /// Adds what these set.
    pub fn apply(&self, settings: &mut FileSettings) {
        if !self.judges.is_empty() {
            settings.judges = Some(self.judges.clone());
        }
        settings.self_vote = self.self_vote.or(settings.self_vote);
        settings.recuse = self.recuse.or(settings.recuse);
        settings.leaks = self.leaks.or(settings.leaks);
        settings.passes = self.passes.or(settings.passes);
        if self.no_repair {
            settings.repair = Some(Repair::Never);
        }
    }
}

/// `-m "claude, codex"` is as good as `-m claude,codex`; an empty name is a slip.
/// A whole number of which none would be nothing to do.
fn count<N: FromStr<Err = ParseIntError>>(text: &str) -> Result<N, String> {
    text.trim().parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => "too large".to_owned(),
        _ => "not a whole number of 1 or more".to_owned(),
    })
}

fn kind_of_task(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("the name of a kind of task is empty".to_owned()),
        name => Ok(name.to_owned()),
    }
}

fn model_name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a model's name is empty".to_owned()),
        name => Ok(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limit;
    use clap::CommandFactory;

    fn parse(words: &[&str]) -> Result<Cli, clap::Error> {
        Cli::try_parse_from([&["team"], words].concat())
    }

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }

    /// The list of commands takes the line from here, a command's own help from its options.
    #[test]
    fn a_command_says_of_itself_what_the_list_of_commands_says() {
        let abouts = |command: &clap::Command| {
            let about = |command: &clap::Command| command.get_about().map(ToString::to_string);
            command.get_subcommands().map(|command| (command.get_name().to_owned(), about(command))).collect::<Vec<_>>()
        };
        let mut command = Cli::command();
        let listed = abouts(&command);
        command.build();
        assert_eq!(abouts(&command), listed);
    }

    /// It is wrapped by its width when it is shown: a line that ends in the middle of a paragraph would be wrapped twice.
    #[test]
    fn what_stands_below_the_options_is_wrapped_once() {
        let mut command = Cli::command();
        command.build();
        for command in std::iter::once(&command).chain(command.get_subcommands()) {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
            for pair in lines.windows(2) {
                let is_broken = is_prose(pair[0]) && !pair[1].is_empty() && !pair[1].starts_with(' ');
                assert!(!is_broken, "{}: {}", command.get_name(), pair[0]);
            }
            for line in lines.iter().filter(|line| line.starts_with(' ')) {
                assert!(line.chars().count() <= 100, "{}: {line}", command.get_name());
            }
        }
    }

    #[test]
    fn models_are_separated_by_commas_and_repeated() {
        let Command::Run(run) = parse(&["run", "-m", "a, b", "-m", "c", "what", "is", "it"]).unwrap().command else {
            unreachable!()
        };
        assert_eq!(run.ask.models, ["a", "b", "c"]);
        assert_eq!(run.ask.words, ["what", "is", "it"]);
    }

    #[test]
    fn usage_errors_exit_with_2() {
        for words in [
            &["run", "-m", "a,,b", "x"][..],
            &["run", "--timeout", "90", "x"],
            &["run", "--jobs", "0", "x"],
            &["run", "-i", "-", "x"],
            &["run", "--self-vote", "model", "x"],
            &["judge", "--self-vote", "yes"],
            &["run", "-q", "-v", "x"],
            &["rnu"],
        ] {
            assert_eq!(parse(words).unwrap_err().exit_code(), 2, "{words:?}");
        }
    }

    #[test]
    fn limits_become_the_highest_layer() {
        let words = [
            "run-and-judge",
            "-m",
            "a",
            "--timeout",
            "none",
            "--jobs",
            "3",
            "--self-vote",
            "slot",
            "--judges",
            "j",
            "x",
        ];
        let Command::RunAndJudge(args) = parse(&words).unwrap().command else { unreachable!() };
        let mut settings = FileSettings::default();
        args.ask.apply(&mut settings);
        args.judging.apply(&mut settings);
        args.limits.apply(&mut settings);
        let expected = FileSettings {
            panel: Some(vec!["a".into()]),
            judges: Some(vec!["j".into()]),
            self_vote: Some(SelfVote::Slot),
            timeout: Some(Limit::Unlimited),
            jobs: NonZeroUsize::new(3),
            ..FileSettings::default()
        };
        assert_eq!(settings, expected);
    }

    #[test]
    fn global_options_are_taken_after_the_command_too() {
        let cli = parse(&["status", "--json", "--sessions-dir", "d"]).unwrap();
        assert!(cli.global.json);
        assert_eq!(cli.global.settings().sessions_dir, Some("d".into()));
    }
}
