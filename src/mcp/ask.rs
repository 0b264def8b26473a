//! The modes of the tool `team` that ask models.

use std::ffi::OsString;

use rmcp::RoleServer;
use rmcp::model::CallToolResult;
use rmcp::service::RequestContext;

use super::arguments::{Arguments, Mode};
use super::child::{Children, Tie, option, word};
use super::job::{Answer, Job};
use super::place::Place;
use crate::error::{Error, Result};
use crate::session::Layout;

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
    let answer = match mode {
        Mode::Run | Mode::Resume => Answer::AtOnce,
        _ => Answer::AtItsEnd,
    };
    Job { words, input, session, tie: Tie::of(arguments.detach), answer }.carry_out(place, children, context).await
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
                    input = Some(checked(text, "input", "write what every model is asked")?);
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
pub(super) fn checked<'t>(text: &'t str, argument: &str, otherwise: &str) -> Result<&'t str> {
    if let Some(offset) = memchr::memchr(0, text.as_bytes()) {
        return Err(Error::usage(format!("`{argument}` has a NUL at byte {offset}")).hint("only text can be sent"));
    }
    if text.trim().is_empty() {
        return Err(Error::usage(format!("`{argument}` is empty")).hint(otherwise));
    }
    Ok(text)
}
