//! `.claude/multimodel-team.json`, the preferences of an earlier program, as a layer below the project's `team.toml`.
//!
//! It is another program's file: keys that are not understood are its own affair, and a broken one is a warning. Its
//! model names are OpenRouter ids (`x-ai/grok-4`) or names of ours; an id `vendor/model` is read as
//! `openrouter@vendor/model`.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table, Value};

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Preferences {
    default_models: Vec<String>,
    default_threshold: Option<serde_json::Value>,
    context_preferences: BTreeMap<String, Vec<String>>,
    custom_aliases: BTreeMap<String, String>,
}

/// Reads the text; the error says what cannot be read.
pub(super) fn read(text: &str) -> Result<Table, String> {
    let preferences: Preferences = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let aliases = &preferences.custom_aliases;
    let list = |names: &[String]| -> Value {
        names.iter().map(|name| Value::String(translated(name, aliases))).collect::<Vec<_>>().into()
    };
    let mut table = Table::new();
    if !preferences.default_models.is_empty() {
        table.insert("panel".into(), list(&preferences.default_models));
    }
    match preferences.default_threshold {
        Some(serde_json::Value::String(text)) => drop(table.insert("threshold".into(), text.into())),
        Some(serde_json::Value::Number(number)) => {
            if let Some(number) = number.as_f64() {
                table.insert("threshold".into(), number.into());
            }
        }
        _ => {}
    }
    let models: Table = aliases
        .iter()
        .map(|(alias, name)| {
            (alias.clone(), Table::from_iter([("use".to_owned(), translated(name, aliases).into())]).into())
        })
        .collect();
    if !models.is_empty() {
        table.insert("models".into(), models.into());
    }
    let contexts: Table = preferences
        .context_preferences
        .iter()
        .map(|(context, names)| (context.clone(), Table::from_iter([("panel".to_owned(), list(names))]).into()))
        .collect();
    if !contexts.is_empty() {
        table.insert("contexts".into(), contexts.into());
    }
    Ok(table)
}

fn translated(name: &str, aliases: &BTreeMap<String, String>) -> String {
    let is_id = name.contains('/') && !name.contains('@') && !aliases.contains_key(name);
    // `opencode:provider/model` and the like carry their own prefix; an id's own `:free` comes after the slash.
    let has_prefix = name.split('/').next().is_some_and(|vendor| vendor.contains(':'));
    if is_id && !has_prefix { format!("openrouter@{name}") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferences_become_settings() {
        let table = read(
            r#"{"schemaVersion": "1.0.0", "defaultModels": ["internal", "x-ai/grok-4", "fast"], "defaultThreshold": "majority",
                "contextPreferences": {"debug": ["fast"]}, "customAliases": {"fast": "z-ai/glm-4:free"}}"#,
        )
        .unwrap();
        insta::assert_snapshot!(toml::to_string(&table).unwrap(), @r#"
        panel = ["internal", "openrouter@x-ai/grok-4", "fast"]
        threshold = "majority"

        [contexts.debug]
        panel = ["fast"]

        [models.fast]
        use = "openrouter@z-ai/glm-4:free"
        "#);
    }

    #[test]
    fn a_broken_file_says_where() {
        assert!(read("{").unwrap_err().contains("line 1"));
        assert!(read(r#"{"defaultModels": "x"}"#).is_err());
    }
}
