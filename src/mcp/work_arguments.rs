//! What the tools `team_review`, `team_fix` and `team_respond` take.

use std::num::NonZeroU32;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::closed::{check_known, check_names, schema_of, text_of, typed, without_nulls};
use crate::config::{FailOn, Limit, Severity};
use crate::error::{Error, Result};
use crate::findings::FindingId;
use crate::money::Usd;

/// A tool that holds reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Look at it.
    Review,
    /// Look at it, and repair what is found.
    Fix,
}

impl Work {
    /// The command.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Review => "review",
            Self::Fix => "fix",
        }
    }

    /// The tool.
    pub(super) const fn tool(self) -> &'static str {
        match self {
            Self::Review => "team_review",
            Self::Fix => "team_fix",
        }
    }

    /// The arguments that it has a use for.
    const fn takes(self) -> &'static [&'static str] {
        match self {
            Self::Review => &[
                "diff",
                "staged",
                "worktree",
                "plan",
                "paths",
                "intent",
                "intent_file",
                "models",
                "judges",
                "fail_on",
                "quorum",
                "max_cost",
                "timeout",
                "name",
                "path",
                "wait",
                "detach",
            ],
            Self::Fix => &[
                "base",
                "worktree",
                "intent",
                "intent_file",
                "models",
                "judges",
                "fixer",
                "only",
                "severity",
                "max_rounds",
                "yes",
                "fail_on",
                "quorum",
                "max_cost",
                "timeout",
                "name",
                "wait",
                "detach",
            ],
        }
    }
}

/// The arguments of `team_review` and of `team_fix`; each takes those that it has a use for.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkArguments {
    /// What commits change: `A..B`, `A...B` from where B left A, or `A` for `A...HEAD`.
    pub(super) diff: Option<String>,
    /// What is staged for the next commit [default: false].
    pub(super) staged: Option<bool>,
    /// The branch or commit that the change is to be merged into [default: found from the CI, or from git].
    pub(super) base: Option<String>,
    /// What is not committed, new files included [default: false].
    pub(super) worktree: Option<bool>,
    /// A plan that is to be carried out: a file below the working directory.
    pub(super) plan: Option<String>,
    /// Only these files and folders; without another target, as they are.
    pub(super) paths: Option<Vec<String>>,
    /// What it is meant to do, for the reviewers. Give this or `intent_file`.
    pub(super) intent: Option<String>,
    /// The same from a file below the working directory.
    pub(super) intent_file: Option<String>,
    /// The reviewers, such as `claude`, `codex:MODEL`, `ollama@MODEL` [default: as configured].
    pub(super) models: Option<Vec<String>>,
    /// The models that vote on the findings [default: the reviewers].
    pub(super) judges: Option<Vec<String>>,
    /// Who repairs [default: as configured].
    pub(super) fixer: Option<String>,
    /// Repair only these: ids such as `F01`, or patterns of files.
    pub(super) only: Option<Vec<String>>,
    /// Repair only findings as bad as this.
    #[schemars(with = "Option<String>", regex(pattern = "^(critical|high|medium|low|info)$"))]
    #[serde(default, deserialize_with = "text_of")]
    pub(super) severity: Option<Severity>,
    /// The most rounds of repairs [default: as configured, or 3].
    pub(super) max_rounds: Option<u32>,
    /// Consent to one round of repairs that a person would be asked about. Only if the user said so [default: false].
    pub(super) yes: Option<bool>,
    /// What stops the change, `SEVERITY[:CONSENSUS]`: critical, high, medium, low, info; unanimous, strong, majority,
    /// divergent [default: `high:majority`].
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "text_of")]
    pub(super) fail_on: Option<FailOn>,
    /// The fewest reviewers whose findings can be read [default: two, and more than half].
    pub(super) quorum: Option<NonZeroU32>,
    /// Stop when so many US dollars are spent, as far as prices are known.
    #[schemars(with = "Option<f64>", range(min = 0))]
    pub(super) max_cost: Option<Usd>,
    /// The longest that one model may take, such as `10m` [default: no limit].
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "text_of")]
    pub(super) timeout: Option<Limit>,
    /// A word for the session's name.
    pub(super) name: Option<String>,
    /// A folder below the working directory to make the session in.
    pub(super) path: Option<String>,
    /// Answer when it has ended, with progress, instead of at once [default: false].
    pub(super) wait: Option<bool>,
    /// Whether it goes on when this server ends; otherwise it is stopped then, and can be resumed [default: false].
    pub(super) detach: Option<bool>,
}

impl WorkArguments {
    /// Reads those of a call of `work`.
    ///
    /// # Errors
    /// A name, a type or a value is wrong, or what is to be looked at is said twice.
    pub(super) fn read(work: Work, given: JsonObject) -> Result<Self> {
        let given = without_nulls(given);
        check_known(work.tool(), &given, work.takes(), why_not)?;
        let arguments: Self = typed(given)?;
        check_names("models", arguments.models.as_deref())?;
        check_names("judges", arguments.judges.as_deref())?;
        if let Some(fixer) = &arguments.fixer {
            check_names("fixer", Some(std::slice::from_ref(fixer)))?;
        }
        check_texts("paths", arguments.paths.as_deref())?;
        check_texts("only", arguments.only.as_deref())?;
        for (name, text) in [("diff", &arguments.diff), ("base", &arguments.base)] {
            if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
                return Err(Error::usage(format!("`{name}` is empty")).hint("leave it out for what the branch changes"));
            }
        }
        let targets = [
            ("diff", arguments.diff.is_some()),
            ("staged", arguments.staged == Some(true)),
            ("worktree", arguments.worktree == Some(true)),
            ("plan", arguments.plan.is_some()),
            ("base", arguments.base.is_some()),
        ];
        let named: Vec<&str> = targets.into_iter().filter_map(|(name, given)| given.then_some(name)).collect();
        if let [one, other, ..] = named.as_slice() {
            return Err(Error::usage(format!("`{one}` and `{other}` are two things to look at"))
                .hint("give one; without any it is what the branch changes"));
        }
        if arguments.plan.is_some() && arguments.paths.is_some() {
            return Err(Error::usage("`plan` is one file, so `paths` is of no use").hint("give one of the two"));
        }
        if arguments.intent.is_some() && arguments.intent_file.is_some() {
            return Err(Error::usage("both `intent` and `intent_file` were given")
                .hint("give `intent`, the text, or `intent_file`, a path below the working directory"));
        }
        Ok(arguments)
    }

    /// Whether there is one of this name.
    pub(super) fn has(name: &str) -> bool {
        [Work::Review, Work::Fix].into_iter().any(|work| work.takes().contains(&name))
    }

    /// The schema of those of `work`.
    pub(super) fn schema(work: Work) -> JsonObject {
        schema_of::<Self>(work.takes())
    }
}

/// Why there is no such argument, of those that one might look for.
fn why_not(name: &str) -> Option<&'static str> {
    match name {
        "test" | "tests" | "lint" | "check_timeout" | "scope" | "command" => Some(
            "tests, lint and scope are those of `[fix]` in `team.toml` of the base: what is run is not for a call to say",
        ),
        "mode" => Some("`mode` is for the tool `team`: this one has none"),
        _ => None,
    }
}

/// A list says something, each time.
fn check_texts(argument: &str, texts: Option<&[String]>) -> Result<()> {
    let Some(texts) = texts else { return Ok(()) };
    if texts.is_empty() {
        return Err(Error::usage(format!("`{argument}` is empty")).hint("leave it out for all"));
    }
    match texts.iter().position(|text| text.trim().is_empty()) {
        Some(at) => Err(Error::usage(format!("`{argument}[{at}]` is empty")).hint("leave it out")),
        None => Ok(()),
    }
}

/// How a fix is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum End {
    /// Take what there is.
    Approve,
    /// Leave the rest open.
    Skip,
    /// Take nothing; no branch is made.
    Abort,
}

impl End {
    /// The option of the command.
    pub(super) const fn option(self) -> &'static str {
        match self {
            Self::Approve => "--approve",
            Self::Skip => "--skip",
            Self::Abort => "--abort",
        }
    }
}

/// The arguments of `team_respond`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RespondArguments {
    /// The session that waits: its id, the beginning of it, its folder, or `latest`.
    pub(super) path: String,
    /// Have these findings repaired, such as `F01`.
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) fix: Option<Vec<FindingId>>,
    /// Leave these as they are, for good: later rounds and runs are told.
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) decline: Option<Vec<FindingId>>,
    /// Findings of the user's own, which are repaired: `FILE:LINE: what is wrong`, or only what is wrong.
    pub(super) add: Option<Vec<String>>,
    /// End it here.
    pub(super) end: Option<End>,
    /// What the user says about it; the fixer is told.
    pub(super) note: Option<String>,
    /// Stop when so many US dollars are spent.
    #[schemars(with = "Option<f64>", range(min = 0))]
    pub(super) max_cost: Option<Usd>,
    /// The longest that one model may take, such as `10m`.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "text_of")]
    pub(super) timeout: Option<Limit>,
    /// Answer when it has ended or waits again, with progress, instead of at once [default: false].
    pub(super) wait: Option<bool>,
    /// Whether it goes on when this server ends [default: false].
    pub(super) detach: Option<bool>,
}

/// The tool that takes a person's decision.
pub(super) const RESPOND: &str = "team_respond";

impl RespondArguments {
    const TAKES: &[&str] = &["path", "fix", "decline", "add", "end", "note", "max_cost", "timeout", "wait", "detach"];

    /// Reads them.
    ///
    /// # Errors
    /// A name, a type or a value is wrong, or nothing is decided.
    pub(super) fn read(given: JsonObject) -> Result<Self> {
        let given = without_nulls(given);
        let of_end = |name: &str| match name {
            "approve" | "skip" | "abort" => Some("write it as `end`: `approve`, `skip` or `abort`"),
            name => why_not(name),
        };
        check_known(RESPOND, &given, Self::TAKES, of_end)?;
        if !given.contains_key("path") {
            return Err(Error::usage("`path`, the session, is missing")
                .hint("`team` with `mode` `list` lists them; `latest` is the newest"));
        }
        let arguments: Self = typed(given)?;
        let Self { fix, decline, add, end, .. } = &arguments;
        check_texts("add", add.as_deref())?;
        for (name, ids) in [("fix", fix), ("decline", decline)] {
            if ids.as_ref().is_some_and(Vec::is_empty) {
                return Err(Error::usage(format!("`{name}` is empty")).hint("name findings, such as `F01`"));
            }
        }
        let names = fix.is_some() || decline.is_some() || add.is_some();
        if !names && end.is_none() {
            return Err(Error::usage("nothing is decided")
                .hint("`fix` and `decline` take ids such as `F01`, `add` takes texts; `end` is `approve`, `skip` or `abort`")
                .hint("`team` with `mode` `show` shows what is to be decided"));
        }
        if names && end.is_some() {
            return Err(Error::usage("`end` ends it, so nothing can be repaired, declined or added with it")
                .hint("decide on the findings first; `end` is for the next call"));
        }
        Ok(arguments)
    }

    /// Whether there is one of this name.
    pub(super) fn has(name: &str) -> bool {
        Self::TAKES.contains(&name)
    }

    /// Their schema.
    pub(super) fn schema() -> JsonObject {
        schema_of::<Self>(Self::TAKES)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn told(error: &Error) -> String {
        error.hints().iter().fold(error.to_string(), |text, hint| format!("{text}; {hint}"))
    }

    fn object(value: Value) -> JsonObject {
        let Value::Object(object) = value else { panic!("no object") };
        object
    }

    fn refused(work: Work, given: Value) -> String {
        told(&WorkArguments::read(work, object(given)).unwrap_err())
    }

    #[test]
    fn each_schema_is_closed_and_has_what_its_tool_takes() {
        let schemas = [
            (WorkArguments::schema(Work::Review), Work::Review.takes(), json!(null)),
            (WorkArguments::schema(Work::Fix), Work::Fix.takes(), json!(null)),
            (RespondArguments::schema(), RespondArguments::TAKES, json!(["path"])),
        ];
        for (schema, takes, required) in schemas {
            let schema = Value::Object(schema);
            assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
            assert_eq!(schema["required"], required);
            let properties = schema["properties"].as_object().unwrap();
            let mut names: Vec<&str> = properties.keys().map(String::as_str).collect();
            let mut takes = takes.to_vec();
            names.sort_unstable();
            takes.sort_unstable();
            assert_eq!(names, takes);
            let text = schema.to_string();
            assert!(!text.contains("null") && !text.contains("$ref") && !text.contains("format"), "{text}");
            for (name, property) in properties {
                assert!(property["type"].is_string() && property["description"].is_string(), "{name}: {property}");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place_and_what_would_be_right() {
        for (work, given, expected) in [
            (Work::Review, json!({"dif": "a"}), "`dif` is no argument of `team_review`; did you mean `diff`?"),
            (Work::Review, json!({"fixer": "a"}), "`fixer` is no argument of `team_review`; it takes `diff`"),
            (
                Work::Review,
                json!({"mode": "run"}),
                "`mode` is no argument of `team_review`; `mode` is for the tool `team`",
            ),
            (
                Work::Fix,
                json!({"test": "rm -rf"}),
                "`test` is no argument of `team_fix`; tests, lint and scope are those of",
            ),
            (Work::Fix, json!({"yes": "true"}), "`yes`: invalid type: string \"true\", expected a boolean"),
            (Work::Fix, json!({"max_rounds": -1}), "`max_rounds`: invalid value: integer `-1`"),
            (Work::Fix, json!({"severity": "bad"}), "`severity`: `bad` is none of "),
            (Work::Fix, json!({"fixer": "a,b"}), "`fixer[0]`: `a,b` is more than one name"),
            (Work::Fix, json!({"only": []}), "`only` is empty"),
            (Work::Fix, json!({"base": "main", "worktree": true}), "`worktree` and `base` are two things to look at"),
            (Work::Review, json!({"diff": "a", "staged": true}), "`diff` and `staged` are two things to look at"),
            (Work::Review, json!({"plan": "a", "paths": ["b"]}), "`plan` is one file"),
            (Work::Review, json!({"diff": " "}), "`diff` is empty"),
            (Work::Review, json!({"paths": ["a", ""]}), "`paths[1]` is empty"),
            (Work::Review, json!({"paths": "a"}), "`paths`: invalid type: string \"a\""),
            (Work::Review, json!({"fail_on": "worst"}), "`fail_on`: "),
            (Work::Review, json!({"quorum": 0}), "`quorum`: invalid value: integer `0`"),
            (Work::Review, json!({"max_cost": "free"}), "`max_cost`: "),
            (Work::Review, json!({"max_cost": -2}), "`max_cost`: invalid value: integer `-2`"),
            (Work::Review, json!({"intent": "a", "intent_file": "b"}), "both `intent` and `intent_file`"),
        ] {
            let said = refused(work, given.clone());
            assert!(said.starts_with(expected), "{given}: {said}");
        }
        let both = json!({"worktree": true, "staged": false, "paths": ["src"], "judges": null});
        assert!(WorkArguments::read(Work::Review, object(both)).is_ok());
    }

    #[test]
    fn a_decision_says_which_session_and_what() {
        for (given, expected) in [
            (json!({}), "`path`, the session, is missing"),
            (json!({"path": "x"}), "nothing is decided"),
            (json!({"path": "x", "note": "y"}), "nothing is decided"),
            (json!({"path": "x", "fix": ["f1"]}), "`fix[0]`: `f1` is not the id of a finding"),
            (json!({"path": "x", "fix": "F01"}), "`fix`: invalid type: string \"F01\", expected a sequence"),
            (json!({"path": "x", "decline": []}), "`decline` is empty"),
            (json!({"path": "x", "end": "approved"}), "`end`: unknown variant `approved`, expected one of `approve`"),
            (json!({"path": "x", "approve": true}), "`approve` is no argument of `team_respond`; write it as `end`"),
            (json!({"path": "x", "end": "skip", "fix": ["F01"]}), "`end` ends it"),
        ] {
            let said = told(&RespondArguments::read(object(given.clone())).unwrap_err());
            assert!(said.starts_with(expected), "{given}: {said}");
        }
    }
}
