//! `team config`: the effective settings, each with where it comes from.

use serde::Serialize;

use super::context::Context;
use crate::config::{Config, EffectiveValue, Origin};
use crate::error::{Error, ExitCode};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    version: u32,
    files: Vec<String>,
    sessions_dir: String,
    values: Vec<ShownValue<'a>>,
}

#[derive(Serialize)]
struct ShownValue<'a> {
    key: String,
    value: &'a toml::Value,
    layer: &'static str,
    from: String,
}

/// Prints the settings.
pub(super) fn config(context: &Context) -> Result<ExitCode, Error> {
    let config = context.load(context.global.settings())?;
    if context.global.json {
        context.printer.json(&shown(&config))?;
    } else {
        context.printer.document(&text(&config))?;
        if config.files().is_empty() {
            context.printer.note("no settings file was found here: `team init` writes a `team.toml`");
        }
        if let Some(path) = config.user_file() {
            context.printer.detail(format!("settings for all projects: `{}`", path.display()));
        }
    }
    Ok(ExitCode::DONE)
}

fn shown(config: &Config) -> Shown<'_> {
    Shown {
        version: 1,
        files: config.files().iter().map(Origin::to_string).collect(),
        sessions_dir: config.settings().sessions_dir.display().to_string(),
        values: config
            .values()
            .map(|value| ShownValue {
                key: key_text(value.keys),
                value: value.value,
                layer: value.origin.layer(),
                from: value.origin.to_string(),
            })
            .collect(),
    }
}

/// Lines `key = value  # from`; endpoints that nobody touched are left to `team models`, and the words of the known kinds of
/// task to `--json`.
fn text(config: &Config) -> String {
    let touched = |value: &EffectiveValue<'_>| {
        *value.origin != Origin::BuiltIn || value.keys.first().is_none_or(|key| key != "providers" && key != "contexts")
    };
    let lines: Vec<(String, String)> = config
        .values()
        .filter(touched)
        .map(|value| (format!("{} = {}", key_text(value.keys), one_line(value.value)), value.origin.to_string()))
        .collect();
    let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0).min(60);
    lines.iter().map(|(line, origin)| format!("{line:width$}  # {origin}\n")).collect()
}

/// The value as it could stand in a file, on one line.
fn one_line(value: &toml::Value) -> String {
    match value {
        // JSON's string form is a TOML basic string too, and never has a line break.
        toml::Value::String(text) => serde_json::Value::from(text.as_str()).to_string(),
        toml::Value::Array(items) => format!("[{}]", items.iter().map(one_line).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

fn key_text(keys: &[String]) -> String {
    let bare = |key: &String| {
        let is_bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if is_bare { key.clone() } else { serde_json::Value::from(key.as_str()).to_string() }
    };
    keys.iter().map(bare).collect::<Vec<_>>().join(".")
}
