//! What it takes to ask a model without a command: by the tests themselves, and by a program that can be killed.

use std::path::PathBuf;
use std::sync::Arc;

use team::config::Environment;
use team::isolation::Mechanism;
use team::model::{AgentKind, ModelIdentity, ModelSettings, OutputFormat, PromptVia, ResolvedModel, Target};
use team::runner::{Checks, Limits, Observer, Shared, Surroundings};
use team::secrets::{Mask, Redactor, Scrub};
use team::session::{Layout, Record, Status};
use team::slots::http;

/// Looks at nothing.
pub(crate) struct Quiet;

impl Observer for Quiet {
    fn event(&mut self, _: &Record, _: &Status) {}
    fn live(&mut self, _: &Status) {}
}

/// The program `name`, found on the path.
pub(crate) fn program(agent: AgentKind, name: &str, model: Option<&str>, output: OutputFormat) -> ResolvedModel {
    let target = Target::Process {
        agent,
        command: vec![name.to_owned()],
        model: model.map(str::to_owned),
        prompt: PromptVia::Stdin,
        output,
    };
    resolved(name, target)
}

pub(crate) fn resolved(name: &str, target: Target) -> ResolvedModel {
    let identity = ModelIdentity(name.to_owned());
    ResolvedModel { name: name.to_owned(), identity, target, settings: ModelSettings::default() }
}

/// What the slots of a panel share where nothing is limited.
pub(crate) fn shared(
    environment: &Arc<Environment>,
    surroundings: &Arc<Surroundings>,
    mechanism: Mechanism,
    supervisor: PathBuf,
    session: Layout,
) -> Arc<Shared> {
    Arc::new(Shared {
        limits: Limits { retries: 0, ..Limits::default() },
        checks: Checks::default(),
        mechanism,
        surroundings: Some(Arc::clone(surroundings)),
        workspace: None,
        session,
        scrub: Arc::new(Scrub::blind(Redactor::new([""; 0]), Mask::new(Vec::new()))),
        http: Some(Arc::new(http::Client::new())),
        local: None,
        descriptor_limit: None,
        environment: Arc::clone(environment),
        supervisor,
    })
}
