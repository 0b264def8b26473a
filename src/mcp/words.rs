//! What the commands say, in the words of a call: options are arguments here, and commands are tools.

use super::arguments::Mode;
use super::tools::is_argument;

/// The text with options that are arguments, and commands about a session, named as a client can say them.
pub(super) fn in_words_of_a_call(text: &str) -> String {
    let mut parts = text.split('`');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for (at, part) in parts.enumerate() {
        out.push('`');
        // Between marks, that is: every other part.
        let said = if at % 2 == 0 { option(part).or_else(|| command(part)) } else { None };
        out.push_str(said.as_deref().unwrap_or(part));
    }
    out
}

/// `--max-rounds 1` is `max_rounds 1`.
fn option(text: &str) -> Option<String> {
    let text = text.strip_prefix("--")?;
    let end = text.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(text.len());
    let (option, rest) = text.split_at(end);
    let name = option.replace('-', "_");
    match name.as_str() {
        "min_bytes" => Some(format!("min_output_bytes{rest}")),
        "session_path" => Some(format!("path{rest}")),
        "approve" | "skip" | "abort" => Some(format!("end` `{name}{rest}")),
        _ => is_argument(&name).then(|| format!("{name}{rest}")),
    }
}

/// `team show ID` is the tool `team` with `mode` `show` and `path` `ID`.
fn command(text: &str) -> Option<String> {
    let mut words = text.split(' ');
    let (team, name, session, more) = (words.next()?, words.next()?, words.next(), words.next());
    if team != "team" || more.is_some() || session.is_some_and(|session| session.starts_with('-')) {
        return None;
    }
    let path = session.map(|session| format!("` with `path` `{session}")).unwrap_or_default();
    match name {
        "review" | "fix" if session.is_none() => Some(format!("team_{name}")),
        "respond" => Some(format!("team_respond{path}")),
        _ => Mode::named(name).map(|mode| format!("team` `mode` `{}{path}", mode.as_str())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_told_as_arguments_and_commands_as_tools() {
        for (said, told) in [
            ("`--only`: wrong", "`only`: wrong"),
            ("name it, or `--max-rounds 1`", "name it, or `max_rounds 1`"),
            ("`--min-bytes` and `--strict`", "`min_output_bytes` and `--strict`"),
            ("`--fix F01`, or `--approve`", "`fix F01`, or `end` `approve`"),
            ("--only without marks, `a--b`", "--only without marks, `a--b`"),
            ("`team status` shows it", "`team` `mode` `status` shows it"),
            ("`team show x-1` shows it", "`team` `mode` `show` with `path` `x-1` shows it"),
            ("`team respond x-1` answers", "`team_respond` with `path` `x-1` answers"),
            ("use `team review`, not `team run-and-judge`", "use `team_review`, not `team` `mode` `run-and-judge`"),
            ("`team resume x --max-cost USD`", "`team resume x --max-cost USD`"),
            ("`team doctor` and one ` alone", "`team doctor` and one ` alone"),
        ] {
            assert_eq!(in_words_of_a_call(said), told);
        }
    }
}
