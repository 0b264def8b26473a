//! The states of a slot and the one function that moves between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a slot stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SlotState {
    /// Not started in this attempt.
    Pending,
    /// Started, not ended.
    Running,
    /// A complete, usable answer is on disk.
    Completed,
    /// Ended well, without usable text.
    Empty,
    /// Ended with an error.
    Failed,
    /// Ended by a limit that the user set.
    Timeout,
    /// Ended because it was told to.
    Cancelled,
    /// Its owner died while it ran.
    Lost,
}

impl SlotState {
    /// Whether the attempt is over.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        !matches!(self, Self::Pending | Self::Running)
    }

    /// The name as it is written in files and messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Running => "RUNNING",
            Self::Completed => "COMPLETED",
            Self::Empty => "EMPTY",
            Self::Failed => "FAILED",
            Self::Timeout => "TIMEOUT",
            Self::Cancelled => "CANCELLED",
            Self::Lost => "LOST",
        }
    }
}

/// What happens to a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotMove {
    /// An attempt starts.
    Start,
    /// The attempt ends in this state.
    End(SlotState),
    /// A later run opens a new attempt; `failed` also for slots that ended with an error of their own.
    Reopen {
        /// Whether slots other than cancelled and lost ones are asked again.
        failed: bool,
    },
}

/// A move that the life of a slot does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a slot that is {} cannot {}", from.as_str(), describe(*by))]
pub struct TransitionError {
    /// The state found.
    pub from: SlotState,
    /// The move asked for.
    pub by: SlotMove,
}

fn describe(by: SlotMove) -> String {
    match by {
        SlotMove::Start => "start".to_owned(),
        SlotMove::End(state) => format!("end as {}", state.as_str()),
        SlotMove::Reopen { .. } => "be asked again".to_owned(),
    }
}

/// The state after `by`, or why there is none. Terminal states are absorbing within an attempt.
pub const fn transition(from: SlotState, by: SlotMove) -> Result<SlotState, TransitionError> {
    match (from, by) {
        (SlotState::Pending, SlotMove::Start) => Ok(SlotState::Running),
        (SlotState::Running, SlotMove::End(to)) if to.is_terminal() => Ok(to),
        // Stopped before its turn came, or found to be impossible to ask.
        (SlotState::Pending, SlotMove::End(to @ (SlotState::Cancelled | SlotState::Timeout | SlotState::Failed))) => {
            Ok(to)
        }
        (SlotState::Pending | SlotState::Cancelled | SlotState::Lost, SlotMove::Reopen { .. })
        | (SlotState::Empty | SlotState::Failed | SlotState::Timeout, SlotMove::Reopen { failed: true }) => {
            Ok(SlotState::Pending)
        }
        _ => Err(TransitionError { from, by }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [SlotState; 8] = [
        SlotState::Pending,
        SlotState::Running,
        SlotState::Completed,
        SlotState::Empty,
        SlotState::Failed,
        SlotState::Timeout,
        SlotState::Cancelled,
        SlotState::Lost,
    ];

    #[test]
    fn terminal_states_are_absorbing() {
        for from in ALL.into_iter().filter(|state| state.is_terminal()) {
            assert!(transition(from, SlotMove::Start).is_err());
            for to in ALL {
                assert!(transition(from, SlotMove::End(to)).is_err(), "{from:?} -> {to:?}");
            }
        }
    }

    #[test]
    fn a_completed_slot_is_never_asked_again() {
        assert!(transition(SlotState::Completed, SlotMove::Reopen { failed: true }).is_err());
        assert_eq!(transition(SlotState::Lost, SlotMove::Reopen { failed: false }), Ok(SlotState::Pending));
        assert!(transition(SlotState::Failed, SlotMove::Reopen { failed: false }).is_err());
        assert_eq!(transition(SlotState::Failed, SlotMove::Reopen { failed: true }), Ok(SlotState::Pending));
    }

    #[test]
    fn a_slot_that_never_started_has_no_answer_and_was_not_lost() {
        for to in [SlotState::Completed, SlotState::Empty, SlotState::Lost] {
            assert!(transition(SlotState::Pending, SlotMove::End(to)).is_err());
        }
    }
}
