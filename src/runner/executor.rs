//! The executor of one attempt: starts the driver, keeps its limits, settles its files, says how it ended.
//!
//! It alone knows the state of its slot while that runs; the dispatcher only hears the end. Whatever happens, exactly one
//! [`Report::Ended`] is sent.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::path::Path;

use tokio::sync::watch;
use tokio::task::JoinError;

use super::attempt::{Attempt, Report, StopCause, StopOrder};
use super::classify::{self, AttemptFacts, Ending, Exit, Outcome, classify};
use super::drive::{Driven, Halt, drive};
use super::job::{Checks, SlotJob};
use super::limits::at_limit;
use super::sink::{AttemptSink, Printed, log_redact, shown};
use super::turn::Taken;
use crate::capture::{ErrorLog, Pattern, background_ceiling, logged_error, said_error, telling_line};
use crate::config::{AgentKind, Target};
use crate::fault::{self, Point};
use crate::fs;
use crate::ids::{Sha256Hash, SlotId};
use crate::money::Usd;
use crate::secrets::Scrub;
use crate::session::slot::{Reason, SlotState, TurnEnd};
use crate::session::{Layout, SlotEnd, SlotError};
use crate::slots::agents::known_program;

/// How much of each end of a slot's output an error shows.
const SNIPPET: usize = 400;

/// Starts an attempt on a worker of the runtime: processes must not be started from threads that end.
pub(crate) fn start(attempt: Attempt) {
    let slot = attempt.job.id;
    let number = attempt.number;
    let reports = attempt.reports.clone();
    tokio::spawn(async move {
        let (end, cost) = match tokio::spawn(execute(attempt)).await {
            Ok(Ok(end)) => end,
            // A bug must not leave a slot without an end.
            Ok(Err(error)) | Err(error) => {
                let error = SlotError::new(Reason::IoError, format!("internal error: {error}"));
                (SlotEnd::without_answer(number, error), None)
            }
        };
        // The dispatcher is gone only when the whole command is.
        reports.send(Report::Ended { slot, end: Box::new(end), cost }).ok();
    });
}

/// The end, and the cost that its stream reported.
async fn execute(attempt: Attempt) -> Result<(SlotEnd, Option<Usd>), JoinError> {
    let slot = attempt.job.id;
    let mut sink = match AttemptSink::open(&attempt) {
        Ok(sink) => sink,
        Err(error) => {
            let detail = shown(&attempt.shared.scrub, slot, &error.to_string());
            return Ok((SlotEnd::without_answer(attempt.number, SlotError::new(Reason::IoError, detail)), None));
        }
    };
    let (halt, halted) = watch::channel(None);
    let driven = {
        let driving = drive(&attempt, &mut sink, halted);
        tokio::select! {
            driven = driving => driven,
            never = watch_limits(&attempt, halt) => match never {},
        }
    };
    // Its syncs wait for the disk: off the workers, on which other slots are read, and beside those of other slots,
    // which the file system then takes together.
    let cost = driven.end.cost;
    Ok((tokio::task::spawn_blocking(move || settle(attempt, sink, driven)).await?, cost))
}

/// Turns orders from outside and limits that passed into halts of the driver, for as long as that works.
async fn watch_limits(attempt: &Attempt, halt: watch::Sender<Option<Halt>>) -> Infallible {
    let limits = attempt.shared.limits;
    let live = &attempt.live;
    let started = live.started();
    let mut stop = attempt.stop.clone();
    let whole = at_limit(&attempt.clock, limits.timeout, || started);
    let idle = at_limit(&attempt.clock, limits.idle_timeout, || live.last_byte());
    tokio::pin!(whole);
    tokio::pin!(idle);
    // Only the first cause counts; a later kill makes it harder.
    let set = |new: Halt| {
        halt.send_if_modified(|present| match present {
            None => {
                *present = Some(new);
                true
            }
            Some(present) if new.kill && !present.kill => {
                present.kill = true;
                true
            }
            Some(_) => false,
        });
    };
    loop {
        let limited = halt.borrow().is_some();
        tokio::select! {
            () = &mut whole, if !limited => {
                set(Halt { cause: classify::StopCause::Timeout(limits.timeout.unwrap_or_default()), kill: false });
            }
            () = &mut idle, if !limited => {
                set(Halt { cause: classify::StopCause::Idle(limits.idle_timeout.unwrap_or_default()), kill: false });
            }
            changed = stop.changed() => {
                if changed.is_err() {
                    // Nobody is left who could give orders.
                    return std::future::pending().await;
                }
                let order = *stop.borrow_and_update();
                match order {
                    StopOrder::None => {}
                    StopOrder::Stop(cause) => set(Halt { cause: cause_of(cause), kill: false }),
                    StopOrder::Kill(cause) => set(Halt { cause: cause_of(cause), kill: true }),
                }
            }
        }
    }
}

const fn cause_of(cause: StopCause) -> classify::StopCause {
    match cause {
        StopCause::Deadline => classify::StopCause::Deadline,
        StopCause::Cancelled => classify::StopCause::Cancelled,
        StopCause::Budget => classify::StopCause::Budget,
    }
}

/// Puts the files of a finished attempt in their place, and only then says what it was.
fn settle(attempt: Attempt, mut sink: AttemptSink, driven: Driven) -> SlotEnd {
    let Attempt { number, job, layout, answers, shared, .. } = attempt;
    let slot = job.id;
    sink.log.end();
    let mut facts = gather(&driven, &mut sink, &shared.checks);
    if let Target::Process { agent, command, .. } = &job.model.target
        && facts.error.is_none()
    {
        // An agent that gave up on its background tasks says so only here, and ends as if all were well.
        facts.error = background_ceiling(&sink.log.kept().end());
        let program = command.first().map_or("", String::as_str);
        let is_known = known_program(*agent, program) != AgentKind::Custom;
        if facts.error.is_none() && is_known && matches!(facts.exit, Exit::Code(code) if code != 0) {
            facts.error = said_error(&sink.log.kept().end());
        }
    }
    if let Some(error) = &facts.error
        && let Some(logged) = logged_error(error, &sink.log.kept().end())
    {
        facts.error = Some(logged);
    }
    let checks = classify::Checks {
        ending: ending_of(&job.model.target),
        min_bytes: shared.checks.min_bytes,
        pattern: shared.checks.pattern.as_ref().map(Pattern::as_str),
        accept_truncated: job.model.settings.accept_truncated,
    };
    let mut outcome = classify(&facts, &checks);
    // Before the answer has its name: whoever finds it goes on with the conversation too.
    let answer = (outcome.state == SlotState::Completed).then(|| sink.answer.sha256());
    let turn = turn_of(driven.taken, &job, &shared.scrub, answer);
    let mut complete = None;
    let mut kept = BTreeMap::new();
    if outcome.state == SlotState::Completed {
        match sink.answer.complete(&layout.response(slot), &answers) {
            Ok(facts) => complete = Some(facts),
            Err(error) => {
                let detail = format!("the answer could not be kept: {error}");
                let state = Reason::IoError.state();
                outcome = Outcome { state, reason: Some(Reason::IoError), detail, truncated: false };
            }
        }
    } else if driven.io_error.as_ref().is_some_and(is_full) {
        // The record and the answers of the others need the room more than an unfinished text does.
        drop(sink.answer);
        match fs::remove_if_exists(&layout.response_part(slot)) {
            Ok(()) => outcome.detail.push_str(" (what there was of the answer was removed to make room)"),
            Err(error) => tracing::warn!("the partial text of slot {slot} could not be removed: {error}"),
        }
    } else {
        let partial = layout.partial(slot);
        match sink.answer.set_aside(&partial) {
            Ok(facts) => kept.extend(facts.map(|facts| (relative(&partial, layout.root()), facts.sha256))),
            Err(error) => tracing::warn!("the partial text of slot {slot} could not be kept: {error}"),
        }
    }
    if (outcome.reason == Some(Reason::NonzeroExit) || outcome.reason == Some(Reason::Auth) && facts.error.is_none())
        && let Some(words) = telling_line(&sink.log.kept().end())
    {
        // A code alone helps nobody.
        let words: String = words.chars().take(SNIPPET).collect();
        outcome.detail = format!("{}: {words}", outcome.detail);
    }
    let error = match outcome.reason {
        Some(reason) => Some(Failure { slot, reason, detail: &outcome.detail, printed: &sink.printed }.tell(
            sink.log,
            &layout,
            &shared.scrub,
            &mut kept,
        )),
        None => {
            // What a slot that answered said on the side is of no use to anybody.
            if let Err(error) = sink.log.discard() {
                tracing::warn!("what slot {slot} printed on the side could not be removed: {error}");
            }
            None
        }
    };
    SlotEnd {
        attempt: number,
        state: outcome.state,
        exit_code: driven.exit_code,
        signal: driven.signal,
        output_size: complete.as_ref().map(|facts| facts.bytes),
        sha256: complete.map(|facts| facts.sha256),
        truncated: outcome.truncated,
        lingered: driven.stopped.is_some_and(|stopped| stopped.cause == classify::StopCause::Lingering),
        usage: driven.end.usage,
        sealed_usage: None,
        sealed_cost: None,
        dropped_settings: driven.end.dropped_settings,
        kept,
        turn,
        error,
    }
}

/// How a turn of a conversation was taken. Where it `completed` with this answer, what the next one needs is kept;
/// otherwise the conversation is what it was before.
fn turn_of(taken: Option<Taken>, job: &SlotJob, scrub: &Scrub, completed: Option<Sha256Hash>) -> Option<TurnEnd> {
    let (mut taken, conversation) = (taken?, job.conversation.as_ref()?);
    taken.why = taken.why.map(|why| shown(scrub, job.id, &why));
    let mut kept = None;
    if let Some(answer) = completed {
        match taken.keep(job.model.identity.clone(), answer).write(&conversation.keeps, &conversation.nonce) {
            Ok(sha256) => {
                kept = Some(sha256);
                fault::reach(Point::TurnKept);
            }
            // The answer stands; the next turn begins anew, and says why.
            Err(error) => tracing::warn!("what the next turn of slot {} needs could not be kept: {error}", job.id),
        }
    }
    Some(TurnEnd { mode: taken.mode, why: taken.why, kept })
}

/// A slot that failed, before anybody was told.
struct Failure<'a> {
    slot: SlotId,
    reason: Reason,
    detail: &'a str,
    printed: &'a Printed,
}

impl Failure<'_> {
    /// Writes the log, notes its hash in `kept`, and puts what a person needs into the record.
    fn tell(self, log: ErrorLog, layout: &Layout, scrub: &Scrub, kept: &mut BTreeMap<String, Sha256Hash>) -> SlotError {
        let Self { slot, reason, .. } = self;
        // First: what the program printed may say which model it chose.
        let stdout_snippet = self.printed.snippet(SNIPPET, &|text| scrub.text_for(Some(slot), text));
        let detail = shown(scrub, slot, self.detail);
        let stderr_snippet = log.kept().snippet(SNIPPET).map(|text| scrub.text_for(Some(slot), &text));
        let diagnosis = format!("{}: {detail}\n{}", reason.as_str(), reason.next_step());
        let log_path = layout.error_log(slot);
        let error_log_path = match log.publish(&log_path, &diagnosis, &mut log_redact(scrub, slot)) {
            Ok(sha256) => {
                let path = relative(&log_path, layout.root());
                kept.insert(path.clone(), sha256);
                Some(path)
            }
            Err(error) => {
                tracing::warn!("the log of slot {slot} could not be written: {error}");
                None
            }
        };
        SlotError { error_log_path, stdout_snippet, stderr_snippet, ..SlotError::new(reason, detail) }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Everything that is known about the attempt. The pattern is looked for on disk, so the text is flushed first.
fn gather(driven: &Driven, sink: &mut AttemptSink, checks: &Checks) -> AttemptFacts {
    let mut io_error = driven.io_error.as_ref().map(ToString::to_string);
    let mut pattern_matches = None;
    if io_error.is_none() {
        let looked = sink.answer.flush().and_then(|()| match &checks.pattern {
            Some(pattern) => pattern.matches_file(sink.answer.part()).map(Some),
            None => Ok(None),
        });
        match looked {
            Ok(found) => pattern_matches = found,
            Err(error) => io_error = Some(error.to_string()),
        }
    }
    AttemptFacts {
        spawn_error: driven.spawn_error.clone(),
        stopped: driven.stopped,
        io_error,
        error: driven.end.error.clone(),
        exit: match (driven.exit_code, driven.signal) {
            (Some(code), _) => Exit::Code(code),
            (None, Some(signal)) => Exit::Signal(signal),
            (None, None) => Exit::None,
        },
        stop: driven.end.stop,
        workspace_changed: driven.workspace_changed.clone(),
        bytes: sink.answer.bytes(),
        blank: sink.answer.is_blank(),
        pattern_matches,
        usage: driven.end.usage,
    }
}

const fn ending_of(target: &Target) -> Ending {
    match target {
        Target::Process { output, .. } | Target::Replay { output, .. } => Ending::of(*output),
        Target::Http { .. } | Target::Local { .. } => Ending::Wire,
    }
}

fn relative(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
