//! A panel of what is there, for who configured none: one model per vendor.

use std::collections::BTreeSet;

use super::context::Context;
use super::inventory::{self, local_address};
use super::members::lack;
use crate::config::{AgentKind, Config, Models, Provider, ResolvedModel, Target};
use crate::slots::agents::{SignIn, sign_in};
use crate::slots::http::Client;

/// The models that can be asked here without naming one: programs that are installed and signed in, and of servers on this
/// machine that run the model that they list first.
///
/// Aliases are not among them, for who wrote them chooses among them; nor is the managed local model, which is for seeing
/// how `team` works.
pub(super) async fn panel(context: &Context, config: &Config) -> Vec<ResolvedModel> {
    let models = Models::new(config, &context.environment);
    let agents = AgentKind::KNOWN.into_iter().filter(|agent| !agent.needs_model());
    let agents = agents.filter_map(|agent| agent.program().map(str::to_owned));
    let mut names: Vec<String> = agents.collect();
    names.extend(served(context, config).await);

    let mut vendors: BTreeSet<String> = BTreeSet::new();
    let mut panel = Vec::new();
    for name in names {
        let Ok(model) = models.resolve(&name) else { continue };
        if !is_ready(&model, context).await {
            continue;
        }
        let of: Vec<String> = match model.vendors() {
            known if !known.is_empty() => known.into_iter().map(str::to_owned).collect(),
            // Of an unknown vendor it is as good as its own.
            _ => vec![model.identity.0.clone()],
        };
        if of.iter().any(|vendor| vendors.contains(vendor)) {
            continue;
        }
        vendors.extend(of);
        panel.push(model);
    }
    panel
}

async fn is_ready(model: &ResolvedModel, context: &Context) -> bool {
    if lack(model, &context.environment).is_some() {
        return false;
    }
    match &model.target {
        Target::Process { agent, model, .. } => {
            !matches!(sign_in(*agent, model.as_deref(), &context.environment), SignIn::Missing(_))
        }
        Target::Http { provider, .. } => match local_address(&provider.base_url) {
            Some(address) => inventory::listens(&address).await,
            None => true,
        },
        Target::Local { .. } | Target::Replay { .. } => false,
    }
}

/// The first model of each server that runs on this machine.
async fn served(context: &Context, config: &Config) -> Vec<String> {
    let settings = config.settings();
    if settings.offline {
        return Vec::new();
    }
    let client = Client::new();
    let models = Models::new(config, &context.environment);
    let asked = settings.providers.iter().map(async |(name, entry)| {
        let address = local_address(entry.base_url.as_deref()?)?;
        if !inventory::listens(&address).await {
            return None;
        }
        // Any name will do to have the endpoint as a run would use it.
        let Target::Http { provider, .. } = models.resolve(&format!("{name}@x")).ok()?.target else { return None };
        let key = key_of(&provider, context);
        let listing = client.list(&provider, key).await.ok()?;
        Some(format!("{name}@{}", listing.names().first()?))
    });
    futures::future::join_all(asked).await.into_iter().flatten().collect()
}

/// The key of `provider`, where it is set.
pub(super) fn key_of<'a>(provider: &Provider, context: &'a Context) -> Option<&'a str> {
    provider.api_key_env.as_deref().and_then(|name| context.environment.text(name))
}
