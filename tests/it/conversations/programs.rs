//! Programs that keep a conversation of their own.

use rstest::rstest;
use team::config::{AgentKind, ModelIdentity, OutputFormat, ResolvedModel, SessionReuse};
use team::isolation::{Preference, probe};
use team::session::slot::{SlotState, TurnMode};

use super::world::{claude, world};
use crate::support::{Talks, TestEnv, program};

#[test]
fn a_program_goes_on_with_its_own_conversation_and_counts_the_turn_alone() {
    let env = world();
    let mut talks = Talks::new(&env, &[]);
    let first = talks.turn(&claude(), "apple", "unused");
    assert_eq!((first.mode, first.said.as_str()), (Some(TurnMode::Begun), "apple\n"));
    assert_eq!(first.input_tokens, Some(10));
    for (prompt, expected) in [("banana", "apple banana\n"), ("cherry", "apple banana cherry\n")] {
        let told = talks.turn(&claude(), "all over again", prompt);
        assert_eq!((told.mode, told.said.as_str()), (Some(TurnMode::Continued), expected), "{told:?}");
        assert_eq!(told.input_tokens, Some(10), "the program counts the whole conversation");
        assert_eq!(told.why, None);
    }
    let expected = [
        "team: apple",
        "participant: apple",
        "team: banana",
        "participant: apple banana",
        "team: cherry",
        "participant: apple banana cherry",
    ];
    assert_eq!(talks.history(), expected);
}

#[rstest]
#[case::landlock(Preference::Landlock)]
#[case::convention(Preference::None)]
fn a_conversation_goes_on_whatever_keeps_programs_apart(#[case] preference: Preference) {
    let env = world();
    let mut talks = Talks::new(&env, &[]);
    talks.mechanism = probe(preference, Some(env!("CARGO_BIN_EXE_team").as_ref())).mechanism;
    talks.turn(&claude(), "apple", "unused");
    let told = talks.turn(&claude(), "all", "banana");
    assert_eq!((told.mode, told.said.as_str()), (Some(TurnMode::Continued), "apple banana\n"), "{told:?}");
}

#[test]
fn nothing_of_a_conversation_is_left_where_other_programs_look() {
    let env = world();
    let mut talks = Talks::new(&env, &[]);
    talks.turn(&claude(), "apple", "unused");
    talks.turn(&claude(), "all", "banana");
    if matches!(talks.mechanism, team::isolation::Mechanism::Namespaces { .. }) {
        let left = std::fs::read_dir(env.home().join(".claude/projects")).map_or(0, Iterator::count);
        assert_eq!(left, 0);
    }
    let claude = program(AgentKind::Claude, "claude", None, OutputFormat::ClaudeStreamJson);
    talks.reuse = SessionReuse::Off;
    assert_eq!(talks.turn(&claude, "alone", "unused").said, "alone\n");
}

#[rstest]
#[case::forgotten("forgets", "was not taken up again")]
#[case::outgrown("longer", "has outgrown the model")]
fn a_turn_whose_conversation_fails_is_taken_anew_and_says_why(#[case] misbehave: &str, #[case] why: &str) {
    let env = world();
    let mut talks = Talks::new(&env, &[("CLAUDE_MISBEHAVE", misbehave)]);
    talks.turn(&claude_with_mood(), "apple", "unused");
    let told = talks.turn(&claude_with_mood(), "apple and banana", "banana");
    assert_eq!((told.mode, told.said.as_str()), (Some(TurnMode::Anew), "apple and banana\n"), "{told:?}");
    let said = told.why.unwrap();
    assert!(said.contains(why), "{said}");
    assert!(!said.contains('-'), "an id says by its form whose it is: {said}");
    assert!(told.retries.len() == 1 && told.retries[0].contains(why), "{:?}", told.retries);
    let expected = ["team: apple", "participant: apple", "team: banana", "team: apple and banana"];
    assert_eq!(talks.history()[..4], expected);
    // What comes next is of the new conversation.
    let mut talks = calm(talks, &env);
    let told = talks.turn(&claude(), "all", "cherry");
    assert_eq!((told.mode, told.said.as_str()), (Some(TurnMode::Continued), "apple and banana cherry\n"));
}

/// The same program, told by a variable how to behave.
fn claude_with_mood() -> ResolvedModel {
    let mut model = claude();
    model.settings.env.insert("MISBEHAVE".to_owned(), "${CLAUDE_MISBEHAVE}".to_owned());
    model
}

fn calm(mut talks: Talks, _env: &TestEnv) -> Talks {
    let folder = talks.folder().to_owned();
    talks.taken_up_at(&folder);
    talks
}

#[rstest]
#[case::another("replaces", "in another conversation")]
#[case::unnamed("silent", "did not say in which conversation")]
fn a_conversation_that_was_replaced_without_a_word_is_noticed_and_not_gone_on_with(
    #[case] misbehave: &str,
    #[case] why: &str,
) {
    let env = world();
    let mut talks = Talks::new(&env, &[("CLAUDE_MISBEHAVE", misbehave)]);
    talks.turn(&claude_with_mood(), "apple", "unused");
    let told = talks.turn(&claude_with_mood(), "all of it", "banana");
    assert_eq!(told.mode, Some(TurnMode::Replaced), "{told:?}");
    assert!(told.why.unwrap().contains(why));
    assert_eq!(told.state, SlotState::Completed, "the answer is one all the same");
    let told = talks.turn(&claude(), "all of it again", "cherry");
    assert_eq!((told.mode, told.said.as_str()), (Some(TurnMode::Anew), "all of it again\n"), "{told:?}");
    assert!(told.why.unwrap().contains(why));
}

#[test]
fn a_conversation_is_gone_on_with_by_the_model_that_began_it_and_no_other() {
    let env = world();
    let mut talks = Talks::new(&env, &[]);
    talks.turn(&claude(), "apple", "unused");
    let other = ResolvedModel { identity: ModelIdentity("claude:small".to_owned()), ..claude() };
    let told = talks.turn(&other, "all of it", "banana");
    assert_eq!((told.mode, told.said.as_str()), (Some(TurnMode::Anew), "all of it\n"));
    assert_eq!(told.why.as_deref(), Some("the conversation is another model's"));
}

#[test]
fn a_command_of_the_users_is_asked_anew_each_time() {
    let env = world();
    let mut talks = Talks::new(&env, &[]);
    let mut own = program(AgentKind::Custom, "cat", None, OutputFormat::Text);
    talks.turn(&own, "apple", "unused");
    let told = talks.turn(&own, "all of it", "banana");
    assert_eq!((told.mode, told.said.as_str()), (Some(TurnMode::Anew), "all of it"));
    assert!(told.why.unwrap().contains("cannot be told to go on"));
    // The same with a known program behind arguments of the user's own, which might name any conversation.
    own = program(AgentKind::Custom, "claude", None, OutputFormat::ClaudeStreamJson);
    talks.turn(&own, "apple", "unused");
    assert_eq!(talks.turn(&own, "all of it", "banana").mode, Some(TurnMode::Anew));
}

#[test]
fn a_turn_that_fails_leaves_the_conversation_as_it_was() {
    let env = world();
    let mut talks = Talks::new(&env, &[]);
    talks.turn(&claude(), "apple", "unused");
    let mut failing = claude();
    failing.settings.env.insert("PATH".to_owned(), "/nonexistent".to_owned());
    let told = talks.turn(&failing, "all of it", "banana");
    assert_ne!(told.state, SlotState::Completed);
    assert_eq!(told.mode, None);
    let told = talks.turn(&claude(), "all of it", "banana");
    assert_eq!((told.mode, told.said.as_str()), (Some(TurnMode::Continued), "apple banana\n"), "{told:?}");
}

#[test]
fn with_reuse_off_each_turn_stands_alone_and_what_was_said_is_kept() {
    let env = world();
    let mut talks = Talks::new(&env, &[]);
    talks.reuse = SessionReuse::Off;
    talks.turn(&claude(), "apple", "unused");
    let told = talks.turn(&claude(), "all of it", "banana");
    assert_eq!((told.mode, told.said.as_str()), (None, "all of it\n"));
    let expected = ["team: apple", "participant: apple", "team: all of it", "participant: all of it"];
    assert_eq!(talks.history(), expected);
    assert_eq!(talks.files(), ["reviewer-01.jsonl"]);
    talks.reuse = SessionReuse::On;
    let told = talks.turn(&claude(), "once more", "banana");
    assert_eq!(told.mode, Some(TurnMode::Anew));
    assert_eq!(told.why.as_deref(), Some("the turn before stood alone"));
}
