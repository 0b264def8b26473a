//! What an attempt amounts to: a pure function of its facts, in the order of DESIGN 5.
//!
//! Spawn failure; stop asked for; limit hit; a file that could not be written; typed error; exit; length stop or missing
//! end; changed workspace; blank; `--min-bytes`; `--require-pattern`. The first that applies decides, and success is what is
//! left: usable text.

use std::time::Duration;

use crate::config::OutputFormat;
use crate::session::slot::{Reason, SlotState, StopReason, TypedError, Usage, diagnose};

/// Why the runner stopped an attempt that was still going.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopCause {
    /// A person, a signal, or a request.
    Cancelled,
    /// The budget is spent.
    Budget,
    /// `--timeout` of this length passed.
    Timeout(Duration),
    /// Nothing came for `--idle-timeout`.
    Idle(Duration),
    /// `--deadline` of the whole command passed.
    Deadline,
    /// The terminal event had come, and the program did not end by itself.
    Lingering,
    /// The program had repeated a failed request as often as it may, and would have gone on.
    InVain,
}

/// A stop that was carried out. One that came after the program had ended is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    /// Why.
    pub cause: StopCause,
    /// Whether the terminal event had come before: the answer is judged as if the program had ended by itself then.
    pub after_answer: bool,
}

/// How the program of an attempt ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Exit {
    /// There was no program (HTTP, replay).
    #[default]
    None,
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// Everything that is known about an attempt that is over.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AttemptFacts {
    /// Why the program could not be started.
    pub spawn_error: Option<String>,
    /// The stop that was carried out, if one was.
    pub stopped: Option<Stopped>,
    /// Why a file of the slot could not be written or read.
    pub io_error: Option<String>,
    /// The error that the stream ended with.
    pub error: Option<TypedError>,
    /// How the program ended.
    pub exit: Exit,
    /// Why the model stopped; `None` when no terminal event came.
    pub stop: Option<StopReason>,
    /// What of the read-only workspace was changed.
    pub workspace_changed: Option<String>,
    /// Bytes of the answer.
    pub bytes: u64,
    /// Whether the answer is nothing but white space.
    pub blank: bool,
    /// Whether `--require-pattern` matches; `None` where it was not tried.
    pub pattern_matches: Option<bool>,
    /// Tokens, where reported.
    pub usage: Option<Usage>,
}

/// How the end of an answer is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The end of the program is the end of the answer.
    Program,
    /// A terminal event of this format.
    Event(OutputFormat),
    /// A terminal event of a model API.
    Wire,
}

impl Ending {
    /// The ending of a program that prints `format`.
    #[must_use]
    pub const fn of(format: OutputFormat) -> Self {
        match format {
            OutputFormat::Text => Self::Program,
            _ => Self::Event(format),
        }
    }
}

/// What an answer must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checks<'a> {
    /// How its end is recognised.
    pub ending: Ending,
    /// `--min-bytes`.
    pub min_bytes: Option<u64>,
    /// `--require-pattern`, for the message.
    pub pattern: Option<&'a str>,
    /// Whether an answer that its length limit cut counts as complete.
    pub accept_truncated: bool,
}

/// How an attempt ended.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The terminal state.
    pub state: SlotState,
    /// Why it is not COMPLETED; `None` when it is.
    pub reason: Option<Reason>,
    /// The reason in words; unredacted, and empty when there is nothing to add.
    pub detail: String,
    /// Whether a length limit cut the answer.
    pub truncated: bool,
}

/// Judges an attempt.
pub fn classify(facts: &AttemptFacts, checks: &Checks<'_>) -> Outcome {
    let truncated = facts.stop == Some(StopReason::Length);
    match failure(facts, checks) {
        Some((reason, detail)) => Outcome { state: reason.state(), reason: Some(reason), detail, truncated },
        None => Outcome { state: SlotState::Completed, reason: None, detail: String::new(), truncated },
    }
}

fn failure(facts: &AttemptFacts, checks: &Checks<'_>) -> Option<(Reason, String)> {
    if let Some(error) = &facts.spawn_error {
        return Some((Reason::SpawnFailed, error.clone()));
    }
    let after_answer = facts
        .stopped
        .is_some_and(|stop| stop.after_answer || matches!(stop.cause, StopCause::Lingering | StopCause::InVain));
    if let Some(stopped) = facts.stopped.filter(|_| !after_answer) {
        return Some(stop(stopped.cause, facts));
    }
    if let Some(error) = &facts.io_error {
        return Some((Reason::IoError, error.clone()));
    }
    if let Some(error) = &facts.error {
        return Some((error.reason, error.detail.clone()));
    }
    // The exit of a program that we ended says nothing about its answer.
    if !after_answer && let Some(bad) = bad_exit(facts.exit, checks.ending) {
        return Some(bad);
    }
    missing_end(facts, checks)
        .or_else(|| facts.workspace_changed.as_ref().map(|what| (Reason::WorkspaceChanged, what.clone())))
        .or_else(|| shape(facts, checks))
}

fn stop(cause: StopCause, facts: &AttemptFacts) -> (Reason, String) {
    let (reason, mut detail) = match cause {
        // The last two never come here: what the stream said decides.
        StopCause::Cancelled | StopCause::Lingering | StopCause::InVain => (Reason::Cancelled, "stopped".to_owned()),
        StopCause::Budget => (Reason::Budget, "stopped when the budget was spent".to_owned()),
        StopCause::Timeout(limit) => (Reason::Timeout, format!("stopped after `--timeout` {limit:?}")),
        StopCause::Idle(limit) => (Reason::IdleTimeout, format!("stopped after {limit:?} without a byte")),
        StopCause::Deadline => (Reason::Timeout, "stopped at the `--deadline` of the command".to_owned()),
    };
    detail.push_str(&match facts.bytes {
        0 => ", no text until then".to_owned(),
        bytes => format!(", {} of text until then", counted(bytes)),
    });
    if let Some(error) = &facts.error {
        detail.push_str("; before that: ");
        detail.push_str(&error.detail);
    }
    (reason, detail)
}

fn counted(bytes: u64) -> String {
    if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") }
}

fn bad_exit(exit: Exit, ending: Ending) -> Option<(Reason, String)> {
    match exit {
        Exit::None | Exit::Code(0) => None,
        Exit::Signal(signal) => Some((Reason::NonzeroExit, format!("ended by signal {signal}"))),
        Exit::Code(code) => {
            // This program's exit code is the HTTP status modulo 256, which only 400 to 511 are told from.
            let status = u16::try_from(code).ok().filter(|code| (144..=255).contains(code)).map(|code| code + 256);
            let gemini = ending == Ending::Event(OutputFormat::GeminiJson);
            match status.filter(|_| gemini) {
                // Its own code for a sign-in that is missing or does not fit; it says which on standard error only.
                None if gemini && code == 41 => Some((Reason::Auth, format!("exit code {code}"))),
                Some(status) => Some((
                    diagnose(Some(status), "", ""),
                    format!("exit code {code}, which stands for status {status}"),
                )),
                None => Some((Reason::NonzeroExit, format!("exit code {code}"))),
            }
        }
    }
}

fn missing_end(facts: &AttemptFacts, checks: &Checks<'_>) -> Option<(Reason, String)> {
    match (facts.stop, checks.ending) {
        (Some(StopReason::Refused), _) => Some((Reason::Refused, format!("declined after {}", counted(facts.bytes)))),
        (Some(StopReason::Length), _) if !checks.accept_truncated => {
            let spent = reasoning(facts).unwrap_or_default();
            Some((Reason::Truncated, format!("cut by a length limit after {}{spent}", counted(facts.bytes))))
        }
        (None, Ending::Event(_)) => {
            Some((Reason::Unterminated, format!("no terminal event after {} of text", counted(facts.bytes))))
        }
        (None, Ending::Wire) => {
            Some((Reason::Truncated, format!("the stream ended in the middle, after {} of text", counted(facts.bytes))))
        }
        // A program's own end is the end of its answer, whoever else holds its output open.
        _ => None,
    }
}

fn shape(facts: &AttemptFacts, checks: &Checks<'_>) -> Option<(Reason, String)> {
    if facts.bytes == 0 || facts.blank {
        let what = if facts.bytes == 0 { "no text".to_owned() } else { format!("{}, all blank", counted(facts.bytes)) };
        return Some((Reason::EmptyOutput, what + &reasoning(facts).unwrap_or_default()));
    }
    if let Some(least) = checks.min_bytes.filter(|least| facts.bytes < *least) {
        return Some((Reason::TooShort, format!("{}, at least {least} are asked for", counted(facts.bytes))));
    }
    match (checks.pattern, facts.pattern_matches) {
        // A check that was asked for and not made is not passed.
        (Some(pattern), Some(false) | None) => {
            Some((Reason::ShapeMismatch, format!("nothing in {} matches `{pattern}`", counted(facts.bytes))))
        }
        _ => None,
    }
}

/// Where the tokens went when there is no text for them.
fn reasoning(facts: &AttemptFacts) -> Option<String> {
    let tokens = facts.usage?.reasoning_tokens.filter(|tokens| *tokens > 0)?;
    Some(format!("; {tokens} tokens were spent on reasoning"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAUDE: Ending = Ending::Event(OutputFormat::ClaudeStreamJson);

    fn checks(ending: Ending) -> Checks<'static> {
        Checks { ending, min_bytes: Some(10), pattern: Some("VOTE"), accept_truncated: false }
    }

    /// An attempt that ended well.
    fn good() -> AttemptFacts {
        AttemptFacts {
            exit: Exit::Code(0),
            stop: Some(StopReason::Done),
            bytes: 20,
            pattern_matches: Some(true),
            ..AttemptFacts::default()
        }
    }

    fn stopped(cause: StopCause, after_answer: bool) -> Option<Stopped> {
        Some(Stopped { cause, after_answer })
    }

    fn reason(facts: &AttemptFacts, ending: Ending) -> Option<Reason> {
        let outcome = classify(facts, &checks(ending));
        assert_eq!(outcome.state, outcome.reason.map_or(SlotState::Completed, Reason::state));
        outcome.reason
    }

    #[test]
    fn usable_text_of_a_good_end_is_completed() {
        for ending in [CLAUDE, Ending::Program, Ending::Wire] {
            assert_eq!(reason(&good(), ending), None);
        }
    }

    #[test]
    fn the_first_that_applies_decides() {
        // Each step is made worse than the one before it; all earlier ones still hold.
        type Step = (Reason, fn(&mut AttemptFacts));
        let steps: [Step; 10] = [
            (Reason::ShapeMismatch, |f| f.pattern_matches = Some(false)),
            (Reason::TooShort, |f| f.bytes = 9),
            (Reason::EmptyOutput, |f| f.blank = true),
            (Reason::WorkspaceChanged, |f| f.workspace_changed = Some("a.rs".to_owned())),
            (Reason::Unterminated, |f| f.stop = None),
            (Reason::NonzeroExit, |f| f.exit = Exit::Code(1)),
            (Reason::Auth, |f| f.error = Some(TypedError::new(Reason::Auth, "who are you"))),
            (Reason::IoError, |f| f.io_error = Some("disk full".to_owned())),
            (Reason::Timeout, |f| f.stopped = stopped(StopCause::Deadline, false)),
            (Reason::SpawnFailed, |f| f.spawn_error = Some("not found".to_owned())),
        ];
        let mut facts = good();
        for (expected, worsen) in steps {
            worsen(&mut facts);
            assert_eq!(reason(&facts, CLAUDE), Some(expected));
        }
    }

    #[test]
    fn each_stop_has_its_state_whatever_the_exit_code() {
        let minute = Duration::from_secs(60);
        for (cause, expected, state) in [
            (StopCause::Cancelled, Reason::Cancelled, SlotState::Cancelled),
            (StopCause::Budget, Reason::Budget, SlotState::Cancelled),
            (StopCause::Timeout(minute), Reason::Timeout, SlotState::Timeout),
            (StopCause::Idle(minute), Reason::IdleTimeout, SlotState::Timeout),
            (StopCause::Deadline, Reason::Timeout, SlotState::Timeout),
        ] {
            // 0: some agents end well on SIGINT or SIGTERM, which does not make half an answer a whole one.
            for exit in [Exit::Code(143), Exit::Code(0), Exit::Signal(9)] {
                let facts = AttemptFacts { stopped: stopped(cause, false), exit, ..good() };
                let outcome = classify(&facts, &checks(Ending::Program));
                assert_eq!((outcome.state, outcome.reason), (state, Some(expected)));
                assert!(outcome.detail.contains("20 bytes"), "{}", outcome.detail);
            }
        }
    }

    #[test]
    fn a_complete_answer_whose_program_did_not_end_is_completed() {
        let facts = AttemptFacts { stopped: stopped(StopCause::Lingering, true), exit: Exit::Signal(9), ..good() };
        assert_eq!(reason(&facts, CLAUDE), None);
        let blank = AttemptFacts { blank: true, ..facts };
        assert_eq!(reason(&blank, CLAUDE), Some(Reason::EmptyOutput));
    }

    #[test]
    fn a_program_that_was_stopped_when_it_tried_in_vain_failed_by_its_last_error() {
        let error = Some(TypedError::new(Reason::Network, "no route (asked 3 times)"));
        let exit = Exit::Signal(15);
        let facts = AttemptFacts { stopped: stopped(StopCause::InVain, false), exit, error, stop: None, ..good() };
        assert_eq!(reason(&facts, CLAUDE), Some(Reason::Network));
    }

    #[test]
    fn a_stop_after_the_terminal_event_loses_no_answer() {
        let facts = AttemptFacts { stopped: stopped(StopCause::Cancelled, true), exit: Exit::Code(143), ..good() };
        assert_eq!(reason(&facts, CLAUDE), None);
        let failed = AttemptFacts { error: Some(TypedError::new(Reason::RateLimited, "")), ..facts };
        assert_eq!(reason(&failed, CLAUDE), Some(Reason::RateLimited));
    }

    #[test]
    fn an_exit_code_that_stands_for_a_status_is_read() {
        let gemini = Ending::Event(OutputFormat::GeminiJson);
        for (code, expected) in [
            (145, Reason::Auth),
            (173, Reason::RateLimited),
            (244, Reason::ApiError),
            (41, Reason::Auth),
            (1, Reason::NonzeroExit),
        ] {
            assert_eq!(reason(&AttemptFacts { exit: Exit::Code(code), ..good() }, gemini), Some(expected));
            assert_eq!(reason(&AttemptFacts { exit: Exit::Code(code), ..good() }, CLAUDE), Some(Reason::NonzeroExit));
        }
        assert_eq!(reason(&AttemptFacts { exit: Exit::Signal(11), ..good() }, gemini), Some(Reason::NonzeroExit));
    }

    #[test]
    fn a_missing_end_is_named_by_what_was_expected() {
        let facts = AttemptFacts { stop: None, ..good() };
        assert_eq!(reason(&facts, CLAUDE), Some(Reason::Unterminated));
        assert_eq!(reason(&facts, Ending::Wire), Some(Reason::Truncated));
        assert_eq!(reason(&facts, Ending::Program), None, "the program's own end is all that is expected");
    }

    #[test]
    fn a_cut_answer_counts_only_where_that_is_accepted_and_says_so() {
        let facts = AttemptFacts { stop: Some(StopReason::Length), ..good() };
        let refused = classify(&facts, &checks(CLAUDE));
        assert_eq!((refused.reason, refused.truncated), (Some(Reason::Truncated), true));
        let lenient = Checks { accept_truncated: true, ..checks(CLAUDE) };
        let accepted = classify(&facts, &lenient);
        assert_eq!((accepted.state, accepted.reason, accepted.truncated), (SlotState::Completed, None, true));
        let short = AttemptFacts { bytes: 1, ..facts };
        assert_eq!(classify(&short, &lenient).reason, Some(Reason::TooShort));
    }

    #[test]
    fn a_refusal_is_empty_whatever_its_text() {
        let facts = AttemptFacts { stop: Some(StopReason::Refused), ..good() };
        assert_eq!(reason(&facts, CLAUDE), Some(Reason::Refused));
    }

    #[test]
    fn no_text_names_the_reasoning_that_it_was_spent_on() {
        let usage = Some(Usage { reasoning_tokens: Some(812), ..Usage::default() });
        let outcome = classify(&AttemptFacts { bytes: 0, usage, ..good() }, &checks(CLAUDE));
        assert_eq!(outcome.reason, Some(Reason::EmptyOutput));
        assert_eq!(outcome.detail, "no text; 812 tokens were spent on reasoning");
        let lone_newline = AttemptFacts { bytes: 1, blank: true, ..good() };
        assert_eq!(classify(&lone_newline, &checks(Ending::Program)).detail, "1 byte, all blank");
    }

    #[test]
    fn size_and_pattern_are_blamed_separately() {
        let outcome = classify(&AttemptFacts { bytes: 9, ..good() }, &checks(CLAUDE));
        assert_eq!(outcome.detail, "9 bytes, at least 10 are asked for");
        let outcome = classify(&AttemptFacts { pattern_matches: Some(false), ..good() }, &checks(CLAUDE));
        assert_eq!(outcome.detail, "nothing in 20 bytes matches `VOTE`");
        let no_checks = Checks { min_bytes: None, pattern: None, ..checks(CLAUDE) };
        let tiny = AttemptFacts { bytes: 1, pattern_matches: None, ..good() };
        assert_eq!(classify(&tiny, &no_checks).reason, None, "a short answer is valid unless a size is asked for");
    }
}
