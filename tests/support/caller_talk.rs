//! Two turns of a conversation, each in a round of its own, and whatever of them is left to be done.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fs_err as fs;
use jiff::Timestamp;
use team::config::{Environment, SessionReuse};
use team::isolation::Mechanism;
use team::model::{AgentKind, OutputFormat, Target};
use team::pipeline::roles::{self, NextTurn};
use team::runner::{Control, Purpose, SlotJob, Surroundings, run_panel};
use team::session::slot::SlotState;
use team::session::{
    Drift, Ended, Layout, NewRound, NewSession, PanelFolder, Participant, Role, Round, Session, SessionKind,
    SessionState, TakeUp,
};
use tokio::runtime::Runtime;

use crate::talking::{Quiet, program, resolved, shared};

/// Asks `claude` twice in the session in `folder`, which is made if there is none, and writes to `talk` how each turn was
/// taken and what was said.
pub(crate) fn talk(runtime: &Runtime, folder: &Path, mechanism: Mechanism, supervisor: &Path) {
    let now = Timestamp::now;
    let mut session = session(folder);
    let of = Participant { role: Role::Reviewer, seat: *session.panel().status().models.keys().next().unwrap() };
    let prompts = [("apple", "unused"), ("all over again", "banana")];
    let mut report = String::new();
    for (number, (whole, further)) in (1..).zip(prompts) {
        let file = |name: &str, text: &str| {
            let path = folder.join(format!("{number}-{name}.md"));
            fs::write(&path, text).unwrap();
            path
        };
        let whole = file("whole", whole);
        let (round, mut panel) = round(&mut session, Round(number));
        let slot = *panel.status().models.keys().next().unwrap();
        if panel.status().models[&slot].state == SlotState::Pending {
            let next = NextTurn { of, panel: panel.layout(), slot, prompt: &whole, continuing: Some(further) };
            let turn = roles::next(&mut session, next, SessionReuse::On, now()).unwrap();
            let model = claude();
            let (prompt, conversation) = (turn.prompt, turn.conversation);
            let job = SlotJob { id: slot, model, prompt, purpose: Purpose::Answer, conversation };
            let environment: Environment = std::env::vars_os().collect();
            let around = Surroundings::new(vec![folder.join("sessions")], None, folder.to_owned()).unwrap();
            let (environment, around) = (Arc::new(environment), Arc::new(around));
            let shared = shared(&environment, &around, mechanism, supervisor.to_owned(), panel.layout().clone());
            let asking = async {
                let mut control = Control::listen(None).unwrap();
                run_panel(&mut panel, vec![job], shared, 1, &mut control, &mut Quiet).await
            };
            runtime.block_on(asking).unwrap();
        }
        let mode = roles::heard(&mut session, of, &panel, slot, &whole, now()).unwrap();
        report.push_str(&format!("{mode:?}\n"));
        if panel.status().state.is_active() {
            session.close_round(round, panel, SessionState::Completed, now()).unwrap();
        }
    }
    for message in roles::history(&session, of).unwrap() {
        report.push_str(&format!("{:?} {}\n", message.from, message.text.trim_end()));
    }
    fs::write(folder.join("talk"), report).unwrap();
}

fn claude() -> team::model::ResolvedModel {
    program(AgentKind::Claude, "claude", None, OutputFormat::ClaudeStreamJson)
}

/// How what an owner left that died is gone on with.
const LEFT: TakeUp<'static> = TakeUp { failed: false, drift: &Drift::NONE, isolation: None, ended: Ended::StaysClosed };

fn session(folder: &Path) -> Session {
    let base: PathBuf = folder.join("sessions");
    let made = fs::read_dir(&base).ok().and_then(|mut entries| Some(entries.next()?.unwrap().path()));
    if let Some(made) = made {
        let mut session = Session::open(Layout::new(made)).unwrap();
        session.take_up(TakeUp { ended: Ended::GoesOn, ..LEFT }, Timestamp::now()).unwrap();
        return session;
    }
    let new = NewSession {
        base: &base,
        kind: SessionKind::Review,
        title: "talk",
        input: b"look",
        task: None,
        models: vec![resolved("nobody", Target::Local { model: "none".to_owned() })],
        isolation: "none".to_owned(),
        prompts: BTreeMap::new(),
        plan: None,
        judges: None,
        pipeline: None,
    };
    Session::create(new, Timestamp::now(), &mut rand::rng()).unwrap()
}

/// The round of this number: as it was left, or a new one.
fn round(session: &mut Session, round: Round) -> (Round, PanelFolder) {
    if session.layout().rounds().contains(&round) && session.is_made(round).unwrap() {
        let mut panel = session.enter_round(round).unwrap();
        if panel.status().state.is_active() {
            panel.take_up(LEFT, Timestamp::now()).unwrap();
        }
        return (round, panel);
    }
    let new = NewRound {
        judges: vec![claude()],
        isolation: "none".to_owned(),
        prompts: BTreeMap::new(),
        rules: BTreeMap::new(),
        plan: None,
    };
    session.open_round(new, Timestamp::now(), &mut rand::rng()).unwrap()
}
