//! What the README tells people to type is there.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::TestEnv;

/// A call of the program in a block of the README.
#[derive(Debug, PartialEq)]
struct Call {
    command: Option<String>,
    options: Vec<String>,
}

/// Every call in a `sh` or `console` block: `team ..` or `cargo run --release -- ..`.
fn calls(readme: &str) -> Vec<Call> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in readme.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            inside = !inside && matches!(language, "sh" | "console");
            continue;
        }
        if inside {
            found.extend(line.split(['|', ';', '&']).filter_map(call));
        }
    }
    found
}

fn call(text: &str) -> Option<Call> {
    let text = text.split(" #").next()?.trim().trim_start_matches("$ ");
    // Variables may be set in front.
    let mut words =
        text.split_whitespace().skip_while(|word| word.split_once('=').is_some_and(|(name, _)| is_name(name)));
    match words.next()? {
        "team" => {}
        "cargo" if text.contains("cargo run") => drop(words.by_ref().find(|word| *word == "--")?),
        _ => return None,
    }
    let words: Vec<&str> = words.collect();
    let command = words.first().filter(|word| !word.starts_with('-')).map(|word| (*word).to_owned());
    let options = words
        .iter()
        .filter(|word| word.starts_with('-') && word.len() > 1)
        .map(|word| word.split('=').next().unwrap_or(word).to_owned())
        .collect();
    Some(Call { command, options })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// The options that `help` lists.
fn listed(help: &str) -> BTreeSet<String> {
    let words = help.split(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '=' | '<' | '`' | '.'));
    words.filter(|word| word.starts_with('-')).map(str::to_owned).collect()
}

fn readme() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

#[test]
fn every_command_and_option_in_the_readme_exists() {
    let env = TestEnv::new();
    let calls = calls(&readme());
    assert!(calls.len() > 10, "{calls:?}");
    for call in calls {
        let arguments: Vec<&str> = call.command.as_deref().into_iter().chain(["--help"]).collect();
        let output = env.team(&arguments).output().unwrap();
        assert!(output.status.success(), "{call:?}: {}", String::from_utf8_lossy(&output.stderr));
        let known = listed(&String::from_utf8(output.stdout).unwrap());
        for option in &call.options {
            assert!(known.contains(option), "`{option}` of {call:?} is not among {known:?}");
        }
    }
}

#[test]
fn every_command_of_the_program_is_in_the_readme() {
    let env = TestEnv::new();
    let output = env.team(&["--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.trim().is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    assert!(!commands.is_empty(), "{help}");
    let readme = readme();
    for command in commands {
        assert!(readme.contains(&format!("team {command}")), "the README says nothing about `team {command}`");
    }
}

#[test]
fn calls_are_found_in_blocks_only() {
    let text = "`team nope`\n```sh\nKEY=1 team run -m a,b --name=x q.md  # team no\n$ cargo run --release -- demo\n\
                cat a | team judge latest\n```\nteam nope\n```toml\nteam nope\n```\n";
    let found = calls(text);
    let names: Vec<_> = found.iter().map(|call| call.command.as_deref().unwrap()).collect();
    assert_eq!(names, ["run", "demo", "judge"]);
    assert_eq!(found[0].options, ["-m", "--name"]);
}
