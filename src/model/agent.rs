//! The programs that are known by name: what each is called, prints and takes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::OutputFormat;

/// A program whose arguments, prompt and output are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AgentKind {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// claudish: Claude Code in front of another provider's model.
    Claudish,
    /// `llm`: one prompt to a model of any of its plug-ins.
    Llm,
    /// A command of the user's.
    Custom,
}

/// A setting of `[models.x]` that not everything that can be asked takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Setting {
    /// `temperature`.
    Temperature,
    /// `top_p`.
    TopP,
    /// `seed`.
    Seed,
    /// `max_tokens`.
    MaxTokens,
    /// `reasoning_effort`.
    ReasoningEffort,
    /// `system`.
    System,
    /// `env`.
    Env,
}

impl Setting {
    /// Every one of them.
    pub const ALL: [Self; 7] =
        [Self::Temperature, Self::TopP, Self::Seed, Self::MaxTokens, Self::ReasoningEffort, Self::System, Self::Env];

    /// The key in `team.toml`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Temperature => "temperature",
            Self::TopP => "top_p",
            Self::Seed => "seed",
            Self::MaxTokens => "max_tokens",
            Self::ReasoningEffort => "reasoning_effort",
            Self::System => "system",
            Self::Env => "env",
        }
    }
}

impl AgentKind {
    /// Those that have a name.
    pub const KNOWN: [Self; 6] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode, Self::Claudish, Self::Llm];

    /// The one whose program is called `program`; [`Custom`](Self::Custom) where none is.
    #[must_use]
    pub fn of_program(program: &str) -> Self {
        Self::KNOWN.into_iter().find(|agent| agent.program() == Some(program)).unwrap_or(Self::Custom)
    }

    /// The program, which is also the name by which it is asked.
    #[must_use]
    pub const fn program(self) -> Option<&'static str> {
        match self {
            Self::Claude => Some("claude"),
            Self::Codex => Some("codex"),
            Self::Gemini => Some("gemini"),
            Self::Opencode => Some("opencode"),
            Self::Claudish => Some("claudish"),
            Self::Llm => Some("llm"),
            Self::Custom => None,
        }
    }

    /// The form of a name: `claude[:MODEL]`.
    #[must_use]
    pub const fn form(self) -> &'static str {
        match self {
            Self::Claude => "claude[:MODEL]",
            Self::Codex => "codex[:MODEL]",
            Self::Gemini => "gemini[:MODEL]",
            Self::Opencode => "opencode[:PROVIDER/MODEL]",
            Self::Claudish => "claudish:MODEL",
            Self::Llm => "llm:MODEL",
            Self::Custom => "an alias with a `command`",
        }
    }

    /// Whether it has no model of its own choice, so that one must be named.
    #[must_use]
    pub const fn needs_model(self) -> bool {
        matches!(self, Self::Claudish | Self::Llm)
    }

    /// What it prints; a command of the user's says so itself.
    #[must_use]
    pub const fn output(self) -> OutputFormat {
        match self {
            Self::Claude | Self::Claudish => OutputFormat::ClaudeStreamJson,
            Self::Codex => OutputFormat::CodexJson,
            Self::Gemini => OutputFormat::GeminiJson,
            Self::Opencode => OutputFormat::OpencodeJson,
            Self::Llm | Self::Custom => OutputFormat::Text,
        }
    }

    /// Whether it can be told `setting`.
    #[must_use]
    pub const fn takes(self, setting: Setting) -> bool {
        match (self, setting) {
            (_, Setting::Env)
            | (Self::Claude | Self::Claudish, Setting::MaxTokens | Setting::ReasoningEffort | Setting::System)
            | (Self::Codex | Self::Opencode, Setting::ReasoningEffort | Setting::System)
            | (Self::Gemini, Setting::System)
            // Its options have the names of our settings in most of its plug-ins; the others refuse them by name.
            | (Self::Llm, _) => true,
            (
                Self::Claude | Self::Codex | Self::Gemini | Self::Opencode | Self::Claudish | Self::Custom,
                _,
            ) => false,
        }
    }

    /// Names of variables that usually hold its key, whatever model it is asked for; see also [`Self::keys_for`].
    #[must_use]
    pub const fn key_variables(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
            Self::Codex => &["OPENAI_API_KEY", "CODEX_API_KEY"],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::Opencode | Self::Claudish | Self::Llm | Self::Custom => &[],
        }
    }

    /// Who makes it, and its full name: as telling as the name of the program.
    #[must_use]
    pub const fn other_names(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["Anthropic", "Claude Code"],
            Self::Codex => &["OpenAI"],
            Self::Gemini => &["Google", "Gemini CLI"],
            Self::Claudish => &["Claude Code", "claude"],
            Self::Opencode | Self::Llm | Self::Custom => &[],
        }
    }

    /// What only this program tells a person to do, so that it names the program without its name.
    #[must_use]
    pub const fn phrases(self) -> &'static [&'static str] {
        match self {
            Self::Claude | Self::Claudish => &["/login"],
            Self::Gemini => &["/auth"],
            Self::Llm => &["llm keys set", "keys set"],
            Self::Codex | Self::Opencode | Self::Custom => &[],
        }
    }

    /// Where it is had.
    #[must_use]
    pub const fn install_hint(self) -> &'static str {
        match self {
            Self::Claude => "install it: https://code.claude.com",
            Self::Codex => "install it: https://developers.openai.com/codex",
            Self::Gemini => "install it: https://geminicli.com",
            Self::Opencode => "install it: https://opencode.ai",
            Self::Claudish => "install it: https://claudish.com",
            Self::Llm => "install it: https://llm.datasette.io",
            Self::Custom => "`command` in its `[models.x]` names the program",
        }
    }
}
