//! What is kept of conversations: with the session, wherever it goes, until it ends.

use jiff::Timestamp;
use team::config::Wire;
use team::pipeline::roles;
use team::session::SessionState;
use team::session::slot::TurnMode;

use super::world::{claude, world};
use crate::support::{Answer, Server, Talks, TestEnv, endpoint, finish, messages};

#[test]
fn a_conversation_survives_its_owner_and_a_move_of_the_folder() {
    let env = world();
    let mut talks = Talks::new(&env, &[]);
    talks.turn(&claude(), "apple", "unused");
    let folder = talks.folder().to_owned();
    talks.taken_up_at(&folder);
    assert_eq!(talks.turn(&claude(), "all", "banana").said, "apple banana\n");
    talks.taken_up_at(&folder.parent().unwrap().join("moved"));
    let told = talks.turn(&claude(), "all", "cherry");
    assert_eq!((told.mode, told.said.as_str()), (Some(TurnMode::Continued), "apple banana cherry\n"), "{told:?}");
}

#[test]
fn an_answer_that_its_owner_did_not_live_to_hear_is_heard_by_the_next_and_once() {
    let env = world();
    let mut talks = Talks::new(&env, &[]);
    talks.turn(&claude(), "apple", "unused");
    let told = talks.turn_and(&claude(), "all", "banana", |talks| {
        let folder = talks.folder().to_owned();
        talks.taken_up_at(&folder);
    });
    assert_eq!(told.said, "apple banana\n");
    let expected = ["team: apple", "participant: apple", "team: banana", "participant: apple banana"];
    assert_eq!(talks.history(), expected);
    assert_eq!(talks.turn(&claude(), "all", "cherry").said, "apple banana cherry\n");
    assert_eq!(talks.files(), ["reviewer-01.jsonl", "reviewer-01.turn-3.kept"]);
}

#[test]
fn what_is_added_is_told_with_the_next_prompt_and_once() {
    let env = world();
    let mut talks = Talks::new(&env, &[]);
    let add = |talks: &mut Talks, text: &str| {
        roles::add(talks.session(), Talks::reviewer(), text, Timestamp::now()).unwrap();
    };
    add(&mut talks, "note");
    assert_eq!(talks.turn(&claude(), "apple", "unused").said, "note apple\n");
    add(&mut talks, "one");
    add(&mut talks, "two");
    let told = talks.turn_and(&claude(), "all", "banana", |talks| add(talks, "late"));
    assert_eq!(told.said, "note apple one two banana\n");
    assert_eq!(talks.turn(&claude(), "all", "cherry").said, "note apple one two banana late cherry\n");
    assert_eq!(talks.turn(&claude(), "all", "date").said, "note apple one two banana late cherry date\n");
    let error = roles::add(talks.session(), Talks::reviewer(), " \n", Timestamp::now()).unwrap_err();
    assert!(error.to_string().contains("reviewer 01 is empty"), "{error}");
}

#[test]
fn a_conversation_that_is_begun_anew_knows_nothing_of_the_one_before() {
    let server = Server::start(|_| {
        Answer::json(200, &serde_json::json!({"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}))
    });
    let env = world();
    for model in [claude(), endpoint(Wire::OpenaiChat, server.url("v1"))] {
        let mut talks = Talks::new(&env, &[]);
        talks.turn(&model, "apple", "unused");
        roles::reset(talks.session(), Talks::reviewer(), Timestamp::now()).unwrap();
        assert_eq!(talks.history(), Vec::<String>::new());
        let told = talks.turn(&model, "banana", "unused");
        assert_eq!(told.mode, Some(TurnMode::Begun));
        assert!(!told.said.contains("apple"), "{told:?}");
        assert_eq!(talks.files(), ["reviewer-01-2.jsonl", "reviewer-01-2.turn-1.kept", "reviewer-01.jsonl"]);
    }
    assert_eq!(messages(&server.requests().pop().unwrap().body), ["user: banana"]);
}

#[test]
fn nothing_in_the_folder_names_the_program_of_a_conversation() {
    let env = world();
    let mut talks = Talks::new(&env, &[]);
    talks.turn(&claude(), "apple", "unused");
    talks.turn(&claude(), "all", "banana");
    for name in talks.files() {
        let bytes = std::fs::read(talks.folder().join("roles").join(&name)).unwrap();
        for word in ["claude", "projects", "session_id"] {
            assert!(memchr::memmem::find(&bytes, word.as_bytes()).is_none(), "{name}: {word}");
        }
    }
}

#[test]
fn what_the_last_turn_left_is_used_only_as_it_was_left() {
    let env = world();
    let mut talks = Talks::new(&env, &[]);
    talks.turn(&claude(), "apple", "unused");
    let kept = talks.folder().join("roles/reviewer-01.turn-1.kept");
    let mut bytes = std::fs::read(&kept).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&kept, bytes).unwrap();
    let (out, _) = finish(&env, &["verify", "latest"], 6);
    assert!(out.contains("reviewer-01.turn-1.kept"), "{out}");
    let told = talks.turn(&claude(), "all of it", "banana");
    assert_eq!((told.mode, told.said.as_str()), (Some(TurnMode::Anew), "all of it\n"));
    assert!(told.why.unwrap().contains("was changed"));
    std::fs::remove_file(talks.folder().join("roles/reviewer-01.turn-2.kept")).unwrap();
    let (out, _) = finish(&env, &["verify", "latest"], 6);
    assert!(out.contains("reviewer-01.turn-2.kept"), "{out}");
    let told = talks.turn(&claude(), "once more", "cherry");
    assert_eq!((told.mode, told.said.as_str()), (Some(TurnMode::Anew), "once more\n"));
    assert!(told.why.unwrap().contains("is missing"));
}

#[test]
fn a_session_verifies_with_its_open_conversations_and_keeps_only_the_words_when_they_are_sealed() {
    let env = world();
    let mut talks = Talks::new(&env, &[]);
    talks.turn(&claude(), "apple", "unused");
    talks.turn(&claude(), "all", "banana");
    finish(&env, &["verify", "latest"], 0);
    talks.session().close(SessionState::Completed, Timestamp::now()).unwrap();
    assert_eq!(talks.files(), ["reviewer-01.jsonl"]);
    let error = roles::history(talks.session(), Talks::reviewer()).unwrap_err();
    assert!(error.to_string().contains("sealed"), "{error}");
    finish(&env, &["verify", "latest"], 0);
    std::fs::write(talks.folder().join("roles/reviewer-01.turn-9.kept"), "planted").unwrap();
    let (out, _) = finish(&env, &["verify", "latest"], 6);
    assert!(out.contains("reviewer-01.turn-9.kept"), "{out}");
}

#[test]
fn a_conversation_of_an_earlier_version_without_turns_is_read_and_begun_anew() {
    let env: TestEnv = world();
    let mut talks = Talks::new(&env, &[]);
    let now = Timestamp::now();
    talks.session().say(Talks::reviewer(), team::session::Speaker::Team, "look", now).unwrap();
    talks.session().say(Talks::reviewer(), team::session::Speaker::Participant, "seen", now).unwrap();
    let told = talks.turn(&claude(), "apple", "unused");
    assert_eq!((told.mode, told.said.as_str()), (Some(TurnMode::Begun), "look apple\n"));
}
