//! Layers of settings, laid over each other key by key.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use toml::{Table, Value};

/// Where an effective value came from, lowest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Part of the program.
    BuiltIn,
    /// `.claude/multimodel-team.json`, of another program.
    Imported(PathBuf),
    /// The user's file.
    User(PathBuf),
    /// The project's `team.toml`.
    Project(PathBuf),
    /// An environment variable of this name.
    Variable(String),
    /// The command line.
    Flag,
}

impl Origin {
    /// The layer's name, as `team config --json` prints it.
    #[must_use]
    pub const fn layer(&self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::User(_) => "user",
            Self::Imported(_) => "imported",
            Self::Project(_) => "project",
            Self::Variable(_) => "environment",
            Self::Flag => "flag",
        }
    }

    /// The file, where it is one.
    #[must_use]
    pub fn file(&self) -> Option<&std::path::Path> {
        match self {
            Self::User(path) | Self::Imported(path) | Self::Project(path) => Some(path),
            Self::BuiltIn | Self::Variable(_) | Self::Flag => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::User(path) | Self::Imported(path) | Self::Project(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => write!(f, "${name}"),
            Self::Flag => f.write_str("command line"),
        }
    }
}

/// The settings merged so far, and where each value came from.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Layers {
    pub(super) table: Table,
    /// By the keys that lead to a value which is not a table.
    pub(super) origins: BTreeMap<Vec<String>, Origin>,
}

impl Layers {
    /// Lays `layer` over what is there: tables key by key, everything else (lists too) replaced as a whole.
    pub(super) fn lay(&mut self, layer: Table, origin: &Origin) {
        // `use` and `command` exclude each other: the nearer layer's kind of model replaces the other kind.
        for (alias, entry) in layer.get("models").and_then(Value::as_table).into_iter().flatten() {
            let has = |key: &str| entry.get(key).is_some();
            let replaced: &[&str] = match (has("use"), has("command")) {
                (true, false) => &["command", "prompt", "output"],
                (false, true) => &["use"],
                _ => &[],
            };
            for key in replaced {
                self.remove(&["models", alias, key]);
            }
        }
        merge(&mut self.table, layer, &mut Vec::new(), &mut self.origins, origin);
    }

    /// Where the value at `keys` came from.
    pub(super) fn origin(&self, keys: &[&str]) -> Option<&Origin> {
        self.origins.iter().find(|(known, _)| known.iter().map(String::as_str).eq(keys.iter().copied())).map(|(_, o)| o)
    }

    fn remove(&mut self, keys: &[&str]) {
        let Some((last, parents)) = keys.split_last() else { return };
        let mut table = &mut self.table;
        for key in parents {
            match table.get_mut(*key) {
                Some(Value::Table(inner)) => table = inner,
                _ => return,
            }
        }
        table.remove(*last);
        self.origins.retain(|known, _| !known.iter().map(String::as_str).eq(keys.iter().copied()));
    }
}

fn merge(
    into: &mut Table,
    from: Table,
    at: &mut Vec<String>,
    origins: &mut BTreeMap<Vec<String>, Origin>,
    origin: &Origin,
) {
    for (key, value) in from {
        at.push(key.clone());
        match (into.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => merge(below, above, at, origins, origin),
            (_, Value::Table(above)) => {
                origins.retain(|known, _| !known.starts_with(at));
                let mut fresh = Table::new();
                merge(&mut fresh, above, at, origins, origin);
                into.insert(key, Value::Table(fresh));
            }
            (_, value) => {
                origins.retain(|known, _| !known.starts_with(at));
                origins.insert(at.clone(), origin.clone());
                into.insert(key, value);
            }
        }
        at.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(texts: &[(&str, Origin)]) -> Layers {
        let mut layers = Layers::default();
        for (text, origin) in texts {
            layers.lay(toml::from_str(text).unwrap(), origin);
        }
        layers
    }

    fn user() -> Origin {
        Origin::User("u".into())
    }

    fn project() -> Origin {
        Origin::Project("p".into())
    }

    #[test]
    fn tables_are_merged_key_by_key_and_lists_are_replaced() {
        let merged = layers(&[
            ("panel = [\"a\", \"b\"]\njobs = 2\n[models.x]\nuse = \"a\"\nseed = 1", user()),
            ("panel = [\"c\"]\n[models.x]\nseed = 2", project()),
        ]);
        assert_eq!(
            merged.table,
            toml::from_str("panel = [\"c\"]\njobs = 2\n[models.x]\nuse = \"a\"\nseed = 2").unwrap()
        );
        assert_eq!(merged.origin(&["panel"]), Some(&project()));
        assert_eq!(merged.origin(&["jobs"]), Some(&user()));
        assert_eq!(merged.origin(&["models", "x", "use"]), Some(&user()));
        assert_eq!(merged.origin(&["models", "x", "seed"]), Some(&project()));
    }

    #[test]
    fn a_nearer_command_replaces_a_farther_use_and_the_other_way_round() {
        let merged = layers(&[("[models.x]\nuse = \"a\"", user()), ("[models.x]\ncommand = [\"b\"]", project())]);
        assert_eq!(merged.table, toml::from_str("[models.x]\ncommand = [\"b\"]").unwrap());
        assert_eq!(merged.origin(&["models", "x", "use"]), None);
        let merged = layers(&[
            ("[models.x]\ncommand = [\"b\"]\noutput = \"text\"\nseed = 3", user()),
            ("[models.x]\nuse = \"a\"", project()),
        ]);
        assert_eq!(merged.table, toml::from_str("[models.x]\nuse = \"a\"\nseed = 3").unwrap());
    }
}
