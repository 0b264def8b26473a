//! Streams, whole and cut.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use rstest::rstest;
use serde_json::json;
use tokio::sync::mpsc;

use super::super::testing::{Call, Recorder, Server, soon};
use super::question::*;
use crate::config::ModelSettings;
use crate::session::slot::{Activity, Reason, StopReason, StreamEnd, Usage};

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
async fn a_compressed_stream_is_handed_on_as_it_comes() {
    let server = Server::start().await;
    let question = Question::to(server.base_url());
    let (sender, mut news) = mpsc::unbounded_channel();
    let mut out = Recorder { news: Some(sender), ..Recorder::default() };
    let serve = async {
        let mut call = server.call().await;
        assert!(call.head.contains("accept-encoding: identity\r\n"), "{}", call.head);
        call.send("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n").await;
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(content("half ").as_bytes()).unwrap();
        gzip.flush().unwrap();
        call.send(std::mem::take(gzip.get_mut())).await;
        while soon(news.recv()).await.unwrap() != "text" {}
        // Only now does the rest exist.
        gzip.write_all((content("done") + &finish("stop")).as_bytes()).unwrap();
        call.send(gzip.finish().unwrap()).await;
        call.close().await;
    };
    let (end, ()) = tokio::join!(question.ask_into(&mut out), serve);
    assert_eq!((out.text(), end.unwrap().stop), ("half done", Some(StopReason::Done)));
}

#[tokio::test]
async fn a_compression_that_nobody_can_read_is_named() {
    let (out, end) = one_answer(|call: Call| call.respond(200, "content-encoding: br\r\n", "\u{1}\u{2}")).await;
    assert_eq!((out.text(), reason(&end)), ("", Some(Reason::BadOutput)));
    assert!(detail(&end).contains("`br`"), "{}", detail(&end));
    let (_, end) = one_answer(|call: Call| call.respond(401, "content-encoding: br\r\n", "\u{1}\u{2}")).await;
    assert_eq!((reason(&end), detail(&end)), (Some(Reason::Auth), "HTTP 401: Unauthorized"));
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

#[tokio::test]
async fn an_event_of_ten_megabytes_is_read() {
    let text = "x".repeat(10 << 20);
    let stream = content(&text) + &finish("stop");
    let (out, end) = one_answer(move |call: Call| call.stream(stream)).await;
    assert_eq!((out.text.len(), reason(&end)), (10 << 20, None));
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
async fn a_prompt_that_the_server_cut_is_no_answer_to_it() {
    let server = Server::start().await;
    let mut question = Question::to(server.base_url());
    question.settings.system = Some("word ".repeat(5000));
    let (out, end, _) = scripted(&mut question, &server, vec![Box::new(|call: Call| call.stream(HELLO))]).await;
    assert_eq!((out.text(), reason(&end)), ("Grüße 日本\n", Some(Reason::ContextTooLong)));
}
