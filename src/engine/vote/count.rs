//! The panel has ended: its replies are read, the votes counted, the verdict published, the session closed.

use super::publish::{Published, publish, published};
use super::request::VoteWork;
use super::{VotePlan, member_of};
use crate::engine::outcome::{Decision, Outcome};
use crate::engine::record::record;
use crate::engine::run::{Work, end};
use crate::engine::services::Services;
use crate::error::{Error, Result};
use crate::fault::{self, Point};
use crate::runner::{Control, Observer, StopAll};
use crate::session::slot::SlotState;
use crate::session::{Event, Session};
use crate::verdict::TaskMember;

/// Ends a session whose panel voted; `problem` is what went wrong while it did.
///
/// A signal or a request leaves the votes uncounted, for `resume` to ask the rest. When the deadline has passed those are
/// counted that came: the quorum says whether they suffice.
pub(in crate::engine) fn conclude(
    mut session: Session,
    vote: &VoteWork,
    work: &Work,
    problem: Option<Error>,
    services: &Services,
    control: &Control,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    let complete = session.panel().status().count(SlotState::Completed);
    let all = session.panel().status().models.len();
    let stopped = matches!(control.stop(), Some(StopAll::Signal(_) | StopAll::Request));
    let mut decision = if complete == 0 {
        Decision::NothingUsable { complete, all }
    } else {
        Decision::NoDecision { why: "the votes were not counted".to_owned() }
    };
    let mut verdict = None;
    let mut problem = problem;
    if complete > 0 && problem.is_none() && !stopped {
        match counted(&mut session, &vote.plan, work, services, observer) {
            Ok(published) => {
                decision = published.decision;
                verdict = Some(published.text);
            }
            Err(error) => problem = Some(error),
        }
    }
    end(session, decision, verdict, problem, control.stop(), observer)
}

/// The verdict: the one that is out already, or that of the replies as they are now.
fn counted(
    session: &mut Session,
    plan: &VotePlan,
    work: &Work,
    services: &Services,
    observer: &mut dyn Observer,
) -> Result<Published> {
    if let Some(before) = published(session, work.strict)? {
        return Ok(before);
    }
    let members = read_replies(session, observer)?;
    publish(session, plan, members, work, services, observer)
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
            let event = Event::Ballot { judge: *slot, response, votes, missing: 1 - votes };
            if !session.panel().records().iter().any(|record| record.event == event) {
                record(session.panel_mut(), event, observer)?;
                fault::reach(Point::BallotRecorded);
            }
        }
        members.push(member);
    }
    session.panel_mut().settle()?;
    Ok(members)
}
