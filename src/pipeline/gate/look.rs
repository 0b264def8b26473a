//! Looking at the change, the plan or the command.

use std::path::Path;

use super::base::{Revisions, ask_failed};
use super::command::run_command;
use super::conclude::Facts;
use super::coverage::{Limits, look_at_diff};
use super::secret_files::SecretFiles;
use super::subject::Subject;
use crate::config::{Environment, GateSettings, GateSubject};
use crate::error::{Error, ErrorKind, Result};
use crate::git::{ChangedFile, EntryKind, Git, RepoPath};
use crate::report::ci::{OmissionReason, SeenFile};
use crate::secrets::Redactor;

/// Where a gate works.
#[derive(Debug)]
pub struct Place<'a> {
    /// Asked at the root.
    pub git: &'a Git,
    /// The root of the work tree, a real path.
    pub root: &'a Path,
    /// The commits that are compared.
    pub revisions: &'a Revisions,
    /// Takes keys out of what is sent.
    pub redactor: &'a Redactor,
    /// The variables of the gate.
    pub environment: &'a Environment,
}

/// What came of looking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Looked {
    /// There is something to vote on.
    At(Subject),
    /// There is nothing, for this reason.
    Unchanged(String),
    /// There is something, and none of it can be looked at.
    Unseen,
}

/// Looks at what the settings say, and notes in `facts` what it was. `changed` are all files that changed.
pub async fn look(
    place: &Place<'_>,
    gate: &GateSettings,
    changed: &[ChangedFile],
    facts: &mut Facts,
) -> Result<Looked> {
    match gate.subject {
        GateSubject::Diff => look_at_change(place, gate, changed, facts).await,
        GateSubject::Plan => look_at_plan(place, gate, facts).await,
        GateSubject::Command => look_at_command(place, gate, facts).await,
    }
}

async fn look_at_change(
    place: &Place<'_>,
    gate: &GateSettings,
    changed: &[ChangedFile],
    facts: &mut Facts,
) -> Result<Looked> {
    let revisions = place.revisions;
    if changed.is_empty() {
        let why = format!("nothing changed between `{}` and `HEAD` ({})", revisions.base_name, revisions.head.short());
        return Ok(Looked::Unchanged(why));
    }
    let limits = Limits {
        max_bytes: gate.max_bytes,
        ignore: &gate.ignore,
        section: "gate",
        sessions: &[],
        redactor: place.redactor,
    };
    let coverage = look_at_diff(place.git, (&revisions.merge_base, &revisions.head), changed, &limits).await?;
    facts.files.clone_from(&coverage.files);
    if !coverage.text.is_empty() {
        return Ok(Looked::At(Subject::Diff(coverage)));
    }
    let ignored = |file: &SeenFile| file.omitted == Some(OmissionReason::Ignored);
    Ok(if coverage.files.iter().all(ignored) {
        Looked::Unchanged("every file that changed is one that `gate.ignore` of the base names".to_owned())
    } else {
        Looked::Unseen
    })
}

async fn look_at_plan(place: &Place<'_>, gate: &GateSettings, facts: &mut Facts) -> Result<Looked> {
    use std::os::unix::ffi::OsStrExt;
    let Some(plan) = &gate.plan else {
        return Err(Error::config("`gate.what` is `plan`, and there is no `gate.plan`"));
    };
    // The file need not be in the work tree; its folder is, or nothing of that name is in the commit either.
    let real = match (plan.parent().map(Path::canonicalize), plan.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => plan.clone(),
    };
    let inside = real.strip_prefix(place.root).map_err(|_| {
        Error::usage(format!("the plan `{}` is not in this repository", plan.display()))
            .hint("name a file of the repository")
    })?;
    let path = RepoPath::new(inside.as_os_str().as_bytes());
    if let Some(told) = &mut facts.subject {
        (told.what, told.name) = (GateSubject::Plan, Some(path.to_string()));
    }
    if let Some(pattern) = SecretFiles::new().matches(&path) {
        return Err(Error::usage(format!(
            "the plan `{path}` is a file that holds keys, by its name (`{pattern}`), and such a file is never sent"
        ))
        .hint("name the file that holds the plan")
        .hint("the README lists these names under `Files that hold keys`"));
    }
    let head = &place.revisions.head;
    let entry = place.git.entry_at(head, &path).await.map_err(ask_failed)?;
    let entry = entry.filter(|entry| entry.kind == EntryKind::File).ok_or_else(|| {
        Error::usage(format!("commit {} has no file `{path}`", head.short()))
            .hint("commit the plan, or correct its path")
    })?;
    let bytes = place.git.content(&entry, gate.max_bytes).await.map_err(|error| {
        Error::new(ErrorKind::NoDecision, format!("the plan `{path}` cannot be sent"))
            .with_source(error)
            .hint("raise `gate.max_bytes`, or shorten the plan")
    })?;
    let text = text_of(place.redactor, bytes, &format!("the plan `{path}`"))?;
    if text.trim().is_empty() {
        return Err(Error::usage(format!("the plan `{path}` is empty in commit {}", head.short()))
            .hint("commit its text, or name another file"));
    }
    Ok(Looked::At(Subject::Plan { text }))
}

async fn look_at_command(place: &Place<'_>, gate: &GateSettings, facts: &mut Facts) -> Result<Looked> {
    if let Some(told) = &mut facts.subject {
        (told.what, told.name) = (GateSubject::Command, Some(gate.command.join(" ")));
    }
    let output = run_command(&gate.command, place.root, place.environment, gate.max_bytes, gate.deadline).await?;
    if output.cut {
        let why = format!("`gate.command` printed more than {} bytes", gate.max_bytes);
        return Err(Error::new(ErrorKind::NoDecision, why).hint("raise `gate.max_bytes`, or have it print less"));
    }
    let text = text_of(place.redactor, output.stdout, "what `gate.command` printed")?;
    Ok(Looked::At(Subject::Command { text, ended: place.redactor.text(&output.ended) }))
}

/// The text that is sent, without keys.
fn text_of(redactor: &Redactor, bytes: Vec<u8>, what: &str) -> Result<String> {
    let text = String::from_utf8(redactor.bytes(&bytes)).ok().filter(|text| !text.contains('\0'));
    text.ok_or_else(|| Error::new(ErrorKind::NoDecision, format!("{what} is no text")).hint("only UTF-8 can be sent"))
}
