//! When a fix ends: one function of what happened so far.

/// What came of the last attempt at a fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastAttempt {
    /// There was none yet.
    None,
    /// It was committed.
    Committed,
    /// Nothing was changed.
    Nothing,
}

/// A limit that the user set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// There is room.
    Open,
    /// It is used up.
    Reached,
}

/// What happened so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress<'a> {
    /// How many sustained findings at or above the bar were open after each review, in order. Never empty.
    pub(crate) open: &'a [u32],
    /// How many rounds of fixes were made.
    pub(crate) rounds: u32,
    /// The most rounds.
    pub(crate) max_rounds: u32,
    /// What came of the last attempt.
    pub(crate) last: LastAttempt,
    /// The money.
    pub(crate) budget: Limit,
    /// The time.
    pub(crate) deadline: Limit,
}

/// Why a fix ended: a word of the session's record.
pub use crate::session::FixStop as StopReason;

/// Why to stop now; `None` where another round is to be made.
#[must_use]
pub(crate) fn stop_now(progress: &Progress<'_>) -> Option<StopReason> {
    let open = progress.open;
    // First of all: what is done is done, whatever is used up.
    if open.last() == Some(&0) {
        return Some(StopReason::Converged);
    }
    if progress.deadline == Limit::Reached {
        return Some(StopReason::Deadline);
    }
    if progress.budget == Limit::Reached {
        return Some(StopReason::Budget);
    }
    if progress.last == LastAttempt::Nothing {
        return Some(StopReason::NoChange);
    }
    if progress.rounds >= progress.max_rounds {
        return Some(StopReason::MaxRounds);
    }
    is_plateau(open).then_some(StopReason::Plateau)
}

/// Whether neither of the last two rounds brought the count below what it was before them.
fn is_plateau(open: &[u32]) -> bool {
    match open {
        [.., before, one, two] => one >= before && two >= before,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(open: &[u32]) -> Progress<'_> {
        Progress {
            open,
            rounds: open.len() as u32 - 1,
            max_rounds: 9,
            last: LastAttempt::Committed,
            budget: Limit::Open,
            deadline: Limit::Open,
        }
    }

    #[test]
    fn each_rule_stops_by_itself_and_what_is_done_is_done() {
        use StopReason::{Budget, Converged, Deadline, MaxRounds, NoChange};
        let going = progress(&[3, 2]);
        assert_eq!(stop_now(&going), None);
        assert_eq!(stop_now(&Progress { max_rounds: 1, ..going }), Some(MaxRounds));
        assert_eq!(stop_now(&Progress { last: LastAttempt::Nothing, ..going }), Some(NoChange));
        assert_eq!(stop_now(&Progress { budget: Limit::Reached, ..going }), Some(Budget));
        assert_eq!(stop_now(&Progress { deadline: Limit::Reached, ..going }), Some(Deadline));
        let done = Progress {
            open: &[3, 0],
            budget: Limit::Reached,
            deadline: Limit::Reached,
            last: LastAttempt::Nothing,
            max_rounds: 1,
            ..going
        };
        assert_eq!(stop_now(&done), Some(Converged));
    }

    #[test]
    fn a_limit_of_no_rounds_fixes_nothing() {
        let first = Progress { last: LastAttempt::None, max_rounds: 0, ..progress(&[2]) };
        assert_eq!(stop_now(&first), Some(StopReason::MaxRounds));
        assert_eq!(stop_now(&Progress { max_rounds: 1, ..first }), None);
    }

    #[test]
    fn a_plateau_is_two_rounds_without_a_new_low() {
        for (open, plateau) in [
            (&[3][..], false),
            (&[3, 3], false),
            (&[3, 3, 3], true),
            (&[3, 4, 3], true),
            (&[3, 3, 2], false),
            (&[3, 2, 3], false),
            (&[5, 4, 5, 4], true),
            (&[5, 4, 5, 3], false),
            (&[2, 2, 1, 1], false),
            (&[2, 1, 1, 1], true),
        ] {
            let expected = plateau.then_some(StopReason::Plateau);
            assert_eq!(stop_now(&progress(open)), expected, "{open:?}");
        }
    }
}
