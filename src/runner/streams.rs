//! The drivers that read a stream without a program: a model API and a recording.

use std::path::Path;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::attempt::Attempt;
use super::classify::Stopped;
use super::drive::{Driven, Halt, failed};
use super::job::Purpose;
use super::sink::AttemptSink;
use super::turn::Asked;
use crate::capture::Decoder;
use crate::config::{OutputFormat, Provider};
use crate::session::slot::{Output as _, Reason, TypedError};
use crate::slots::http;
use crate::slots::replay::{self, ReplayError};

pub(super) async fn drive_http(
    attempt: &Attempt,
    asked: Asked<'_>,
    provider: &Provider,
    key: Option<&str>,
    model: &str,
    sink: &mut AttemptSink,
    mut halted: watch::Receiver<Option<Halt>>,
) -> Driven {
    let Some(client) = &attempt.shared.http else {
        return failed(Reason::Network, "no HTTP client was prepared");
    };
    let prompt = match fs_err::read_to_string(asked.prompt) {
        Ok(prompt) => prompt,
        Err(error) => return Driven { io_error: Some(error), ..Driven::default() },
    };
    let schema = match &attempt.job.purpose {
        Purpose::Ballot { schema } => Some(http::JsonSchema { name: "ballot".to_owned(), value: schema.clone() }),
        Purpose::Review { schema } => Some(http::JsonSchema { name: "findings".to_owned(), value: schema.clone() }),
        Purpose::Answer | Purpose::Fix { .. } => None,
    };
    let request = http::Request {
        provider,
        key,
        model,
        settings: &attempt.job.model.settings,
        history: asked.said.map_or(&[], |said| &said.exchanges),
        prompt: &prompt,
        schema: schema.as_ref(),
        retries: attempt.shared.limits.retries,
    };
    let stop = CancellationToken::new();
    let asking = client.ask(&request, sink, &stop);
    let result = until_halted(asking, &mut halted, &stop).await;
    let halt = *halted.borrow();
    let cancelled = stop.is_cancelled();
    match result {
        Ok(mut end) => {
            // An answer that was complete before the stop arrived stays complete.
            let stopped = halt.filter(|_| cancelled && end.error.is_some());
            if stopped.is_some() {
                end.error = None;
            }
            let stopped = stopped.map(|halt| Stopped { cause: halt.cause, after_answer: false });
            Driven { stopped, end, ..Driven::default() }
        }
        Err(error) => Driven { io_error: Some(error), ..Driven::default() },
    }
}

pub(super) async fn drive_replay(
    file: &Path,
    output: OutputFormat,
    pace: Option<u64>,
    sink: &mut AttemptSink,
    mut halted: watch::Receiver<Option<Halt>>,
) -> Driven {
    let stop = CancellationToken::new();
    let mut decoder = Decoder::new(output);
    let played = {
        let playing = replay::play(file, pace, &stop, |chunk: &[u8]| {
            sink.received(chunk.len());
            sink.printed(chunk);
            decoder.push(chunk, sink)
        });
        until_halted(playing, &mut halted, &stop).await
    };
    let halt = *halted.borrow();
    let after_answer = decoder.answer_complete();
    let stopped = halt.filter(|_| stop.is_cancelled()).map(|halt| Stopped { cause: halt.cause, after_answer });
    let failed = match played {
        Ok(_) => None,
        Err(ReplayError::Write(error)) => return Driven { stopped, io_error: Some(error), ..Driven::default() },
        Err(error @ ReplayError::Read { .. }) => Some(TypedError::new(Reason::IoError, error.to_string())),
    };
    match decoder.finish(sink) {
        Ok(mut end) => {
            end.error = failed.or(end.error);
            Driven { stopped, end, ..Driven::default() }
        }
        Err(error) => Driven { stopped, io_error: Some(error), ..Driven::default() },
    }
}

/// Runs `work` and cancels `stop` when a halt comes; the work itself then ends.
async fn until_halted<T>(
    work: impl Future<Output = T>,
    halted: &mut watch::Receiver<Option<Halt>>,
    stop: &CancellationToken,
) -> T {
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            changed = halted.changed() => match changed {
                Ok(()) if halted.borrow().is_some() => stop.cancel(),
                Ok(()) => {}
                Err(_) => return work.await,
            }
        }
    }
}
