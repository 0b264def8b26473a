//! Models that are told everything again.

use rstest::rstest;
use serde_json::json;
use team::config::Wire;
use team::session::slot::TurnMode;

use crate::support::{Answer, Request, Server, Talks, TestEnv, endpoint, messages};

/// Answers with how many messages it was sent.
fn counts(request: &Request) -> Answer {
    let count = messages(&request.body).len();
    let body = json!({"choices": [{"message": {"content": format!("{count} messages")}, "finish_reason": "stop"}]});
    Answer::json(200, &body)
}

#[test]
fn a_model_is_sent_what_was_said_before() {
    let server = Server::start(counts);
    let env = TestEnv::new();
    let mut talks = Talks::new(&env, &[]);
    let model = endpoint(Wire::OpenaiChat, server.url("v1"));
    assert_eq!(talks.turn(&model, "apple", "unused").mode, Some(TurnMode::Begun));
    let told = talks.turn(&model, "all of it", "banana");
    assert_eq!((told.mode, told.said.as_str()), (Some(TurnMode::Continued), "3 messages"));
    talks.turn(&model, "all of it", "cherry");
    let last = server.requests().pop().unwrap();
    let expected = ["user: apple", "assistant: 1 messages", "user: banana", "assistant: 3 messages", "user: cherry"];
    assert_eq!(messages(&last.body), expected);
}

#[test]
fn a_model_that_takes_no_longer_conversation_is_asked_anew() {
    let server = Server::start(|request| match messages(&request.body).len() {
        1 => counts(request),
        _ => Answer::json(
            400,
            &json!({"error": {"message": "too long", "type": "invalid_request_error", "code": "context_length_exceeded"}}),
        ),
    });
    let env = TestEnv::new();
    let mut talks = Talks::new(&env, &[]);
    let model = endpoint(Wire::OpenaiChat, server.url("v1"));
    talks.turn(&model, "apple", "unused");
    let told = talks.turn(&model, "all of it", "banana");
    assert_eq!((told.mode, told.said.as_str()), (Some(TurnMode::Anew), "1 messages"), "{told:?}");
    assert_eq!(told.why.as_deref(), Some("the conversation has outgrown the model"));
    assert_eq!(messages(&server.requests().pop().unwrap().body), ["user: all of it"]);
    // Only what the new conversation holds is said again.
    talks.turn(&model, "all of it", "cherry");
    let asked = server.requests();
    let further: Vec<_> = asked.iter().map(|request| messages(&request.body)).filter(|said| said.len() > 1).collect();
    assert_eq!(further.last().unwrap(), &["user: all of it", "assistant: 1 messages", "user: cherry"]);
}

#[rstest]
#[case::refused(401)]
#[case::broken(500)]
fn an_error_of_the_provider_is_the_turns_own_and_no_reason_to_ask_anew(#[case] status: u16) {
    let server = Server::start(move |request| match messages(&request.body).len() {
        1 => counts(request),
        _ => Answer::json(status, &json!({"error": {"message": "no"}})),
    });
    let env = TestEnv::new();
    let mut talks = Talks::new(&env, &[]);
    let model = endpoint(Wire::OpenaiChat, server.url("v1"));
    talks.turn(&model, "apple", "unused");
    let told = talks.turn(&model, "all of it", "banana");
    assert_eq!((told.mode, told.retries.len()), (None, 0), "{told:?}");
    assert_eq!(server.requests().len(), 2);
}
