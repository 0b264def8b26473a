//! JSON as people write it into settings: with comments and commas too many.

use serde_json::Value;

/// Reads `text`, in which `//` and `/* */` are comments and a comma may stand before a closing bracket.
pub(super) fn parse(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(&plain(text.strip_prefix('\u{feff}').unwrap_or(text)))
}

/// `text` with blanks in place of what JSON does not know, so that places in error messages stay right.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Where in `out` a comma stands that nothing but blanks has followed.
    let mut comma = None;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => string_length(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => c.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        rest = after;
        let comment = token.starts_with("//") || token.starts_with("/*");
        if matches!(c, '}' | ']')
            && let Some(at) = comma
        {
            out.replace_range(at..=at, " ");
        }
        if !comment && !c.is_whitespace() {
            comma = (c == ',').then_some(out.len());
        }
        if comment {
            out.extend(token.chars().map(|c| if c == '\n' { c } else { ' ' }));
        } else {
            out.push_str(token);
        }
    }
    out
}

/// The length of the string that `text` begins with, its quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

/// Lays `over` on `value`: objects member by member, anything else as a whole.
pub(super) fn merge(value: &mut Value, over: Value) {
    match (value, over) {
        (Value::Object(value), Value::Object(over)) => {
            for (key, over) in over {
                merge(value.entry(key).or_insert(Value::Null), over);
            }
        }
        (value, over) => *value = over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comments_and_extra_commas_are_no_part_of_the_value() {
        let text = "\u{feff}{ // one, \"two\"\n \"a\": \"// \\\" , }\", /* \n } */ \"b\": [1, 2 /* x */ , ], }";
        assert_eq!(parse(text).unwrap(), json!({"a": "// \" , }", "b": [1, 2]}));
        for broken in ["{", "{\"a\": \"", "/* {}", "{\"a\" 1}", "{,,}", ""] {
            assert!(parse(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn what_is_laid_over_wins_member_by_member() {
        let mut value = json!({"a": {"b": 1, "c": [1]}, "d": 2});
        merge(&mut value, json!({"a": {"c": [2], "e": 3}, "d": {"f": 4}}));
        assert_eq!(value, json!({"a": {"b": 1, "c": [2], "e": 3}, "d": {"f": 4}}));
    }
}
