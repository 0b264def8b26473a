//! What a member's reply says.

use crate::ids::{Sha256Hash, SlotId};
use crate::judging::{MissingReason, parse_task};
use crate::session::SlotStatus;
use crate::session::slot::SlotState;
use crate::verdict::TaskMember;

/// A member as its slot ended. `reply` is its complete reply; of one that did not complete nothing is read.
pub(in crate::engine) fn member_of(id: SlotId, entry: &SlotStatus, reply: Option<&[u8]>) -> TaskMember {
    let state = entry.state;
    let Some(reply) = reply.filter(|_| state == SlotState::Completed) else {
        let missing = Some(MissingReason::JudgeFailed);
        return TaskMember { id, state, response_sha256: None, vote: None, missing, notes: Vec::new(), repair: None };
    };
    let ballot = parse_task(&String::from_utf8_lossy(reply));
    let (vote, missing) = match ballot.vote {
        Ok(vote) => (Some(vote), None),
        Err(reason) => (None, Some(reason)),
    };
    let response_sha256 = Some(Sha256Hash::of(reply));
    TaskMember { id, state, response_sha256, vote, missing, notes: ballot.notes, repair: None }
}
