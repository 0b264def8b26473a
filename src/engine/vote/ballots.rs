//! What a member's reply says.

use crate::ids::{Sha256Hash, SlotId};
use crate::judging::{MissingReason, TaskBallot, TaskVote, parse_task};
use crate::session::SlotStatus;
use crate::session::slot::SlotState;
use crate::verdict::{TaskMember, TaskRepair};

/// A member as its slot ended. `reply` is its complete reply; of one that did not complete nothing is read.
pub(in crate::engine) fn member_of(id: SlotId, entry: &SlotStatus, reply: Option<&[u8]>) -> TaskMember {
    let ballot = reply.map(|reply| (Sha256Hash::of(reply), parse_task(&String::from_utf8_lossy(reply))));
    let TaskRepair { state, response_sha256, vote, missing, notes } = repair_of(entry.state, ballot);
    TaskMember { id, state, response_sha256, vote, missing, notes, repair: None }
}

/// A further turn that ended as `state`, with what its reply says.
pub(in crate::engine) fn repair_of(state: SlotState, ballot: Option<(Sha256Hash, TaskBallot)>) -> TaskRepair {
    match ballot.filter(|_| state == SlotState::Completed) {
        Some((hash, TaskBallot { vote, notes })) => {
            let (vote, missing) = parts(vote);
            TaskRepair { state, response_sha256: Some(hash), vote, missing, notes }
        }
        None => {
            let missing = Some(MissingReason::JudgeFailed);
            TaskRepair { state, response_sha256: None, vote: None, missing, notes: Vec::new() }
        }
    }
}

fn parts(vote: Result<TaskVote, MissingReason>) -> (Option<TaskVote>, Option<MissingReason>) {
    match vote {
        Ok(vote) => (Some(vote), None),
        Err(reason) => (None, Some(reason)),
    }
}
