//! What was said before is sent again, in each wire's own words.

use rstest::rstest;
use serde_json::{Value, json};

use super::super::Exchange;
use super::super::testing::{Call, Server};
use super::question::*;
use crate::config::{ModelSettings, Wire};
use crate::session::slot::Reason;

fn exchanges() -> Vec<Exchange> {
    let exchange = |asked: &str, answered: &str| Exchange { asked: asked.to_owned(), answered: answered.to_owned() };
    vec![exchange("First?", "One."), exchange("Second?", "Two.")]
}

fn plain() -> Value {
    json!([
        {"role": "user", "content": "First?"}, {"role": "assistant", "content": "One."},
        {"role": "user", "content": "Second?"}, {"role": "assistant", "content": "Two."},
        {"role": "user", "content": "What?"},
    ])
}

fn with_system() -> Value {
    let mut all = plain();
    all.as_array_mut().unwrap().insert(0, json!({"role": "system", "content": "Be brief."}));
    all
}

#[rstest]
#[case::chat(Wire::OpenaiChat, "/messages", with_system())]
#[case::responses(Wire::OpenaiResponses, "/input", plain())]
#[case::messages(Wire::AnthropicMessages, "/messages", plain())]
#[case::generate(Wire::GeminiGenerate, "/contents", json!([
    {"role": "user", "parts": [{"text": "First?"}]}, {"role": "model", "parts": [{"text": "One."}]},
    {"role": "user", "parts": [{"text": "Second?"}]}, {"role": "model", "parts": [{"text": "Two."}]},
    {"role": "user", "parts": [{"text": "What?"}]},
]))]
#[case::ollama(Wire::OllamaChat, "/messages", with_system())]
#[tokio::test]
async fn every_wire_is_sent_what_was_said_before(#[case] wire: Wire, #[case] place: &str, #[case] expected: Value) {
    let server = Server::start().await;
    let mut question = Question::to(server.base_url());
    question.provider.wire = wire;
    question.settings = ModelSettings { system: Some("Be brief.".to_owned()), ..ModelSettings::default() };
    question.history = exchanges();
    question.retries = 0;
    let refuse = |call: Call| async move {
        call.respond(400, "content-type: application/json\r\n", r#"{"error": {"message": "no"}}"#).await
    };
    let (_, end, bodies) = scripted(&mut question, &server, vec![Box::new(refuse)]).await;
    assert_eq!(bodies[0].pointer(place), Some(&expected), "{}", bodies[0]);
    assert_eq!(reason(&end), Some(Reason::ApiError));
}

#[tokio::test]
async fn a_history_that_the_server_cut_is_noticed() {
    let server = Server::start().await;
    let mut question = Question::to(server.base_url());
    question.history = vec![Exchange { asked: "word ".repeat(5000), answered: "Read.".to_owned() }];
    // It counts twelve tokens.
    let (_, end, _) = scripted(&mut question, &server, vec![Box::new(|call: Call| call.stream(HELLO))]).await;
    assert_eq!(reason(&end), Some(Reason::ContextTooLong), "{}", detail(&end));
}
