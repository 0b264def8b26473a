//! What the tool `team` takes: each argument with its type, and which mode takes which.

use std::num::NonZeroU32;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::closed::{check_known, check_names, listed, schema_of, text_of, typed, without_nulls};
use crate::config::{Limit, SelfVote, Threshold};
use crate::error::{Error, Result};
use crate::findings::FindingId;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mode {
    /// Ask every model of the panel; returns at once.
    Run,
    /// Let judges vote blind on a finished run; waits for the verdict.
    Judge,
    /// Ask, then vote; waits for the verdict.
    RunAndJudge,
    /// Let every model approve or reject a text; waits for the verdict.
    Vote,
    /// How far a session is.
    Status,
    /// Stop a session, or one slot of it.
    Cancel,
    /// The sessions, the newest first.
    List,
    /// The verdict, or one slot's answer.
    Show,
    /// Whether a session's folder still is what its record says.
    Verify,
    /// Go on with what was cut off; returns at once.
    Resume,
}

impl Mode {
    const ALL: [Self; 10] = [
        Self::Run,
        Self::Judge,
        Self::RunAndJudge,
        Self::Vote,
        Self::Status,
        Self::Cancel,
        Self::List,
        Self::Show,
        Self::Verify,
        Self::Resume,
    ];

    /// The name on the wire and on the command line.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Judge => "judge",
            Self::RunAndJudge => "run-and-judge",
            Self::Vote => "vote",
            Self::Status => "status",
            Self::Cancel => "cancel",
            Self::List => "list",
            Self::Show => "show",
            Self::Verify => "verify",
            Self::Resume => "resume",
        }
    }

    /// The arguments that this mode has a use for.
    const fn takes(self) -> &'static [&'static str] {
        match self {
            Self::Run => &[
                "input",
                "input_file",
                "models",
                "require_pattern",
                "min_output_bytes",
                "path",
                "name",
                "workspace",
                "timeout",
                "detach",
            ],
            Self::RunAndJudge => &[
                "input",
                "input_file",
                "models",
                "judges",
                "self_vote",
                "require_pattern",
                "min_output_bytes",
                "path",
                "name",
                "workspace",
                "timeout",
                "detach",
            ],
            Self::Vote => {
                &["input", "input_file", "models", "threshold", "quorum", "path", "name", "timeout", "detach"]
            }
            Self::Judge => &["path", "judges", "self_vote", "timeout", "detach"],
            Self::Resume => &["path", "failed", "timeout", "detach"],
            Self::Status => &["path", "reveal"],
            Self::Show => &["path", "slot", "finding", "reveal"],
            Self::Cancel => &["path", "slot"],
            Self::Verify => &["path"],
            Self::List => &["limit"],
        }
    }
}

/// The arguments of the tool `team`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// What is to be done.
    pub(super) mode: Mode,
    /// `run`, `run-and-judge`, `vote`: the text that every model receives, byte for byte. Give this or `input_file`.
    pub(super) input: Option<String>,
    /// The same from a file below the working directory.
    pub(super) input_file: Option<String>,
    /// `run`, `run-and-judge`, `vote`: the models, such as `claude`, `codex:MODEL`, `ollama@MODEL` [default: the
    /// configured panel].
    pub(super) models: Option<Vec<String>>,
    /// `judge`, `run-and-judge`: the models that vote on the answers [default: the panel].
    pub(super) judges: Option<Vec<String>>,
    /// `judge`, `run-and-judge`: hide from a judge the answers of its own model, only that of its own seat, or include
    /// all [default: `model`].
    pub(super) self_vote: Option<SelfVote>,
    /// `vote`: the bar, `majority`, `supermajority`, `unanimous`, or `N%` of the valid votes [default: `majority`].
    #[schemars(with = "Option<String>", regex(pattern = r"^(majority|supermajority|unanimous|[1-9][0-9]?%|100%)$"))]
    #[serde(default, deserialize_with = "text_of")]
    pub(super) threshold: Option<Threshold>,
    /// `vote`: how many valid votes it takes [default: two, and more than half of the panel].
    pub(super) quorum: Option<NonZeroU32>,
    /// `run`, `run-and-judge`: a regular expression; an answer without a match counts as empty.
    pub(super) require_pattern: Option<String>,
    /// `run`, `run-and-judge`: an answer of fewer bytes counts as empty.
    pub(super) min_output_bytes: Option<u64>,
    /// A session: its id, the beginning of it, its folder, or `latest`. With `run`, `run-and-judge` and `vote`: a folder
    /// below the working directory to make the session in.
    pub(super) path: Option<String>,
    /// `show`, `cancel`: only this slot, such as `02`.
    pub(super) slot: Option<String>,
    /// `show`: only this finding of a review or a fix, such as `F01`, in full.
    #[schemars(with = "Option<String>")]
    pub(super) finding: Option<FindingId>,
    /// `run`, `run-and-judge`, `vote`: a word for the session's name.
    pub(super) name: Option<String>,
    /// `run`, `run-and-judge`: a folder below the working directory; the programs of the panel may read a snapshot of it.
    pub(super) workspace: Option<String>,
    /// The longest that a slot may take, such as `10m` [default: no limit].
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "text_of")]
    pub(super) timeout: Option<Limit>,
    /// Whether what is started goes on when this server ends; otherwise it is stopped then, and `resume` goes on with it
    /// [default: false].
    pub(super) detach: Option<bool>,
    /// `resume`: also ask the slots again that ended with an error of their own [default: false].
    pub(super) failed: Option<bool>,
    /// `status`, `show`: name the models although there is no verdict yet; the record keeps that you did
    /// [default: false].
    pub(super) reveal: Option<bool>,
    /// `list`: the most sessions to list [default: 20].
    pub(super) limit: Option<NonZeroU32>,
}

impl Arguments {
    /// Reads them. A `null` is an argument that was not given.
    ///
    /// # Errors
    /// A name, a type or a value is wrong, or an argument is none of this mode's.
    pub(super) fn read(given: JsonObject) -> Result<Self> {
        let given = without_nulls(given);
        check_known("team", &given, &known(), |_| None)?;
        if !given.contains_key("mode") {
            let modes: Vec<&str> = Mode::ALL.map(Mode::as_str).to_vec();
            return Err(Error::usage("`mode` is missing").hint(format!("it is one of {}", listed(&modes))));
        }
        let names: Vec<String> = given.keys().cloned().collect();
        let arguments: Self = typed(given)?;
        let mode = arguments.mode;
        if let Some(name) = names.iter().find(|name| *name != "mode" && !mode.takes().contains(&name.as_str())) {
            let others: Vec<&str> =
                Mode::ALL.into_iter().filter(|mode| mode.takes().contains(&name.as_str())).map(Mode::as_str).collect();
            return Err(Error::usage(format!("the mode `{}` has no use for `{name}`", mode.as_str()))
                .hint(format!("`{name}` is for {}", listed(&others)))
                .hint(format!("`{}` takes {}", mode.as_str(), listed(mode.takes()))));
        }
        for (name, list) in [("models", &arguments.models), ("judges", &arguments.judges)] {
            check_names(name, list.as_deref())?;
        }
        Ok(arguments)
    }

    /// Whether there is one of this name.
    pub(super) fn has(name: &str) -> bool {
        known().contains(&name)
    }

    /// Their schema, as a client reads it.
    pub(super) fn schema() -> JsonObject {
        schema_of::<Self>(&known())
    }
}

/// Every argument, as the types name it.
fn known() -> Vec<&'static str> {
    let mut known = vec!["mode"];
    for name in Mode::ALL.into_iter().flat_map(Mode::takes) {
        if !known.contains(name) {
            known.push(name);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(value: Value) -> Result<Arguments> {
        let Value::Object(object) = value else { panic!("no object") };
        Arguments::read(object)
    }

    fn refused(value: Value) -> String {
        let error = read(value).unwrap_err();
        error.hints().iter().fold(error.to_string(), |text, hint| format!("{text}; {hint}"))
    }

    #[test]
    fn the_schema_is_closed_has_no_null_and_names_every_argument() {
        let schema = Value::Object(Arguments::schema());
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
        assert_eq!(schema["required"], json!(["mode"]));
        let text = schema.to_string();
        assert!(
            !text.contains("null") && !text.contains("$ref") && !text.contains("Of\":") && !text.contains("format"),
            "{text}"
        );
        let mut properties: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut known = known();
        properties.sort_unstable();
        known.sort_unstable();
        assert_eq!(properties, known);
        for (name, property) in schema["properties"].as_object().unwrap() {
            let described = property["description"].as_str().is_some_and(|text| !text.contains('\n'));
            assert!(property["type"].is_string() && described, "{name}: {property}");
        }
        let modes: Vec<&str> = Mode::ALL.map(Mode::as_str).to_vec();
        assert_eq!(schema["properties"]["mode"]["enum"], json!(modes));
        assert_eq!(schema["properties"]["self_vote"]["enum"], json!(["model", "slot", "include"]));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place_and_what_would_be_right() {
        for (given, expected) in [
            (json!({}), "`mode` is missing; it is one of `run`, `judge`"),
            (json!({"mode": "ran"}), "`mode`: unknown variant `ran`, expected one of `run`"),
            (json!({"mode": 3}), "`mode`: invalid type: integer `3`"),
            (json!({"mode": "run", "modles": ["a"]}), "`modles` is no argument of `team`; did you mean `models`?"),
            (json!({"mode": "run", "zzz": 1}), "`zzz` is no argument of `team`; it takes `mode`, `input`"),
            (json!({"mode": "run", "models": "a,b"}), "`models`: invalid type: string \"a,b\", expected a sequence"),
            (json!({"mode": "run", "models": ["a", 3]}), "`models[1]`: invalid type: integer `3`, expected a string"),
            (json!({"mode": "run", "models": []}), "`models` is empty"),
            (json!({"mode": "run", "models": ["a,b"]}), "`models[0]`: `a,b` is more than one name"),
            (json!({"mode": "judge", "judges": [" "]}), "`judges[0]` is empty"),
            (json!({"mode": "run", "min_output_bytes": -1}), "`min_output_bytes`: invalid value: integer `-1`"),
            (json!({"mode": "run", "detach": "yes"}), "`detach`: invalid type: string \"yes\", expected a boolean"),
            (json!({"mode": "vote", "threshold": "most"}), "`threshold`: `most` is none of `majority`"),
            (json!({"mode": "vote", "threshold": 50}), "`threshold`: invalid type: integer `50`, expected a string"),
            (json!({"mode": "run", "timeout": "soon"}), "`timeout`: "),
            (
                json!({"mode": "run", "threshold": "50%"}),
                "the mode `run` has no use for `threshold`; `threshold` is for `vote`",
            ),
            (json!({"mode": "status", "slot": "01"}), "has no use for `slot`; `slot` is for `cancel`, `show`"),
        ] {
            let said = refused(given.clone());
            assert!(said.starts_with(expected) || said.contains(expected), "{given}: {said}");
        }
    }

    #[test]
    fn a_null_is_not_given() {
        let read = read(json!({"mode": "status", "models": null, "path": null})).unwrap();
        assert_eq!((read.mode, read.path), (Mode::Status, None));
    }
}
