//! What `doctor`, `models` and `init` look at on this machine: the local model, and what keeps slots apart.

use super::context::Context;
use super::doctor::Finding;
use super::inventory::LocalModel;
use crate::isolation::{Containment, OVERRIDE_VARIABLE, Preference, probe};
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
    let mut text = format!("{mechanism}: processes {}, session files {}", mechanism.processes(), mechanism.files());
    for attempt in &found.attempts {
        if let Some(refusal) = attempt.refused {
            text.push_str(&format!("; {} refused: {refusal}", attempt.mechanism));
        }
    }
    let held = found.attempts.last().is_some_and(|attempt| attempt.refused.is_none());
    match (held, mechanism.containment()) {
        (false, _) => Finding::failed(text).hint("no program can be started this way; see the step that was refused"),
        (true, Containment::Namespace) => Finding::good(text),
        (true, Containment::TreeWalk) => {
            Finding::warned(text).hint("processes of one slot can see those of another; the verdict says so")
        }
    }
}
