//! How a command of the engine ended, and its exit code.

use std::collections::BTreeMap;

use crate::error::ExitCode;
use crate::findings::ReviewVerdict;
use crate::ids::SlotId;
use crate::runner::StopAll;
use crate::session::Layout;
use crate::verdict::TaskVerdict;

/// What the panel and the votes amount to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// A run without votes that has answers.
    Answers {
        /// How many slots completed.
        complete: usize,
        /// How many there are.
        all: usize,
    },
    /// No slot completed, or with `--strict` not every slot.
    NothingUsable {
        /// How many slots completed.
        complete: usize,
        /// How many there are.
        all: usize,
    },
    /// A ranking exists, ties included.
    Ranking,
    /// The panel voted on the task itself.
    Voted {
        /// What it decided, with every vote.
        verdict: Box<TaskVerdict>,
        /// The model behind each member.
        models: BTreeMap<SlotId, String>,
        /// Whether a vote is missing that `--strict` wants.
        short: bool,
    },
    /// A review came to its verdict.
    Reviewed(Box<ReviewVerdict>),
    /// A fix came to its end, or waits for a person.
    Fix {
        /// What it came to.
        sentence: String,
        /// The exit code of that.
        code: ExitCode,
    },
    /// Votes were wanted and decide nothing.
    NoDecision {
        /// Why.
        why: String,
    },
}

/// How a command ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The session.
    pub layout: Layout,
    /// What it amounts to.
    pub decision: Decision,
    /// The text of `verdict.md`, where a verdict was published.
    pub verdict: Option<String>,
    /// What stopped it, if anything did.
    pub stop: Option<StopAll>,
}

impl Outcome {
    /// The exit code: a signal weighs more than what the panel amounts to.
    #[must_use]
    pub const fn exit_code(&self) -> ExitCode {
        match (self.stop, &self.decision) {
            (Some(StopAll::Signal(signal)), _) => ExitCode::signal(signal),
            // Cancelled from outside looks like Ctrl-C to a script.
            (Some(StopAll::Request), _) => ExitCode::signal(2),
            (_, Decision::NothingUsable { .. } | Decision::Voted { short: true, .. }) => ExitCode::NOTHING_USABLE,
            (_, Decision::Voted { verdict, .. }) => verdict.decision.exit_code(),
            (_, Decision::Fix { code, .. }) => *code,
            (_, Decision::Reviewed(verdict)) => verdict.decision.exit_code(),
            (_, Decision::NoDecision { .. }) => ExitCode::NO_DECISION,
            (_, Decision::Answers { .. } | Decision::Ranking) => ExitCode::DONE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_outweighs_the_answers_that_are_complete() {
        let outcome = |stop, decision| Outcome { layout: Layout::new("s"), decision, verdict: None, stop };
        let answers = Decision::Answers { complete: 1, all: 2 };
        assert_eq!(outcome(Some(StopAll::Signal(2)), answers.clone()).exit_code().code(), 130);
        assert_eq!(outcome(Some(StopAll::Request), answers.clone()).exit_code().code(), 130);
        assert_eq!(outcome(Some(StopAll::Deadline), answers.clone()).exit_code().code(), 0);
        assert_eq!(outcome(None, answers).exit_code().code(), 0);
        let nothing = Decision::NothingUsable { complete: 1, all: 2 };
        assert_eq!(outcome(None, nothing).exit_code().code(), 4);
    }
}
