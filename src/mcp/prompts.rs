//! Prompts for the common jobs: what a person picks in a client, as a request to its model.

use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use crate::error::{Error, Result};

/// A job, and what it is given.
struct Job {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    arguments: &'static [Argument],
    text: &'static str,
}

struct Argument {
    name: &'static str,
    description: &'static str,
    required: bool,
}

const MODELS: Argument = Argument {
    name: "models",
    description: "The models, separated by commas; without them the configured panel",
    required: false,
};

const JOBS: [Job; 5] = [
    Job {
        name: "best-answer",
        title: "The best of several answers",
        description: "Several models answer a question, and judges vote on the answers without knowing who wrote which",
        arguments: &[
            Argument { name: "question", description: "What to ask; complete, for nobody sees more", required: true },
            MODELS,
        ],
        text: "Use the tool `team` with `mode` `run-and-judge`{models} on the question below. Send it as it is. Then tell me \
               who won and by how many votes, what the judges disagreed on, and whether the panel was complete; read the \
               winning answer with `mode` `show` before you say anything about it.\n\nThe question:\n\n{question}",
    },
    Job {
        name: "approve",
        title: "A vote on a text",
        description: "Several models approve or reject a plan, a change or any other text, each by itself",
        arguments: &[
            Argument {
                name: "file",
                description: "The file with the text, below the working directory",
                required: true,
            },
            Argument {
                name: "threshold",
                description: "The bar: majority, supermajority, unanimous, or N%; without it a majority",
                required: false,
            },
            MODELS,
        ],
        text: "Use the tool `team` with `mode` `vote`{models}{threshold} and `input_file` `{file}`. Then tell me the decision, \
               the votes for and against, and the issues that were named, the most frequent first. A member without a vote \
               is missing, not against; say so when the panel was not complete.",
    },
    Job {
        name: "review-change",
        title: "A review of my change",
        description: "Several models review what this branch changes, each by itself, and vote on what was found",
        arguments: &[
            Argument { name: "intent", description: "What the change is meant to do", required: false },
            Argument {
                name: "uncommitted",
                description: "`yes` to review what is not committed, instead of what the branch has",
                required: false,
            },
            MODELS,
        ],
        text: "Use the tool `team_review`{models}{uncommitted}{intent}; without an `intent`, say in it in two sentences what \
               the change is meant to do, and nothing of what you think of it. Look with `team` `status` until it is over. \
               Then tell me the verdict, each open finding with its id, place and severity, what a person must decide, and \
               who of the panel is missing. Change nothing yet.",
    },
    Job {
        name: "fix-findings",
        title: "Repair what the review found",
        description: "Review and repair what this branch changes on a branch of its own, and ask me where a person decides",
        arguments: &[
            Argument {
                name: "fixer",
                description: "The model that repairs; without it the configured one",
                required: false,
            },
            MODELS,
        ],
        text: "Use the tool `team_fix`{fixer}{models} on what this branch changes, and look with `team` `status` until its \
               `state` is settled. When it waits for a decision, show me what is to be decided and ask; answer with \
               `team_respond` only as I say. At the end tell me what was repaired, what is still open and why, which tests \
               ran, and the commands that take or drop the branch; run none of them unless I say so.",
    },
    Job {
        name: "read-verdict",
        title: "What a session came to",
        description: "What a session's verdict says, and how far it can be relied on",
        arguments: &[Argument {
            name: "session",
            description: "Its id or the beginning of it; without it the newest",
            required: false,
        }],
        text: "Use the tool `team` with `mode` `status` and then `show`, each with `path` `{session}`, and `verify` at the end. \
               Tell me what was decided, with how many votes, who dissented, and whether the record holds. If there is no \
               verdict yet, say how it stands and what to do next; do not look for names of models.",
    },
];

/// Every prompt.
pub(super) fn all() -> Vec<Prompt> {
    JOBS.iter()
        .map(|job| {
            let arguments = job.arguments.iter().map(|argument| {
                PromptArgument::new(argument.name)
                    .with_description(argument.description)
                    .with_required(argument.required)
            });
            Prompt::new(job.name, Some(job.description), Some(arguments.collect())).with_title(job.title)
        })
        .collect()
}

/// The prompt `name` with its arguments in place.
pub(super) fn get(name: &str, given: JsonObject) -> Result<GetPromptResult> {
    let Some(job) = JOBS.iter().find(|job| job.name == name) else {
        let known: Vec<String> = JOBS.iter().map(|job| format!("`{}`", job.name)).collect();
        return Err(Error::usage(format!("there is no prompt `{name}`; there is {}", known.join(", "))));
    };
    for name in given.keys() {
        if !job.arguments.iter().any(|argument| argument.name == name) {
            return Err(Error::usage(format!("`{name}` is no argument of the prompt `{}`", job.name)));
        }
    }
    let mut values: Vec<(&str, String)> = Vec::new();
    for argument in job.arguments {
        let value = match given.get(argument.name) {
            Some(Value::String(text)) => text.trim(),
            None | Some(Value::Null) => "",
            Some(_) => return Err(Error::usage(format!("`{}` is no text", argument.name))),
        };
        if argument.required && value.is_empty() {
            return Err(Error::usage(format!("the prompt `{}` needs `{}`", job.name, argument.name)));
        }
        let shown = match (argument.name, value) {
            ("models" | "threshold" | "intent" | "fixer" | "uncommitted", "") => String::new(),
            ("uncommitted", "no") => String::new(),
            ("uncommitted", "yes") => ", `worktree` true".to_owned(),
            ("uncommitted", other) => {
                return Err(Error::usage(format!("`uncommitted` is `{other}`, and not `yes` or `no`")));
            }
            ("intent", text) => format!(", `intent` {}", Value::from(text)),
            ("fixer", name) => format!(", `fixer` `{name}`"),
            ("models", names) => {
                let names: Vec<&str> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
                format!(", `models` {}", Value::from(names))
            }
            ("threshold", bar) => format!(", `threshold` `{bar}`"),
            ("session", "") => "latest".to_owned(),
            (_, text) => text.to_owned(),
        };
        values.push((argument.name, shown));
    }
    let message = PromptMessage::new_text(Role::User, filled(job.text, &values));
    Ok(GetPromptResult::new(vec![message]).with_description(job.description))
}

/// `{name}` replaced by its value, in one pass: what a value holds is not looked at again.
fn filled(text: &str, values: &[(&str, String)]) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        out.push_str(&rest[..start]);
        rest = &rest[start + 1..];
        let Some(end) = rest.find('}') else { break };
        let value = values.iter().find(|(name, _)| *name == &rest[..end]).map_or("", |(_, value)| value.as_str());
        out.push_str(value);
        rest = &rest[end + 1..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(name: &str, arguments: Value) -> Result<String> {
        let Value::Object(arguments) = arguments else { panic!("no object") };
        let result = get(name, arguments)?;
        Ok(serde_json::to_value(&result.messages[0]).unwrap()["content"]["text"].as_str().unwrap().to_owned())
    }

    #[test]
    fn values_stand_in_their_places_and_are_not_looked_at_again() {
        let said = text("best-answer", json!({"question": "why {models}?", "models": "a, b"})).unwrap();
        assert!(
            said.contains("`run-and-judge`, `models` [\"a\",\"b\"] on") && said.ends_with("why {models}?"),
            "{said}"
        );
        let said = text("approve", json!({"file": "plan.md"})).unwrap();
        assert!(said.contains("`vote` and `input_file` `plan.md`"), "{said}");
        assert!(text("read-verdict", json!({})).unwrap().contains("`path` `latest`"));
        let said = text("review-change", json!({"intent": "say \"{models}\"", "uncommitted": "yes"})).unwrap();
        assert!(said.contains("`team_review`, `worktree` true, `intent` \"say \\\"{models}\\\"\"; without"), "{said}");
        assert!(text("fix-findings", json!({"fixer": "a"})).unwrap().contains("`team_fix`, `fixer` `a` on"));
    }

    #[test]
    fn what_is_missing_unknown_or_no_text_is_named() {
        for (name, arguments, expected) in [
            ("nope", json!({}), "there is no prompt `nope`; there is `best-answer`, `approve`, `review-change`"),
            ("best-answer", json!({}), "needs `question`"),
            ("best-answer", json!({"question": 3}), "`question` is no text"),
            ("approve", json!({"file": "a", "bar": "b"}), "`bar` is no argument"),
            ("review-change", json!({"uncommitted": "maybe"}), "`uncommitted` is `maybe`"),
        ] {
            let error = text(name, arguments).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
