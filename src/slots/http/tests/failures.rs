//! Refusals, retries, redirects, limits.

use rstest::rstest;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::super::JsonSchema;
use super::super::testing::{Call, Recorder, Server, soon};
use super::question::*;
use crate::session::slot::{Activity, Reason};

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

#[tokio::test]
async fn a_spent_quota_fails_at_once_with_its_reset_and_a_limit_waits_for_its_own() {
    let quota = r#"{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED",
        "details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]},{"retryDelay":"3600s"}]}}"#;
    let (out, end) = one_answer(move |call: Call| call.respond(429, "", quota)).await;
    assert_eq!((reason(&end), retries(&out)), (Some(Reason::QuotaExhausted), 0));
    assert!(detail(&end).contains("; the quota resets in 3600 s, at 20"), "{}", detail(&end));

    let server = Server::start().await;
    let question = Question::to(server.base_url());
    let serve = async {
        let limits = "x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 20ms\r\n\
                      x-ratelimit-reset-tokens: 6m0s\r\nx-ratelimit-remaining-tokens: 9\r\n";
        server.call().await.respond(429, limits, "slow down").await;
        server.call().await.stream(HELLO).await;
    };
    let ((out, end), ()) = tokio::join!(question.ask(), serve);
    let retry = Activity::Retry { attempt: 1, of: 2, in_seconds: 1, why: "HTTP 429".to_owned() };
    assert_eq!((reason(&end), &out.activities[1]), (None, &retry));
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

#[rstest]
#[case::a_web_page("<html><title>Sign in</title></html>", "a web page: Sign in")]
#[case::other_text("upstream is down", "upstream is down")]
#[case::half_json("{\"choices\":[", "not an answer of the declared wire")]
#[case::an_event_that_is_no_json("data: hello\n\n", "not an answer of the declared wire")]
#[tokio::test]
async fn a_200_that_is_no_answer_is_bad_output(#[case] body: &'static str, #[case] expected: &str) {
    let (out, end) = one_answer(move |call: Call| call.respond(200, "", body)).await;
    assert_eq!((out.text(), reason(&end)), ("", Some(Reason::BadOutput)));
    assert!(detail(&end).contains(expected), "{}", detail(&end));
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
    assert_eq!(end.dropped_settings, ["temperature", "json_schema", "stream_options"]);
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
