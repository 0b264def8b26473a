//! Whether the names of models are known where they would be asked: at the providers that list what they have.

use std::collections::BTreeMap;

use futures::future::join_all;

use super::context::Context;
use super::found::key_of;
use crate::config::{Config, Models, Provider, ResolvedModel, Target};
use crate::error::{Error, Result};
use crate::slots::http::{Client, NotListed, Standing};

/// Whether a wrong name is a slip of right now or may have got out of date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// For this run: a wrong one ends it.
    ByHand,
    /// In a file, some time ago: what is gone is left out.
    Kept,
}

/// The models behind names.
#[derive(Debug, Clone, Default)]
pub(super) struct Named {
    /// In order.
    pub(super) models: Vec<ResolvedModel>,
    /// Names that were left out.
    pub(super) left_out: Vec<String>,
}

/// A name that its provider does not have.
pub(super) struct Wrong {
    name: String,
    provider: String,
    model: String,
    near: Vec<String>,
}

impl Wrong {
    /// Whether it is `name`.
    pub(super) fn is_about(&self, name: &str) -> bool {
        self.name == name
    }

    /// What is wrong.
    pub(super) fn message(&self) -> String {
        if self.name == format!("{}@{}", self.provider, self.model) {
            return format!("`{}` has no model `{}`", self.provider, self.model);
        }
        format!("`{}`: `{}` has no model `{}`", self.name, self.provider, self.model)
    }

    /// What was meant, perhaps.
    pub(super) fn hint(&self) -> Option<String> {
        let near: Vec<String> = self.near.iter().map(|near| format!("`{}@{near}`", self.provider)).collect();
        (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", ")))
    }
}

/// Finds the models behind `names`, and whether their providers have them. `what` is how the names are called.
pub(super) async fn find(
    context: &Context,
    config: &Config,
    names: &[String],
    given: Given,
    what: &str,
) -> Result<Named> {
    let models = Models::new(config, &context.environment);
    let mut named = Named::default();
    match given {
        Given::ByHand => named.models = models.resolve_all(names)?,
        Given::Kept => {
            let kept = models.resolve_kept(names)?;
            for (name, error) in &kept.gone {
                let meant = error.hints().into_iter().find(|hint| hint.starts_with("did you mean"));
                leave_out(context, &mut named, name, what, &error.to_string(), meant);
            }
            named.models = kept.models;
        }
    }
    if config.settings().offline {
        return Ok(named);
    }
    let wrong = unknown(context, &named.models).await;
    let of = |model: &ResolvedModel| wrong.iter().find(|wrong| wrong.name == model.name);
    if wrong.is_empty() {
        return Ok(named);
    }
    if given == Given::ByHand || named.models.iter().all(|model| of(model).is_some()) {
        let error = match wrong.as_slice() {
            [one] => Error::config(one.message()),
            several => {
                let lines: String = several.iter().map(|wrong| format!("\n  {}", wrong.message())).collect();
                Error::config(format!("{} models are not known to their providers{lines}", several.len()))
            }
        };
        let error = wrong.iter().filter_map(Wrong::hint).fold(error, Error::hint);
        return Err(error.hint("nothing was started; `--offline` starts without looking names up"));
    }
    let (left, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut named.models).into_iter().partition(|m| of(m).is_none());
    named.models = left;
    for wrong in gone.iter().filter_map(of) {
        leave_out(context, &mut named, &wrong.name, what, &wrong.message(), wrong.hint());
    }
    Ok(named)
}

fn leave_out(context: &Context, named: &mut Named, name: &str, what: &str, why: &str, meant: Option<String>) {
    if named.left_out.iter().any(|known| known == name) {
        return;
    }
    let meant = meant.map(|meant| format!("; {meant}")).unwrap_or_default();
    context.printer.warning(format!("`{name}` is left out of the {what}: {why}{meant}"));
    named.left_out.push(name.to_owned());
}

/// The ids at one provider, by the names that stand for them.
type ModelIds<'a> = BTreeMap<&'a str, &'a str>;

/// The models that their providers do not have. A provider that does not say is told of, and its models are taken as
/// they are.
pub(super) async fn unknown(context: &Context, models: &[ResolvedModel]) -> Vec<Wrong> {
    let mut asked: BTreeMap<(&str, &str), (&Provider, ModelIds<'_>)> = BTreeMap::new();
    for model in models {
        let Target::Http { provider, model: id } = &model.target else { continue };
        // Without its key it would only say that; so will its slot.
        if provider.api_key_env.is_some() && key_of(provider, context).is_none() {
            continue;
        }
        let (_, names) =
            asked.entry((&provider.name, &provider.base_url)).or_insert_with(|| (provider, ModelIds::new()));
        names.insert(&model.name, id);
    }
    let client = Client::new();
    let answers = join_all(asked.values().map(async |(provider, names)| {
        (*provider, of_provider(&client, provider, key_of(provider, context), names).await)
    }));
    let mut wrong = Vec::new();
    for (provider, answer) in answers.await {
        match answer {
            Ok(found) => wrong.extend(found),
            Err(why) => context.printer.note(format!(
                "note: `{}` does not say which models it has ({why}); names are not looked up",
                provider.name
            )),
        }
    }
    wrong
}

async fn of_provider(
    client: &Client,
    provider: &Provider,
    key: Option<&str>,
    names: &ModelIds<'_>,
) -> std::result::Result<Vec<Wrong>, NotListed> {
    let listing = client.list(provider, key).await?;
    let standings = join_all(
        names.iter().map(async |(name, model)| (name, model, client.standing(provider, key, &listing, model).await)),
    );
    let mut wrong = Vec::new();
    for (name, model, standing) in standings.await {
        if let Standing::Unknown(near) = standing? {
            wrong.push(Wrong {
                name: (*name).to_owned(),
                provider: provider.name.clone(),
                model: (*model).to_owned(),
                near,
            });
        }
    }
    Ok(wrong)
}
