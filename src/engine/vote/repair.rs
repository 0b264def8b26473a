//! Members whose complete reply has no vote that can be read are asked once more, in a turn of its own.

use std::io::Write;

use jiff::Timestamp;

use super::ballots::repair_of;
use super::request::VoteWork;
use crate::config::Repair;
use crate::engine::ask::{Asking, Question, ask};
use crate::engine::record::show_last;
use crate::engine::round::Chance;
use crate::engine::run::stopped_state;
use crate::error::{Error, Result};
use crate::ids::{Sha256Hash, SlotId};
use crate::judging::{
    BallotForm, Nonce, TaskBallot, TaskRepairPrompt, is_repairable, parse_task, task_repair_prompt, task_schema,
};
use crate::prompts::Prompts;
use crate::runner::Purpose;
use crate::session::{Event, NewTurn, PanelFolder, Session, SessionState, Turn};
use crate::verdict::TaskMember;

/// The question to one member.
struct RepairQuestion<'a> {
    prompts: &'a Prompts,
    task: &'a str,
    member: SlotId,
    reply: Vec<u8>,
    context_tokens: Option<u64>,
    nonce: Nonce,
}

impl Question for RepairQuestion<'_> {
    type Ballot = TaskBallot;

    fn asked(&self) -> SlotId {
        self.member
    }

    fn write(&self, form: BallotForm, out: &mut impl Write) -> Result<()> {
        let Self { prompts, task, member, reply, context_tokens, nonce } = self;
        let (member, context_tokens) = (*member, *context_tokens);
        let parts = TaskRepairPrompt { task, member, reply, context_tokens, form, nonce };
        let text = task_repair_prompt(prompts, parts)?;
        out.write_all(text.as_bytes())
            .map_err(|source| Error::io(format!("cannot write the prompt of {member}"), source))
    }

    fn purpose(&self) -> Purpose {
        Purpose::Ballot { schema: task_schema() }
    }

    fn read(&self, reply: &str) -> TaskBallot {
        parse_task(reply)
    }

    fn read_event(judge: SlotId, response: Sha256Hash, ballot: &TaskBallot) -> Event {
        let votes = u32::from(ballot.vote.is_ok());
        Event::Ballot { judge, response, votes, missing: 1 - votes }
    }

    const INSTEAD: &'static str = "`team vote` holds the vote anew, in a session of its own";
}

/// Asks those of `members` once more that can be asked, and adds what came of it. There is one such turn: a member that
/// answered after it is not asked.
pub(super) async fn repair(
    session: &mut Session,
    vote: &VoteWork,
    members: &mut [TaskMember],
    asking: &mut Asking<'_>,
) -> Result<()> {
    let opened = session.panel().records().iter().find_map(|record| match &record.event {
        Event::TurnOpened { turn: Turn::Repair, judges } => Some(judges.clone()),
        _ => None,
    });
    let lacks = |member: &TaskMember| member.missing.is_some_and(is_repairable);
    let judges = opened.clone().unwrap_or_else(|| members.iter().filter(|m| lacks(m)).map(|m| m.id).collect());
    if vote.plan.repair == Repair::Never || judges.is_empty() || opened.is_none() && asking.control.stop().is_some() {
        return Ok(());
    }
    let task = String::from_utf8_lossy(&fs_err::read(session.layout().task())?).into_owned();
    let chance = Chance::of(session.panel().manifest());
    let mut questions = Vec::new();
    for member in &judges {
        let reply = fs_err::read(session.layout().response(*member))?;
        let model = session.panel().manifest().member(*member).map(|member| &member.resolved);
        questions.push(RepairQuestion {
            prompts: &vote.prompts,
            task: &task,
            member: *member,
            reply,
            context_tokens: model.and_then(|model| model.settings.context),
            nonce: Nonce::draw(&mut chance.rng(&format!("vote repair {member}"))),
        });
    }
    let new = NewTurn {
        kind: session.meta().kind,
        round: None,
        turn: Turn::Repair,
        judges: &judges,
        isolation: asking.services.isolation(),
        prompts: vote.prompt_hashes(),
        failed: vote.failed,
    };
    let panel = session.panel_mut();
    let mut turn = panel.open_turn(new, Timestamp::now())?;
    show_last(panel, &mut *asking.observer);
    asking.observer.enter(Turn::Repair.folder());
    show_last(&turn, &mut *asking.observer);
    let replies = ask(&mut turn, &questions, asking).await?;
    for member in members.iter_mut() {
        let Some(reply) = replies.get(&member.id) else { continue };
        member.repair =
            Some(repair_of(reply.state, reply.ballot.as_ref().map(|(hash, ballot)| (*hash, ballot.clone()))));
    }
    close(panel, turn, asking)
}

fn close(panel: &mut PanelFolder, turn: PanelFolder, asking: &mut Asking<'_>) -> Result<()> {
    let state = asking.control.stop().map_or(SessionState::Completed, stopped_state);
    let status = turn.status().clone();
    let last = panel.close_turn(Turn::Repair, turn, state, Timestamp::now())?;
    asking.observer.event(&last, &status);
    asking.observer.enter(".");
    show_last(panel, &mut *asking.observer);
    Ok(())
}
