//! The one seam between a slot and what answers it: a process, a model API, a recording.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;

use super::attempt::Attempt;
use super::classify::{StopCause, Stopped};
use super::job::Purpose;
use super::private::PrivateFolder;
use super::process::{self, ProcessEnd, ProcessSink, ProcessSpec};
use super::sink::AttemptSink;
use super::streams::{drive_http, drive_replay};
use super::turn::{Asked, Said, Taken, Way, confirmed, id_of, not_gone_on_with};
use super::workspace::{Placed, Workspace};
use crate::capture::Decoder;
use crate::config::{OutputFormat, Target};
use crate::isolation::Mechanism;
use crate::session::slot::{Activity, Output, Reason, StreamEnd, TurnMode, TypedError};
use crate::slots::agents::{self, Files, Talk, TranscriptFiles};

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
    /// What a program left of the conversation that it was held in; absent where none was asked for.
    pub(super) transcript: Option<io::Result<Files>>,
    /// In a conversation: how the turn was taken.
    pub(super) taken: Option<Taken>,
}

/// Drives one attempt to its end. One that was to go on with a conversation, and could not, is made again in a new one.
pub(crate) async fn drive(attempt: &Attempt, sink: &mut AttemptSink, halted: watch::Receiver<Option<Halt>>) -> Driven {
    let job = &attempt.job;
    let Some(conversation) = &job.conversation else {
        return once(attempt, Asked { prompt: &job.prompt, talk: Talk::Alone, said: None }, sink, halted).await;
    };
    let mut why = None;
    match conversation.way(&job.model) {
        Way::Begin => {}
        Way::Anew(reason) => why = Some(reason),
        Way::GoOn(said, id) => {
            let talk = id.as_ref().map_or(Talk::Begins, Talk::GoesOn);
            let asked = Asked { prompt: &said.prompt, talk, said: Some(said) };
            let mut driven = once(attempt, asked, sink, halted.clone()).await;
            match not_gone_on_with(id.as_ref(), &driven, &job.model, sink.answer.bytes()) {
                None => {
                    let (mode, why) = confirmed(id.as_ref(), &driven);
                    driven.taken = Some(Taken::new(mode, why, &job.model, &mut driven));
                    return driven;
                }
                Some(reason) => {
                    let again = Activity::Retry { attempt: 1, of: 1, in_seconds: 0, why: reason.clone() };
                    sink.activity(again);
                    why = Some(reason);
                }
            }
        }
    }
    let asked = Asked { prompt: &job.prompt, talk: Talk::Begins, said: None };
    let mut driven = once(attempt, asked, sink, halted).await;
    let mode = if why.is_some() { TurnMode::Anew } else { TurnMode::Begun };
    driven.taken = Some(Taken::new(mode, why, &job.model, &mut driven));
    driven
}

/// Asks once.
async fn once(
    attempt: &Attempt,
    asked: Asked<'_>,
    sink: &mut AttemptSink,
    halted: watch::Receiver<Option<Halt>>,
) -> Driven {
    match &attempt.job.model.target {
        Target::Process { output, .. } => drive_process(attempt, asked, *output, sink, halted).await,
        Target::Http { provider, model } => {
            let key = provider.api_key_env.as_deref().and_then(|name| attempt.shared.environment.text(name));
            if let (Some(name), None | Some("")) = (&provider.api_key_env, key) {
                // Asking without the key would only be refused, or worse, retried.
                return failed(Reason::Auth, &format!("the variable `{name}` is not set"));
            }
            drive_http(attempt, asked, provider, key, model, sink, halted).await
        }
        Target::Local { model } => match &attempt.shared.local {
            Some((provider, key)) => drive_http(attempt, asked, provider, Some(key), model, sink, halted).await,
            None => failed(Reason::Network, "the local model's server is not running"),
        },
        Target::Replay { file, output, pace } => drive_replay(file, *output, *pace, sink, halted).await,
    }
}

pub(super) fn failed(reason: Reason, detail: &str) -> Driven {
    Driven {
        end: StreamEnd { error: Some(TypedError::new(reason, detail)), ..StreamEnd::default() },
        ..Driven::default()
    }
}

async fn drive_process(
    attempt: &Attempt,
    asked: Asked<'_>,
    output: OutputFormat,
    sink: &mut AttemptSink,
    mut halted: watch::Receiver<Option<Halt>>,
) -> Driven {
    let shared = &attempt.shared;
    let job = &attempt.job;
    let (directory, purpose) = match &job.purpose {
        Purpose::Fix { folder } => (folder.clone(), agents::Purpose::Fix),
        // Whoever votes on what was found in a repository may look there.
        Purpose::Ballot { .. } if shared.workspace.is_none() => {
            (attempt.layout.work_of(job.id), agents::Purpose::Judge)
        }
        Purpose::Answer | Purpose::Review { .. } | Purpose::Ballot { .. } => {
            (attempt.layout.work_of(job.id), agents::Purpose::Answer)
        }
    };
    let Some(surroundings) = &shared.surroundings else {
        return Driven { spawn_error: Some("nothing was prepared to hold a process".to_owned()), ..Driven::default() };
    };
    let no_folder = |error: io::Error| {
        let why = format!("its private folder could not be made: {error}");
        Driven { spawn_error: Some(why), ..Driven::default() }
    };
    let mut private = surroundings.private_folder();
    let runs_in = match &shared.workspace {
        Some(workspace) => workspace.directory(shared.mechanism, &private),
        None => directory.canonicalize(),
    };
    let runs_in = match runs_in {
        Ok(runs_in) => runs_in,
        Err(error) => return no_folder(error),
    };
    let call = agents::Call {
        purpose,
        talk: asked.talk,
        prompt_file: asked.prompt,
        work_dir: &runs_in,
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
        surroundings.enclose(shared.mechanism, &mut private, session, &directory, asked.prompt, place, &mut plan);
    let enclosed = match enclosed {
        Ok(enclosed) => enclosed,
        Err(error) => return no_folder(error),
    };
    let transcript =
        plan.transcript.as_ref().map(|transcript| (enclosed.place_of(transcript, &private), transcript.files));
    let directory = place.map_or(directory, Path::to_owned);
    let spec = ProcessSpec {
        environment: plan.env,
        input: match plan.stdin {
            agents::Stdin::PromptFile => Some(asked.prompt.to_owned()),
            agents::Stdin::Empty => None,
        },
        enclosure: enclosed.enclosure,
        descriptor_limit: shared.descriptor_limit,
        supervisor: Some(shared.supervisor.clone()),
        ..ProcessSpec::new(plan.argv, directory, enclosed.mechanism)
    };
    let mut decoder = Decoder::new(output).bounded(plan.retries);
    if let Some(said) = asked.said {
        decoder = decoder.after(said.kept.reported);
        if let Err(unusable) =
            take_along(said, transcript.as_ref(), plan.first, &spec, attempt, sink, &mut halted).await
        {
            remove(private).await;
            return unusable;
        }
    }
    let mut stream = ProcessStream { decoder, sink };
    let end = run(&spec, &mut stream, attempt, &mut halted).await;
    let halt = *halted.borrow();
    let mut workspace_changed = None;
    // What was stopped is not counted anyway.
    if let (Some(workspace), Some(placed), None) = (&shared.workspace, placed, halt) {
        let workspace = Arc::clone(workspace);
        let looked = tokio::task::spawn_blocking(move || workspace.changed(&placed)).await;
        workspace_changed = looked.unwrap_or_else(|error| Some(format!("it was not compared: {error}")));
    }
    let ProcessStream { decoder, sink } = stream;
    let mut driven = finish_process(end, decoder, sink, halt);
    if let (Some((folder, files)), Some(id), None) = (transcript, id_of(&job.model, &driven), halt) {
        let collected = tokio::task::spawn_blocking(move || files.collect(&folder, &id)).await;
        driven.transcript = Some(collected.unwrap_or_else(|error| Err(io::Error::other(error))));
    }
    remove(private).await;
    Driven { workspace_changed, ..driven }
}

/// Runs a program to its end, or to where it is halted.
async fn run(
    spec: &ProcessSpec,
    sink: &mut dyn ProcessSink,
    attempt: &Attempt,
    halted: &mut watch::Receiver<Option<Halt>>,
) -> ProcessEnd {
    let (stop, stopped) = watch::channel(None);
    let control = process::Control::new(stopped, attempt.pause.clone());
    let order = |halt: Option<Halt>| {
        if let Some(halt) = halt {
            stop.send_replace(Some(if halt.kill { process::Stop::Kill } else { process::Stop::Term }));
        }
    };
    // It may have come while something else ran.
    order(*halted.borrow_and_update());
    let running = process::run(spec, sink, control);
    tokio::pin!(running);
    loop {
        tokio::select! {
            end = &mut running => return end,
            changed = halted.changed() => match changed {
                Ok(()) => order(*halted.borrow_and_update()),
                Err(_) => return running.await,
            }
        }
    }
}

/// Puts a conversation where the program that runs as `spec` says looks for it; else says how the slot ends.
async fn take_along(
    said: &Said,
    transcript: Option<&(PathBuf, TranscriptFiles)>,
    first: Option<Vec<OsString>>,
    spec: &ProcessSpec,
    attempt: &Attempt,
    sink: &mut AttemptSink,
    halted: &mut watch::Receiver<Option<Halt>>,
) -> Result<(), Driven> {
    let put = match transcript {
        Some((folder, _)) => agents::restore(folder, &said.kept.files).map_err(|error| error.to_string()),
        None => Err("the program keeps its conversations elsewhere".to_owned()),
    };
    // Not of the model: nothing was asked yet.
    put.map_err(|why| failed(Reason::BadOutput, &why))?;
    let Some(first) = first else { return Ok(()) };
    let spec = ProcessSpec { argv: first, input: None, ..spec.clone() };
    let end = run(&spec, &mut Aside(sink), attempt, halted).await;
    let halt = *halted.borrow();
    if let Some(halt) = halt.filter(|_| end.stopped.is_some()) {
        let stopped = Some(Stopped { cause: halt.cause, after_answer: false });
        return Err(Driven { stopped, ..Driven::default() });
    }
    if end.exit_code() == Some(0) {
        return Ok(());
    }
    let why = end.spawn_error().map_or_else(|| "the program could not find it a place".to_owned(), |e| with_causes(e));
    Err(failed(Reason::BadOutput, &why))
}

/// What a program prints that is no answer and no part of one.
struct Aside<'a>(&'a mut AttemptSink);

impl ProcessSink for Aside<'_> {
    fn stdout(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stderr(bytes)
    }

    fn stderr(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.received(bytes.len());
        self.0.log.push(bytes);
        Ok(())
    }

    fn answer_complete(&self) -> bool {
        false
    }
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
        io_error: end.sink_error.or(flushed),
        ..Driven::default()
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
