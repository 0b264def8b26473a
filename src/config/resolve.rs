//! What a model's name stands for, found before anything is started.
//!
//! An alias of `team.toml` is looked up first, then agents (`claude:opus`), then endpoints (`openai@gpt-4o`). Names
//! are exact: nothing is guessed, a wrong one lists what exists. A program that is not installed is no error here (its
//! slot fails with `spawn_failed`), nor is a missing API key (`auth`); a `${VAR}` without a value is one.

use std::path::{Path, PathBuf};

use super::file::ModelEntry;
use super::nearest::nearest;
use super::variables::{VariableError, expand};
use super::{
    AgentKind, Config, Environment, ModelIdentity, ModelSettings, OutputFormat, PromptVia, Provider, ResolvedModel,
    Setting, Target, Wire, builtin,
};
use crate::error::Error;

/// A name that stands for nothing that can be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// Nothing is called so.
    #[error("unknown model `{name}`")]
    Unknown {
        /// As written.
        name: String,
        /// What was probably meant.
        meant: Option<String>,
        /// What exists.
        exists: String,
    },
    /// A part of the name is missing.
    #[error("`{name}` names no model: write `{form}`")]
    Incomplete {
        /// As written.
        name: String,
        /// The full form.
        form: String,
    },
    /// Several models in one name, of which nobody would know which one answered.
    #[error("`{name}` names several models: one after the other would be asked until one answers")]
    Several {
        /// As written.
        name: String,
    },
    /// Aliases that lead to each other.
    #[error("aliases go round in a circle: {}", .0.join(" -> "))]
    Cycle(Vec<String>),
    /// An alias that leads to a wrong name.
    #[error("`[models.{alias}]`: {source}")]
    InAlias {
        /// The alias.
        alias: String,
        /// What is wrong with what it stands for.
        #[source]
        source: Box<ResolveError>,
    },
    /// A setting that what is asked does not take.
    #[error("`{name}` takes no `{setting}`")]
    NotTaken {
        /// As written.
        name: String,
        /// The setting's key.
        setting: &'static str,
    },
    /// A `${VAR}` that cannot be filled in.
    #[error("`{name}` needs `{place}`: {source}")]
    Variable {
        /// As written.
        name: String,
        /// The key in `team.toml`.
        place: String,
        /// The variable.
        #[source]
        source: VariableError,
    },
    /// A recording that cannot be read.
    #[error("`{name}`: {reason}")]
    Recording {
        /// As written.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A command that waits for a prompt file and is never told which.
    #[error("`{name}` reads its prompt from a file, but no argument of its `command` holds `{{prompt_file}}`")]
    NoPromptFile {
        /// As written.
        name: String,
    },
}

impl ResolveError {
    /// Whether what the name once stood for may just be gone, as opposed to a setting that is wrong.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        match self {
            Self::Unknown { .. } | Self::Recording { .. } => true,
            Self::InAlias { source, .. } => source.is_gone(),
            Self::Incomplete { .. }
            | Self::Several { .. }
            | Self::Cycle(_)
            | Self::NotTaken { .. }
            | Self::Variable { .. }
            | Self::NoPromptFile { .. } => false,
        }
    }

    /// What to do next.
    #[must_use]
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::Unknown { meant, exists, .. } => {
                meant.iter().map(|meant| format!("did you mean `{meant}`?")).chain([exists.clone()]).collect()
            }
            Self::InAlias { source, .. } => source.hints(),
            Self::Several { .. } => vec!["name one; the others can be members of the panel".to_owned()],
            Self::NotTaken { setting, .. } => vec![format!("remove `{setting}` from its `[models.x]`")],
            Self::Variable { source: VariableError::Missing(name), .. } => {
                vec![format!("set it: `export {name}=...`")]
            }
            Self::Incomplete { .. } | Self::Cycle(_) | Self::Variable { .. } | Self::NoPromptFile { .. } => Vec::new(),
            Self::Recording { .. } => {
                vec!["write it as `replay:FILE`, or `replay:FILE#FORMAT` for the frames of a program".to_owned()]
            }
        }
    }
}

impl From<ResolveError> for Error {
    fn from(error: ResolveError) -> Self {
        // The text of `InAlias` already holds its cause.
        let converted = Self::config(error.to_string());
        error.hints().into_iter().fold(converted, Self::hint)
    }
}

/// What is left of a panel that was kept in a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Kept {
    /// The models that can be asked, in order.
    pub models: Vec<ResolvedModel>,
    /// The names that stand for nothing any more, each with the reason.
    pub gone: Vec<(String, ResolveError)>,
}

/// Everything that can be named here.
#[derive(Debug, Clone, Copy)]
pub struct Models<'a> {
    config: &'a Config,
    environment: &'a Environment,
}

impl<'a> Models<'a> {
    /// The names of `config`; `${VAR}` is looked up in `environment`.
    #[must_use]
    pub const fn new(config: &'a Config, environment: &'a Environment) -> Self {
        Self { config, environment }
    }

    /// What `name` stands for.
    pub fn resolve(&self, name: &str) -> Result<ResolvedModel, ResolveError> {
        let model = self.follow(name, name, &mut Vec::new(), self.config.cwd())?;
        check_settings(name, &model)?;
        self.check_variables(name, &model)?;
        Ok(model)
    }

    /// What all of `names` stand for, in order; every wrong one is in the error.
    pub fn resolve_all(&self, names: &[String]) -> Result<Vec<ResolvedModel>, Error> {
        let (resolved, wrong): (Vec<_>, Vec<_>) = names.iter().map(|name| self.resolve(name)).partition(Result::is_ok);
        let wrong: Vec<ResolveError> = wrong.into_iter().filter_map(Result::err).collect();
        if wrong.is_empty() { Ok(resolved.into_iter().flatten().collect()) } else { Err(all_of(wrong)) }
    }

    /// What `names` stand for that were kept in a file: what is gone is left out, and named. When nothing is left it is
    /// the error, with what exists.
    pub fn resolve_kept(&self, names: &[String]) -> Result<Kept, Error> {
        let mut kept = Kept::default();
        let mut wrong = Vec::new();
        for name in names {
            match self.resolve(name) {
                Ok(model) => kept.models.push(model),
                Err(error) if error.is_gone() => kept.gone.push((name.clone(), error)),
                Err(error) => wrong.push(error),
            }
        }
        if wrong.is_empty() && kept.models.is_empty() {
            wrong.extend(kept.gone.drain(..).map(|(_, error)| error));
        }
        if wrong.is_empty() { Ok(kept) } else { Err(all_of(wrong)) }
    }

    /// Follows aliases to what they stand for. `seen` are the aliases on the way, outermost first.
    fn follow(
        &self,
        asked: &str,
        name: &str,
        seen: &mut Vec<String>,
        folder: &Path,
    ) -> Result<ResolvedModel, ResolveError> {
        let Some((alias, entry)) = self.config.settings().models.get_key_value(name) else {
            return self.plain(asked, name, folder);
        };
        if seen.contains(alias) {
            // Inside of `[models.claude]`, `claude` is the program, as inside of a shell's alias.
            if seen.last() == Some(alias) && self.is_plain(name) {
                return self.plain(asked, name, folder);
            }
            seen.push(alias.clone());
            return Err(ResolveError::Cycle(std::mem::take(seen)));
        }
        seen.push(alias.clone());
        let mut model = match (&entry.command, &entry.uses) {
            (Some(command), _) => self.command(asked, alias, command, entry)?,
            (None, Some(uses)) => {
                let folder = self.config.folder_of(&["models", alias, "use"]);
                self.follow(asked, uses, seen, &folder).map_err(|error| match error {
                    cycle @ ResolveError::Cycle(_) => cycle,
                    other => ResolveError::InAlias { alias: alias.clone(), source: Box::new(other) },
                })?
            }
            (None, None) => self.plain(asked, alias, folder)?,
        };
        lay(&mut model.settings, entry);
        Ok(model)
    }

    fn command(
        &self,
        asked: &str,
        alias: &str,
        command: &[String],
        entry: &ModelEntry,
    ) -> Result<ResolvedModel, ResolveError> {
        let prompt = entry.prompt.unwrap_or_default();
        if prompt == PromptVia::File && !command.iter().skip(1).any(|argument| argument.contains("{prompt_file}")) {
            return Err(ResolveError::NoPromptFile { name: asked.to_owned() });
        }
        let mut command = command.to_vec();
        if let Some(program) = command.first_mut() {
            // `./agent.sh` means the file beside the `team.toml`; a slot runs in a folder of its own.
            if program.contains('/') && !Path::new(program.as_str()).is_absolute() {
                let folder = self.config.folder_of(&["models", alias, "command"]);
                *program = folder.join(program.trim_start_matches("./")).to_string_lossy().into_owned();
            }
        }
        Ok(ResolvedModel {
            name: asked.to_owned(),
            identity: ModelIdentity(format!("command/{alias}")),
            target: Target::Process {
                agent: AgentKind::Custom,
                command,
                model: None,
                prompt,
                output: entry.output.unwrap_or_default(),
            },
            settings: ModelSettings::default(),
        })
    }

    /// Whether `name` stands for something without an alias.
    fn is_plain(&self, name: &str) -> bool {
        self.plain(name, name, self.config.cwd()).is_ok()
    }

    /// A name that is no alias.
    fn plain(&self, asked: &str, name: &str, folder: &Path) -> Result<ResolvedModel, ResolveError> {
        if let Some(recording) = name.strip_prefix("replay:") {
            return replay(asked, recording, folder);
        }
        // The first sign decides: a model of an agent may have an `@` in it, one of an endpoint a `:`.
        let (program, model) = match name.split_once([':', '@']) {
            Some((provider, model)) if name[provider.len()..].starts_with('@') => {
                return self.at_provider(asked, provider, model);
            }
            Some((program, model)) => (program, Some(model)),
            None => (name, None),
        };
        // `internal` is the host's own model: claude without a model, and the same identity.
        let program = match (program, model) {
            (builtin::INTERNAL, None) => "claude",
            _ => program,
        };
        let agent = AgentKind::of_program(program);
        if agent == AgentKind::Custom {
            return Err(self.unknown(name));
        }
        if model == Some("") || (model.is_none() && agent.needs_model()) {
            return Err(ResolveError::Incomplete { name: name.to_owned(), form: format!("{program}:MODEL") });
        }
        if agent == AgentKind::Claudish && model.is_some_and(|model| model.contains('+')) {
            return Err(ResolveError::Several { name: name.to_owned() });
        }
        let identity = match model {
            Some(model) => format!("process/{program}/{model}"),
            None => format!("process/{program}"),
        };
        Ok(ResolvedModel {
            name: asked.to_owned(),
            identity: ModelIdentity(identity),
            target: Target::Process {
                agent,
                command: vec![program.to_owned()],
                model: model.map(str::to_owned),
                prompt: PromptVia::Stdin,
                output: agent.output(),
            },
            settings: ModelSettings::default(),
        })
    }

    fn at_provider(&self, asked: &str, provider: &str, model: &str) -> Result<ResolvedModel, ResolveError> {
        let full = format!("{provider}@{model}");
        let (identity, target) = match self.config.settings().providers.get(provider) {
            Some(entry) => {
                let (Some(wire), Some(base_url)) = (entry.wire, &entry.base_url) else {
                    return Err(self.unknown(&full));
                };
                let provider = Provider {
                    name: provider.to_owned(),
                    wire,
                    base_url: base_of(wire, base_url),
                    api_key_env: entry.api_key_env.clone(),
                    headers: entry.headers.clone(),
                    max_concurrent: entry.max_concurrent.map(std::num::NonZeroUsize::get),
                    json_schema: entry.json_schema.unwrap_or(false),
                };
                (format!("http/{}/{model}", provider.name), Target::Http { provider, model: model.to_owned() })
            }
            None if provider == "local" && (model == builtin::LOCAL_MODEL || model.is_empty()) => {
                (format!("local/{model}"), Target::Local { model: model.to_owned() })
            }
            None => return Err(self.unknown(&full)),
        };
        if model.is_empty() {
            let model = if provider == "local" { builtin::LOCAL_MODEL } else { "MODEL" };
            return Err(ResolveError::Incomplete { name: full, form: format!("{provider}@{model}") });
        }
        let context = matches!(target, Target::Local { .. }).then_some(builtin::LOCAL_CONTEXT_TOKENS);
        Ok(ResolvedModel {
            name: asked.to_owned(),
            identity: ModelIdentity(identity),
            target,
            settings: ModelSettings { context, ..ModelSettings::default() },
        })
    }

    fn unknown(&self, name: &str) -> ResolveError {
        let settings = self.config.settings();
        let aliases: Vec<&str> = settings.models.keys().map(String::as_str).collect();
        let providers: Vec<&str> = settings.providers.keys().map(String::as_str).chain(["local"]).collect();
        let programs: Vec<&str> = AgentKind::KNOWN.iter().filter_map(|agent| agent.program()).collect();
        let meant = match name.split_once('@') {
            // `claude@opus`, `smollm@x`: the right words with the wrong sign, or a slip before the sign.
            Some((left, right)) if programs.contains(&left) => Some(format!("{left}:{right}")),
            Some(("local", _)) => Some(format!("local@{}", builtin::LOCAL_MODEL)),
            Some((left, right)) => nearest(left, providers.iter().copied()).map(|found| format!("{found}@{right}")),
            None => match name.split_once(':') {
                Some((left, right)) if providers.contains(&left) => Some(format!("{left}@{right}")),
                Some((left, right)) => nearest(left, programs.iter().copied()).map(|found| format!("{found}:{right}")),
                None => nearest(name, aliases.iter().copied().chain(programs.clone()).chain([builtin::INTERNAL]))
                    .map(str::to_owned)
                    .or_else(|| (name == builtin::LOCAL_MODEL).then(|| format!("local@{name}"))),
            },
        };
        let aliases = if aliases.is_empty() { String::new() } else { format!("aliases {}; ", aliases.join(", ")) };
        let remote: Vec<String> =
            providers.iter().filter(|name| **name != "local").map(|name| format!("{name}@MODEL")).collect();
        let exists = format!(
            "known: {aliases}{}, {}, local@{}, {}, replay:FILE[#FORMAT]",
            builtin::INTERNAL,
            AgentKind::KNOWN.map(AgentKind::form).join(", "),
            builtin::LOCAL_MODEL,
            remote.join(", ")
        );
        ResolveError::Unknown { name: name.to_owned(), meant, exists }
    }

    fn check_variables(&self, name: &str, model: &ResolvedModel) -> Result<(), ResolveError> {
        let headers = match &model.target {
            Target::Http { provider, .. } => Some(&provider.headers),
            Target::Process { .. } | Target::Local { .. } | Target::Replay { .. } => None,
        };
        let places = model.settings.env.iter().map(|(key, value)| (format!("env.{key}"), value));
        let headers = headers.into_iter().flatten().map(|(key, value)| (format!("headers.{key}"), value));
        for (place, value) in places.chain(headers) {
            expand(value, self.environment).map_err(|source| ResolveError::Variable {
                name: name.to_owned(),
                place,
                source,
            })?;
        }
        Ok(())
    }
}

/// Everything that is wrong, as one error.
fn all_of(mut wrong: Vec<ResolveError>) -> Error {
    wrong.dedup();
    if wrong.len() == 1 {
        return wrong.remove(0).into();
    }
    let lines: String = wrong.iter().map(|error| format!("\n  {error}")).collect();
    let mut hints: Vec<String> = Vec::new();
    for hint in wrong.iter().flat_map(ResolveError::hints) {
        if !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    let count = wrong.len();
    hints.into_iter().fold(Error::config(format!("{count} models cannot be asked{lines}")), Error::hint)
}

/// The URL below which the wire's paths are. Of the two makers whose own programs add the version to an address, it is
/// understood without: `https://api.anthropic.com`, `http://gateway/anthropic`.
fn base_of(wire: Wire, written: &str) -> String {
    let base = written.trim_end_matches('/');
    let has_path = base.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
    match wire {
        Wire::AnthropicMessages if !base.ends_with("/v1") => format!("{base}/v1"),
        Wire::GeminiGenerate if !has_path => format!("{base}/v1beta"),
        _ => base.to_owned(),
    }
}

/// `FILE[#FORMAT[@BYTES_PER_SECOND]]`.
fn replay(asked: &str, recording: &str, folder: &Path) -> Result<ResolvedModel, ResolveError> {
    let wrong = |reason: String| ResolveError::Recording { name: asked.to_owned(), reason };
    let (file, format) = match recording.rsplit_once('#') {
        Some((file, format)) => (file, format),
        None => (recording, OutputFormat::Text.as_str()),
    };
    let (format, pace) = match format.split_once('@') {
        Some((format, pace)) => {
            let pace = pace.parse::<std::num::NonZeroU64>();
            (
                format,
                Some(pace.map_err(|_| wrong("the pace after `@` is not a number of bytes per second".into()))?.get()),
            )
        }
        None => (format, None),
    };
    let known = OutputFormat::ALL.map(OutputFormat::as_str);
    let output = OutputFormat::ALL
        .into_iter()
        .find(|known| known.as_str() == format)
        .ok_or_else(|| wrong(format!("`{format}` is no format: {}", known.join(", "))))?;
    let path: PathBuf = folder.join(file);
    if file.is_empty() {
        return Err(wrong("it names no recording".to_owned()));
    }
    if path.is_dir() {
        return Err(wrong(format!("`{}` is a folder, and no recording", path.display())));
    }
    if !path.is_file() {
        return Err(wrong(format!("there is no recording `{}`", path.display())));
    }
    if output == OutputFormat::Text && begins_with_a_frame(&path) {
        // Taken as text, the frames themselves would be the answer, with the model's name in them.
        return Err(wrong(format!("it is a stream of frames: add its format, such as `#{}`", known[1])));
    }
    Ok(ResolvedModel {
        name: asked.to_owned(),
        identity: ModelIdentity(format!("replay/{}", path.display())),
        target: Target::Replay { file: path, output, pace },
        settings: ModelSettings::default(),
    })
}

/// Whether the first line is a JSON object with a `type`.
fn begins_with_a_frame(path: &Path) -> bool {
    #[derive(serde::Deserialize)]
    struct Frame {
        #[serde(rename = "type")]
        _kind: String,
    }
    let mut line = Vec::new();
    let read = fs_err::File::open(path).and_then(|file| {
        // A frame is recognised by its beginning or not at all; a recording may be one endless line.
        std::io::BufRead::read_until(&mut std::io::BufReader::new(std::io::Read::take(file, 1 << 20)), b'\n', &mut line)
    });
    read.is_ok() && serde_json::from_slice::<Frame>(&line).is_ok()
}

/// The settings of an alias over those of what it stands for.
fn lay(settings: &mut ModelSettings, entry: &ModelEntry) {
    fn set<T: Clone>(into: &mut Option<T>, from: &Option<T>) {
        if from.is_some() {
            into.clone_from(from);
        }
    }
    settings.env.extend(entry.env.clone());
    set(&mut settings.system, &entry.system);
    set(&mut settings.temperature, &entry.temperature);
    set(&mut settings.top_p, &entry.top_p);
    set(&mut settings.seed, &entry.seed);
    set(&mut settings.max_tokens, &entry.max_tokens);
    set(&mut settings.reasoning_effort, &entry.reasoning_effort);
    set(&mut settings.context, &entry.context);
    set(&mut settings.price, &entry.price);
    if let Some(accept) = entry.accept_truncated {
        settings.accept_truncated = accept;
    }
}

/// A setting that would be dropped in silence is an error.
fn check_settings(name: &str, model: &ResolvedModel) -> Result<(), ResolveError> {
    let settings = &model.settings;
    let given = |setting: Setting| match setting {
        Setting::Temperature => settings.temperature.is_some(),
        Setting::TopP => settings.top_p.is_some(),
        Setting::Seed => settings.seed.is_some(),
        Setting::MaxTokens => settings.max_tokens.is_some(),
        Setting::ReasoningEffort => settings.reasoning_effort.is_some(),
        Setting::System => settings.system.is_some(),
        Setting::Env => !settings.env.is_empty(),
    };
    let takes = |setting: Setting| match &model.target {
        Target::Process { agent, .. } => agent.takes(setting),
        Target::Http { .. } | Target::Local { .. } => setting != Setting::Env,
        Target::Replay { .. } => false,
    };
    match Setting::ALL.into_iter().find(|setting| given(*setting) && !takes(*setting)) {
        Some(setting) => Err(ResolveError::NotTaken { name: name.to_owned(), setting: setting.as_str() }),
        None => Ok(()),
    }
}
