//! Why a slot is not COMPLETED: a closed set, each with its state and one fixed next step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SlotState;

/// Why a slot ended without a complete, usable answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// No text, or only white space.
    EmptyOutput,
    /// Shorter than `--min-bytes`.
    TooShort,
    /// `--require-pattern` does not match.
    ShapeMismatch,
    /// The model declined to answer.
    Refused,
    /// The agent stopped at a ceiling of background tasks and flushed a part.
    BackgroundTaskCeiling,
    /// The agent answered without having read the whole prompt.
    PromptNotRead,
    /// `--timeout` or `--deadline` passed.
    Timeout,
    /// `--idle-timeout` passed without a byte.
    IdleTimeout,
    /// A person or a signal stopped it.
    Cancelled,
    /// The budget is spent.
    Budget,
    /// The process that ran it died.
    OwnerDied,
    /// The program exited with a code other than 0 and said nothing more precise.
    NonzeroExit,
    /// The program could not be started.
    SpawnFailed,
    /// The provider reported an error of another kind.
    ApiError,
    /// The key is missing, wrong or not allowed.
    Auth,
    /// The provider does not know the model.
    UnknownModel,
    /// Too many requests, after the retries that were allowed.
    RateLimited,
    /// The account's quota or credit is spent.
    QuotaExhausted,
    /// The prompt does not fit the model's context, or its server cut it.
    ContextTooLong,
    /// No connection, or it broke.
    Network,
    /// The answer was cut by its length limit or by the end of the stream.
    Truncated,
    /// The program ended without saying that the answer was complete.
    Unterminated,
    /// The agent waited for a permission or an answer that nobody can give.
    Blocked,
    /// The output is not of the declared format.
    BadOutput,
    /// The read-only workspace was changed.
    WorkspaceChanged,
    /// A file of the session could not be written or read.
    IoError,
}

impl Reason {
    /// The state that this reason belongs to.
    #[must_use]
    pub const fn state(self) -> SlotState {
        match self {
            Self::EmptyOutput
            | Self::TooShort
            | Self::ShapeMismatch
            | Self::Refused
            | Self::BackgroundTaskCeiling
            | Self::PromptNotRead => SlotState::Empty,
            Self::Timeout | Self::IdleTimeout => SlotState::Timeout,
            Self::Cancelled | Self::Budget => SlotState::Cancelled,
            Self::OwnerDied => SlotState::Lost,
            Self::NonzeroExit
            | Self::SpawnFailed
            | Self::ApiError
            | Self::Auth
            | Self::UnknownModel
            | Self::RateLimited
            | Self::QuotaExhausted
            | Self::ContextTooLong
            | Self::Network
            | Self::Truncated
            | Self::Unterminated
            | Self::Blocked
            | Self::BadOutput
            | Self::WorkspaceChanged
            | Self::IoError => SlotState::Failed,
        }
    }

    /// The name as it is written in files and messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EmptyOutput => "empty_output",
            Self::TooShort => "too_short",
            Self::ShapeMismatch => "shape_mismatch",
            Self::Refused => "refused",
            Self::BackgroundTaskCeiling => "background_task_ceiling",
            Self::PromptNotRead => "prompt_not_read",
            Self::Timeout => "timeout",
            Self::IdleTimeout => "idle_timeout",
            Self::Cancelled => "cancelled",
            Self::Budget => "budget",
            Self::OwnerDied => "owner_died",
            Self::NonzeroExit => "nonzero_exit",
            Self::SpawnFailed => "spawn_failed",
            Self::ApiError => "api_error",
            Self::Auth => "auth",
            Self::UnknownModel => "unknown_model",
            Self::RateLimited => "rate_limited",
            Self::QuotaExhausted => "quota_exhausted",
            Self::ContextTooLong => "context_too_long",
            Self::Network => "network",
            Self::Truncated => "truncated",
            Self::Unterminated => "unterminated",
            Self::Blocked => "blocked",
            Self::BadOutput => "bad_output",
            Self::WorkspaceChanged => "workspace_changed",
            Self::IoError => "io_error",
        }
    }

    /// What a person can do about it, one line.
    #[must_use]
    pub const fn next_step(self) -> &'static str {
        match self {
            Self::EmptyOutput => "ask this model alone with `team run -m` and look at its log",
            Self::TooShort => "lower `--min-bytes`, or ask for a longer answer in the input",
            Self::ShapeMismatch => "compare the partial text with `--require-pattern`; one of them is off",
            Self::Refused => "rephrase the input, or leave this model out",
            Self::BackgroundTaskCeiling => "ask for an answer without background tasks",
            Self::PromptNotRead => "shorten the input, do not begin it with `/`, or use a model that reads it whole",
            Self::Timeout => "raise `--timeout` or `--deadline`, or leave them out to wait as long as it takes",
            Self::IdleTimeout => "raise `--idle-timeout`, or leave it out: a quiet model may be thinking",
            Self::Cancelled => "`team resume` asks it again; what the others wrote is kept",
            Self::Budget => "raise the budget, then `team resume`; what the others wrote is kept",
            Self::OwnerDied => "`team resume` asks it again; what the others wrote is kept",
            Self::NonzeroExit => "read the log; run the program once by hand",
            Self::SpawnFailed => "check that the program is installed and on PATH: `team doctor -m MODEL`",
            Self::ApiError => "act on the message; where the provider said more, the log has it",
            Self::Auth => {
                "set the key's variable or sign in with the program's own login: `team doctor -m MODEL` names it"
            }
            Self::UnknownModel => "check the model's name: `team models`",
            Self::RateLimited => "wait, or lower `--jobs` or the provider's `max_concurrent`",
            Self::QuotaExhausted => "wait for the reset or add credit; trying again now cannot help",
            Self::ContextTooLong => {
                "shorten the input, raise the model's `context` where its server takes one, or use a larger model"
            }
            Self::Network => "check the address, the proxy and the network, then ask again",
            Self::Truncated => {
                "ask again; if a length limit cut it, raise `max_tokens` or set `accept_truncated = true`"
            }
            Self::Unterminated => "read the log: the program ended before its answer did",
            Self::Blocked => "give the program the permission in its own settings; nobody can answer it here",
            Self::BadOutput => "check that `output` names what the program prints; of an API, `base_url` and `wire`",
            Self::WorkspaceChanged => "the model wrote into a read-only workspace; its answer is not counted",
            Self::IoError => "free disk space or repair the folder's permissions, then `team resume --failed`",
        }
    }

    /// Whether the next step sends a person to the log.
    #[must_use]
    pub const fn points_to_the_log(self) -> bool {
        matches!(self, Self::EmptyOutput | Self::NonzeroExit | Self::ApiError | Self::Unterminated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_sent_to_the_log_is_known() {
        for reason in [Reason::EmptyOutput, Reason::NonzeroExit, Reason::ApiError, Reason::Unterminated, Reason::Auth] {
            assert_eq!(
                reason.points_to_the_log(),
                reason.next_step().split(|c: char| !c.is_alphabetic()).any(|word| word == "log"),
                "{reason:?}"
            );
        }
    }

    #[test]
    fn names_in_files_are_those_of_as_str() {
        for reason in [Reason::EmptyOutput, Reason::BackgroundTaskCeiling, Reason::OwnerDied, Reason::ApiError] {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
        }
    }
}
