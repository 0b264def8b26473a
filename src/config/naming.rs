//! The words by which a text would give away which model a slot is.

use std::collections::BTreeSet;
use std::path::Path;

use super::variables::variables_in;
use super::{AgentKind, ResolvedModel, Target, Wire};
use crate::secrets::families_in;

/// Words to mask, longest first, to be matched as whole words and without regard to case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamingWords {
    /// Model ids, the alias, provider and vendor names; for `[NN.model]`.
    pub model: Vec<String>,
    /// The program's name and path; for `[NN.program]`.
    pub program: Vec<String>,
    /// Names of variables that hold a key; for `[NN.key]`.
    pub key: Vec<String>,
}

impl ResolvedModel {
    /// Who makes this model, as far as its names tell; several for a model of one made from another's.
    #[must_use]
    pub fn vendors(&self) -> BTreeSet<&'static str> {
        let mut names: Vec<&str> = Vec::new();
        match &self.target {
            Target::Process { agent, command, model, .. } => match agent {
                AgentKind::Claude | AgentKind::Codex | AgentKind::Gemini => names.extend(agent.other_names()),
                // These ask anybody's models.
                AgentKind::Opencode | AgentKind::Llm | AgentKind::Claudish => names.extend(model.as_deref()),
                AgentKind::Custom => {
                    names.push(&self.name);
                    // Of a path only the last part is about the program.
                    names.extend(command.iter().map(|word| match Path::new(word).file_name() {
                        Some(file) if word.starts_with(['/', '.', '~']) => file.to_str().unwrap_or_default(),
                        _ => word.as_str(),
                    }));
                }
            },
            // A provider may serve its own models only (`openai`) or anybody's (`openrouter`); the table knows the first.
            Target::Http { provider, model } => names.extend([provider.name.as_str(), model.as_str()]),
            Target::Local { model } => names.push(model),
            Target::Replay { .. } => names.push(&self.name),
        }
        names.into_iter().flat_map(|name| families_in(name).map(|(_, vendor)| vendor)).collect()
    }

    /// The words which would name this model in an error text, a log or a next step.
    #[must_use]
    pub fn naming_words(&self) -> NamingWords {
        let mut words = Words::default();
        match &self.target {
            Target::Process { agent, command, model, .. } => {
                if let Some(program) = command.first() {
                    words.program(program);
                }
                words.model.extend(agent.other_names().iter().map(|name| (*name).to_owned()));
                words.model.extend(agent.vendor_words(model.as_deref()));
                words.key.extend(agent.keys_for(model.as_deref()).iter().map(|name| (*name).to_owned()));
                if *agent == AgentKind::Custom {
                    // A script behind an interpreter (`python3 agent.py`), and what it is told to ask.
                    for argument in command.iter().skip(1).filter(|argument| !argument.starts_with('-')) {
                        words.argument(argument);
                    }
                }
                if let Some(model) = model {
                    words.id(model);
                }
            }
            Target::Http { provider, model } => {
                words.id(model);
                words.id(&provider.name);
                if let Some(host) = host_of(&provider.base_url) {
                    words.model.insert(host.to_owned());
                    words.model.extend(domain_of(host).map(str::to_owned));
                }
                words.model.extend(makers_of(provider.wire).iter().map(|word| (*word).to_owned()));
                words.key.extend(provider.api_key_env.clone());
                for value in provider.headers.values() {
                    words.variables(value);
                }
            }
            Target::Local { model } => words.id(model),
            Target::Replay { file, .. } => words.program(&file.to_string_lossy()),
        }
        for (name, value) in &self.settings.env {
            words.key.insert(name.clone());
            words.variables(value);
        }
        words.alias(&self.name);
        words.finish()
    }
}

#[derive(Default)]
struct Words {
    model: BTreeSet<String>,
    program: BTreeSet<String>,
    key: BTreeSet<String>,
}

impl Words {
    /// A model id, with its parts: `anthropic/claude-opus-4` names a vendor, a model and a family.
    fn id(&mut self, id: &str) {
        self.model.insert(id.to_owned());
        for part in id.split(['/', '@']).filter(|part| !part.is_empty()) {
            self.model.insert(part.to_owned());
            for piece in part.split(':') {
                self.model.insert(piece.to_owned());
                self.families(piece);
            }
        }
    }

    /// The user's word for it: its parts are ordinary words, unless they name a family.
    fn alias(&mut self, name: &str) {
        self.model.insert(name.to_owned());
        self.families(name);
    }

    fn families(&mut self, name: &str) {
        for (family, vendor) in families_in(name) {
            self.model.extend([family.to_owned(), vendor.to_owned()]);
        }
    }

    fn program(&mut self, program: &str) {
        self.program.insert(program.to_owned());
        if let Some(base) = Path::new(program).file_name() {
            let base = base.to_string_lossy().into_owned();
            self.model.extend(families_in(&base).map(|(_, vendor)| vendor.to_owned()));
            self.program.insert(base);
        }
        if let Some(stem) = Path::new(program).file_stem() {
            self.program.insert(stem.to_string_lossy().into_owned());
        }
    }

    /// An argument may be a script's path or a model's id. One of several words is a script itself.
    fn argument(&mut self, argument: &str) {
        if argument.contains("{prompt_file}") || is_common(argument) {
            return;
        }
        if families_in(argument).next().is_some() {
            self.id(argument);
        } else if argument.contains(['/', '.']) && !argument.contains(char::is_whitespace) {
            self.program(argument);
        }
    }

    fn variables(&mut self, value: &str) {
        self.key.extend(variables_in(value).unwrap_or_default().into_iter().map(str::to_owned));
    }

    fn finish(mut self) -> NamingWords {
        // What names the program is masked as the program.
        let program: BTreeSet<String> = self.program.iter().map(|word| word.to_ascii_lowercase()).collect();
        self.model.retain(|word| !program.contains(&word.to_ascii_lowercase()));
        NamingWords { model: sorted(self.model), program: sorted(self.program), key: sorted(self.key) }
    }
}

/// Words that stand in any text and give nobody away.
fn is_common(word: &str) -> bool {
    const COMMON: &[&str] = &[
        "local",
        "internal",
        "replay",
        "http",
        "https",
        "run",
        "exec",
        "json",
        "text",
        "stream-json",
        "free",
        // A provider to some programs, and in every second sentence.
        "or",
        "latest",
        "sh",
        "bash",
        "env",
    ];
    // Ids such as `o3` have two characters; a single one, or a bare number, is in every second line.
    word.chars().count() < 2
        || word.chars().all(|c| c.is_ascii_digit() || c == '.')
        || COMMON.contains(&word.to_ascii_lowercase().as_str())
}

fn sorted(words: BTreeSet<String>) -> Vec<String> {
    let mut words: Vec<String> = words.into_iter().filter(|word| !is_common(word)).collect();
    words.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    words
}

/// Who is behind a wire that only one maker's servers speak, whatever the endpoint is called.
const fn makers_of(wire: Wire) -> &'static [&'static str] {
    match wire {
        // Half of all servers speak it.
        Wire::OpenaiChat => &[],
        Wire::OpenaiResponses => &["OpenAI"],
        Wire::AnthropicMessages => &["Anthropic", "Claude"],
        Wire::GeminiGenerate => &["Google", "Gemini"],
        Wire::OllamaChat => &["Ollama"],
    }
}

/// `x.ai` of `api.x.ai`: error messages point at the maker's other pages. An address and a name without dots have none.
fn domain_of(host: &str) -> Option<&str> {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let (rest, last) = name.rsplit_once('.')?;
    let start = rest.rfind('.').map_or(0, |dot| dot + 1);
    last.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| &name[start..])
}

fn host_of(url: &str) -> Option<&str> {
    url.split_once("://")?.1.split('/').next().filter(|host| !host.is_empty())
}
