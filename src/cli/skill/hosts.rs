//! The programs that a coding agent runs in: where each keeps its skills and its MCP servers, and in which form.

use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;
use serde_json::ser::PrettyFormatter;
use serde_json::{Map, Value, json};
use toml_edit::{Array, DocumentMut, Item, Table, value};

use crate::config::Environment;
use crate::slots::agents::locate;

/// The server's name in the settings.
const SERVER: &str = "team";

/// How long a host may wait for a call: a verdict takes as long as its slowest model. In seconds.
const PATIENCE: i64 = 3600;

/// A program that a coding agent runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Host {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
}

/// Why the settings of a host cannot be changed.
#[derive(Debug, thiserror::Error)]
pub(super) enum HostError {
    /// It is not JSON; comments are none.
    #[error("it cannot be read as JSON")]
    Json(#[source] serde_json::Error),
    /// It is not TOML.
    #[error("it cannot be read as TOML")]
    Toml(#[source] toml_edit::TomlError),
    /// A key holds something else than an object.
    #[error("`{0}` in it is no table of servers")]
    Shape(&'static str),
}

impl Host {
    /// Every one.
    pub(super) const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode];

    /// The program.
    const fn program(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    /// The folder in the project that it reads skills from.
    pub(super) const fn skills(self) -> &'static str {
        match self {
            Self::Claude => ".claude/skills",
            // Several programs share this one.
            Self::Codex | Self::Gemini | Self::Opencode => ".agents/skills",
        }
    }

    /// The file in the project that names its MCP servers.
    pub(super) const fn settings(self) -> &'static str {
        match self {
            Self::Claude => ".mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Gemini => ".gemini/settings.json",
            Self::Opencode => "opencode.json",
        }
    }

    /// Another name of the same file, with comments, which is read instead.
    pub(super) const fn settings_with_comments(self) -> Option<&'static str> {
        match self {
            Self::Opencode => Some("opencode.jsonc"),
            Self::Claude | Self::Codex | Self::Gemini => None,
        }
    }

    /// What else is to be done before it starts the server.
    pub(super) const fn note(self) -> Option<&'static str> {
        match self {
            Self::Claude => Some("`claude` asks once whether it may use the servers of `.mcp.json`"),
            Self::Codex => Some("`codex` reads `.codex/config.toml` in projects that are trusted"),
            Self::Gemini => Some("`gemini` reads `.gemini/settings.json` in folders that are trusted"),
            Self::Opencode => None,
        }
    }

    /// Whether it is used here: its program is found, or the project has settings of it.
    pub(super) fn is_used(self, project: &Path, environment: &Environment) -> bool {
        let folder = self.settings().split_once('/').map_or(self.settings(), |(folder, _)| folder);
        locate(self.program(), environment).is_some() || project.join(folder).exists()
    }

    /// The settings with the server in them; unchanged text where it is there already.
    pub(super) fn with_server(self, text: &str, command: &str) -> Result<String, HostError> {
        match self {
            Self::Codex => in_toml(text, command),
            Self::Claude => in_json(text, "mcpServers", &json!({"command": command, "args": ["mcp"]})),
            Self::Gemini => {
                let server = json!({"command": command, "args": ["mcp"], "timeout": PATIENCE * 1000});
                in_json(text, "mcpServers", &server)
            }
            Self::Opencode => {
                let server = json!({"type": "local", "command": [command, "mcp"], "enabled": true});
                in_json(text, "mcp", &server)
            }
        }
    }
}

/// Adds `server` to the object `key`. One of this name that starts the same command is left as its user has it.
fn in_json(text: &str, key: &'static str, server: &Value) -> Result<String, HostError> {
    let mut all: Map<String, Value> = match text.trim() {
        "" => Map::new(),
        text => serde_json::from_str(text).map_err(HostError::Json)?,
    };
    let servers = all.entry(key).or_insert_with(|| json!({}));
    let servers = servers.as_object_mut().ok_or(HostError::Shape(key))?;
    match servers.get_mut(SERVER) {
        Some(there) => {
            if ["command", "args"].iter().all(|part| there.get(part) == server.get(part)) {
                return Ok(text.to_owned());
            }
            let there = there.as_object_mut().ok_or(HostError::Shape(key))?;
            for part in ["command", "args"] {
                match server.get(part) {
                    Some(value) => drop(there.insert(part.to_owned(), value.clone())),
                    None => drop(there.shift_remove(part)),
                }
            }
        }
        None => drop(servers.insert(SERVER.to_owned(), server.clone())),
    }
    Ok(pretty(&all, indent(text)))
}

/// How the text is indented: as its first line that is.
fn indent(text: &str) -> &str {
    let blank = |line: &&str| line.starts_with([' ', '\t']) && !line.trim().is_empty();
    let line = text.lines().find(blank).unwrap_or("  x");
    &line[..line.len() - line.trim_start().len()]
}

fn pretty(value: &impl Serialize, indent: &str) -> String {
    let mut out = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut out, PrettyFormatter::with_indent(indent.as_bytes()));
    // A map of strings to JSON can be written, and to memory.
    value.serialize(&mut writer).ok();
    String::from_utf8_lossy(&out).into_owned() + "\n"
}

fn in_toml(text: &str, command: &str) -> Result<String, HostError> {
    const KEY: &str = "mcp_servers";
    let mut document: DocumentMut = text.parse().map_err(HostError::Toml)?;
    let servers = document.entry(KEY).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_like_mut().ok_or(HostError::Shape(KEY))?;
    let is_new = !servers.contains_key(SERVER);
    let server = servers.entry(SERVER).or_insert_with(|| Item::Table(Table::new()));
    let server = server.as_table_like_mut().ok_or(HostError::Shape(KEY))?;
    let arguments: Array = ["mcp"].into_iter().collect();
    let is_there = server.get("command").and_then(Item::as_str) == Some(command)
        && server.get("args").map(|args| args.to_string().trim().to_owned()) == Some(arguments.to_string());
    if is_there {
        return Ok(text.to_owned());
    }
    server.insert("command", value(command));
    server.insert("args", value(arguments));
    if is_new {
        server.insert("tool_timeout_sec", value(PATIENCE));
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_has_the_server_and_nothing_else() {
        let made: Vec<String> = Host::ALL.into_iter().map(|host| host.with_server("", "team").unwrap()).collect();
        insta::assert_snapshot!(made.join("---\n"), @r#"
        {
          "mcpServers": {
            "team": {
              "command": "team",
              "args": [
                "mcp"
              ]
            }
          }
        }
        ---
        [mcp_servers.team]
        command = "team"
        args = ["mcp"]
        tool_timeout_sec = 3600
        ---
        {
          "mcpServers": {
            "team": {
              "command": "team",
              "args": [
                "mcp"
              ],
              "timeout": 3600000
            }
          }
        }
        ---
        {
          "mcp": {
            "team": {
              "type": "local",
              "command": [
                "team",
                "mcp"
              ],
              "enabled": true
            }
          }
        }
        "#);
        for (host, text) in Host::ALL.into_iter().zip(&made) {
            assert_eq!(host.with_server(text, "team").unwrap(), *text, "{host:?}: a second time changes nothing");
        }
    }

    #[test]
    fn what_a_user_has_is_kept_in_its_order_and_form() {
        let json = "{\n    \"theme\": \"dark\",\n    \"mcpServers\": {\n        \"other\": {\n            \"command\": \"x\"\n        }\n    }\n}\n";
        let changed = Host::Gemini.with_server(json, "team").unwrap();
        assert!(changed.starts_with(&json[..json.len() - "\n    }\n}\n".len()]), "{changed}");
        let toml = "# mine\nmodel = \"x\" # kept\n\n[mcp_servers.other]\ncommand = \"y\"\n";
        let changed = Host::Codex.with_server(toml, "team").unwrap();
        assert!(changed.starts_with(toml) && changed.contains("\n[mcp_servers.team]\n"), "{changed}");
    }

    #[test]
    fn a_server_of_this_name_keeps_its_other_settings() {
        let json = "{\"mcpServers\": {\"team\": {\"command\": \"/old/team\", \"args\": [], \"env\": {\"A\": \"b\"}}}}";
        let changed: Value = serde_json::from_str(&Host::Claude.with_server(json, "team").unwrap()).unwrap();
        let server = json!({"command": "team", "args": ["mcp"], "env": {"A": "b"}});
        assert_eq!(changed["mcpServers"]["team"], server);
        let toml = "[mcp_servers.team]\ncommand = \"/old/team\"\nargs = [\"mcp\"]\ntool_timeout_sec = 9\n";
        let changed = Host::Codex.with_server(toml, "team").unwrap();
        assert_eq!(changed, toml.replace("/old/team", "team"));
    }

    #[test]
    fn what_cannot_be_read_is_not_changed() {
        for (host, text) in [
            (Host::Claude, "{ // comment\n}"),
            (Host::Claude, "[]"),
            (Host::Gemini, "{\"mcpServers\": []}"),
            (Host::Opencode, "{\"mcp\": {\"team\": 1}}"),
            (Host::Codex, "a = "),
            (Host::Codex, "mcp_servers = 1"),
        ] {
            assert!(host.with_server(text, "team").is_err(), "{host:?}: {text}");
        }
    }
}
