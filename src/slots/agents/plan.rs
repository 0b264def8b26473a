//! The plan of one process.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use super::conversation::{Talk, Transcript};
use super::private::PrivateFile;
use super::{habits, inherited, locate, traces};
use crate::config::{
    AgentKind, Environment, OutputFormat, PromptVia, ResolvedModel, Target, VariableError, expand, variables_in,
};

/// What a process is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// An answer: tools that only read are available.
    Answer,
    /// A repair: tools that read, write and run are available, in the folder that it runs in.
    Fix,
    /// Votes: everything to judge by is in the prompt, so there are no tools where the program can do without.
    Judge,
}

/// Whether a program's own sandbox can be set up inside of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NestedSandbox {
    /// It can: no isolation, or namespaces.
    #[default]
    Works,
    /// It cannot, and the program would lose its tools in silence: inside of Landlock, which then is the sandbox.
    Fails,
}

/// One call of a program.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// What for.
    pub purpose: Purpose,
    /// What it is in a conversation.
    pub talk: Talk<'a>,
    /// The file that holds the prompt, absolute.
    pub prompt_file: &'a Path,
    /// The folder that the process will run in, absolute.
    pub work_dir: &'a Path,
    /// A folder for this call alone, absolute, where [`ProcessPlan::private`] goes.
    pub private_dir: &'a Path,
    /// How often a program that has a setting for it may repeat a failed request.
    pub retries: u32,
    /// Whether the program's own sandbox can be set up.
    pub nested_sandbox: NestedSandbox,
    /// The variables to choose from.
    pub environment: &'a Environment,
}

/// What a process reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdin {
    /// The prompt file, at its end after the last byte.
    PromptFile,
    /// Nothing, at its end from the start.
    Empty,
}

/// Everything needed to start one process.
#[derive(Clone, PartialEq, Eq)]
pub struct ProcessPlan {
    /// The program, as an absolute path where it was found, and its arguments.
    pub argv: Vec<OsString>,
    /// The whole environment, ordered by name; nothing else is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// What must have run and ended well before it, in the same surroundings: a program and its arguments.
    pub first: Option<Vec<OsString>>,
    /// What it reads.
    pub stdin: Stdin,
    /// What it prints.
    pub output: OutputFormat,
    /// What must stand in the private folder while it runs.
    pub private: Vec<PrivateFile>,
    /// How often it may repeat a failed request, by what it says about that; `None` leaves it to the program.
    pub retries: Option<u32>,
    /// Values in the environment that must never be written or shown.
    pub secret_values: Vec<String>,
    /// Folders into which the program writes transcripts and the like by habit; absolute, they need not exist.
    pub leaves: Vec<PathBuf>,
    /// What is no transcript in one of [`Self::leaves`]: sign-ins and settings.
    pub keeps: Vec<PathBuf>,
    /// What it does in HOME.
    pub home: HomeUse,
    /// Where it keeps the conversation that the call is of; `None` where it keeps none that could be gone on with.
    pub transcript: Option<Transcript>,
}

/// What a program does directly in HOME.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HomeUse {
    /// It makes no files there.
    Leaves,
    /// It makes files there; its sign-in is in its variables, so any HOME will do.
    WritesWithSignInElsewhere,
    /// It makes files there, and its sign-in may be one of them.
    WritesWithStoredSignIn,
}

impl fmt::Debug for ProcessPlan {
    /// Names of variables only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessPlan")
            .field("argv", &self.argv)
            .field("env", &self.env.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("stdin", &self.stdin)
            .field("output", &self.output)
            .finish_non_exhaustive()
    }
}

/// A process that cannot be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Another driver's model.
    #[error("`{0}` is not a program")]
    NotAProcess(String),
    /// No program at all.
    #[error("`{0}` has an empty command")]
    EmptyCommand(String),
    /// A `${VAR}` without a value.
    #[error("`env.{name}`: {source}")]
    Variable {
        /// The variable that was to be set.
        name: String,
        /// Why it cannot be.
        #[source]
        source: VariableError,
    },
    /// A file or variable of the program's own settings that cannot be used.
    #[error("`{}`: {reason}", path.display())]
    Settings {
        /// The file, or the variable.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A system prompt too long for a command line.
    #[error("the system prompt of `{0}` is longer than {limit} bytes", limit = habits::LONGEST_ARGUMENT)]
    SystemTooLong(String),
}

/// Plans the process that asks `model`.
pub fn plan(model: &ResolvedModel, call: &Call<'_>) -> Result<ProcessPlan, PlanError> {
    let Target::Process { agent, command, model: asked, prompt, output } = &model.target else {
        return Err(PlanError::NotAProcess(model.name.clone()));
    };
    let (program, arguments) = command.split_first().ok_or_else(|| PlanError::EmptyCommand(model.name.clone()))?;
    let settings = &model.settings;
    if settings.system.as_ref().is_some_and(|system| system.len() > habits::LONGEST_ARGUMENT) {
        return Err(PlanError::SystemTooLong(model.name.clone()));
    }
    let mut argv: Vec<OsString> = vec![match locate(program, call.environment) {
        Some(path) => path.into_os_string(),
        // The start then fails with the system's own reason, for this slot only.
        None => program.into(),
    }];
    let mut inherited = inherited::inherited(*agent, program, asked.as_deref(), call);
    if let (AgentKind::Claude | AgentKind::Claudish, Some(limit)) = (agent, settings.max_tokens) {
        inherited.insert("CLAUDE_CODE_MAX_OUTPUT_TOKENS".into(), limit.to_string().into());
    }
    let mut secret_values = inherited::secrets_in(&inherited);
    for (name, value) in &settings.env {
        let wrong = |source| PlanError::Variable { name: name.clone(), source };
        let expanded = expand(value, call.environment).map_err(wrong)?;
        for variable in variables_in(value).map_err(wrong)? {
            secret_values.extend(call.environment.text(variable).map(str::to_owned));
        }
        inherited.insert(name.into(), expanded.into());
    }
    let mut prepared = habits::prepare(*agent, asked.as_deref(), settings, call, &mut inherited)?;
    secret_values.extend(prepared.secrets);
    let habits = habits::habits_of(*agent, program);
    if let Some(name) = habits.databases.filter(|name| !settings.env.contains_key(*name)) {
        inherited.insert(name.into(), call.private_dir.join(habits::DATABASES).into());
        prepared.files.push(PrivateFile::Folder(habits::DATABASES.into()));
    }
    // Some arguments depend on settings of the program's own, which are where its variables say.
    let environment = inherited.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    let call = &Call { environment: &environment, ..*call };
    argv.extend(habits::arguments(*agent, arguments, asked.as_deref(), settings, call));
    let first = habits::first(*agent, call).map(|arguments| argv[..1].iter().cloned().chain(arguments).collect());
    let transcript = habits::transcript(*agent, call, &inherited);
    secret_values.extend(inherited::secrets_in(&inherited));
    secret_values.retain(|value| value.len() >= inherited::SHORTEST_SECRET);
    // The longest first, so that a secret which contains another is replaced as a whole.
    secret_values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    secret_values.dedup();
    let stdin = match prompt {
        PromptVia::Stdin => Stdin::PromptFile,
        PromptVia::File => Stdin::Empty,
    };
    let home = match (habits.writes_in_home, secret_values.is_empty()) {
        (false, _) => HomeUse::Leaves,
        (true, false) => HomeUse::WritesWithSignInElsewhere,
        (true, true) => HomeUse::WritesWithStoredSignIn,
    };
    let (leaves, keeps) = traces::of(habits, &inherited);
    Ok(ProcessPlan {
        argv,
        first,
        env: inherited.into_iter().collect(),
        stdin,
        output: *output,
        private: prepared.files,
        retries: prepared.retries,
        secret_values,
        leaves,
        keeps,
        home,
        transcript,
    })
}
