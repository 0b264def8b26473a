//! Conversations with one seat, whose turns are asked in rounds of their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use serde_json::Value;
use team::config::{Environment, SessionReuse};
use team::ids::SlotId;
use team::isolation::{Mechanism, Preference, probe};
use team::model::{Provider, ResolvedModel, Target, Wire};
use team::pipeline::roles::{self, NextTurn};
use team::runner::{Control, Purpose, Shared, SlotJob, Surroundings, run_panel};
use team::session::slot::{SlotState, TurnMode};
use team::session::{Event, Layout, NewRound, NewSession, Participant, Role, Session, SessionKind, SessionState};
use tokio::runtime::Runtime;

use super::TestEnv;
use super::talking::{Quiet, resolved, shared};

/// A session in which one reviewer is spoken to.
pub(crate) struct Talks {
    runtime: Runtime,
    session: Option<Session>,
    folder: PathBuf,
    prompts: PathBuf,
    environment: Arc<Environment>,
    surroundings: Arc<Surroundings>,
    pub(crate) mechanism: Mechanism,
    pub(crate) reuse: SessionReuse,
    asked: u32,
}

/// What came of a turn.
#[derive(Debug)]
pub(crate) struct Told {
    /// How it was taken, by what the conversation says.
    pub(crate) mode: Option<TurnMode>,
    /// Why not in its own conversation.
    pub(crate) why: Option<String>,
    pub(crate) state: SlotState,
    /// The answer, or why there is none.
    pub(crate) said: String,
    pub(crate) input_tokens: Option<u64>,
    /// Why it was asked again.
    pub(crate) retries: Vec<String>,
}

/// A model behind an endpoint of this wire.
pub(crate) fn endpoint(wire: Wire, base_url: String) -> ResolvedModel {
    let provider = Provider {
        name: "scripted".to_owned(),
        wire,
        base_url,
        api_key_env: None,
        headers: BTreeMap::new(),
        max_concurrent: None,
        json_schema: false,
    };
    resolved("scripted@one", Target::Http { provider, model: "one".to_owned() })
}

fn team() -> PathBuf {
    env!("CARGO_BIN_EXE_team").into()
}

/// The strongest mechanism there is here.
pub(crate) fn strongest() -> Mechanism {
    static FOUND: OnceLock<Mechanism> = OnceLock::new();
    *FOUND.get_or_init(|| probe(Preference::Strongest, Some(&team())).mechanism)
}

impl Talks {
    /// A new session in `env`, whose programs get the variables of its commands and these.
    pub(crate) fn new(env: &TestEnv, variables: &[(&str, &str)]) -> Self {
        let command = env.command_under(&[], &[]);
        let inherited = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        let own = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let environment: Environment = inherited.chain(own).collect();
        let base = env.path("ai-docs/sessions");
        let surroundings = Surroundings::new(vec![base.clone()], Some(env.home()), env.project()).unwrap();
        let new = NewSession {
            base: &base,
            kind: SessionKind::Team,
            title: "talks",
            input: b"look",
            task: None,
            models: vec![resolved("nobody", Target::Local { model: "none".to_owned() })],
            isolation: "none".to_owned(),
            prompts: BTreeMap::new(),
            plan: None,
            judges: None,
            pipeline: None,
        };
        let session = Session::create(new, Timestamp::now(), &mut rand::rng()).unwrap();
        Self {
            runtime: tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap(),
            folder: session.layout().root().to_owned(),
            session: Some(session),
            prompts: env.path("prompts"),
            environment: Arc::new(environment),
            surroundings: Arc::new(surroundings),
            mechanism: strongest(),
            reuse: SessionReuse::On,
            asked: 0,
        }
    }

    pub(crate) fn session(&mut self) -> &mut Session {
        self.session.as_mut().unwrap()
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Who is spoken to.
    pub(crate) fn reviewer() -> Participant {
        Participant { role: Role::Reviewer, seat: SlotId::panel(1).next().unwrap() }
    }

    /// The owner dies, and another takes the session, which may lie elsewhere by now.
    pub(crate) fn taken_up_at(&mut self, folder: &Path) {
        drop(self.session.take());
        if folder != self.folder {
            std::fs::rename(&self.folder, folder).unwrap();
            self.folder = folder.to_owned();
        }
        self.session = Some(Session::open(Layout::new(folder)).unwrap());
    }

    /// Asks `model`: the first text if it knows nothing of what was said, else the second.
    pub(crate) fn turn(&mut self, model: &ResolvedModel, prompt: &str, continuing: &str) -> Told {
        self.turn_and(model, prompt, continuing, |_| ())
    }

    /// The same; `between` happens when the answer has come and before it is heard.
    pub(crate) fn turn_and(
        &mut self,
        model: &ResolvedModel,
        prompt: &str,
        continuing: &str,
        between: impl FnOnce(&mut Self),
    ) -> Told {
        self.asked += 1;
        let place = self.prompts.join(self.asked.to_string());
        std::fs::create_dir_all(&place).unwrap();
        let whole = place.join("whole.md");
        std::fs::write(&whole, prompt).unwrap();
        let new = NewRound {
            judges: vec![model.clone()],
            isolation: "none".to_owned(),
            prompts: BTreeMap::new(),
            rules: BTreeMap::new(),
            plan: None,
        };
        let (round, mut panel) = self.session().open_round(new, Timestamp::now(), &mut rand::rng()).unwrap();
        let slot = *panel.status().models.keys().next().unwrap();
        let next = NextTurn {
            of: Self::reviewer(),
            panel: panel.layout(),
            slot,
            prompt: &whole,
            continuing: Some(continuing),
        };
        let reuse = self.reuse;
        let turn = roles::next(self.session(), next, reuse, Timestamp::now()).unwrap();
        let job = SlotJob {
            id: slot,
            model: model.clone(),
            prompt: turn.prompt,
            purpose: Purpose::Answer,
            conversation: turn.conversation,
        };
        let shared = self.shared(panel.layout().clone());
        self.runtime
            .block_on(async {
                let mut control = Control::listen(None).unwrap();
                run_panel(&mut panel, vec![job], shared, 1, &mut control, &mut Quiet).await
            })
            .unwrap();
        between(self);
        let mode = roles::heard(self.session(), Self::reviewer(), &panel, slot, &whole, Timestamp::now()).unwrap();
        let (mut end, mut usage, mut retries) = (None, None, Vec::new());
        let nonce = panel.manifest().nonce.clone();
        for record in panel.records() {
            match &record.event {
                Event::SlotEnded { end: found, .. } => {
                    usage = found.sealed_usage.as_ref().and_then(|sealed| sealed.open(&nonce, slot, record.prev));
                    end = Some((**found).clone());
                }
                Event::SlotRetry { why, .. } => retries.push(why.clone()),
                _ => {}
            }
        }
        let end = end.unwrap();
        let said = match &end.error {
            Some(error) => format!("{}: {}", error.reason.as_str(), error.detail),
            None => std::fs::read_to_string(panel.layout().response(slot)).unwrap(),
        };
        let now = Timestamp::now();
        self.session().close_round(round, panel, SessionState::Completed, now).unwrap();
        Told {
            mode,
            why: end.turn.and_then(|turn| turn.why),
            state: end.state,
            said,
            input_tokens: usage.and_then(|usage| usage.input_tokens),
            retries,
        }
    }

    fn shared(&self, session: Layout) -> Arc<Shared> {
        shared(&self.environment, &self.surroundings, self.mechanism, team(), session)
    }

    /// What was said, as `from: text`.
    pub(crate) fn history(&mut self) -> Vec<String> {
        let said = roles::history(self.session(), Self::reviewer()).unwrap();
        let from = |message: &team::session::Message| serde_json::to_value(message.from).unwrap();
        said.iter().map(|message| format!("{}: {}", from(message).as_str().unwrap(), message.text.trim_end())).collect()
    }

    /// The files in `roles/`, in order.
    pub(crate) fn files(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.folder.join("roles")) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// The texts of a request's messages, whatever the wire, in order.
pub(crate) fn messages(body: &Value) -> Vec<String> {
    let list = ["messages", "input", "contents"].iter().find_map(|name| body[name].as_array());
    let text = |message: &Value| {
        let content = message["content"].as_str().or_else(|| message["parts"][0]["text"].as_str());
        format!("{}: {}", message["role"].as_str().unwrap_or("?"), content.unwrap_or_default().trim_end())
    };
    list.map(|list| list.iter().map(text).collect()).unwrap_or_default()
}
