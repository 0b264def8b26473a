//! The panel has ended: its replies are read, the votes counted, the verdict published, the session closed.

use super::member_of;
use super::publish::{Published, publish, published};
use super::repair::repair;
use super::request::VoteWork;
use crate::engine::ask::{Asking, record_ballot};
use crate::engine::last_look::look_last;
use crate::engine::outcome::{Decision, Outcome};
use crate::engine::run::{Work, end};
use crate::engine::services::Services;
use crate::error::{Error, Result};
use crate::runner::{Control, Observer, StopAll};
use crate::session::slot::SlotState;
use crate::session::{Event, Session};
use crate::verdict::TaskMember;

/// Ends a session whose panel voted; `problem` is what went wrong while it did.
///
/// A signal or a request leaves the votes uncounted, for `resume` to ask the rest. When the deadline has passed those are
/// counted that came: the quorum says whether they suffice.
pub(in crate::engine) async fn conclude(
    mut session: Session,
    vote: &VoteWork,
    work: &Work,
    problem: Option<Error>,
    services: &Services,
    control: &mut Control,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    let complete = session.panel().status().count(SlotState::Completed);
    let all = session.panel().status().models.len();
    let mut decision = if complete == 0 {
        Decision::NothingUsable { complete, all }
    } else {
        Decision::NoDecision { why: "the votes were not counted".to_owned() }
    };
    let mut verdict = None;
    let mut problem = problem;
    if complete > 0 && problem.is_none() && !is_stopped(control) {
        let session_layout = session.layout().clone();
        let limits = work.terms.limits;
        let mut asking = Asking {
            services,
            session: session_layout,
            limits,
            workspace: None,
            control: &mut *control,
            observer: &mut *observer,
        };
        match counted(&mut session, vote, work, &mut asking).await {
            Ok(Some(published)) => {
                decision = published.decision;
                verdict = Some(published.text);
            }
            Ok(None) => {}
            Err(error) => problem = Some(error),
        }
    }
    end(session, decision, verdict, problem, control.stop(), services, observer)
}

/// Whether somebody stopped the command, who may want to go on with it.
fn is_stopped(control: &Control) -> bool {
    matches!(control.stop(), Some(StopAll::Signal(_) | StopAll::Request))
}

/// The verdict: the one that is out already, or that of the replies as they are now; `None` when asking once more was
/// stopped.
async fn counted(
    session: &mut Session,
    vote: &VoteWork,
    work: &Work,
    asking: &mut Asking<'_>,
) -> Result<Option<Published>> {
    if let Some(before) = published(session, work.strict)? {
        return Ok(Some(before));
    }
    let mut members = read_replies(session, &mut *asking.observer)?;
    repair(session, vote, &mut members, asking).await?;
    if is_stopped(asking.control) {
        return Ok(None);
    }
    look_last(session.panel_mut(), asking.services, &mut *asking.observer).await?;
    publish(session, &vote.plan, members, work, asking.services, &mut *asking.observer).map(Some)
}

/// Reads each complete reply for its vote, and records what it holds.
fn read_replies(session: &mut Session, observer: &mut dyn Observer) -> Result<Vec<TaskMember>> {
    let mut members = Vec::new();
    let status = session.panel().status().clone();
    for (slot, entry) in &status.models {
        let reply = entry.read_answer(session.layout(), *slot)?;
        let member = member_of(*slot, entry, reply.as_deref());
        if let Some(response) = member.response_sha256 {
            let votes = u32::from(member.vote.is_some());
            let ballot = Event::Ballot { judge: *slot, response, votes, missing: 1 - votes };
            record_ballot(session.panel_mut(), ballot, observer)?;
        }
        members.push(member);
    }
    session.panel_mut().settle()?;
    Ok(members)
}
