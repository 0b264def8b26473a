//! Writes what is new, and what changes a file only after the change was shown and agreed to.

use std::io::ErrorKind;
use std::path::Path;

use similar::TextDiff;

use super::hosts::Host;
use crate::cli::context::Context;
use crate::error::{Error, ExitCode, Result};
use crate::fs;
use crate::slots::agents::locate;

/// The skill.
const SKILL: &str = include_str!("SKILL.md");

/// Its place in a folder of skills.
const FILE: &str = "team/SKILL.md";

/// The program.
const TEAM: &str = "team";

/// Whether a change of a file is agreed to.
pub(crate) enum Consent<'a> {
    /// It is, beforehand.
    Given,
    /// Somebody is asked for each.
    Asked(&'a dyn Fn(&str) -> Result<bool>),
    /// Nobody can be asked.
    Absent,
}

/// What became of a file.
enum Outcome {
    Written,
    AsItShouldBe,
    Refused,
}

/// Writes the skill and the settings for `hosts`; for those that are used here where none is named.
pub(crate) fn write(context: &Context, hosts: &[Host], consent: &Consent<'_>) -> Result<ExitCode> {
    let printer = &context.printer;
    let used = || Host::ALL.into_iter().filter(|host| host.is_used(&context.cwd, &context.environment));
    let mut hosts: Vec<Host> = if hosts.is_empty() { used().collect() } else { hosts.to_vec() };
    if hosts.is_empty() {
        printer.note("no coding agent is found here, so the files are those of `claude`; `--host` names another");
        hosts.push(Host::Claude);
    }
    let command = match locate(TEAM, &context.environment) {
        Some(_) => TEAM.to_owned(),
        None => {
            let own =
                std::env::current_exe().map_err(|error| Error::io("cannot find this program's own path", error))?;
            printer.note(format!("`team` is not on PATH, so the settings name `{}`", own.display()));
            own.display().to_string()
        }
    };
    let mut refused = Vec::new();
    let mut folders: Vec<&str> = Vec::new();
    for host in &hosts {
        if !folders.contains(&host.skills()) {
            folders.push(host.skills());
            let name = format!("{}/{FILE}", host.skills());
            put(context, &name, SKILL, consent, &mut refused)?;
        }
    }
    for host in &hosts {
        if let Some(other) = host.settings_with_comments().filter(|name| context.cwd.join(name).exists()) {
            let entry = host.with_server("", &command).map_err(|error| Error::internal(error.to_string()))?;
            printer.note(format!("`{other}` may have comments and is left as it is; add to it:\n{entry}"));
            refused.push(other.to_owned());
            continue;
        }
        let name = host.settings();
        let there = read(&context.cwd.join(name))?.unwrap_or_default();
        match host.with_server(&there, &command) {
            Ok(text) => put(context, name, &text, consent, &mut refused)?,
            Err(error) => {
                let entry = host.with_server("", &command).map_err(|error| Error::internal(error.to_string()))?;
                let error = Error::config(format!("`{name}` is left as it is")).with_source(error);
                printer.warning(error.chain());
                printer.note(format!("add to it:\n{entry}"));
                refused.push(name.to_owned());
                continue;
            }
        }
        if let Some(note) = host.note() {
            printer.note(note);
        }
    }
    if refused.is_empty() {
        return Ok(ExitCode::DONE);
    }
    let names: Vec<String> = refused.iter().map(|name| format!("`{name}`")).collect();
    let error = Error::usage(format!("not changed: {}", names.join(", ")));
    Err(match consent {
        Consent::Absent => error.hint("`--yes` makes the changes that are shown"),
        Consent::Given | Consent::Asked(_) => error,
    })
}

fn put(context: &Context, name: &str, text: &str, consent: &Consent<'_>, refused: &mut Vec<String>) -> Result<()> {
    match put_one(context, name, text, consent)? {
        Outcome::Written => context.printer.line(context.cwd.join(name).display().to_string())?,
        Outcome::AsItShouldBe => context.printer.note(format!("`{name}` is as it should be")),
        Outcome::Refused => refused.push(name.to_owned()),
    }
    Ok(())
}

/// Makes the file `name` hold `text`.
fn put_one(context: &Context, name: &str, text: &str, consent: &Consent<'_>) -> Result<Outcome> {
    let path = context.cwd.join(name);
    if let Some(there) = read(&path)? {
        if there == text {
            return Ok(Outcome::AsItShouldBe);
        }
        let diff = TextDiff::from_lines(there.as_str(), text);
        context.printer.alert(format!("`{name}` is to change like this"));
        context.printer.alert_lines(&diff.unified_diff().header(name, name).to_string());
        let agreed = match consent {
            Consent::Given => true,
            Consent::Asked(ask) => ask(&format!("Change `{name}`? [y/N]"))?,
            Consent::Absent => false,
        };
        if !agreed {
            return Ok(Outcome::Refused);
        }
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // A link stays a link: its target is what is replaced.
    let path = path.canonicalize().unwrap_or(path);
    fs::replace(&path, text.as_bytes())?;
    Ok(Outcome::Written)
}

fn read(path: &Path) -> Result<Option<String>> {
    match fs_err::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}
