//! Each wire's own way to ask, and the same answer out of all of them.

use rstest::rstest;
use serde_json::{Value, json};

use super::super::JsonSchema;
use super::super::testing::{Call, Server};
use super::question::*;
use crate::config::{ModelSettings, Wire};
use crate::session::slot::{Activity, Reason, StopReason, Usage};

/// The events of a whole answer: thinking, "Grü", "ße", the end, in the wire's own words. Cut off before the last
/// event, it is none.
fn events(wire: Wire) -> Vec<Value> {
    match wire {
        Wire::OpenaiChat => vec![
            json!({"choices": [{"delta": {"reasoning": "hm"}}]}),
            json!({"choices": [{"delta": {"content": "Grü"}}]}),
            json!({"choices": [{"delta": {"content": "ße"}}]}),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9,
                "completion_tokens": 7, "completion_tokens_details": {"reasoning_tokens": 5}}}),
        ],
        Wire::OpenaiResponses => vec![
            json!({"type": "response.created", "sequence_number": 0, "response": {"status": "in_progress"}}),
            json!({"type": "response.reasoning_summary_text.delta", "sequence_number": 1, "delta": "hm"}),
            json!({"type": "response.output_text.delta", "sequence_number": 2, "output_index": 1, "delta": "Grü"}),
            json!({"type": "response.output_text.delta", "sequence_number": 3, "output_index": 1, "delta": "ße"}),
            json!({"type": "response.output_text.done", "sequence_number": 4, "output_index": 1, "text": "Grüße"}),
            json!({"type": "response.completed", "sequence_number": 5, "response": {"status": "completed",
                "output": [{"type": "reasoning"}, {"type": "message", "content": [{"type": "output_text", "text": "Grüße"}]}],
                "usage": {"input_tokens": 9, "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 5}}}}),
        ],
        Wire::AnthropicMessages => vec![
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Grü"}}),
            json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "ße"}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                "usage": {"output_tokens": 7, "output_tokens_details": {"thinking_tokens": 5}}}),
            json!({"type": "message_stop"}),
        ],
        Wire::GeminiGenerate => vec![
            json!({"candidates": [{"content": {"parts": [{"text": "hm", "thought": true}]}}]}),
            json!({"candidates": [{"content": {"parts": [{"text": "Grü"}]}}]}),
            json!({"candidates": [{"content": {"parts": [{"text": "ße"}]}}]}),
            json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 9,
                "candidatesTokenCount": 2, "thoughtsTokenCount": 5}}),
        ],
        Wire::OllamaChat => vec![
            json!({"message": {"content": "", "thinking": "hm"}, "done": false}),
            json!({"message": {"content": "Grü"}, "done": false}),
            json!({"message": {"content": "ße"}, "done": false}),
            json!({"message": {"content": ""}, "done": true, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 7}),
        ],
    }
}

fn framed(wire: Wire, events: &[Value]) -> String {
    let frame = |event: &Value| match wire {
        Wire::OllamaChat => format!("{event}\n"),
        _ => format!("data: {event}\n\n"),
    };
    events.iter().map(frame).collect()
}

fn question(server: &Server, wire: Wire) -> Question {
    let mut question = Question::to(server.base_url());
    question.provider.wire = wire;
    question
}

#[rstest]
#[case::chat(Wire::OpenaiChat)]
#[case::responses(Wire::OpenaiResponses)]
#[case::messages(Wire::AnthropicMessages)]
#[case::generate(Wire::GeminiGenerate)]
#[case::ollama(Wire::OllamaChat)]
#[tokio::test]
async fn every_wire_gives_the_same_answer_in_any_slicing(#[case] wire: Wire) {
    let mut stream = framed(wire, &events(wire));
    // A repeated last event changes nothing.
    stream += &framed(wire, &events(wire)[events(wire).len() - 1..]);
    for (size, end_of_line) in [(1, "\n"), (7, "\r\n"), (5000, "\n")] {
        let server = Server::start().await;
        let mut question = question(&server, wire);
        let stream = stream.replace('\n', end_of_line);
        let answer = Box::new(move |mut call: Call| async move {
            call.begin_chunked().await;
            for part in stream.as_bytes().chunks(size) {
                // The other side may have heard enough.
                if call.try_chunk(part).await.is_err() {
                    return;
                }
            }
            call.try_chunk(b"").await.ok();
        });
        let (out, end, _) = scripted(&mut question, &server, vec![answer]).await;
        assert_eq!((out.text(), reason(&end), end.stop), ("Grüße", None, Some(StopReason::Done)), "slices of {size}");
        assert_eq!(out.activities, [Activity::Waiting, Activity::Thinking, Activity::Answering]);
        let reasoning_tokens = (wire != Wire::OllamaChat).then_some(5);
        let usage = Usage { input_tokens: Some(9), output_tokens: Some(7), reasoning_tokens, ..Usage::default() };
        assert_eq!(end.usage, Some(usage));
    }
}

#[rstest]
#[case::chat(Wire::OpenaiChat)]
#[case::responses(Wire::OpenaiResponses)]
#[case::messages(Wire::AnthropicMessages)]
#[case::generate(Wire::GeminiGenerate)]
#[case::ollama(Wire::OllamaChat)]
#[tokio::test]
async fn every_wire_is_truncated_without_its_last_event(#[case] wire: Wire) {
    let mut all = events(wire);
    let last = all.pop().unwrap();
    let half = framed(wire, &[last]);
    for tail in ["", &half[..half.len() / 2]] {
        let stream = framed(wire, &all) + tail;
        let server = Server::start().await;
        let mut question = question(&server, wire);
        let answer = Box::new(move |call: Call| call.stream(stream));
        let (out, end, _) = scripted(&mut question, &server, vec![answer]).await;
        assert_eq!((out.text(), reason(&end), end.stop), ("Grüße", Some(Reason::Truncated), None));
        assert_eq!(retries(&out), 0);
    }
}

#[rstest]
#[case::chat(Wire::OpenaiChat)]
#[case::responses(Wire::OpenaiResponses)]
#[case::messages(Wire::AnthropicMessages)]
#[case::generate(Wire::GeminiGenerate)]
#[case::ollama(Wire::OllamaChat)]
#[tokio::test]
async fn every_wire_names_reasoning_that_left_no_answer(#[case] wire: Wire) {
    let mut all = events(wire);
    all.retain(|event| !event.to_string().contains("Grü") && !event.to_string().contains("ße"));
    if wire == Wire::OpenaiResponses {
        all.push(json!({"type": "response.incomplete", "response": {"status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"}, "usage": {"output_tokens_details": {"reasoning_tokens": 5}}}}));
    }
    let stream = framed(wire, &all);
    let server = Server::start().await;
    let mut question = question(&server, wire);
    let (_, end, _) = scripted(&mut question, &server, vec![Box::new(move |call: Call| call.stream(stream))]).await;
    assert_eq!(reason(&end), Some(Reason::EmptyOutput));
    let expected = match wire {
        Wire::OllamaChat => "no text: the model only reasoned",
        Wire::OpenaiResponses => "no text: the model spent 5 tokens on reasoning, until the length limit",
        _ => "no text: the model spent 5 tokens on reasoning",
    };
    assert_eq!(detail(&end), expected);
}

/// What each wire sends for the same settings: path, key, body.
#[rstest]
#[case::responses(
    Wire::OpenaiResponses,
    "post /v1/responses http/1.1",
    "authorization: bearer sk-secret",
    json!({"model": "m-1", "instructions": "Be brief.", "input": "What?", "stream": true, "store": false,
        "temperature": 0.5, "top_p": 0.9, "max_output_tokens": 99, "reasoning": {"effort": "low"},
        "text": {"format": {"type": "json_schema", "name": "ballot", "strict": true, "schema": {"type": "object"}}}}),
    &["seed"]
)]
#[case::messages(
    Wire::AnthropicMessages,
    "post /v1/messages http/1.1",
    "x-api-key: sk-secret",
    json!({"model": "m-1", "system": "Be brief.", "messages": [{"role": "user", "content": "What?"}], "stream": true,
        "max_tokens": 99, "temperature": 0.5, "top_p": 0.9, "thinking": {"type": "adaptive"},
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}}}),
    &["seed"]
)]
#[case::generate(
    Wire::GeminiGenerate,
    "post /v1/models/m-1:streamgeneratecontent?alt=sse http/1.1",
    "x-goog-api-key: sk-secret",
    json!({"systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "What?"}]}],
        "generationConfig": {"temperature": 0.5, "topP": 0.9, "seed": 7, "maxOutputTokens": 99,
            "responseMimeType": "application/json", "responseJsonSchema": {"type": "object"},
            "thinkingConfig": {"thinkingLevel": "low"}}}),
    &[]
)]
#[case::ollama(
    Wire::OllamaChat,
    "post /v1/api/chat http/1.1",
    "authorization: bearer sk-secret",
    json!({"model": "m-1", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What?"}],
        "stream": true, "truncate": false, "shift": false, "think": "low", "format": {"type": "object"},
        "options": {"num_ctx": 8192, "num_predict": 99, "temperature": 0.5, "top_p": 0.9, "seed": 7}}),
    &[]
)]
#[tokio::test]
async fn every_wire_has_its_own_request(
    #[case] wire: Wire,
    #[case] line: &str,
    #[case] key: &str,
    #[case] expected: Value,
    #[case] dropped: &[&str],
) {
    let server = Server::start().await;
    let mut question = question(&server, wire);
    question.schema = Some(JsonSchema { name: "ballot".to_owned(), value: json!({"type": "object"}) });
    question.settings = ModelSettings {
        system: Some("Be brief.".to_owned()),
        temperature: Some(0.5),
        top_p: Some(0.9),
        seed: Some(7),
        max_tokens: Some(99),
        reasoning_effort: Some("low".to_owned()),
        context: Some(8192),
        ..ModelSettings::default()
    };
    let serve = async {
        let call = server.call().await;
        let (head, body) = (call.head.clone(), call.body.clone());
        call.stream(framed(wire, &events(wire))).await;
        (head, body)
    };
    let ((_, end), (head, body)) = tokio::join!(question.ask(), serve);
    assert!(head.starts_with(line), "{head}");
    assert!(head.contains(&format!("\r\n{key}\r\n")), "{head}");
    assert_eq!(head.contains("\r\nanthropic-version: 2023-06-01\r\n"), wire == Wire::AnthropicMessages);
    assert_eq!(body, expected);
    assert_eq!(reason(&end), None);
    assert_eq!(end.dropped_settings, dropped);
}

#[tokio::test]
async fn messages_have_a_length_limit_even_if_the_user_sets_none_and_her_own_headers_win() {
    let server = Server::start().await;
    let mut question = question(&server, Wire::AnthropicMessages);
    question.provider.headers.insert("anthropic-version".to_owned(), "2030-01-01".to_owned());
    let serve = async {
        let call = server.call().await;
        assert_eq!(call.body["max_tokens"], 32_000);
        assert!(call.head.contains("anthropic-version: 2030-01-01\r\n"), "{}", call.head);
        assert!(!call.head.contains("2023-06-01"), "{}", call.head);
        call.stream(framed(Wire::AnthropicMessages, &events(Wire::AnthropicMessages))).await;
    };
    let ((out, _), ()) = tokio::join!(question.ask(), serve);
    assert_eq!(out.text(), "Grüße");
}

#[rstest]
#[case(
    Wire::AnthropicMessages,
    json!({"type": "message_start", "message": {"usage": {"input_tokens": 9}}}),
    json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
)]
#[case(
    Wire::OpenaiResponses,
    json!({"type": "response.created", "response": {"status": "in_progress"}}),
    json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error", "message": "m"}}})
)]
#[tokio::test]
async fn an_error_that_may_pass_is_tried_again_when_the_model_had_not_begun(
    #[case] wire: Wire,
    #[case] opening: Value,
    #[case] error: Value,
) {
    let server = Server::start().await;
    let question = question(&server, wire);
    let serve = async {
        server.call().await.stream(framed(wire, &[opening, error])).await;
        server.call().await.stream(framed(wire, &events(wire))).await;
    };
    let ((out, end), ()) = tokio::join!(question.ask(), serve);
    assert_eq!((out.text(), reason(&end), retries(&out)), ("Grüße", None, 1));
}

#[tokio::test]
async fn lines_of_json_may_come_as_events_and_a_refusal_of_ollama_is_plain() {
    let wire = Wire::OllamaChat;
    let as_events: String = events(wire).iter().map(|event| format!("data: {event}\n\n")).collect();
    let server = Server::start().await;
    let mut asked = question(&server, wire);
    let (out, _, _) = scripted(&mut asked, &server, vec![Box::new(move |call: Call| call.stream(as_events))]).await;
    assert_eq!(out.text(), "Grüße");
    let server = Server::start().await;
    let mut asked = question(&server, wire);
    let refuse = |call: Call| async move { call.respond(404, "", r#"{"error":"model 'm-1' not found"}"#).await };
    let (_, end, _) = scripted(&mut asked, &server, vec![Box::new(refuse)]).await;
    assert_eq!(reason(&end), Some(Reason::UnknownModel));
    assert_eq!(detail(&end), "HTTP 404: model 'm-1' not found");
}

#[tokio::test]
async fn a_level_of_thinking_that_a_model_does_not_know_becomes_the_form_it_knows() {
    let server = Server::start().await;
    let mut question = question(&server, Wire::OllamaChat);
    question.retries = 0;
    question.settings.reasoning_effort = Some("low".to_owned());
    let serve = async {
        let call = server.call().await;
        assert_eq!(call.body["think"], "low");
        call.respond(400, "", r#"{"error":"think value \"low\" is not supported for this model"}"#).await;
        let call = server.call().await;
        assert_eq!(call.body["think"], true);
        call.respond(400, "", r#"{"error":"\"m-1\" does not support thinking"}"#).await;
        let call = server.call().await;
        assert_eq!(call.body.get("think"), None);
        call.stream(framed(Wire::OllamaChat, &events(Wire::OllamaChat))).await;
    };
    let ((out, end), ()) = tokio::join!(question.ask(), serve);
    assert_eq!((out.text(), end.dropped_settings.as_slice()), ("Grüße", &["reasoning_effort".to_owned()][..]));
}
