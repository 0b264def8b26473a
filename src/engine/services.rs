//! What a command needs before its first side effect in a session: the isolation self-test, descriptors, the HTTP
//! client, the local model's server, and what must never be written or shown.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::last_look::LastLook;
use crate::config::{Environment, Provider, ResolvedModel, Target, expand, names_a_secret, variables_in};
use crate::error::{Error, Result};
use crate::isolation::{Mechanism, Probe};
use crate::runner::process::DESCRIPTORS_PER_PROCESS;
use crate::runner::{Checks, Descriptors, Limits, Shared, Surroundings, Workspace};
use crate::secrets::{Mask, Redactor, Scrub, SlotNames, key_words, model_words};
use crate::session::{Catalogue, Layout, Manifest};
use crate::slots::local::LocalServer;
use crate::slots::{agents, http};

/// Descriptors of a slot beside its process: the answer, the log, and one in transit.
const DESCRIPTORS_PER_SLOT: u64 = 3;

/// What the panels of one command share.
#[derive(Debug)]
pub struct Services {
    /// The result of the self-test.
    pub probe: Probe,
    descriptors: Descriptors,
    http: Option<Arc<http::Client>>,
    local: Option<Arc<LocalServer>>,
    secrets: BTreeSet<String>,
    environment: Arc<Environment>,
    supervisor: PathBuf,
    /// Folders that hold sessions.
    sessions: Vec<PathBuf>,
    /// Where a process is asked.
    surroundings: Option<Arc<Surroundings>>,
    /// Whether a process is held by less than the rest.
    exceptions: bool,
    /// Where sessions are found by their ids.
    catalogue: Catalogue,
    last_look: Option<Arc<dyn LastLook>>,
}

/// Where a command works.
#[derive(Debug, Clone, Copy)]
pub struct Folders<'a> {
    /// The folder it was started in.
    pub current: &'a Path,
    /// The configured folder of sessions.
    pub sessions: &'a Path,
    /// The folder that the command's own session is in or is made in, where that is another one.
    pub own: Option<&'a Path>,
}

/// A panel whose slots share something.
pub(crate) struct Panel<'a> {
    /// The session that it is of, or is a round of.
    pub(crate) session: &'a Layout,
    pub(crate) manifest: &'a Manifest,
    /// The snapshot that its programs work in; judges of answers have none.
    pub(crate) workspace: Option<Arc<Workspace>>,
}

impl Services {
    /// Prepares for `models`. `local` is the local model's running server, where one of them needs it.
    pub fn new(
        models: &[&ResolvedModel],
        environment: Arc<Environment>,
        folders: Folders<'_>,
        probe: Probe,
        local: Option<Arc<LocalServer>>,
    ) -> Result<Self> {
        let supervisor =
            std::env::current_exe().map_err(|source| Error::io("cannot find this program's own path", source))?;
        let needs_http = models.iter().any(|model| matches!(model.target, Target::Http { .. } | Target::Local { .. }));
        let mut secrets: BTreeSet<String> = models.iter().flat_map(|model| secrets_of(model, &environment)).collect();
        secrets.extend(local.iter().map(|server| server.key().to_owned()));
        let sessions = folders.own.into_iter().chain([folders.sessions]).map(|path| folders.current.join(path));
        let sessions: Vec<PathBuf> = sessions.collect();
        let mut surroundings = None;
        let mut exceptions = false;
        let plans: Vec<_> = models.iter().filter_map(|model| plan_of(model, &environment)).collect();
        if models.iter().any(|model| matches!(model.target, Target::Process { .. })) {
            let home = environment.get("HOME").map(PathBuf::from);
            let around = Surroundings::new(sessions.clone(), home, folders.current.to_owned())
                .map_err(|source| Error::io("cannot make private folders for the slots", source))?;
            exceptions = plans.iter().any(|plan| !around.holds(probe.mechanism, plan));
            surroundings = Some(Arc::new(around));
        }
        Ok(Self {
            probe,
            descriptors: Descriptors::raise(),
            http: needs_http.then(|| Arc::new(http::Client::new())),
            local,
            secrets,
            environment,
            supervisor,
            sessions,
            surroundings,
            exceptions,
            catalogue: Catalogue::new(folders.current.join(folders.sessions)),
            last_look: None,
        })
    }

    /// Has this look once more at what the panel was asked about, before the verdict is out.
    #[must_use]
    pub fn with_last_look(self, look: Arc<dyn LastLook>) -> Self {
        Self { last_look: Some(look), ..self }
    }

    pub(super) fn last_look(&self) -> Option<&dyn LastLook> {
        self.last_look.as_deref()
    }

    /// Ends what was started for the command. Dropped without it, the local server ends with this process.
    pub async fn stop(&self) {
        if let Some(server) = &self.local {
            server.stop().await;
        }
    }

    /// What to write on a command line to name a session.
    #[must_use]
    pub fn reference(&self, session: &Layout) -> String {
        self.catalogue.reference(session)
    }

    /// What keeps slots apart, in the words of the record.
    #[must_use]
    pub fn isolation(&self) -> String {
        let mechanism = self.probe.mechanism;
        if self.surroundings.is_none() {
            return "no programs: answers and votes come over the network or from files".to_owned();
        }
        let weaker = if self.exceptions { ", by convention for a program that must write into HOME" } else { "" };
        format!("{mechanism}; session files: {}{weaker}; processes: {}", mechanism.files(), mechanism.processes())
    }

    /// The mechanism for processes.
    #[must_use]
    pub const fn mechanism(&self) -> Mechanism {
        self.probe.mechanism
    }

    /// The variables of the command.
    pub(crate) const fn environment(&self) -> &Arc<Environment> {
        &self.environment
    }

    /// The program that supervises processes: this one.
    pub(crate) fn supervisor(&self) -> &Path {
        &self.supervisor
    }

    /// The configured folder of sessions.
    #[must_use]
    pub fn base(&self) -> &Path {
        self.catalogue.base()
    }

    /// The folders that hold sessions.
    #[must_use]
    pub fn sessions(&self) -> &[PathBuf] {
        &self.sessions
    }

    /// From now on no process may change what is in `folders`, but for what is its own. Where nothing holds processes it can
    /// only be looked at afterwards whether one did.
    pub(crate) fn protect(&self, folders: &[PathBuf]) {
        if let Some(around) = &self.surroundings {
            around.protect(folders);
        }
    }

    /// Whether something holds every process, so that none can change what is protected.
    pub(crate) fn holds_all(&self) -> bool {
        self.mechanism() != Mechanism::TreeWalk && !self.exceptions
    }

    /// The folder that the command was started in, where a process is asked.
    pub(crate) fn current(&self) -> Option<&Path> {
        self.surroundings.as_ref().map(|around| around.current())
    }

    /// What no process may change.
    pub(crate) fn protected(&self) -> &[PathBuf] {
        self.surroundings.as_ref().map_or(&[], |around| around.protected())
    }

    /// How many slots the limit of open files allows at once.
    #[must_use]
    pub fn at_once(&self) -> usize {
        self.descriptors.slots_at_once(DESCRIPTORS_PER_PROCESS as u64 + DESCRIPTORS_PER_SLOT)
    }

    /// What takes secrets and the names of this panel out of everything written or shown.
    #[must_use]
    pub fn scrub(&self, manifest: &Manifest) -> Arc<Scrub> {
        let names = manifest
            .models
            .iter()
            .map(|(slot, member)| {
                let mut words = member.resolved.naming_words();
                words.model.extend(model_words(telling_names(&member.resolved)));
                if let Target::Process { agent, .. } = &member.resolved.target {
                    words.program.extend(agent.phrases().iter().map(|phrase| (*phrase).to_owned()));
                }
                let key = words.key.iter().flat_map(|name| key_words(name)).collect();
                SlotNames { slot: *slot, model: words.model, program: words.program, key }
            })
            .collect();
        Arc::new(Scrub::blind(Redactor::new(&self.secrets), Mask::new(names)))
    }

    /// Takes secrets, not names, out of what is shown after the verdict.
    #[must_use]
    pub fn open_scrub(&self) -> Scrub {
        Scrub::open(Redactor::new(&self.secrets))
    }

    /// Takes the secrets that were handed to anybody, those of the command's own variables and what looks like one out of a
    /// text that goes on to others' models, or is kept.
    pub(crate) fn redactor(&self) -> Redactor {
        let named = self.environment.iter().filter(|(name, _)| names_a_secret(&name.to_string_lossy()));
        let own = named.filter_map(|(_, value)| value.to_str());
        Redactor::new(self.secrets.iter().map(String::as_str).chain(own))
    }

    /// What the slots of a panel share.
    pub(crate) fn shared(&self, panel: Panel<'_>, limits: Limits, checks: Checks) -> Arc<Shared> {
        let Panel { session, manifest, workspace } = panel;
        let local: Option<(Provider, String)> =
            self.local.as_ref().map(|server| (server.provider().clone(), server.key().to_owned()));
        Arc::new(Shared {
            limits,
            checks,
            mechanism: self.mechanism(),
            descriptor_limit: self.descriptors.original_soft,
            scrub: self.scrub(manifest),
            http: self.http.clone(),
            local,
            environment: Arc::clone(&self.environment),
            supervisor: self.supervisor.clone(),
            surroundings: self.surroundings.clone(),
            workspace,
            session: session.clone(),
        })
    }
}

/// The names whose parts, family and vendor would tell the model as well. What the user made up is not among them: the
/// parts of an alias, and what a command of the user's own is told, are ordinary words.
fn telling_names(model: &ResolvedModel) -> Vec<&str> {
    let mut names = Vec::new();
    match &model.target {
        Target::Process { agent, model, .. } => {
            names.extend(model.as_deref());
            names.extend(agent.program());
        }
        Target::Http { provider, model } => names.extend([provider.name.as_str(), model.as_str()]),
        Target::Local { model } => names.push(model),
        Target::Replay { .. } => {}
    }
    names
}

/// The plan of a process, as far as it does not hang on paths of a session.
fn plan_of(model: &ResolvedModel, environment: &Environment) -> Option<agents::ProcessPlan> {
    let nowhere = Path::new("/");
    let call = agents::Call {
        purpose: agents::Purpose::Answer,
        talk: agents::Talk::Alone,
        prompt_file: nowhere,
        work_dir: nowhere,
        private_dir: nowhere,
        retries: 0,
        nested_sandbox: agents::NestedSandbox::default(),
        environment,
    };
    agents::plan(model, &call).ok()
}

/// What takes the secrets of `models`, as far as `environment` has them, out of what is shown.
#[must_use]
pub fn redactor_for<'a>(models: impl IntoIterator<Item = &'a ResolvedModel>, environment: &Environment) -> Redactor {
    Redactor::new(models.into_iter().flat_map(|model| secrets_of(model, environment)))
}

/// The values that asking `model` hands to somebody: they must never be written or shown.
fn secrets_of(model: &ResolvedModel, environment: &Environment) -> Vec<String> {
    match &model.target {
        // A plan that cannot be made starts nothing and hands out nothing.
        Target::Process { .. } => plan_of(model, environment).map(|plan| plan.secret_values).unwrap_or_default(),
        Target::Http { provider, .. } => {
            let key = provider.api_key_env.as_deref().and_then(|name| environment.text(name)).map(str::to_owned);
            let headers = provider
                .headers
                .values()
                .filter(|value| variables_in(value).is_ok_and(|variables| !variables.is_empty()));
            let headers = headers.filter_map(|value| expand(value, environment).ok());
            key.into_iter().chain(headers).collect()
        }
        Target::Local { .. } | Target::Replay { .. } => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{AgentKind, ModelIdentity, ModelSettings, OutputFormat, PromptVia};

    fn process(name: &str, agent: AgentKind, command: &[&str]) -> ResolvedModel {
        ResolvedModel {
            name: name.to_owned(),
            identity: ModelIdentity(name.to_owned()),
            target: Target::Process {
                agent,
                command: command.iter().map(|word| (*word).to_owned()).collect(),
                model: None,
                prompt: PromptVia::Stdin,
                output: OutputFormat::Text,
            },
            settings: ModelSettings::default(),
        }
    }

    #[test]
    fn an_agents_family_tells_as_much_as_its_name_and_a_commands_words_do_not() {
        let words = |model: &ResolvedModel| model_words(telling_names(model)).join(" ").to_lowercase();
        let codex = words(&process("second", AgentKind::Codex, &["codex"]));
        assert!(["gpt", "chatgpt", "openai", "codex"].iter().all(|word| codex.contains(word)), "{codex}");
        let claude = words(&process("first", AgentKind::Claude, &["claude"]));
        assert!(["sonnet", "opus", "anthropic"].iter().all(|word| claude.contains(word)), "{claude}");
        let own = words(&process("mine", AgentKind::Custom, &["sh", "-c", "echo limit"]));
        assert_eq!(own, "");
    }
}
