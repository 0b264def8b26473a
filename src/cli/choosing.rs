//! Which models a command asks, who chose them, and where that is kept.

use std::path::Path;

use super::args::ChoiceArgs;
use super::context::Context;
use super::found;
use super::names::{self, Given, Named};
use crate::config::{Config, ContextBy, Origin, PROJECT_FILE, PanelSource, ResolvedModel, with_panel};
use crate::engine::ChosenBy;
use crate::error::{Error, Result};
use crate::fs;

/// The panel of a command.
#[derive(Debug)]
pub(super) struct Chosen {
    /// Its models, in the user's order; never empty.
    pub(super) models: Vec<ResolvedModel>,
    /// Names that were left out because they stand for nothing any more. They count for a quorum: it is of the panel that
    /// was configured.
    pub(super) left_out: Vec<String>,
    source: PanelSource,
}

impl Chosen {
    /// For the session's record.
    pub(super) fn by(&self) -> ChosenBy {
        let (context, words) = match &self.source {
            PanelSource::Context { name, by: ContextBy::Words(words), .. } => (Some(name.clone()), words.clone()),
            PanelSource::Context { name, by: ContextBy::Name, .. } => (Some(name.clone()), Vec::new()),
            PanelSource::Flag | PanelSource::Panel(_) | PanelSource::Found => (None, Vec::new()),
        };
        ChosenBy { layer: self.source.layer().to_owned(), context, words, left_out: self.left_out.clone() }
    }

    /// What a reader of the verdict should know: what was not the user's own choice.
    pub(super) fn notes(&self) -> Vec<String> {
        let by = match &self.source {
            PanelSource::Context { name, by: ContextBy::Words(words), .. } => Some(format!(
                "the panel is that of `[contexts.{name}]`, chosen by the task's words: {}",
                words.join(", ")
            )),
            PanelSource::Found => {
                Some("no panel was configured: it is what was found, one model per vendor".to_owned())
            }
            PanelSource::Flag | PanelSource::Context { .. } | PanelSource::Panel(_) => None,
        };
        let left_out = self.left_out.iter().map(|name| {
            format!("`{name}` of the configured panel was left out: it stands for nothing that can be asked any more")
        });
        by.into_iter().chain(left_out).collect()
    }
}

/// Chooses the panel for `task`, and says who chose it. Nothing is written.
pub(super) async fn choose(context: &Context, config: &Config, args: &ChoiceArgs, task: &str) -> Result<Chosen> {
    let choice = config.choose_panel(args.context.as_deref(), task)?;
    let Some(choice) = choice else {
        let models = found::panel(context, config).await;
        if models.is_empty() {
            config.panel()?;
        }
        let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
        context.printer.note(format!(
            "panel: none is configured; found here, one per vendor: {} (`--remember` keeps it)",
            names.join(", ")
        ));
        return Ok(Chosen { models, left_out: Vec::new(), source: PanelSource::Found });
    };
    if let Some(told) = choice.source.told() {
        context.printer.note(format!("panel: {told}"));
    }
    if let Some(passed_over) = passed_over(config, args, &choice.source) {
        context.printer.warning(passed_over);
    }
    let given = if choice.source.is_by_hand() { Given::ByHand } else { Given::Kept };
    let Named { models, left_out } = names::find(context, config, &choice.names, given, "panel").await?;
    Ok(Chosen { models, left_out, source: choice.source })
}

/// What else was said about the panel for this run, and goes for nothing.
fn passed_over(config: &Config, args: &ChoiceArgs, source: &PanelSource) -> Option<String> {
    match (source, &args.context, config.origin(&["panel"])) {
        // With `--remember` it says where the panel is kept.
        (PanelSource::Flag, Some(name), _) if !args.remember => {
            Some(format!("`--context {name}` is passed over: `-m` names the panel"))
        }
        (PanelSource::Context { by: ContextBy::Name, .. }, _, Some(Origin::Variable(variable))) => {
            Some(format!("`${variable}` is passed over: `--context` goes before it"))
        }
        (PanelSource::Context { name, by: ContextBy::Words(_), .. }, _, Some(Origin::User(_) | Origin::Project(_)))
            if !config.settings().panel.is_empty() =>
        {
            Some(format!("`panel` is passed over: by its words the task is one for `[contexts.{name}]`; `-m` decides"))
        }
        _ => None,
    }
}

/// The models that vote where they are others than the panel, known to their providers.
pub(super) async fn choose_judges(context: &Context, config: &Config) -> Result<Option<Vec<ResolvedModel>>> {
    let judges = &config.settings().judges;
    if judges.is_empty() {
        return Ok(None);
    }
    let given = match config.origin(&["judges"]) {
        Some(Origin::Flag | Origin::Variable(_)) => Given::ByHand,
        _ => Given::Kept,
    };
    Ok(Some(names::find(context, config, judges, given, "judges").await?.models))
}

/// Keeps the choice, where that was asked for: in the project's file, which is made where there is none.
pub(super) fn remember(context: &Context, config: &Config, args: &ChoiceArgs, chosen: &Chosen) -> Result<()> {
    if !args.remember {
        return Ok(());
    }
    let printer = &context.printer;
    let is_kept = matches!(&chosen.source, PanelSource::Panel(Origin::Project(_)))
        || matches!(&chosen.source, PanelSource::Context { origin: Origin::Project(_), .. });
    if is_kept && chosen.left_out.is_empty() {
        printer.note("`--remember`: this panel is in `team.toml` already");
        return Ok(());
    }
    let path = match config.project_file() {
        // A link stays a link: its target is what is replaced.
        Some(path) => path.canonicalize().unwrap_or_else(|_| path.to_owned()),
        None => context.cwd.join(PROJECT_FILE),
    };
    let names: Vec<String> = chosen.models.iter().map(|model| model.name.clone()).collect();
    let of_kind = match &chosen.source {
        PanelSource::Context { name, .. } => Some(name.as_str()),
        PanelSource::Flag | PanelSource::Panel(_) | PanelSource::Found => args.context.as_deref(),
    };
    let text = read(&path)?;
    let remembered = with_panel(&text, of_kind, &names)
        .map_err(|why| Error::config(format!("`--remember`: `{}`: {why}", path.display())))?;
    fs::replace(&path, remembered.text.as_bytes())?;
    printer.note(format!("remembered in `{}`: {}", path.display(), remembered.shown));
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    match fs_err::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error.into()),
    }
}
