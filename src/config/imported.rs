//! `.claude/multimodel-team.json`, the preferences of an earlier program, as a layer below the project's `team.toml`.
//!
//! It is another program's file: keys that are not understood are its own affair, and a broken one is a warning. Its
//! model names are OpenRouter ids (`x-ai/grok-4`) or names of ours; an id `vendor/model` is read as
//! `openrouter@vendor/model`.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table, Value};

use super::{Percent, Threshold};

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
    if let Some(bar) = preferences.default_threshold {
        let bar = threshold(&bar).map_err(|why| format!("`defaultThreshold`: {why}"))?;
        table.insert("threshold".into(), bar.to_string().into());
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

/// A word, `N%`, or a whole number of percent.
fn threshold(value: &serde_json::Value) -> Result<Threshold, String> {
    match value {
        serde_json::Value::String(text) => text.parse(),
        serde_json::Value::Number(number) => {
            let percent = number.as_u64().and_then(|number| u8::try_from(number).ok()).and_then(Percent::new);
            percent.map(Threshold::Percent).ok_or_else(|| format!("`{number}` is not a whole number from 1 to 100"))
        }
        other => Err(format!("`{other}` is neither a word nor a number of percent")),
    }
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
    fn a_threshold_is_a_word_or_a_number_of_percent_and_another_one_is_told() {
        let threshold = |json: &str| {
            let table = read(&format!(r#"{{"defaultThreshold": {json}}}"#))?;
            Ok::<_, String>(table["threshold"].as_str().unwrap().to_owned())
        };
        assert_eq!(threshold("\"Unanimous\""), Ok("unanimous".to_owned()));
        assert_eq!(threshold("67"), Ok("67%".to_owned()));
        for (json, told) in [("0", "`0`"), ("66.7", "`66.7`"), ("\"most\"", "`most`"), ("[]", "`[]`")] {
            let error = threshold(json).unwrap_err();
            assert!(error.starts_with("`defaultThreshold`: ") && error.contains(told), "{error}");
        }
    }

    #[test]
    fn a_broken_file_says_where() {
        assert!(read("{").unwrap_err().contains("line 1"));
        assert!(read(r#"{"defaultModels": "x"}"#).is_err());
    }
}
