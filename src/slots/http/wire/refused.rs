//! A setting that the server refuses: found in its words, left out of the body, and named.

use serde_json::{Map, Value};

use super::{Adapter, Optional};
use crate::slots::http::failure::Stated;

/// Takes the part that a refused request is blamed on out of `body`, and gives back its name.
///
/// Only a part that the server does not take is dropped; one whose *value* is out of range is a mistake of the
/// user's, who is told. A part that goes on in another form is not reported (`Some(None)`).
pub(in crate::slots::http) fn without_refused_field(
    adapter: &dyn Adapter,
    body: &mut Map<String, Value>,
    refusal: &Stated,
) -> Option<Option<&'static str>> {
    if !matches!(refusal.status, Some(400 | 422)) || is_about_a_value(refusal) {
        return None;
    }
    let sent = |part: &&Optional| part.paths.iter().any(|path| at(body, path).is_some());
    // The part that is blamed by name goes before one that is only spoken of.
    let parts = adapter.optional();
    let blamed = parts.iter().filter(sent).find(|part| is_blamed(part, refusal));
    let part = blamed.or_else(|| parts.iter().filter(sent).find(|part| is_mentioned(part, refusal)))?;
    let removed: Vec<Value> = part.paths.iter().filter_map(|path| take(body, path)).collect();
    match removed.first().and_then(|value| adapter.instead(part.name, value, refusal)) {
        Some((path, value)) => {
            put(body, path, value);
            Some(None)
        }
        None => Some(Some(part.name)),
    }
}

fn at<'a>(body: &'a Map<String, Value>, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(body.get(*first)?, |value, key| value.get(key))
}

/// Takes the value at `path` away, and the objects that are empty without it.
fn take(body: &mut Map<String, Value>, path: &[&str]) -> Option<Value> {
    let (first, rest) = path.split_first()?;
    if rest.is_empty() {
        return body.shift_remove(*first);
    }
    let Some(Value::Object(inner)) = body.get_mut(*first) else { return None };
    let value = take(inner, rest)?;
    if inner.is_empty() {
        body.shift_remove(*first);
    }
    Some(value)
}

fn put(body: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [last] => drop(body.insert((*last).to_owned(), value)),
        [first, rest @ ..] => {
            let inner = body.entry((*first).to_owned()).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

/// Whether the field that the server names is this part, or lies inside of it.
fn is_blamed(part: &Optional, refusal: &Stated) -> bool {
    let Some(param) = &refusal.param else { return false };
    let blamed: Vec<String> = param.split(['.', '[', ']', '/']).filter(|key| !key.is_empty()).map(plain).collect();
    part.paths.iter().any(|path| blamed.len() >= path.len() && path.iter().zip(&blamed).all(|(a, b)| plain(a) == *b))
}

/// One spelling for `responseJsonSchema` and `response_json_schema`.
fn plain(key: &str) -> String {
    key.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}

fn is_mentioned(part: &Optional, refusal: &Stated) -> bool {
    let last = part.paths.iter().filter_map(|path| path.last()).copied();
    last.chain(part.words.iter().copied()).any(|word| mentions(refusal, word))
}

fn is_about_a_value(refusal: &Stated) -> bool {
    let kind = refusal.kinds.join(" ").to_ascii_lowercase();
    let message = refusal.message.to_ascii_lowercase();
    ["max_value", "min_value", "context_length", "exceed_context"].iter().any(|word| kind.contains(word))
        || [
            "must be between",
            "a value between",
            "must be greater than",
            "must be less than",
            "should be less than",
            "should be greater than",
            "less than or equal",
            "greater than or equal",
            "maximum value",
            "minimum value",
            "maximum allowed",
            "supported range",
            "too large",
            "context length",
            "context window",
        ]
        .iter()
        .any(|words| message.contains(words))
}

/// Whether the message has `word` as a word of its own (`top_p` is not in `top_p2`).
fn mentions(refusal: &Stated, word: &str) -> bool {
    let message = refusal.message.to_ascii_lowercase();
    let word = word.to_ascii_lowercase();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    message
        .match_indices(&word)
        .any(|(at, _)| !message[..at].ends_with(is_part) && !message[at + word.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::Wire;
    use crate::slots::http::wire::adapter;

    fn refused(message: &str, param: Option<&str>, kind: &str) -> (Option<Option<&'static str>>, Map<String, Value>) {
        let body =
            serde_json::json!({"model": "m", "temperature": 1, "top_p": 1, "max_tokens": 5, "response_format": {}});
        let Value::Object(mut body) = body else { panic!() };
        let stated = Stated {
            kinds: vec![kind.to_owned()],
            message: message.to_owned(),
            param: param.map(str::to_owned),
            status: Some(400),
            ..Stated::default()
        };
        let field = without_refused_field(adapter(Wire::OpenaiChat), &mut body, &stated);
        (field, body)
    }

    #[test]
    fn a_refused_setting_is_found_by_parameter_or_by_name() {
        for (message, param, field) in [
            ("Unsupported value: only the default (1) is supported", Some("temperature"), "temperature"),
            ("`temperature` is deprecated for this model", None, "temperature"),
            ("temperature is fine but see top_p", Some("top_p"), "top_p"),
            (r#"[{"type":"extra_forbidden","loc":["body","top_p"]}]"#, None, "top_p"),
            ("Invalid schema", Some("response_format.json_schema.schema"), "response_format"),
            ("This model does not support structured output", None, "response_format"),
            ("max_tokens is not supported here", None, "max_tokens"),
        ] {
            let (dropped, body) = refused(message, param, "");
            // Called as in `team.toml`.
            let name = if field == "response_format" { "json_schema" } else { field };
            assert_eq!(dropped, Some(Some(name)), "{message}");
            assert!(!body.contains_key(field) && body.contains_key("model"));
        }
    }

    #[test]
    fn a_wrong_value_is_the_users_and_stays() {
        for (message, param, kind) in [
            ("temperature must be between 0 and 2", Some("temperature"), ""),
            ("Invalid 'temperature'", Some("temperature"), "decimal_above_max_value"),
            ("max_tokens is too large: 9", None, ""),
            ("max_tokens: 64000 > 4096, which is the maximum allowed number of output tokens for m", None, ""),
            ("something else", None, ""),
            ("stop is not supported", Some("stop"), ""),
            ("see subtop_p", None, ""),
        ] {
            assert_eq!(refused(message, param, kind).0, None, "{message}");
        }
    }

    #[test]
    fn the_older_name_of_the_length_limit_gives_way_to_the_newer() {
        let (dropped, body) = refused(
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            Some("max_tokens"),
            "",
        );
        assert_eq!(dropped, Some(None), "nothing was left out");
        assert_eq!(body.get("max_completion_tokens"), Some(&Value::from(5)));
        assert!(!body.contains_key("max_tokens"));
    }

    fn without(
        wire: Wire,
        mut body: Value,
        message: &str,
        param: Option<&str>,
    ) -> (Option<Option<&'static str>>, Value) {
        let stated = Stated { param: param.map(str::to_owned), status: Some(400), ..Stated::plain(message) };
        let Value::Object(map) = &mut body else { panic!() };
        let dropped = without_refused_field(adapter(wire), map, &stated);
        (dropped, body)
    }

    #[test]
    fn each_wire_loses_only_the_part_that_its_server_refuses() {
        let anthropic = json!({"temperature": 1, "thinking": {"type": "adaptive"},
            "output_config": {"effort": "low", "format": {"type": "json_schema"}}});
        let gemini = json!({"generationConfig": {"temperature": 1, "responseMimeType": "application/json",
            "responseJsonSchema": {}}});
        let responses = json!({"reasoning": {"effort": "low"}, "text": {"format": {}}, "store": false});
        let ollama = json!({"think": true, "format": {}, "options": {"seed": 1}});
        for (wire, body, message, param, name, rest) in [
            (
                Wire::AnthropicMessages,
                &anthropic,
                "This model does not support the effort parameter.",
                None,
                "reasoning_effort",
                json!({"temperature": 1, "thinking": {"type": "adaptive"},
                    "output_config": {"format": {"type": "json_schema"}}}),
            ),
            (
                Wire::AnthropicMessages,
                &anthropic,
                "adaptive thinking is not supported on this model",
                None,
                "reasoning_effort",
                json!({"temperature": 1, "output_config": {"effort": "low", "format": {"type": "json_schema"}}}),
            ),
            (
                Wire::AnthropicMessages,
                &anthropic,
                "`temperature` may only be set to 1 when thinking is enabled",
                None,
                "temperature",
                json!({"thinking": {"type": "adaptive"},
                    "output_config": {"effort": "low", "format": {"type": "json_schema"}}}),
            ),
            (
                Wire::AnthropicMessages,
                &anthropic,
                "output_config.format: Extra inputs are not permitted",
                None,
                "json_schema",
                json!({"temperature": 1, "thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}),
            ),
            (
                Wire::GeminiGenerate,
                &gemini,
                "Invalid JSON payload received. Unknown name \"responseJsonSchema\"",
                Some("generation_config"),
                "json_schema",
                json!({"generationConfig": {"temperature": 1}}),
            ),
            (
                Wire::GeminiGenerate,
                &gemini,
                "not taken",
                Some("generation_config.response_json_schema.properties[0]"),
                "json_schema",
                json!({"generationConfig": {"temperature": 1}}),
            ),
            (
                Wire::OpenaiResponses,
                &responses,
                "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
                Some("reasoning.effort"),
                "reasoning_effort",
                json!({"text": {"format": {}}, "store": false}),
            ),
            (
                Wire::OpenaiResponses,
                &responses,
                "Invalid schema",
                Some("text.format.schema"),
                "json_schema",
                json!({"reasoning": {"effort": "low"}, "store": false}),
            ),
            (
                Wire::OllamaChat,
                &ollama,
                "\"llama3.2\" does not support thinking",
                None,
                "reasoning_effort",
                json!({"format": {}, "options": {"seed": 1}}),
            ),
        ] {
            let (dropped, body) = without(wire, body.clone(), message, param);
            assert_eq!((dropped, body), (Some(Some(name)), rest), "{message}");
        }
    }

    #[test]
    fn a_budget_that_is_out_of_range_is_the_users() {
        let anthropic = json!({"max_tokens": 500, "thinking": {"type": "enabled", "budget_tokens": 4096}});
        let message = "`max_tokens` must be greater than `thinking.budget_tokens`";
        assert_eq!(without(Wire::AnthropicMessages, anthropic.clone(), message, None), (None, anthropic));
        let gemini = json!({"generationConfig": {"thinkingConfig": {"thinkingBudget": 99_999}}});
        let message = "The thinking budget 99999 is invalid. Please choose a value between 512 and 24576.";
        assert_eq!(without(Wire::GeminiGenerate, gemini.clone(), message, None), (None, gemini));
    }

    #[test]
    fn a_form_that_the_refusal_asks_for_takes_the_place_of_the_refused_one() {
        let (dropped, body) = without(
            Wire::OllamaChat,
            json!({"think": "low"}),
            "think value \"low\" is not supported for this model",
            None,
        );
        assert_eq!((dropped, body), (Some(None), json!({"think": true})));
        let level = json!({"generationConfig": {"thinkingConfig": {"thinkingLevel": "medium"}}});
        let message = "Thinking level is not supported for this model.";
        let (dropped, body) = without(Wire::GeminiGenerate, level, message, None);
        let budget = json!({"generationConfig": {"thinkingConfig": {"thinkingBudget": 8192}}});
        assert_eq!((dropped, &body), (Some(None), &budget));
        // A word of no budget is left out, and so is a budget that is refused too.
        let (dropped, body) = without(Wire::GeminiGenerate, budget, "Thinking budget is not supported", None);
        assert_eq!((dropped, body), (Some(Some("reasoning_effort")), json!({})));
    }
}
