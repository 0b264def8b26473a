//! What a slot gets from a provider that behaves, misbehaves, or is not there.

use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::testing::{Call, Recorder, Server, soon};
use super::{Client, JsonSchema, Request, RetryPolicy};
use crate::config::{ModelSettings, Provider, Wire};
use crate::session::slot::{Activity, Reason, StopReason, StreamEnd, Usage};

const HELLO: &str = concat!(
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Grüße\"},\"finish_reason\":null}]}\n\n",
    ": a comment\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" 日本\\n\"},\"finish_reason\":null}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":3}}\n\n",
    "data: [DONE]\n\n",
);

fn content(text: &str) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
}

fn finish(reason: &str) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
}

/// One question, with what a test may vary.
struct Question {
    client: Client,
    provider: Provider,
    settings: ModelSettings,
    schema: Option<JsonSchema>,
    retries: u32,
    stop: CancellationToken,
}

impl Question {
    fn to(base_url: String) -> Self {
        let quick = RetryPolicy { first: Duration::ZERO, ceiling: Duration::ZERO, ..RetryPolicy::default() };
        Self {
            client: Client::with_retry_policy(quick),
            provider: Provider {
                name: "scripted".to_owned(),
                wire: Wire::OpenaiChat,
                base_url,
                api_key_env: None,
                headers: Default::default(),
                max_concurrent: None,
                json_schema: true,
            },
            settings: ModelSettings::default(),
            schema: None,
            retries: 2,
            stop: CancellationToken::new(),
        }
    }

    async fn ask_into(&self, out: &mut Recorder) -> std::io::Result<StreamEnd> {
        let request = Request {
            provider: &self.provider,
            key: Some("sk-secret\n"),
            model: "m-1",
            settings: &self.settings,
            prompt: "What?",
            schema: self.schema.as_ref(),
            retries: self.retries,
        };
        soon(self.client.ask(&request, out, &self.stop)).await
    }

    async fn ask(&self) -> (Recorder, StreamEnd) {
        let mut out = Recorder::default();
        let end = self.ask_into(&mut out).await.unwrap();
        (out, end)
    }
}

/// Asks a server that answers each call by the next of `answers`; gives back what came and the requests' bodies.
async fn scripted<F: Future<Output = ()>>(
    question: &mut Question,
    server: &Server,
    answers: Vec<Box<dyn FnOnce(Call) -> F>>,
) -> (Recorder, StreamEnd, Vec<Value>) {
    let serve = async {
        let mut bodies = Vec::new();
        for answer in answers {
            let call = server.call().await;
            bodies.push(call.body.clone());
            answer(call).await;
        }
        bodies
    };
    let ((out, end), bodies) = tokio::join!(question.ask(), serve);
    assert!(!server.has_call().await, "one more request came than the test answers");
    (out, end, bodies)
}

async fn one_answer<F: Future<Output = ()>>(answer: impl FnOnce(Call) -> F + 'static) -> (Recorder, StreamEnd) {
    let server = Server::start().await;
    let mut question = Question::to(server.base_url());
    let (out, end, _) = scripted(&mut question, &server, vec![Box::new(answer)]).await;
    (out, end)
}

fn reason(end: &StreamEnd) -> Option<Reason> {
    end.error.as_ref().map(|error| error.reason)
}

fn detail(end: &StreamEnd) -> &str {
    end.error.as_ref().map_or("", |error| &error.detail)
}

fn retries(out: &Recorder) -> usize {
    out.activities.iter().filter(|activity| matches!(activity, Activity::Retry { .. })).count()
}

#[tokio::test]
async fn a_stream_becomes_text_stop_and_usage() {
    let server = Server::start().await;
    let mut question = Question::to(server.base_url());
    question.settings = ModelSettings {
        system: Some("Be brief.".to_owned()),
        temperature: Some(0.5),
        seed: Some(7),
        max_tokens: Some(99),
        ..ModelSettings::default()
    };
    let serve = async {
        let call = server.call().await;
        let (head, body) = (call.head.clone(), call.body.clone());
        call.stream(HELLO).await;
        (head, body)
    };
    let ((out, end), (head, body)) = tokio::join!(question.ask(), serve);
    assert_eq!(out.text(), "Grüße 日本\n");
    assert_eq!(out.received, HELLO.len());
    assert_eq!(out.activities, [Activity::Waiting, Activity::Answering]);
    let usage = Usage { input_tokens: Some(12), output_tokens: Some(3), ..Usage::default() };
    assert_eq!(end, StreamEnd { stop: Some(StopReason::Done), usage: Some(usage), ..StreamEnd::default() });
    assert!(head.starts_with("post /v1/chat/completions http/1.1"), "{head}");
    assert!(head.contains("authorization: bearer sk-secret\r\n"), "{head}");
    let expected = json!({
        "model": "m-1",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What?"}],
        "stream": true, "stream_options": {"include_usage": true},
        "temperature": 0.5, "seed": 7, "max_tokens": 99,
    });
    assert_eq!(body, expected);
}

#[tokio::test]
async fn every_slicing_of_a_stream_gives_the_same_text() {
    for (size, end_of_line) in [(1, "\n"), (7, "\r\n"), (13, "\r"), (5000, "\n")] {
        let stream = format!("\u{feff}{}", HELLO.replace('\n', end_of_line));
        let (out, end) = one_answer(move |mut call: Call| async move {
            call.begin_chunked().await;
            for part in stream.as_bytes().chunks(size) {
                call.chunk(part).await;
            }
            call.chunk("").await;
            call.close().await;
        })
        .await;
        assert_eq!(out.text(), "Grüße 日本\n", "slices of {size}");
        assert_eq!((reason(&end), end.stop), (None, Some(StopReason::Done)), "slices of {size}");
    }
}

#[tokio::test]
async fn text_is_handed_on_as_it_comes_and_a_cut_character_waits_for_its_rest() {
    let server = Server::start().await;
    let question = Question::to(server.base_url());
    let (sender, mut news) = mpsc::unbounded_channel();
    let mut out = Recorder { news: Some(sender), ..Recorder::default() };
    let serve = async {
        let mut call = server.call().await;
        assert_eq!(soon(news.recv()).await.unwrap(), "waiting");
        call.begin().await;
        let event = content("é");
        let (head, tail) = event.as_bytes().split_at(event.find('é').unwrap() + 1);
        call.send(head).await;
        call.send(tail).await;
        assert_eq!(soon(news.recv()).await.unwrap(), "answering");
        assert_eq!(soon(news.recv()).await.unwrap(), "text");
        // Only now, after the first piece was seen, does the rest exist.
        call.send(content("!") + &finish("stop")).await;
        call.close().await;
    };
    let (end, ()) = tokio::join!(question.ask_into(&mut out), serve);
    assert_eq!((out.text(), end.unwrap().stop), ("é!", Some(StopReason::Done)));
}

#[tokio::test]
async fn nothing_after_the_last_event_is_waited_for() {
    let server = Server::start().await;
    let question = Question::to(server.base_url());
    let serve = async {
        let mut call = server.call().await;
        call.begin().await;
        call.send(HELLO).await;
        // The connection stays open until the client hangs up.
        call.hung_up().await;
    };
    let (_, (out, end)) = tokio::join!(serve, async {
        let result = question.ask().await;
        drop(question);
        result
    });
    assert_eq!((out.text(), reason(&end)), ("Grüße 日本\n", None));
}

#[rstest]
#[case::without_any_terminal_event(content("half"), Reason::Truncated)]
#[case::in_the_middle_of_an_event(content("half") + "data: {\"choices\":[{\"del", Reason::Truncated)]
#[case::with_comments_only(": keep-alive\n\n".to_owned(), Reason::Truncated)]
#[case::before_the_first_byte(String::new(), Reason::Truncated)]
#[tokio::test]
async fn a_stream_that_just_ends_is_truncated(#[case] stream: String, #[case] expected: Reason) {
    let (out, end) = one_answer(move |call: Call| call.stream(stream)).await;
    assert_eq!((reason(&end), end.stop), (Some(expected), None));
    assert_eq!(retries(&out), 0);
}

#[tokio::test]
async fn a_connection_cut_in_the_middle_keeps_the_text_and_is_never_asked_again() {
    let (out, end) = one_answer(|mut call: Call| async move {
        call.begin_chunked().await;
        call.chunk(content("half")).await;
        call.close().await;
    })
    .await;
    assert_eq!((out.text(), reason(&end), end.stop), ("half", Some(Reason::Truncated), None));
    assert!(detail(&end).contains("broke in the middle"), "{}", detail(&end));
}

#[tokio::test]
async fn a_cut_after_the_stop_loses_only_the_usage() {
    let (out, end) = one_answer(|mut call: Call| async move {
        call.begin_chunked().await;
        call.chunk(content("whole") + &finish("stop")).await;
        call.close().await;
    })
    .await;
    assert_eq!((out.text(), reason(&end), end.stop), ("whole", None, Some(StopReason::Done)));
    assert_eq!(end.usage, None);
}

#[tokio::test]
async fn a_reset_while_only_reasoning_came_is_not_asked_again() {
    let (_, end) = one_answer(|mut call: Call| async move {
        call.begin_chunked().await;
        call.chunk("data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n").await;
        call.close().await;
    })
    .await;
    assert_eq!(reason(&end), Some(Reason::Truncated));
}

#[tokio::test]
async fn a_reset_before_the_answer_is_retried_and_then_a_network_error() {
    async fn reset(call: Call) {
        call.reset();
    }
    let server = Server::start().await;
    let mut question = Question::to(server.base_url());
    let answers: Vec<Box<dyn FnOnce(Call) -> _>> = vec![Box::new(reset), Box::new(reset), Box::new(reset)];
    let (out, end, _) = scripted(&mut question, &server, answers).await;
    assert_eq!((reason(&end), retries(&out)), (Some(Reason::Network), 2));
    assert!(detail(&end).ends_with("(tried again 2 times)"), "{}", detail(&end));
    assert!(!detail(&end).contains("127.0.0.1"), "an address may hold a key: {}", detail(&end));
}

#[tokio::test]
async fn a_refused_connection_is_a_network_error_and_zero_retries_mean_none() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let mut question = Question::to(format!("http://127.0.0.1:{port}/v1"));
    let (out, end) = question.ask().await;
    assert_eq!((reason(&end), retries(&out)), (Some(Reason::Network), 2));
    question.retries = 0;
    let (out, end) = question.ask().await;
    assert_eq!((reason(&end), retries(&out)), (Some(Reason::Network), 0));
    assert!(detail(&end).to_lowercase().contains("refused"), "{}", detail(&end));
}

#[tokio::test]
async fn a_silent_server_is_waited_for_until_the_slot_is_stopped() {
    let server = Server::start().await;
    let question = Question::to(server.base_url());
    let serve = async {
        let call = server.call().await;
        question.stop.cancel();
        call.hung_up().await;
    };
    let ((out, end), ()) = tokio::join!(question.ask(), serve);
    assert_eq!((out.text(), reason(&end)), ("", Some(Reason::Cancelled)));
}

#[tokio::test]
async fn a_stop_in_the_middle_keeps_the_text_so_far() {
    let server = Server::start().await;
    let question = Question::to(server.base_url());
    let (sender, mut news) = mpsc::unbounded_channel();
    let mut out = Recorder { news: Some(sender), ..Recorder::default() };
    let serve = async {
        let mut call = server.call().await;
        call.begin().await;
        call.send(content("half")).await;
        while soon(news.recv()).await.unwrap() != "text" {}
        question.stop.cancel();
        call.hung_up().await;
    };
    let (end, ()) = tokio::join!(question.ask_into(&mut out), serve);
    assert_eq!((out.text(), reason(&end.unwrap())), ("half", Some(Reason::Cancelled)));
}

#[rstest]
#[case(400, "bad request", Reason::ApiError, 1)]
#[case(401, "who are you", Reason::Auth, 1)]
#[case(402, "pay", Reason::QuotaExhausted, 1)]
#[case(403, "no", Reason::Auth, 1)]
#[case(404, "The model `m-1` does not exist", Reason::UnknownModel, 1)]
#[case(404, "no such page", Reason::ApiError, 1)]
#[case(408, "slow", Reason::ApiError, 3)]
#[case(413, "too much", Reason::ContextTooLong, 1)]
#[case(429, "slow down", Reason::RateLimited, 3)]
#[case(429, "You exceeded your current quota", Reason::QuotaExhausted, 1)]
#[case(500, "oops", Reason::ApiError, 3)]
#[case(501, "never", Reason::ApiError, 1)]
#[case(503, "full", Reason::ApiError, 3)]
#[case(529, "Overloaded", Reason::ApiError, 3)]
#[tokio::test]
async fn each_status_has_its_reason_and_only_passing_ones_are_tried_again(
    #[case] status: u16,
    #[case] message: &'static str,
    #[case] expected: Reason,
    #[case] requests: usize,
) {
    let server = Server::start().await;
    let mut question = Question::to(server.base_url());
    let body = json!({"error": {"message": message, "type": "x"}}).to_string();
    let answers = (0..requests).map(|_| {
        let body = body.clone();
        Box::new(move |call: Call| async move { call.respond(status, "", &body).await }) as Box<dyn FnOnce(Call) -> _>
    });
    let (out, end, _) = scripted(&mut question, &server, answers.collect()).await;
    assert_eq!(reason(&end), Some(expected), "{}", detail(&end));
    assert!(detail(&end).starts_with(&format!("HTTP {status} (x): {message}")), "{}", detail(&end));
    assert_eq!(retries(&out), requests - 1);
}

#[tokio::test]
async fn a_retry_that_answers_is_an_answer() {
    let server = Server::start().await;
    let question = Question::to(server.base_url());
    let serve = async {
        server.call().await.respond(503, "retry-after: 0\r\n", "").await;
        server.call().await.stream(HELLO).await;
    };
    let ((out, end), ()) = tokio::join!(question.ask(), serve);
    assert_eq!((out.text(), reason(&end)), ("Grüße 日本\n", None));
    let retry = Activity::Retry { attempt: 1, of: 2, in_seconds: 0, why: "HTTP 503".to_owned() };
    assert_eq!(out.activities, [Activity::Waiting, retry, Activity::Waiting, Activity::Answering]);
}

#[tokio::test]
async fn the_wait_that_a_server_asks_for_is_kept_and_can_be_stopped() {
    let server = Server::start().await;
    let question = Question::to(server.base_url());
    let (sender, mut news) = mpsc::unbounded_channel();
    let mut out = Recorder { news: Some(sender), ..Recorder::default() };
    let serve = async {
        server.call().await.respond(429, "retry-after: 90\r\n", "").await;
        while soon(news.recv()).await.unwrap() != "retry 1/2 in 90s (HTTP 429)" {}
        question.stop.cancel();
    };
    let (end, ()) = tokio::join!(question.ask_into(&mut out), serve);
    assert_eq!(reason(&end.unwrap()), Some(Reason::Cancelled));
}

#[tokio::test]
async fn a_wait_that_is_too_long_fails_at_once_and_names_its_end() {
    let date = "retry-after: Fri, 01 Jan 2100 00:00:00 GMT\r\n";
    for (header, expected) in [("retry-after: 3600\r\n", "3600 s, until 20"), (date, ", until 2100-01-01T00:00:0")] {
        let (out, end) = one_answer(move |call: Call| call.respond(429, header, "slow down")).await;
        assert_eq!((reason(&end), retries(&out)), (Some(Reason::RateLimited), 0));
        assert!(detail(&end).contains(expected), "{}", detail(&end));
    }
}

#[rstest]
#[case::whole(r#"{"error":{"message":"no","type":"x","code":400}}"#, Reason::ApiError)]
#[case::text(r#"{"error":"Incorrect API key"}"#, Reason::Auth)]
#[case::event("data: {\"error\":{\"message\":\"no\"}}\n\n", Reason::ApiError)]
#[case::named_event("event: error\ndata: {\"message\":\"no\"}\n\n", Reason::ApiError)]
#[case::after_text(
    "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"error\":{\"code\":503}}\n\n",
    Reason::ApiError
)]
#[tokio::test]
async fn an_error_inside_a_200_is_an_error(#[case] body: &'static str, #[case] expected: Reason) {
    let (out, end) = one_answer(move |call: Call| call.stream(body)).await;
    assert_eq!((reason(&end), retries(&out)), (Some(expected), 0), "{}", detail(&end));
}

#[tokio::test]
async fn a_passing_error_inside_a_200_is_tried_again_while_nothing_of_the_answer_came() {
    let server = Server::start().await;
    let question = Question::to(server.base_url());
    let serve = async {
        server.call().await.stream(": busy\n\ndata: {\"error\":{\"message\":\"busy\",\"code\":502}}\n\n").await;
        server.call().await.stream(HELLO).await;
    };
    let ((out, end), ()) = tokio::join!(question.ask(), serve);
    assert_eq!((out.text(), reason(&end), retries(&out)), ("Grüße 日本\n", None, 1));
}

#[tokio::test]
async fn an_answer_that_is_not_streamed_is_read_too() {
    let body = json!({
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    });
    let (out, end) = one_answer(move |call: Call| async move {
        call.respond(200, "content-type: application/json\r\n", &body.to_string()).await;
    })
    .await;
    assert_eq!((out.text(), reason(&end), end.stop), ("yes", None, Some(StopReason::Length)));
    assert_eq!(end.usage.and_then(|usage| usage.output_tokens), Some(2));
}

#[rstest]
#[case::a_web_page("<html><title>Sign in</title></html>", "a web page: Sign in")]
#[case::other_text("upstream is down", "upstream is down")]
#[case::half_json("{\"choices\":[", "not a chat completion")]
#[case::an_event_that_is_no_json("data: hello\n\n", "not a chat completion")]
#[tokio::test]
async fn a_200_that_is_no_answer_is_bad_output(#[case] body: &'static str, #[case] expected: &str) {
    let (out, end) = one_answer(move |call: Call| call.respond(200, "", body)).await;
    assert_eq!((out.text(), reason(&end)), ("", Some(Reason::BadOutput)));
    assert!(detail(&end).contains(expected), "{}", detail(&end));
}

#[tokio::test]
async fn an_event_of_ten_megabytes_is_read() {
    let text = "x".repeat(10 << 20);
    let stream = content(&text) + &finish("stop");
    let (out, end) = one_answer(move |call: Call| call.stream(stream)).await;
    assert_eq!((out.text.len(), reason(&end)), (10 << 20, None));
}

#[tokio::test]
async fn no_redirect_to_another_host_is_followed() {
    let other = Server::start().await;
    let to = other.base_url();
    let (_, end) = one_answer(move |call: Call| async move {
        call.respond(307, &format!("location: {to}/chat/completions\r\n"), "").await;
    })
    .await;
    assert_eq!(reason(&end), Some(Reason::ApiError));
    assert!(detail(&end).contains("was not followed"), "{}", detail(&end));
    assert!(!other.has_call().await, "neither key nor prompt goes to another host");
}

#[tokio::test]
async fn a_redirect_within_the_host_is_followed_with_the_key() {
    let server = Server::start().await;
    let question = Question::to(server.base_url());
    let serve = async {
        server.call().await.respond(308, "location: /v2/chat/completions\r\n", "").await;
        let call = server.call().await;
        assert!(call.head.starts_with("post /v2/"), "{}", call.head);
        assert!(call.head.contains("bearer sk-secret"), "{}", call.head);
        call.stream(HELLO).await;
    };
    let ((out, _), ()) = tokio::join!(question.ask(), serve);
    assert_eq!(out.text(), "Grüße 日本\n");
}

#[tokio::test]
async fn refused_settings_are_left_out_one_by_one_and_named() {
    let server = Server::start().await;
    let mut question = Question::to(server.base_url());
    question.retries = 0;
    question.settings.temperature = Some(0.3);
    question.schema = Some(JsonSchema { name: "ballot".to_owned(), value: json!({"type": "object"}) });
    let refuse = |message: &'static str, param: &'static str| {
        let body = json!({"error": {"message": message, "param": param}}).to_string();
        move |call: Call| async move { call.respond(400, "", &body).await }
    };
    let serve = async {
        let call = server.call().await;
        let schema = json!({"type": "json_schema", "json_schema": {"name": "ballot", "strict": true, "schema": {"type": "object"}}});
        assert_eq!(call.body["response_format"], schema);
        refuse("Unsupported value", "temperature")(call).await;
        let call = server.call().await;
        assert_eq!(call.body.get("temperature"), None);
        refuse("response_format is not supported", "response_format")(call).await;
        let call = server.call().await;
        assert_eq!(call.body.get("response_format"), None);
        refuse("Unknown field: stream_options", "stream_options")(call).await;
        let call = server.call().await;
        assert_eq!(call.body, json!({"model": "m-1", "messages": call.body["messages"], "stream": true}));
        call.stream(HELLO).await;
    };
    let ((out, end), ()) = tokio::join!(question.ask(), serve);
    assert_eq!((out.text(), reason(&end)), ("Grüße 日本\n", None));
    assert_eq!(end.dropped_settings, ["temperature", "response_format", "stream_options"]);
}

#[tokio::test]
async fn a_schema_is_not_sent_to_a_provider_that_takes_none() {
    let server = Server::start().await;
    let mut question = Question::to(server.base_url());
    question.provider.json_schema = false;
    question.schema = Some(JsonSchema { name: "ballot".to_owned(), value: json!({}) });
    let (_, end, bodies) = scripted(&mut question, &server, vec![Box::new(|call: Call| call.stream(HELLO))]).await;
    assert_eq!(bodies[0].get("response_format"), None);
    assert_eq!(end.dropped_settings, Vec::<String>::new());
}

#[tokio::test]
async fn reasoning_is_shown_as_activity_and_an_answer_of_nothing_else_is_empty() {
    let thinking = "data: {\"choices\":[{\"delta\":{\"reasoning\":\"hm\"}}]}\n\n";
    let usage = "data: {\"choices\":[],\"usage\":{\"completion_tokens_details\":{\"reasoning_tokens\":512}}}\n\n";
    let stream = thinking.repeat(3) + &content("\n") + &finish("length") + usage + "data: [DONE]\n\n";
    let (out, end) = one_answer(move |call: Call| call.stream(stream)).await;
    assert_eq!(out.activities, [Activity::Waiting, Activity::Thinking, Activity::Answering]);
    assert_eq!(reason(&end), Some(Reason::EmptyOutput));
    assert_eq!(detail(&end), "no text: the model spent 512 tokens on reasoning, until the length limit");
}

#[tokio::test]
async fn a_filter_stop_and_a_refusal_are_refused() {
    let (_, end) = one_answer(|call: Call| call.stream(finish("content_filter"))).await;
    assert_eq!(end.stop, Some(StopReason::Refused));
    let refusal = "data: {\"choices\":[{\"delta\":{\"refusal\":\"I cannot.\"}}]}\n\n".to_owned() + &finish("stop");
    let (out, end) = one_answer(move |call: Call| call.stream(refusal)).await;
    assert_eq!((out.text(), reason(&end), detail(&end)), ("", Some(Reason::Refused), "I cannot."));
}

#[tokio::test]
async fn no_more_than_the_limit_are_asked_at_once() {
    let server = Server::start().await;
    let mut question = Question::to(server.base_url());
    question.provider.max_concurrent = Some(1);
    let (sender, mut news) = mpsc::unbounded_channel();
    let mut second = Recorder { news: Some(sender), ..Recorder::default() };
    let serve = async {
        let first = server.call().await;
        assert_eq!(soon(news.recv()).await.unwrap(), "queued");
        assert!(!server.has_call().await && news.is_empty(), "the second waits for its turn");
        first.stream(HELLO).await;
        assert_eq!(soon(news.recv()).await.unwrap(), "waiting");
        server.call().await.stream(HELLO).await;
    };
    let ((first, _), end, ()) = tokio::join!(question.ask(), question.ask_into(&mut second), serve);
    assert_eq!((first.text(), second.text()), ("Grüße 日本\n", "Grüße 日本\n"));
    assert_eq!(reason(&end.unwrap()), None);
}

#[tokio::test]
async fn an_error_of_the_slots_file_ends_the_question_as_it_is() {
    let server = Server::start().await;
    let question = Question::to(server.base_url());
    let mut out = Recorder { full: true, ..Recorder::default() };
    let serve = async { server.call().await.stream(HELLO).await };
    let (end, ()) = tokio::join!(question.ask_into(&mut out), serve);
    assert_eq!(end.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
}

#[tokio::test]
async fn what_cannot_be_sent_is_said_without_sending() {
    let mut question = Question::to("ftp://example/v1".to_owned());
    let (_, end) = question.ask().await;
    assert!(detail(&end).contains("`ftp:`"), "{}", detail(&end));
    question.provider.base_url = "http://127.0.0.1:9/v1".to_owned();
    question.provider.headers.insert("x-org".to_owned(), "${TEAM_TEST_THIS_IS_NOT_SET}".to_owned());
    let (_, end) = question.ask().await;
    assert_eq!(reason(&end), Some(Reason::Auth));
}
