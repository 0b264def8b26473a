//! The one seam between a slot and what answers it: a process, a model API, a recording.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::attempt::Attempt;
use super::classify::{StopCause, Stopped};
use super::job::Purpose;
use super::private::PrivateFolder;
use super::process::{self, ProcessEnd, ProcessSink, ProcessSpec};
use super::sink::AttemptSink;
use super::workspace::{Placed, Workspace};
use crate::capture::Decoder;
use crate::config::{OutputFormat, Provider, Target};
use crate::isolation::Mechanism;
use crate::session::slot::{Output, Reason, StreamEnd, TypedError};
use crate::slots::agents;
use crate::slots::http;
use crate::slots::replay::{self, ReplayError};

/// A driver is told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Halt {
    /// Why.
    pub(crate) cause: StopCause,
    /// Without grace.
    pub(crate) kill: bool,
}

/// What a driver came back with.
#[derive(Debug, Default)]
pub(crate) struct Driven {
    /// Why the program could not be started.
    pub(crate) spawn_error: Option<String>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// The stop that ended it; `None` when it ended by itself.
    pub(crate) stopped: Option<Stopped>,
    /// What the stream said.
    pub(crate) end: StreamEnd,
    /// What of the read-only workspace was changed meanwhile.
    pub(crate) workspace_changed: Option<String>,
    /// A file of the slot refused to be written.
    pub(crate) io_error: Option<io::Error>,
}

/// Drives one attempt to its end.
pub(crate) async fn drive(attempt: &Attempt, sink: &mut AttemptSink, halted: watch::Receiver<Option<Halt>>) -> Driven {
    match &attempt.job.model.target {
        Target::Process { output, .. } => drive_process(attempt, *output, sink, halted).await,
        Target::Http { provider, model } => {
            let key = provider.api_key_env.as_deref().and_then(|name| attempt.shared.environment.text(name));
            if let (Some(name), None | Some("")) = (&provider.api_key_env, key) {
                // Asking without the key would only be refused, or worse, retried.
                return failed(Reason::Auth, &format!("the variable `{name}` is not set"));
            }
            drive_http(attempt, provider, key, model, sink, halted).await
        }
        Target::Local { model } => match &attempt.shared.local {
            Some((provider, key)) => drive_http(attempt, provider, Some(key), model, sink, halted).await,
            None => failed(Reason::Network, "the local model's server is not running"),
        },
        Target::Replay { file, output, pace } => drive_replay(file, *output, *pace, sink, halted).await,
    }
}

fn failed(reason: Reason, detail: &str) -> Driven {
    Driven {
        end: StreamEnd { error: Some(TypedError::new(reason, detail)), ..StreamEnd::default() },
        ..Driven::default()
    }
}

async fn drive_process(
    attempt: &Attempt,
    output: OutputFormat,
    sink: &mut AttemptSink,
    mut halted: watch::Receiver<Option<Halt>>,
) -> Driven {
    let shared = &attempt.shared;
    let job = &attempt.job;
    let (directory, purpose) = match &job.purpose {
        Purpose::Fix { folder } => (folder.clone(), agents::Purpose::Fix),
        Purpose::Ballot { .. } => (attempt.layout.work_of(job.id), agents::Purpose::Judge),
        Purpose::Answer | Purpose::Review { .. } => (attempt.layout.work_of(job.id), agents::Purpose::Answer),
    };
    let Some(surroundings) = &shared.surroundings else {
        return Driven { spawn_error: Some("nothing was prepared to hold a process".to_owned()), ..Driven::default() };
    };
    let no_folder = |error: io::Error| {
        let why = format!("its private folder could not be made: {error}");
        Driven { spawn_error: Some(why), ..Driven::default() }
    };
    let mut private = surroundings.private_folder();
    let call = agents::Call {
        purpose,
        prompt_file: &job.prompt,
        work_dir: &directory,
        private_dir: private.program(),
        retries: shared.limits.retries,
        nested_sandbox: match shared.mechanism {
            Mechanism::Landlock => agents::NestedSandbox::Fails,
            Mechanism::Namespaces { .. } | Mechanism::TreeWalk => agents::NestedSandbox::Works,
        },
        environment: &shared.environment,
    };
    let mut plan = match agents::plan(&job.model, &call) {
        Ok(plan) => plan,
        Err(error) => return Driven { spawn_error: Some(error.to_string()), ..Driven::default() },
    };
    if let Err(error) = private.fill(&plan.private) {
        return no_folder(error);
    }
    let mut placed = None;
    if let Some(workspace) = &shared.workspace {
        let mechanism = surroundings.mechanism(shared.mechanism, &shared.session, &plan);
        let ready;
        (private, ready) = place(workspace, mechanism, private).await;
        match ready {
            Ok(ready) => placed = Some(ready),
            Err(unusable) => {
                remove(private).await;
                return unusable;
            }
        }
    }
    let place = placed.as_ref().map(|placed| placed.directory.as_path());
    let session = &shared.session;
    let enclosed =
        surroundings.enclose(shared.mechanism, &mut private, session, &directory, &job.prompt, place, &mut plan);
    let enclosed = match enclosed {
        Ok(enclosed) => enclosed,
        Err(error) => return no_folder(error),
    };
    let directory = place.map_or(directory, Path::to_owned);
    let spec = ProcessSpec {
        environment: plan.env,
        input: match plan.stdin {
            agents::Stdin::PromptFile => Some(job.prompt.clone()),
            agents::Stdin::Empty => None,
        },
        enclosure: enclosed.enclosure,
        descriptor_limit: shared.descriptor_limit,
        supervisor: Some(shared.supervisor.clone()),
        ..ProcessSpec::new(plan.argv, directory, enclosed.mechanism)
    };
    let (stop, stopped) = watch::channel(None);
    let control = process::Control::new(stopped, attempt.pause.clone());
    let mut stream = ProcessStream { decoder: Decoder::new(output).bounded(plan.retries), sink };
    let end = {
        let running = process::run(&spec, &mut stream, control);
        tokio::pin!(running);
        loop {
            tokio::select! {
                end = &mut running => break end,
                changed = halted.changed() => match changed {
                    Ok(()) => if let Some(halt) = *halted.borrow_and_update() {
                        stop.send_replace(Some(if halt.kill { process::Stop::Kill } else { process::Stop::Term }));
                    },
                    Err(_) => break running.await,
                }
            }
        }
    };
    let halt = *halted.borrow();
    let mut workspace_changed = None;
    // What was stopped is not counted anyway.
    if let (Some(workspace), Some(placed), None) = (&shared.workspace, placed, halt) {
        let workspace = Arc::clone(workspace);
        let looked = tokio::task::spawn_blocking(move || workspace.changed(&placed)).await;
        workspace_changed = looked.unwrap_or_else(|error| Some(format!("it was not compared: {error}")));
    }
    remove(private).await;
    let ProcessStream { decoder, sink } = stream;
    Driven { workspace_changed, ..finish_process(end, decoder, sink, halt) }
}

/// Makes the workspace ready, and looks that it is what was recorded; else says how the slot ends.
async fn place(
    workspace: &Arc<Workspace>,
    mechanism: Mechanism,
    mut private: PrivateFolder,
) -> (PrivateFolder, Result<Placed, Driven>) {
    let workspace = Arc::clone(workspace);
    // Off the workers: it is read as a whole.
    let task = move || {
        let placed = workspace.place(mechanism, &mut private);
        let changed = placed.as_ref().ok().and_then(|placed| workspace.changed(placed));
        (private, placed, changed)
    };
    match tokio::task::spawn_blocking(task).await {
        Ok((private, Ok(placed), None)) => (private, Ok(placed)),
        Ok((private, Ok(_), Some(changed))) => {
            let detail = format!("before the program was started: {changed}");
            (private, Err(failed(Reason::WorkspaceChanged, &detail)))
        }
        Ok((private, Err(error), _)) => {
            let why = format!("the workspace could not be made ready: {error}");
            (private, Err(Driven { spawn_error: Some(why), ..Driven::default() }))
        }
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// Off the workers: there is no telling how much an agent left there.
async fn remove(private: PrivateFolder) {
    tokio::task::spawn_blocking(move || private.remove()).await.ok();
}

fn finish_process(end: ProcessEnd, decoder: Decoder, sink: &mut AttemptSink, halt: Option<Halt>) -> Driven {
    let waiting_for = decoder.waiting_for().map(str::to_owned);
    let after_answer = decoder.answer_complete();
    let ended_by_us = if decoder.gave_up() { StopCause::InVain } else { StopCause::Lingering };
    let (stream, flushed) = match decoder.finish(sink) {
        Ok(stream) => (stream, None),
        Err(error) => (StreamEnd::default(), Some(error)),
    };
    let stopped = match (halt, end.lingered) {
        (_, true) => Some(Stopped { cause: ended_by_us, after_answer }),
        (Some(halt), false) if end.stopped.is_some() => Some(Stopped { cause: halt.cause, after_answer }),
        _ => None,
    };
    let mut driven = Driven {
        spawn_error: end.spawn_error().map(|error| with_causes(error)),
        exit_code: end.exit_code(),
        signal: end.signal(),
        stopped,
        end: stream,
        workspace_changed: None,
        io_error: end.sink_error.or(flushed),
    };
    if matches!(end.outcome, process::Outcome::Lost) {
        driven
            .end
            .error
            .get_or_insert(TypedError::new(Reason::NonzeroExit, "its supervisor was killed, and it with it"));
    }
    if let Some(question) = waiting_for {
        // Nobody is there to answer it: the question is why nothing came.
        driven.end.error.get_or_insert(TypedError::new(Reason::Blocked, question));
    }
    driven
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

struct ProcessStream<'a> {
    decoder: Decoder,
    sink: &'a mut AttemptSink,
}

impl ProcessSink for ProcessStream<'_> {
    fn stdout(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sink.received(bytes.len());
        self.sink.printed(bytes);
        self.decoder.push(bytes, self.sink)
    }

    fn stderr(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sink.received(bytes.len());
        self.sink.log.push(bytes);
        self.decoder.push_stderr(bytes, self.sink);
        Ok(())
    }

    fn answer_complete(&self) -> bool {
        self.decoder.answer_complete()
    }

    fn in_vain(&self) -> bool {
        self.decoder.gave_up()
    }
}

async fn drive_http(
    attempt: &Attempt,
    provider: &Provider,
    key: Option<&str>,
    model: &str,
    sink: &mut AttemptSink,
    mut halted: watch::Receiver<Option<Halt>>,
) -> Driven {
    let Some(client) = &attempt.shared.http else {
        return failed(Reason::Network, "no HTTP client was prepared");
    };
    let prompt = match fs_err::read_to_string(&attempt.job.prompt) {
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

async fn drive_replay(
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
