//! Conversations with the real programs: the provider is sent the first turn with the second, by the program's own hand.

use serde_json::Value;
use team::config::{AgentKind, OutputFormat, ResolvedModel};
use team::isolation::{Preference, probe};
use team::pipeline::roles;
use team::session::slot::TurnMode;

use crate::seats::{KEY, World, keys_of};
use crate::support::{Talks, program};
use crate::tools::path_with_agents;

const PROGRAMS: [(&str, AgentKind, OutputFormat); 4] = [
    ("claude", AgentKind::Claude, OutputFormat::ClaudeStreamJson),
    ("codex", AgentKind::Codex, OutputFormat::CodexJson),
    ("gemini", AgentKind::Gemini, OutputFormat::GeminiJson),
    ("opencode", AgentKind::Opencode, OutputFormat::OpencodeJson),
];

/// A session in a world in which the programs are found, and a model for one of them.
fn talks(world: &World, (name, agent, output): (&str, AgentKind, OutputFormat)) -> (Talks, ResolvedModel) {
    let keys = keys_of(&world.env, name, "words", &world.provider.scenario("words"));
    let model = match agent {
        AgentKind::Gemini => Some("gemini-2.5-pro"),
        AgentKind::Opencode => Some("scripted/one"),
        _ => None,
    };
    let mut model = program(agent, name, model, output);
    for (key, value) in keys {
        if let ("env", toml::Value::Table(variables)) = (key, value) {
            let variables = variables.into_iter().map(|(name, value)| (name, value.as_str().unwrap().to_owned()));
            model.settings.env.extend(variables);
        }
    }
    (Talks::new(&world.env, &[("PATH", &path_with_agents()), ("SCRIPTED_KEY", KEY)]), model)
}

fn world() -> World {
    World::new(&[], &[])
}

#[test]
fn the_second_turn_of_each_program_brings_the_first_and_the_third_both() {
    for of in PROGRAMS {
        let world = world();
        let (mut talks, model) = talks(&world, of);
        let first = talks.turn(&model, "Remember APPLE-1.", "unused");
        assert_eq!(first.mode, Some(TurnMode::Begun), "{}: {first:?}", of.0);
        assert_eq!(first.said.trim(), "I was told: APPLE-1", "{}", of.0);
        // Another process by now, and another folder.
        let moved = talks.folder().parent().unwrap().join(format!("moved-{}", of.0));
        talks.taken_up_at(&moved);
        for (prompt, known) in [("And BANANA-2.", "APPLE-1 BANANA-2"), ("And CHERRY-3.", "APPLE-1 BANANA-2 CHERRY-3")] {
            let told = talks.turn(&model, "All over again.", prompt);
            assert_eq!(told.mode, Some(TurnMode::Continued), "{}: {told:?}", of.0);
            assert_eq!(told.said.trim(), format!("I was told: {known}"), "{}", of.0);
            assert_eq!(told.input_tokens, first.input_tokens, "{}: what each request is said to cost", of.0);
        }
        roles::reset(talks.session(), Talks::reviewer(), jiff::Timestamp::now()).unwrap();
        let told = talks.turn(&model, "Only DATE-4.", "unused");
        assert_eq!((told.mode, told.said.trim()), (Some(TurnMode::Begun), "I was told: DATE-4"), "{}", of.0);
        world.env.wait_for_no_processes();
    }
}

#[test]
fn a_conversation_that_each_program_cannot_find_is_begun_anew_with_its_own_words_for_that() {
    for of in PROGRAMS {
        let world = world();
        let (mut talks, model) = talks(&world, of);
        talks.turn(&model, "Remember APPLE-1.", "unused");
        // What was kept is another's: the id is one that the program has never heard of.
        forget(&mut talks);
        let told = talks.turn(&model, "Remember APPLE-1 and BANANA-2.", "And BANANA-2.");
        assert_eq!(told.mode, Some(TurnMode::Anew), "{}: {told:?}", of.0);
        assert_eq!(told.said.trim(), "I was told: APPLE-1 BANANA-2", "{}", of.0);
        assert!(told.why.as_ref().unwrap().contains("was not taken up again"), "{}: {told:?}", of.0);
        let told = talks.turn(&model, "All over again.", "And CHERRY-3.");
        assert_eq!(told.mode, Some(TurnMode::Continued), "{}: {told:?}", of.0);
        world.env.wait_for_no_processes();
    }
}

/// Puts a whole id that no program has given in the place of the one that was kept.
fn forget(talks: &mut Talks) {
    let nonce = talks.session().panel().manifest().nonce.clone();
    let path = talks.folder().join("roles/reviewer-01.turn-1.kept");
    let file = talks.folder().join("roles/reviewer-01.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    let answer: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let sha256: &str = answer["turn"]["taken"]["kept"].as_str().unwrap();
    let mut kept = team::session::Kept::read(&path, &nonce, sha256.parse().unwrap()).unwrap();
    let other = |c: char| match c {
        '0'..='8' => char::from(c as u8 + 1),
        '9' => '0',
        other => other,
    };
    let id: String = kept.id.as_deref().unwrap().chars().map(other).collect();
    assert_ne!(Some(&id), kept.id.as_ref());
    kept.id = Some(id);
    let changed = kept.write(&path, &nonce).unwrap().to_string();
    // The answer is the last line, so nothing is chained to it yet.
    std::fs::write(&file, text.replace(sha256, &changed)).unwrap();
    let folder = talks.folder().to_owned();
    talks.taken_up_at(&folder);
}

#[test]
fn conversations_of_each_program_go_on_inside_of_landlock_and_by_convention_too() {
    for preference in [Preference::Landlock, Preference::None] {
        for of in PROGRAMS {
            let world = world();
            let (mut talks, model) = talks(&world, of);
            talks.mechanism = probe(preference, Some(env!("CARGO_BIN_EXE_team").as_ref())).mechanism;
            talks.turn(&model, "Remember APPLE-1.", "unused");
            let told = talks.turn(&model, "All over again.", "And BANANA-2.");
            assert_eq!(told.mode, Some(TurnMode::Continued), "{preference:?} {}: {told:?}", of.0);
            assert_eq!(told.said.trim(), "I was told: APPLE-1 BANANA-2", "{preference:?} {}", of.0);
            world.env.wait_for_no_processes();
        }
    }
}
