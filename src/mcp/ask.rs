//! The modes that ask models: each starts a process, and answers when its session is there or when it has ended.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use serde::Serialize;
use serde_json::{Value, json};

use super::arguments::{Arguments, Mode};
use super::blocking::blocking;
use super::card::{Card, progress_line};
use super::child::{Children, End, News, Started, Tie, option, word};
use super::place::Place;
use super::reply::{object, object_and_text};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::ids::SlotId;
use crate::report::{verdict_text, without_controls};
use crate::session::{Layout, View, is_temporary};

/// How long a call that waits is silent at most.
const SILENCE: Duration = Duration::from_secs(5);

/// What is said of a session that could not be made where it should be.
const TEMPORARY: &str = "the session is in a temporary folder; move the folder to keep it";

/// What `run` and `resume` answer.
#[derive(Debug, Serialize)]
struct Begun {
    session: String,
    path: String,
    slots: Vec<SlotId>,
    /// Whether it goes on when the server ends.
    detached: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    /// The calls that make sense now.
    next: Vec<Value>,
}

/// What a mode that waits answers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Ended {
    /// What the exit code of the command means.
    result: &'static str,
    exit_code: i32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    said: Vec<String>,
    #[serde(flatten)]
    card: Card,
}

/// Asks models as `arguments` say.
pub(super) async fn ask(
    place: &Place,
    children: &Children,
    arguments: &Arguments,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult> {
    let mode = arguments.mode;
    let session = match mode {
        Mode::Judge | Mode::Resume => Some(named_session(place, arguments)?),
        _ => None,
    };
    let (words, input) = command(place, arguments, session.as_ref())?;
    let tie = if arguments.detach == Some(true) { Tie::Detached } else { Tie::Attached };
    let mut started = children.start(place, words, input, tie)?;
    let mut progress = Progress::new(context);
    match mode {
        Mode::Run | Mode::Resume => begun(place, &mut started, session, tie, context, &mut progress).await,
        _ => {
            let end = wait(&mut started, children, session.clone(), tie, context, &mut progress).await?;
            let folder = session.or_else(|| started.news().session.map(Layout::new));
            ended(place, folder, &end)
        }
    }
}

/// The session that must be named: what acts on one takes none by default.
fn named_session(place: &Place, arguments: &Arguments) -> Result<Layout> {
    let path = arguments.path.as_deref().ok_or_else(|| {
        Error::usage(format!("`{}` needs `path`, the session", arguments.mode.as_str()))
            .hint("`{\"mode\": \"list\"}` lists them; `latest` is the newest")
    })?;
    place.session(path)
}

/// The command line of a call, and what it reads.
fn command<'a>(
    place: &Place,
    arguments: &'a Arguments,
    session: Option<&Layout>,
) -> Result<(Vec<OsString>, Option<&'a str>)> {
    let mut words = vec![OsString::from(arguments.mode.as_str())];
    let mut input = None;
    let mut add = |name: &str, value: Option<String>| words.extend(value.map(|value| option(name, value)));
    for name in arguments.models.iter().flatten() {
        add("models", Some(name.clone()));
    }
    for name in arguments.judges.iter().flatten() {
        add("judges", Some(name.clone()));
    }
    add("self-vote", arguments.self_vote.map(|rule| rule.as_str().to_owned()));
    add("threshold", arguments.threshold.map(|bar| bar.to_string()));
    add("quorum", arguments.quorum.map(|quorum| quorum.to_string()));
    add("require-pattern", arguments.require_pattern.clone());
    add("min-bytes", arguments.min_output_bytes.map(|bytes| bytes.to_string()));
    add("name", arguments.name.clone());
    add("timeout", arguments.timeout.map(|limit| limit.to_string()));
    if let Some(folder) = &arguments.workspace {
        words.push(option("workspace", place.folder(folder, "workspace")?));
    }
    if arguments.failed == Some(true) {
        words.push("--failed".into());
    }
    match session {
        Some(layout) => words.push(word(layout.root())),
        None => {
            if let Some(folder) = &arguments.path {
                words.push(option("session-path", place.folder(folder, "path")?));
            }
            match (&arguments.input, &arguments.input_file) {
                (Some(text), None) => {
                    words.push(option("input", "-"));
                    input = Some(checked(text)?);
                }
                (None, Some(file)) => words.push(option("input", place.file(file, "input_file")?)),
                (given, _) => {
                    let what = if given.is_some() { "both `input` and `input_file` were" } else { "no input was" };
                    return Err(Error::usage(format!("{what} given"))
                        .hint("give `input`, the text, or `input_file`, a path below the working directory"));
                }
            }
        }
    }
    Ok((words, input))
}

/// A text that can be sent.
fn checked(text: &str) -> Result<&str> {
    if let Some(offset) = memchr::memchr(0, text.as_bytes()) {
        return Err(Error::usage(format!("`input` has a NUL at byte {offset}")).hint("only text can be sent"));
    }
    if text.trim().is_empty() {
        return Err(Error::usage("`input` is empty").hint("write what every model is asked"));
    }
    Ok(text)
}

/// Answers as soon as the session is there.
async fn begun(
    place: &Place,
    started: &mut Started,
    session: Option<Layout>,
    tie: Tie,
    context: &RequestContext<RoleServer>,
    progress: &mut Progress<'_>,
) -> Result<CallToolResult> {
    loop {
        let news = started.news();
        let layout = session.clone().or_else(|| news.session.clone().map(Layout::new));
        if let Some(end) = &news.end {
            return ended(place, layout, end);
        }
        if let Some(layout) = layout.filter(|_| news.events > 0)
            && let Ok(view) = View::read(layout.clone())
        {
            let reference = place.reference(&layout);
            return object(&Begun {
                session: view.meta.session_id.clone(),
                path: layout.root().display().to_string(),
                slots: view.status.models.keys().copied().collect(),
                detached: tie == Tie::Detached,
                note: is_temporary(layout.root()).then_some(TEMPORARY),
                next: vec![
                    json!({"mode": "status", "path": reference}),
                    json!({"mode": "cancel", "path": reference}),
                    json!({"mode": "judge", "path": reference}),
                ],
            });
        }
        // A model may have to be set up first, which can take its time.
        progress.tell(None).await;
        tokio::select! {
            more = started.more() => if !more { return Err(lost()) },
            () = tokio::time::sleep(SILENCE) => {}
            () = context.ct.cancelled() => {
                if tie == Tie::Attached {
                    started.stop();
                }
                return Err(Error::usage("the call was cancelled"));
            }
        }
    }
}

/// Waits until a process has ended, and tells meanwhile how far it is.
async fn wait(
    started: &mut Started,
    children: &Children,
    session: Option<Layout>,
    tie: Tie,
    context: &RequestContext<RoleServer>,
    progress: &mut Progress<'_>,
) -> Result<End> {
    let mut cancelled = false;
    loop {
        let News { session: found, end, .. } = started.news();
        if let Some(end) = end {
            return Ok(end);
        }
        let layout = session.clone().or_else(|| found.map(Layout::new));
        progress.tell(layout).await;
        tokio::select! {
            more = started.more() => if !more { return Err(lost()) },
            () = tokio::time::sleep(SILENCE) => {}
            () = context.ct.cancelled(), if !cancelled => match tie {
                // Its end is waited for, so that it is known that nothing of it is left.
                Tie::Attached => {
                    cancelled = true;
                    started.stop();
                }
                Tie::Detached => return Err(Error::usage("the call was cancelled; what it started goes on")),
            },
            () = children.gone().cancelled(), if tie == Tie::Detached => {
                return Err(Error::usage("the server ends; what the call started goes on"));
            }
        }
    }
}

fn lost() -> Error {
    Error::usage("this server ends, and the process that it started goes on without it")
}

/// What a process came to.
fn ended(place: &Place, session: Option<Layout>, end: &End) -> Result<CallToolResult> {
    let said = said(&end.said);
    let Some(result) = meaning(end.code) else { return Err(failed(end.code, &said)) };
    let Some(layout) = session else { return Err(failed(end.code, &said)) };
    let view = View::read(layout.clone())?;
    let reference = place.reference(&layout);
    let card = Card::new(&view, &reference, None, Timestamp::now());
    let ended = Ended { result, exit_code: end.code, said, card };
    match verdict_text(&view)? {
        Some(text) => object_and_text(&ended, &without_controls(&text)),
        None => object(&ended),
    }
}

/// What an exit code that is no error of the call means.
fn meaning(code: i32) -> Option<&'static str> {
    let is = |known: ExitCode| code == i32::from(known.code());
    if is(ExitCode::DONE) {
        Some("done")
    } else if is(ExitCode::BAR_NOT_MET) {
        Some("rejected")
    } else if is(ExitCode::NO_DECISION) {
        Some("no decision")
    } else if is(ExitCode::NOTHING_USABLE) {
        Some("nothing usable")
    } else if is(ExitCode::WAITING) {
        Some("waiting for a decision of a person")
    } else {
        (code > 128).then_some("stopped; `resume` goes on")
    }
}

/// What a process said on standard error, line by line, without its own marks.
fn said(text: &str) -> Vec<String> {
    let plain = without_controls(text);
    plain.lines().map(|line| line.strip_prefix("error: ").unwrap_or(line).trim().to_owned()).collect()
}

fn failed(code: i32, said: &[String]) -> Error {
    let kind = match code {
        6 => ErrorKind::Integrity,
        2 => ErrorKind::Usage,
        _ => ErrorKind::Internal,
    };
    match said {
        [] => Error::new(kind, format!("`team` ended with {code} and said nothing")),
        lines => Error::new(kind, lines.join("\n")),
    }
}

/// Tells the client that waits how far it is, where it wants to know.
struct Progress<'a> {
    context: &'a RequestContext<RoleServer>,
    token: Option<ProgressToken>,
    began: Instant,
    last: f64,
    told: Option<(String, Instant)>,
}

impl<'a> Progress<'a> {
    fn new(context: &'a RequestContext<RoleServer>) -> Self {
        Self { context, token: context.meta.get_progress_token(), began: Instant::now(), last: 0.0, told: None }
    }

    /// Tells where the session at `layout` is. The number is seconds: it grows with every notification, as it must.
    async fn tell(&mut self, layout: Option<Layout>) {
        let Some(token) = self.token.clone() else { return };
        let line = match layout {
            Some(layout) => {
                let line = blocking(move || Ok(progress_line(&View::read(layout)?))).await;
                line.unwrap_or_else(|_| "at work".to_owned())
            }
            None => "starting".to_owned(),
        };
        // Many events change nothing that is told here.
        if self.told.as_ref().is_some_and(|(told, at)| *told == line && at.elapsed() < SILENCE) {
            return;
        }
        self.told = Some((line.clone(), Instant::now()));
        let seconds = self.began.elapsed().as_secs_f64();
        self.last = if seconds > self.last { seconds } else { self.last + 0.001 };
        let told = ProgressNotificationParam::new(token, self.last).with_message(line);
        // Who does not listen any more is noticed elsewhere.
        self.context.peer.notify_progress(told).await.ok();
    }
}
