//! `team models`: what can be asked here and now.

use super::context::Context;
use super::inventory::{self, Agent, Endpoint, Inventory, LocalModel};
use crate::error::{Error, ExitCode};

/// Prints the list; `local` looks whether the managed local model is here.
pub(super) async fn models(context: &Context, local: Option<&dyn Fn() -> LocalModel>) -> Result<ExitCode, Error> {
    let config = context.load(context.global.settings())?;
    let inventory = inventory::take(&config, &context.environment, local.map(|look| look())).await;
    if context.global.json {
        context.printer.json(&inventory)?;
    } else {
        context.printer.document(&text(&inventory))?;
    }
    Ok(ExitCode::DONE)
}

fn text(inventory: &Inventory) -> String {
    let mut rows: Vec<(String, String)> = Vec::new();
    for agent in &inventory.agents {
        rows.push((agent.form.clone(), agent_text(agent)));
        if agent.name == "claude" {
            rows.push(("internal".to_owned(), "the same as claude".to_owned()));
        }
    }
    let local = match &inventory.local {
        Some(LocalModel::Ready) => "ready".to_owned(),
        Some(LocalModel::OnFirstUse) | None => "a small model, set up on first use (127 MB)".to_owned(),
        Some(LocalModel::Unavailable { reason }) => format!("not available: {reason}"),
    };
    rows.push((inventory::local_name(), local));
    rows.extend(
        inventory.providers.iter().map(|endpoint| (format!("{}@MODEL", endpoint.name), endpoint_text(endpoint))),
    );
    rows.push(("replay:FILE[#FORMAT]".to_owned(), "a recorded answer".to_owned()));
    for alias in &inventory.aliases {
        let text = match &alias.problem {
            None => format!("alias of {}", alias.stands_for),
            Some(problem) => format!("alias of {}, which cannot be asked: {problem}", alias.stands_for),
        };
        rows.push((alias.name.clone(), text));
    }
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    rows.iter().map(|(name, text)| format!("{name:width$}  {text}\n")).collect()
}

fn agent_text(agent: &Agent) -> String {
    match (&agent.program, &agent.version, &agent.problem) {
        (None, _, _) => "not installed".to_owned(),
        (Some(_), Some(version), _) => version.clone(),
        (Some(path), None, Some(problem)) => format!("{} is there, but {problem}", path.display()),
        (Some(path), None, None) => path.display().to_string(),
    }
}

fn endpoint_text(endpoint: &Endpoint) -> String {
    let key = match (&endpoint.api_key_env, endpoint.key_present) {
        (Some(name), Some(true)) => Some(format!("{name} is set")),
        (Some(name), _) => Some(format!("needs {name}")),
        (None, _) => None,
    };
    let listening = endpoint.listening.map(|listening| {
        if listening {
            format!("running at {}", endpoint.base_url)
        } else {
            format!("nothing listens at {}", endpoint.base_url)
        }
    });
    let parts: Vec<String> = key.into_iter().chain(listening).collect();
    if parts.is_empty() { endpoint.base_url.clone() } else { parts.join("; ") }
}
