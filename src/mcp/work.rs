//! The tools that review, repair, and take a person's decision.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rmcp::RoleServer;
use rmcp::model::{CallToolResult, JsonObject};
use rmcp::service::RequestContext;

use super::ask::checked;
use super::child::{Children, Tie, option, word};
use super::job::{Answer, Job};
use super::place::Place;
use super::work_arguments::{RespondArguments, Work, WorkArguments};
use crate::error::Result;

/// Holds a review, or a review and its repairs.
pub(super) async fn work(
    work: Work,
    given: JsonObject,
    place: &Place,
    children: &Children,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult> {
    let arguments = WorkArguments::read(work, given)?;
    let (words, input) = command(place, work, &arguments)?;
    let job = Job { words, input, session: None, tie: Tie::of(arguments.detach), answer: answer(arguments.wait) };
    job.carry_out(place, children, context).await
}

/// Takes a person's decision.
pub(super) async fn respond(
    given: JsonObject,
    place: &Place,
    children: &Children,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult> {
    let arguments = RespondArguments::read(given)?;
    let session = place.session(&arguments.path)?;
    let mut words = vec![OsString::from("respond"), word(session.root())];
    let mut add = |name: &str, value: String| words.push(option(name, value));
    for (name, ids) in [("fix", &arguments.fix), ("decline", &arguments.decline)] {
        ids.iter().flatten().for_each(|id| add(name, id.to_string()));
    }
    for text in arguments.add.iter().flatten() {
        add("add", checked(text, "add", "write what is wrong")?.to_owned());
    }
    if let Some(note) = &arguments.note {
        add("note", checked(note, "note", "leave it out, or say something")?.to_owned());
    }
    if let Some(limit) = arguments.max_cost {
        add("max-cost", limit.to_string());
    }
    if let Some(limit) = arguments.timeout {
        add("timeout", limit.to_string());
    }
    words.extend(arguments.end.map(|end| OsString::from(end.option())));
    let job = Job {
        words,
        input: None,
        session: Some(session),
        tie: Tie::of(arguments.detach),
        answer: answer(arguments.wait),
    };
    job.carry_out(place, children, context).await
}

const fn answer(wait: Option<bool>) -> Answer {
    match wait {
        Some(true) => Answer::AtItsEnd,
        Some(false) | None => Answer::AtOnce,
    }
}

/// The command line of a call, and what it reads.
fn command<'a>(place: &Place, work: Work, arguments: &'a WorkArguments) -> Result<(Vec<OsString>, Option<&'a str>)> {
    let mut words = vec![OsString::from(work.as_str())];
    let mut input = None;
    let mut add = |name: &str, value: Option<String>| words.extend(value.map(|value| option(name, value)));
    for (name, names) in [("models", &arguments.models), ("judges", &arguments.judges), ("only", &arguments.only)] {
        names.iter().flatten().for_each(|value| add(name, Some(value.clone())));
    }
    add("diff", arguments.diff.clone());
    add("base", arguments.base.clone());
    add("fixer", arguments.fixer.clone());
    add("severity", arguments.severity.map(|severity| severity.to_string()));
    add("max-rounds", arguments.max_rounds.map(|rounds| rounds.to_string()));
    add("fail-on", arguments.fail_on.map(|bar| bar.to_string()));
    add("quorum", arguments.quorum.map(|quorum| quorum.to_string()));
    add("max-cost", arguments.max_cost.map(|limit| limit.to_string()));
    add("timeout", arguments.timeout.map(|limit| limit.to_string()));
    add("name", arguments.name.clone());
    for (name, wanted) in [("staged", arguments.staged), ("worktree", arguments.worktree), ("yes", arguments.yes)] {
        if wanted == Some(true) {
            words.push(format!("--{name}").into());
        }
    }
    if let Some(plan) = &arguments.plan {
        words.push(option("plan", below(place, place.file(plan, "plan")?)));
    }
    if let Some(text) = &arguments.intent {
        // Not as a word: one that is the name of a file would be that file, wherever it is.
        words.push(option("intent", "-"));
        input = Some(checked(text, "intent", "say what it is meant to do, or leave it out")?);
    }
    if let Some(file) = &arguments.intent_file {
        words.push(option("intent", place.file(file, "intent_file")?));
    }
    if let Some(folder) = &arguments.path {
        words.push(option("session-path", place.folder(folder, "path")?));
    }
    if let Some(paths) = &arguments.paths {
        words.push("--".into());
        for path in paths {
            words.push(below(place, place.any(path, "paths")?).into_os_string());
        }
    }
    Ok((words, input))
}

/// A path in the working directory, as one would write it there.
fn below(place: &Place, path: PathBuf) -> PathBuf {
    match place.cwd.canonicalize().ok().and_then(|cwd| path.strip_prefix(cwd).map(Path::to_owned).ok()) {
        Some(relative) if relative.as_os_str().is_empty() => PathBuf::from("."),
        Some(relative) => relative,
        None => path,
    }
}
