//! A command of `team` on behalf of a call: it is answered when the session is there, or when the command has ended.

use std::ffi::OsString;

use jiff::Timestamp;
use rmcp::RoleServer;
use rmcp::model::CallToolResult;
use rmcp::service::RequestContext;
use serde::Serialize;
use serde_json::{Value, json};

use super::card::Card;
use super::child::{Children, End, News, Started, Tie};
use super::place::Place;
use super::progress::{Progress, SILENCE};
use super::reply::{object, object_and_text};
use super::tools::is_argument;
use super::warnings::Warnings;
use super::work_card::{WorkCard, calls};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::ids::SlotId;
use crate::report::{verdict_text, without_controls};
use crate::session::{Layout, Manifest, SessionKind, View, is_temporary};

/// What is said of a session that could not be made where it should be.
const TEMPORARY: &str = "the session is in a temporary folder; move the folder to keep it";

/// When a call is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// When the session is there.
    AtOnce,
    /// When the command has ended.
    AtItsEnd,
}

/// A command that is run for a call.
#[derive(Debug)]
pub(super) struct Job<'a> {
    /// Its words, without the name of the program.
    pub(super) words: Vec<OsString>,
    /// Its standard input.
    pub(super) input: Option<&'a str>,
    /// The session that it is about, where there is one already.
    pub(super) session: Option<Layout>,
    pub(super) tie: Tie,
    pub(super) answer: Answer,
}

/// A session as it stands, in the form of its kind.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum AnyCard {
    /// A panel.
    Panel(Box<Card>),
    /// A review, or a review and its repairs.
    Work(Box<WorkCard>),
}

impl AnyCard {
    /// The card of the session in `view`, which is called `reference` in further calls; with names where there are some.
    pub(super) fn new(view: &View, reference: &str, names: Option<&Manifest>) -> Result<Self> {
        Ok(if is_work(view) {
            Self::Work(Box::new(WorkCard::new(view, reference, names)?))
        } else {
            Self::Panel(Box::new(Card::new(view, reference, names, Timestamp::now())))
        })
    }
}

/// Whether a session holds panels inside.
pub(super) const fn is_work(view: &View) -> bool {
    matches!(view.meta.kind, SessionKind::Review | SessionKind::Fix)
}

/// What is answered when a session was begun.
#[derive(Debug, Serialize)]
struct Begun {
    session: String,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    slots: Option<Vec<SlotId>>,
    /// Whether it goes on when the server ends.
    detached: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    #[serde(skip_serializing_if = "Warnings::is_empty")]
    warnings: Warnings,
    /// The calls that make sense now.
    next: Vec<Value>,
}

/// What is answered when a command has ended.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Ended {
    /// What the exit code of the command means.
    result: &'static str,
    exit_code: i32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    said: Vec<String>,
    #[serde(skip_serializing_if = "Warnings::is_empty")]
    warnings: Warnings,
    #[serde(flatten)]
    card: AnyCard,
}

impl Job<'_> {
    /// Runs it.
    pub(super) async fn carry_out(
        self,
        place: &Place,
        children: &Children,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult> {
        let Self { words, input, session, tie, answer } = self;
        let mut started = children.start(place, words, input, tie)?;
        let mut progress = Progress::new(context);
        match answer {
            Answer::AtOnce => begun(place, &mut started, session, tie, context, &mut progress).await,
            Answer::AtItsEnd => {
                let end = wait(&mut started, children, session.clone(), tie, context, &mut progress).await?;
                let news = started.news();
                let folder = session.or_else(|| news.session.map(Layout::new));
                ended(place, folder, &end, news.warnings)
            }
        }
    }
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
            return ended(place, layout, end, news.warnings);
        }
        if let Some(layout) = layout.filter(|_| news.events > 0)
            && let Ok(view) = View::read(layout.clone())
        {
            let reference = place.reference(&layout);
            let (slots, next) = if is_work(&view) {
                (None, calls(&reference, &["status", "cancel"]))
            } else {
                let call = |mode: &str| json!({"mode": mode, "path": reference});
                let slots = view.status.models.keys().copied().collect();
                (Some(slots), vec![call("status"), call("cancel"), call("judge")])
            };
            return object(&Begun {
                session: view.meta.session_id.clone(),
                path: layout.root().display().to_string(),
                slots,
                detached: tie == Tie::Detached,
                note: is_temporary(layout.root()).then_some(TEMPORARY),
                warnings: news.warnings,
                next,
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
fn ended(place: &Place, session: Option<Layout>, end: &End, warnings: Warnings) -> Result<CallToolResult> {
    let mut said = said(&end.said);
    let (Some(result), Some(layout)) = (meaning(end.code), session) else {
        said.extend(warnings.lines().into_iter().map(|line| format!("warning: {line}")));
        return Err(failed(end.code, &said));
    };
    let view = View::read(layout.clone())?;
    let card = AnyCard::new(&view, &place.reference(&layout), None)?;
    let text = match &card {
        AnyCard::Panel(_) => verdict_text(&view)?,
        AnyCard::Work(work) => {
            // The sentence of the verdict is in the card, and its calls are for this client.
            said.retain(|line| work.outcome().is_none_or(|outcome| !line.contains(outcome)));
            None
        }
    };
    let ended = Ended { result, exit_code: end.code, said, warnings, card };
    match text {
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

/// What a process said on standard error, line by line, without its own marks, and in the words of a call.
fn said(text: &str) -> Vec<String> {
    let plain = in_words_of_a_call(&without_controls(text));
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

/// The text with options, where they are arguments of a call as well, named as such: `--max-rounds 1` is `max_rounds 1`.
fn in_words_of_a_call(text: &str) -> String {
    let mut parts = text.split("`--");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(part.len());
        let (option, rest) = part.split_at(end);
        let name = option.replace('-', "_");
        match name.as_str() {
            "min_bytes" => out.push_str("`min_output_bytes"),
            "session_path" => out.push_str("`path"),
            "approve" | "skip" | "abort" => out.push_str(&format!("`end` `{name}")),
            _ if is_argument(&name) => out.push_str(&format!("`{name}")),
            _ => out.push_str(&format!("`--{option}")),
        }
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_told_as_arguments_where_they_are() {
        for (said, told) in [
            ("`--only`: wrong", "`only`: wrong"),
            ("name it, or `--max-rounds 1`", "name it, or `max_rounds 1`"),
            ("`--min-bytes` and `--strict`", "`min_output_bytes` and `--strict`"),
            ("`--fix F01`, or `--approve`", "`fix F01`, or `end` `approve`"),
            ("--only without marks, `a--b`", "--only without marks, `a--b`"),
        ] {
            assert_eq!(in_words_of_a_call(said), told);
        }
    }
}
