//! Which setting chooses the panel.
//!
//! `-m`; else the kind of task named by `--context`; else `TEAM_PANEL`; else the kind of task that the task's words tell;
//! else `panel`; else the kinds and the default of `.claude/multimodel-team.json`. Where none of them names a model the
//! caller looks for what there is.

use std::collections::BTreeMap;
use std::path::Path;

use super::context_words;
use super::file::ContextEntry;
use super::layer::Origin;
use super::nearest::nearest;
use super::{Config, PROJECT_FILE};
use crate::error::Error;

/// A panel's names, and what named them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelChoice {
    /// The names, in order; never empty.
    pub names: Vec<String>,
    /// What named them.
    pub source: PanelSource,
}

/// What named a panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PanelSource {
    /// `-m`.
    Flag,
    /// `[contexts.NAME]`.
    Context {
        /// Its name.
        name: String,
        /// How it was chosen.
        by: ContextBy,
        /// Where its panel is written.
        origin: Origin,
    },
    /// `panel`.
    Panel(Origin),
    /// Nothing: these were found on this machine.
    Found,
}

/// How a kind of task was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextBy {
    /// By `--context`.
    Name,
    /// By these words of the task.
    Words(Vec<String>),
}

impl PanelSource {
    /// Whether the names were given for this one run, so that a wrong one is a slip of right now. What is kept in files gets
    /// out of date by itself.
    #[must_use]
    pub const fn is_by_hand(&self) -> bool {
        matches!(self, Self::Flag | Self::Panel(Origin::Variable(_) | Origin::Flag))
    }

    /// The layer, as `team config --json` names it.
    #[must_use]
    pub const fn layer(&self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Context { origin, .. } | Self::Panel(origin) => origin.layer(),
            Self::Found => "found",
        }
    }

    /// For a sentence, without a model's name; `None` for what was given on this very command line.
    #[must_use]
    pub fn told(&self) -> Option<String> {
        match self {
            Self::Flag | Self::Panel(Origin::Flag) => None,
            Self::Context { name, by, origin } => Some(format!(
                "`[contexts.{name}]`{}{}",
                from(origin),
                match by {
                    ContextBy::Name => String::new(),
                    ContextBy::Words(words) => format!(", chosen by the task's words: {}", words.join(", ")),
                }
            )),
            Self::Panel(origin) => Some(match origin {
                Origin::Variable(name) => format!("`${name}`"),
                Origin::Imported(_) => format!("`defaultModels`{}", from(origin)),
                _ => format!("`panel`{}", from(origin)),
            }),
            Self::Found => Some("what was found here".to_owned()),
        }
    }
}

fn from(origin: &Origin) -> String {
    match origin.file() {
        Some(file) => format!(" of `{}`", file.display()),
        None => String::new(),
    }
}

impl Config {
    /// The panel for `task`, or for the kind of task that was named with `--context`; `None` where no setting names a
    /// model.
    pub fn choose_panel(&self, context: Option<&str>, task: &str) -> Result<Option<PanelChoice>, Error> {
        let panel = self.origin(&["panel"]).filter(|_| !self.settings().panel.is_empty());
        let of_panel = |origin: &Origin| PanelChoice {
            names: self.settings().panel.clone(),
            source: if *origin == Origin::Flag { PanelSource::Flag } else { PanelSource::Panel(origin.clone()) },
        };
        if let Some(flag @ Origin::Flag) = panel {
            return Ok(Some(of_panel(flag)));
        }
        if let Some(name) = context {
            return self.named_context(name).map(Some);
        }
        if let Some(variable @ Origin::Variable(_)) = panel {
            return Ok(Some(of_panel(variable)));
        }
        let imported = |origin: &Origin| matches!(origin, Origin::Imported(_));
        let own = self.context_by_words(task, |origin| !imported(origin));
        let own = own.or_else(|| panel.filter(|origin| !imported(origin)).map(of_panel));
        Ok(own.or_else(|| self.context_by_words(task, imported)).or_else(|| panel.map(of_panel)))
    }

    fn named_context(&self, name: &str) -> Result<PanelChoice, Error> {
        let found = self.contexts_with_a_panel().find(|(known, ..)| *known == name);
        if let Some((name, names, origin)) = found {
            let source = PanelSource::Context { name: name.clone(), by: ContextBy::Name, origin: origin.clone() };
            return Ok(PanelChoice { names: names.to_vec(), source });
        }
        let known: Vec<&str> = self.contexts_with_a_panel().map(|(name, ..)| name.as_str()).collect();
        let error = Error::usage(format!("`--context`: no panel is configured for `{name}`"));
        let error = match nearest(name, known.iter().copied()) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error,
        };
        Err(match known.as_slice() {
            [] => error.hint(format!("name one in `{PROJECT_FILE}`: `[contexts.{name}]` with `panel = [..]`")),
            known => error.hint(format!("there is one for: {}", known.join(", "))),
        })
    }

    fn context_by_words(&self, task: &str, from: impl Fn(&Origin) -> bool) -> Option<PanelChoice> {
        let candidates: BTreeMap<&String, (&[String], &Origin)> = self
            .contexts_with_a_panel()
            .filter(|(.., origin)| from(origin))
            .map(|(name, names, origin)| (name, (names, origin)))
            .collect();
        let entries = self.settings().contexts.iter().filter(|(name, _)| candidates.contains_key(name));
        let (name, words) = context_words::choose(entries, task)?;
        let (names, origin) = candidates.get(&name.to_owned())?;
        let source =
            PanelSource::Context { name: name.to_owned(), by: ContextBy::Words(words), origin: (*origin).clone() };
        Some(PanelChoice { names: names.to_vec(), source })
    }

    fn contexts_with_a_panel(&self) -> impl Iterator<Item = (&String, &[String], &Origin)> {
        self.settings().contexts.iter().filter_map(|(name, ContextEntry { panel, .. })| {
            let panel = panel.as_deref().filter(|panel| !panel.is_empty())?;
            Some((name, panel, self.origin(&["contexts", name, "panel"])?))
        })
    }

    /// The project's file, where there is one.
    #[must_use]
    pub fn project_file(&self) -> Option<&Path> {
        self.files().iter().find(|origin| matches!(origin, Origin::Project(_))).and_then(Origin::file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Environment, FileSettings};

    /// What is chosen from these files, variables and flags.
    fn chosen(
        files: [&str; 3],
        variables: &[(&str, &str)],
        flag: Option<&str>,
        context: Option<&str>,
        task: &str,
    ) -> Result<Option<(Vec<String>, String)>, String> {
        let dir = tempfile::tempdir().unwrap();
        let [imported, user, project] = files;
        let home = dir.path().join("home");
        let cwd = dir.path().join("p");
        for (path, text) in [
            (cwd.join(".claude/multimodel-team.json"), imported),
            (home.join(".config/team/config.toml"), user),
            (cwd.join("team.toml"), project),
        ] {
            if !text.is_empty() {
                crate::fs::create_dir_all(path.parent().unwrap()).unwrap();
                crate::fs::replace(&path, text.as_bytes()).unwrap();
            }
        }
        let home = home.display().to_string();
        let environment: Environment = [("HOME", home.as_str())].into_iter().chain(variables.iter().copied()).collect();
        let flags = FileSettings { panel: flag.map(|name| vec![name.to_owned()]), ..FileSettings::default() };
        let config = Config::load(&cwd, &environment, flags).unwrap();
        let choice = config.choose_panel(context, task).map_err(|error| format!("{error}"))?;
        let place = dir.path().display().to_string();
        Ok(choice.map(|choice| (choice.names, choice.source.told().unwrap_or_default().replace(&place, ""))))
    }

    fn names(found: Result<Option<(Vec<String>, String)>, String>) -> String {
        found.unwrap().map(|(names, _)| names.join(",")).unwrap_or_default()
    }

    const IMPORTED: &str =
        r#"{"defaultModels": ["json"], "contextPreferences": {"debug": ["json-debug"], "testing": ["json-test"]}}"#;
    const PROJECT: &str = "panel = [\"own\"]\n[contexts.debug]\npanel = [\"own-debug\"]";

    #[test]
    fn the_nearest_choice_wins() {
        let variable = [("TEAM_PANEL", "variable")];
        for (files, variables, flag, context, task, expected) in [
            ([IMPORTED, "", PROJECT], &variable[..], Some("flag"), Some("debug"), "a bug", "flag"),
            ([IMPORTED, "", PROJECT], &variable[..], None, Some("debug"), "a bug", "own-debug"),
            ([IMPORTED, "", PROJECT], &variable[..], None, None, "a bug", "variable"),
            ([IMPORTED, "", PROJECT], &[], None, None, "a bug", "own-debug"),
            ([IMPORTED, "", PROJECT], &[], None, None, "the sky", "own"),
            // The other program's kinds are below any `panel` of ours, unless they are named.
            ([IMPORTED, "", PROJECT], &[], None, None, "a unit test", "own"),
            ([IMPORTED, "", PROJECT], &[], None, Some("testing"), "x", "json-test"),
            ([IMPORTED, "panel = [\"user\"]", ""], &[], None, None, "a bug", "user"),
            ([IMPORTED, "", ""], &[], None, None, "a bug", "json-debug"),
            ([IMPORTED, "", ""], &[], None, None, "the sky", "json"),
            (["", "", "panel = []\n[contexts.debug]\npanel = []"], &[], None, None, "a bug", ""),
            (["", "", ""], &[], None, None, "a bug", ""),
        ] {
            assert_eq!(names(chosen(files, variables, flag, context, task)), expected, "{context:?} {task}");
        }
    }

    #[test]
    fn a_kind_of_the_users_own_has_words_of_its_own_and_takes_the_place_of_known_ones() {
        let own = "[contexts.sql]\npanel = [\"a\"]\nwords = [\"query\"]\n[contexts.debug]\npanel = [\"b\"]\nwords = [\"oops\"]";
        assert_eq!(names(chosen(["", "", own], &[], None, None, "A slow query")), "a");
        assert_eq!(names(chosen(["", "", own], &[], None, None, "a bug")), "", "its list was replaced");
        assert_eq!(names(chosen(["", "", own], &[], None, None, "oops")), "b");
    }

    #[test]
    fn what_chose_is_told() {
        let told = |files, context, task| chosen(files, &[], None, context, task).unwrap().unwrap().1;
        assert_eq!(
            told(["", "", PROJECT], None, "a bug, a crash"),
            "`[contexts.debug]` of `/p/team.toml`, chosen by the task's words: bug, crash"
        );
        assert_eq!(told(["", "", PROJECT], Some("debug"), ""), "`[contexts.debug]` of `/p/team.toml`");
        assert_eq!(told(["", "", PROJECT], None, "sky"), "`panel` of `/p/team.toml`");
        assert_eq!(told([IMPORTED, "", ""], None, "sky"), "`defaultModels` of `/p/.claude/multimodel-team.json`");
    }

    #[test]
    fn a_kind_without_a_panel_cannot_be_named() {
        let wrong = |name| chosen(["", "", PROJECT], &[], None, Some(name), "").unwrap_err();
        assert!(wrong("debgu").contains("`debgu`"));
        assert!(wrong("testing").contains("no panel is configured for `testing`"), "its words alone are no panel");
    }
}
