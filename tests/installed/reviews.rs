//! The real programs review a change and mend it, each in a conversation that goes on: the provider sees what they know.

use std::collections::BTreeSet;

use crate::seats::{World, keys_of};
use crate::support::{TeamToml, git};

const SOUND: &str = "pub fn sum(items: &[u64]) -> u64 {\n    items.iter().sum()\n}\n";
const FAULTY: &str = "pub fn sum(items: &[u64]) -> u64 {
    let mut total = 0;
    for index in 0..items.len() - 1 {
        total += items[index];
    }
    total
}
";
const MENDED: &str = "pub fn sum(items: &[u64]) -> u64 {\n    items.iter().copied().sum()\n}";

/// A repository whose branch plants a fault, and a seat for each program; each has a scenario of its own of this kind.
fn world(kind: &str, programs: &[&str]) -> World {
    let world = World::new(&[], &[]);
    let mut config = TeamToml::new();
    for program in programs {
        let scenario = format!("{kind}{program}");
        config = config.model(program, &keys_of(&world.env, program, &scenario, &world.provider.scenario(&scenario)));
    }
    let env = &world.env;
    git(env, &["init", "-q", "-b", "main"]);
    env.write("src/sum.rs", SOUND);
    env.write(".gitignore", "/ai-docs/\n/team.toml\n");
    commit(&world, "base");
    git(env, &["checkout", "-q", "-b", "topic"]);
    env.write("src/sum.rs", FAULTY);
    commit(&world, "a loop of our own");
    env.write("team.toml", config.text());
    world
}

fn commit(world: &World, message: &str) {
    git(&world.env, &["add", "-A"]);
    git(&world.env, &["commit", "-q", "-m", message]);
}

/// What a request knew, by its prompts.
fn known(prompts: &[&[&str]]) -> BTreeSet<Vec<String>> {
    prompts.iter().map(|kinds| kinds.iter().map(|kind| (*kind).to_owned()).collect()).collect()
}

/// What a program was sent as a reviewer and a judge, without what it asks for on the side.
fn sent(world: &World, scenario: &str) -> BTreeSet<Vec<String>> {
    let mut sent = world.provider.prompts(scenario);
    sent.remove(&Vec::new());
    sent
}

#[test]
fn each_program_reviews_and_is_told_in_its_conversation_that_its_reply_cannot_be_read() {
    let programs = ["claude", "codex", "gemini", "opencode"];
    let world = world("prose", &programs);
    let (code, said, session) = world.run(&["review", "--jobs", "2", "-m", &programs.join(",")]);
    assert_eq!(code, Some(1), "{said}");
    let found = session.text("reviews/impl-review/consolidated.md");
    assert!(found.contains("The last item is never summed"), "{found}");
    for program in programs {
        let sent = sent(&world, &format!("prose{program}"));
        let expected = known(&[&["review"], &["review", "repair"]]);
        assert_eq!(sent, expected, "{program}: what all raise is voted on by nobody\n{said}");
    }
    let report = session.text("report.md");
    assert_eq!(report.matches("2 answers, 1 of them with what was said before").count(), 4, "{report}");
}

/// Two programs review, the others vote, and one of all repairs.
#[track_caller]
fn repaired_by(fixer: &str, reviewers: [&str; 2], judges: [&str; 2]) {
    let world = world("review", &[reviewers, judges].concat());
    let (panel, bench) = (reviewers.join(","), judges.join(","));
    let command = ["fix", "--jobs", "2", "--base", "main", "--fixer", fixer, "-m", &panel, "--judges", &bench];
    let (code, said, session) = world.run(&command);
    assert_eq!(code, Some(0), "{said}");
    let branch = format!("team/{}", session.id());
    assert_eq!(git(&world.env, &["show", &format!("{branch}:src/sum.rs")]), MENDED, "{said}");
    let fixed = known(&[&["fix"]]);
    let is_fixer = |program: &str| program == fixer;
    for program in reviewers {
        let sent = sent(&world, &format!("review{program}"));
        let mut expected = known(&[&["review"], &["review", "again"]]);
        if is_fixer(program) {
            expected.extend(fixed.clone());
        }
        assert_eq!(sent, expected, "{program}\n{said}");
    }
    for program in judges {
        let sent = sent(&world, &format!("review{program}"));
        let mut expected = known(&[&["vote"]]);
        if is_fixer(program) {
            expected.extend(fixed.clone());
        }
        assert_eq!(sent, expected, "{program}\n{said}");
    }
    let report = session.text("report.md");
    assert_eq!(report.matches("3 answers, 1 of them with what was said before").count(), 2, "{report}");
    world.env.team(&["verify"]).assert().success();
}

#[test]
fn claude_repairs_what_codex_and_gemini_found_and_they_go_on_with_their_reviews() {
    repaired_by("claude", ["codex", "gemini"], ["claude", "opencode"]);
}

#[test]
fn codex_repairs_what_claude_and_opencode_found_and_they_go_on_with_their_reviews() {
    repaired_by("codex", ["claude", "opencode"], ["codex", "gemini"]);
}
