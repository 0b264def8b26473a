//! `${VAR}` in values of `team.toml`: found when a file is read, filled in only when the value is used.

use super::Environment;

/// A `${VAR}` that cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariableError {
    /// Not set, or set to nothing.
    #[error("environment variable `{0}` is not set")]
    Missing(String),
    /// Set, but not Unicode.
    #[error("environment variable `{0}` is not valid Unicode")]
    NotUnicode(String),
    /// `${` without a name and a `}`. The value is not shown, for it may hold a secret.
    #[error("a `${{` is not followed by a variable name and `}}`")]
    Malformed,
}

/// A piece of a value.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Variable(&'a str),
}

/// Replaces every `${VAR}` in `value`. A `$` that does not begin `${` stays as it is.
pub fn expand(value: &str, environment: &Environment) -> Result<String, VariableError> {
    let mut expanded = String::with_capacity(value.len());
    for piece in pieces(value)? {
        match piece {
            Piece::Text(text) => expanded.push_str(text),
            Piece::Variable(name) => {
                let value = environment
                    .get(name)
                    .filter(|v| !v.is_empty())
                    .ok_or_else(|| VariableError::Missing(name.to_owned()))?;
                expanded.push_str(value.to_str().ok_or_else(|| VariableError::NotUnicode(name.to_owned()))?);
            }
        }
    }
    Ok(expanded)
}

/// The names of the variables in `value`, in order.
pub fn variables_in(value: &str) -> Result<Vec<&str>, VariableError> {
    Ok(pieces(value)?
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Variable(name) => Some(name),
            Piece::Text(_) => None,
        })
        .collect())
}

/// Whether `name` can be the name of an environment variable.
#[must_use]
pub(super) fn is_variable_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn pieces(value: &str) -> Result<Vec<Piece<'_>>, VariableError> {
    let mut pieces = Vec::new();
    let mut rest = value;
    while let Some(at) = rest.find("${") {
        let after = &rest[at + 2..];
        let end = after.find('}').ok_or(VariableError::Malformed)?;
        let name = &after[..end];
        if !is_variable_name(name) {
            return Err(VariableError::Malformed);
        }
        if at > 0 {
            pieces.push(Piece::Text(&rest[..at]));
        }
        pieces.push(Piece::Variable(name));
        rest = &after[end + 1..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_and_everything_else_stays() {
        let environment = Environment::from_iter([("A", "1"), ("B_2", "two")]);
        for (value, expected) in [("${A}", "1"), ("x${A}y${B_2}", "x1ytwo"), ("$A $$ {A}", "$A $$ {A}"), ("", "")] {
            assert_eq!(expand(value, &environment).as_deref(), Ok(expected), "{value}");
        }
    }

    #[test]
    fn a_missing_variable_is_named() {
        let environment = Environment::from_iter([("EMPTY", "")]);
        for name in ["NOPE", "EMPTY"] {
            let error = expand(&format!("Bearer ${{{name}}}"), &environment).unwrap_err();
            assert_eq!(error.to_string(), format!("environment variable `{name}` is not set"));
        }
    }

    #[test]
    fn a_malformed_reference_is_refused_without_showing_the_value() {
        for value in ["${A", "${}", "${A-B}", "sk-secret${"] {
            let error = variables_in(value).unwrap_err();
            assert_eq!(error, VariableError::Malformed);
            assert!(!error.to_string().contains("secret"));
        }
    }
}
