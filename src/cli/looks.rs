//! What `doctor`, `models` and `init` look at on this machine: the local model, and what keeps slots apart.

use super::context::Context;
use super::doctor::Finding;
use super::inventory::LocalModel;
use crate::isolation::{Fact, Facts, Level, OVERRIDE_VARIABLE, Preference, probe};
use crate::slots::agents::locate;
use crate::slots::local;

/// Whether the managed local model is here, or could be. Nothing is downloaded or started.
pub(super) fn local(context: &Context) -> LocalModel {
    match local::cache_dir() {
        Err(error) => return LocalModel::Unavailable { reason: error.to_string() },
        Ok(cache) if local::is_installed(&cache) => return LocalModel::Ready,
        Ok(_) => {}
    }
    let named = context.environment.text("TEAM_PYTHON").filter(|name| !name.is_empty());
    let program = named.unwrap_or("python3");
    match locate(program, &context.environment) {
        Some(_) => LocalModel::OnFirstUse,
        None => LocalModel::Unavailable {
            reason: format!("it needs Python 3, and `{program}` is not to be found (see `TEAM_PYTHON`)"),
        },
    }
}

/// Runs the self-test of isolation, and says what was refused on the way.
pub(super) fn isolation(context: &Context) -> Finding {
    let preference = match Preference::parse(context.environment.get(OVERRIDE_VARIABLE)) {
        Ok(preference) => preference,
        Err(error) => return Finding::failed(error.to_string()),
    };
    let found = probe(preference, None);
    let mechanism = found.mechanism;
    let mut text = format!("{mechanism}: session files {}, processes {}", mechanism.files(), mechanism.processes());
    let Some((last, refused)) = found.attempts.split_last() else { return Finding::failed(text) };
    if let Some(facts) = last.facts {
        text.push_str(&format!("; seen from inside: {}", in_words(facts)));
    }
    for attempt in refused.iter().chain(Some(last).filter(|last| last.refused.is_some())) {
        if let Some(refusal) = attempt.refused {
            text.push_str(&format!("; {} refused: {refusal}", attempt.mechanism));
        }
    }
    if last.refused.is_some() {
        return Finding::failed(text).hint("no program can be started this way; see the step that was refused");
    }
    match mechanism.files() {
        Level::Enforced => Finding::good(text),
        Level::Partial => Finding::warned(text)
            .hint("names and sizes of files, command lines, HOME and `/tmp` are shared by slots; the verdict says so"),
        Level::Convention => Finding::warned(text)
            .hint("a program of one slot can read what another answered, and who it is; the verdict says so"),
    }
}

/// What the self-test reached, and what it did not.
fn in_words(facts: Facts) -> String {
    let facts = [
        ("session files", facts.session_files),
        ("other processes", facts.process_view),
        ("signals to them", facts.kill),
        ("abstract sockets", facts.abstract_sockets),
    ];
    let of = |wanted: Fact| {
        let names: Vec<&str> = facts.iter().filter(|(_, fact)| *fact == wanted).map(|(name, _)| *name).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    };
    format!("{} out of reach, {} reached", of(Fact::Kept), of(Fact::Open))
}
