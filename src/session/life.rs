//! The life of a session, a round or a turn: the one function that moves between its states.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::meta::SessionState;

/// Why a session that had ended goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Its answers are judged in a new round.
    Judge,
    /// Ballots from elsewhere are counted in a new round.
    Import,
    /// What was left of it is done.
    Resume,
    /// The decision that it waited for was made.
    Decision,
}

/// What happens to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionMove {
    /// Its owner ends it in this state.
    Close(SessionState),
    /// Its owner was found dead.
    Interrupt,
    /// Somebody goes on with it.
    Reopen(Why),
}

/// A move that the life of a session does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a session that is {} cannot {}", from.as_str(), describe(*by))]
pub struct IllegalMove {
    /// The state found.
    pub from: SessionState,
    /// The move asked for.
    pub by: SessionMove,
}

const fn describe(by: SessionMove) -> &'static str {
    match by {
        SessionMove::Close(_) => "be closed",
        SessionMove::Interrupt => "be interrupted",
        SessionMove::Reopen(Why::Judge | Why::Import) => "be judged",
        SessionMove::Reopen(Why::Resume) => "be resumed",
        SessionMove::Reopen(Why::Decision) => "go on by a decision",
    }
}

/// The state after `by`, or why there is none.
pub const fn session_transition(from: SessionState, by: SessionMove) -> Result<SessionState, IllegalMove> {
    use SessionState::{AwaitingDecision, Cancelled, Closing, Completed, Failed, InProgress, Interrupted};
    match (from, by) {
        (InProgress | Closing, SessionMove::Close(to @ (Completed | Failed | Cancelled | AwaitingDecision))) => Ok(to),
        (InProgress | Closing, SessionMove::Interrupt) => Ok(Interrupted),
        // What completed has something left where a slot failed, or where votes that were wanted were not counted.
        (Completed | Failed | Cancelled | Interrupted | AwaitingDecision, SessionMove::Reopen(Why::Resume))
        | (Completed | Failed | Cancelled, SessionMove::Reopen(Why::Judge | Why::Import))
        | (AwaitingDecision, SessionMove::Reopen(Why::Decision)) => Ok(InProgress),
        _ => Err(IllegalMove { from, by }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SessionState::{AwaitingDecision, Cancelled, Closing, Completed, Failed, InProgress, Interrupted};

    const ALL: [SessionState; 7] = [InProgress, Closing, Completed, Failed, Cancelled, Interrupted, AwaitingDecision];

    #[test]
    fn only_what_goes_on_can_end_and_a_waiting_session_is_never_overwritten_by_a_close() {
        for from in ALL {
            for to in ALL {
                let allowed = from.is_active() && !to.is_active() && to != Interrupted;
                assert_eq!(session_transition(from, SessionMove::Close(to)).is_ok(), allowed, "{from:?} -> {to:?}");
            }
            assert_eq!(session_transition(from, SessionMove::Interrupt).is_ok(), from.is_active());
        }
    }

    #[test]
    fn what_goes_on_is_not_reopened_and_what_was_interrupted_is_not_judged_before_it_is_resumed() {
        let reopened =
            |why| ALL.into_iter().filter(move |from| session_transition(*from, SessionMove::Reopen(why)).is_ok());
        let resumed: Vec<_> = reopened(Why::Resume).collect();
        assert_eq!(resumed, [Completed, Failed, Cancelled, Interrupted, AwaitingDecision]);
        for why in [Why::Judge, Why::Import] {
            assert_eq!(reopened(why).collect::<Vec<_>>(), [Completed, Failed, Cancelled]);
        }
        assert_eq!(reopened(Why::Decision).collect::<Vec<_>>(), [AwaitingDecision]);
    }
}
