//! Recorded streams and the known faults of capture.

use proptest::prelude::*;

use super::*;
use crate::capture::prose::tests::Collected;
use crate::session::slot::{Activity, Usage};

/// The answer, the end and the activities of `stream`, pushed in pieces of `size`.
fn decoded(format: OutputFormat, stream: &[u8], size: usize) -> (String, StreamEnd, Vec<Activity>) {
    let mut out = Collected::default();
    let mut decoder = Decoder::new(format);
    for chunk in stream.chunks(size.max(1)) {
        decoder.push(chunk, &mut out).unwrap();
    }
    let end = decoder.finish(&mut out).unwrap();
    (String::from_utf8(out.text).unwrap(), end, out.activities)
}

fn claude(stream: &str) -> (String, StreamEnd) {
    let (text, end, _) = decoded(OutputFormat::ClaudeStreamJson, stream.as_bytes(), usize::MAX);
    (text, end)
}

fn reason(end: &StreamEnd) -> Option<Reason> {
    end.error.as_ref().map(|error| error.reason)
}

fn recorded(file: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/streams").join(file);
    fs_err::read(path).unwrap()
}

const HELLO: &str = "Hello from the fake provider: the answer is 42.\n";
const TOOL: &str = "I will run a command.\n\nAfter the tool: done.\n";
const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"stop_reason":"end_turn","result":"x"}"#;

fn said(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":{text}}}]}},"parent_tool_use_id":null}}"#
    )
}

/// Every recorded stream: format, file, answer, error, stop, tokens in and out.
type Recorded = (OutputFormat, &'static str, &'static str, Option<Reason>, Option<StopReason>, Option<(u64, u64)>);

fn recordings() -> Vec<Recorded> {
    use OutputFormat::{ClaudeStreamJson, CodexJson, GeminiJson, OpencodeJson, Text};
    let done = Some(StopReason::Done);
    vec![
        (ClaudeStreamJson, "claude/plain.stream-json.stdout", HELLO, None, done, Some((12, 9))),
        (ClaudeStreamJson, "claude/resumed.stream-json.stdout", HELLO, None, done, Some((24, 18))),
        (ClaudeStreamJson, "claude/unknown.stream-json.stdout", "", Some(Reason::ApiError), done, None),
        (ClaudeStreamJson, "claude/tool.stream-json.stdout", TOOL, None, done, Some((24, 18))),
        (ClaudeStreamJson, "claude/empty.stream-json.stdout", "", None, done, Some((24, 18))),
        (ClaudeStreamJson, "claude/truncated.stream-json.stdout", HELLO, None, done, Some((24, 10))),
        (ClaudeStreamJson, "claude/401.stream-json.stdout", "", Some(Reason::Auth), done, None),
        (ClaudeStreamJson, "claude/429.stream-json.stdout", "", Some(Reason::RateLimited), done, None),
        (ClaudeStreamJson, "claude/500.stream-json.stdout", "", Some(Reason::ApiError), done, None),
        (ClaudeStreamJson, "claude/403.stream-json.stdout", "", Some(Reason::Auth), done, None),
        (ClaudeStreamJson, "claude/429long.stream-json.stdout", "", Some(Reason::QuotaExhausted), done, None),
        (ClaudeStreamJson, "claude/529.stream-json.stdout", "", Some(Reason::ApiError), done, None),
        (ClaudeStreamJson, "claude/reset.stream-json.stdout", "", Some(Reason::Network), done, None),
        (ClaudeStreamJson, "claude/truncall.stream-json.stdout", "", Some(Reason::Network), done, None),
        (ClaudeStreamJson, "claude/plain.json.stdout", HELLO, None, done, Some((12, 9))),
        (CodexJson, "codex/plain.json.stdout", HELLO, None, done, Some((12, 9))),
        (CodexJson, "codex/resumed.json.stdout", HELLO, None, done, Some((24, 18))),
        (CodexJson, "codex/tool.json.stdout", TOOL, None, done, Some((24, 18))),
        (CodexJson, "codex/empty.json.stdout", "", None, done, Some((12, 9))),
        (CodexJson, "codex/401.json.stdout", "", Some(Reason::Auth), None, None),
        (CodexJson, "codex/429.json.stdout", "", Some(Reason::RateLimited), None, None),
        (CodexJson, "codex/500.json.stdout", "", Some(Reason::ApiError), None, None),
        (CodexJson, "codex/longprompt.json.stdout", "", None, None, None),
        (CodexJson, "codex/403.json.stdout", "", Some(Reason::Auth), None, None),
        (CodexJson, "codex/429long.json.stdout", "", Some(Reason::RateLimited), None, None),
        (CodexJson, "codex/529.json.stdout", "", Some(Reason::ApiError), None, None),
        (CodexJson, "codex/reset.json.stdout", "", Some(Reason::Network), None, None),
        (CodexJson, "codex/truncall.json.stdout", "", Some(Reason::Network), None, None),
        (CodexJson, "codex/truncated.json.stdout", "", Some(Reason::Network), None, None),
        (GeminiJson, "gemini/plain.stream-json.stdout", HELLO, None, done, Some((12, 9))),
        (GeminiJson, "gemini/resumed.stream-json.stdout", HELLO, None, done, Some((12, 9))),
        (GeminiJson, "gemini/tool.stream-json.stdout", TOOL, None, done, Some((24, 18))),
        (GeminiJson, "gemini/empty.stream-json.stdout", "", Some(Reason::EmptyOutput), None, Some((48, 36))),
        (GeminiJson, "gemini/401.stream-json.stdout", "", Some(Reason::Auth), None, None),
        (GeminiJson, "gemini/500.stream-json.stdout", "", Some(Reason::ApiError), None, None),
        (GeminiJson, "gemini/429.stream-json.stdout", "", Some(Reason::RateLimited), None, None),
        (GeminiJson, "gemini/429long.stream-json.stdout", "", Some(Reason::QuotaExhausted), None, None),
        (GeminiJson, "gemini/truncated.stream-json.stdout", "Hello from the\n", Some(Reason::Network), None, None),
        (OpencodeJson, "opencode/500.json.stdout", "", Some(Reason::ApiError), None, None),
        (OpencodeJson, "opencode/truncated.json.stdout", "", Some(Reason::Network), None, None),
        (OpencodeJson, "opencode/plain.json.stdout", HELLO, None, done, Some((12, 9))),
        (OpencodeJson, "opencode/resumed.json.stdout", HELLO, None, done, Some((12, 9))),
        (OpencodeJson, "opencode/tool.json.stdout", TOOL, None, done, Some((24, 18))),
        (OpencodeJson, "opencode/empty.json.stdout", "", None, done, Some((12, 9))),
        (OpencodeJson, "opencode/401.json.stdout", "", Some(Reason::Auth), None, None),
        (OpencodeJson, "opencode/429.json.stdout", "", Some(Reason::RateLimited), None, None),
        (Text, "claude/plain.text.stdout", HELLO, None, done, None),
        (Text, "claude/empty.text.stdout", "\n", None, done, None),
        (Text, "codex/plain.text.stdout", HELLO, None, done, None),
        (Text, "gemini/plain.text.stdout", HELLO, None, done, None),
        (Text, "opencode/plain.text.stdout", HELLO, None, done, None),
    ]
}

#[test]
fn every_recorded_stream_has_its_answer_in_any_slicing() {
    for (format, file, answer, error, stop, tokens) in recordings() {
        let stream = recorded(file);
        let whole = decoded(format, &stream, usize::MAX);
        assert_eq!(whole.0, answer, "{file}");
        assert_eq!(reason(&whole.1), error, "{file}: {:?}", whole.1.error);
        assert_eq!(whole.1.stop, stop, "{file}");
        let usage = whole.1.usage.map(|u| (u.input_tokens.unwrap(), u.output_tokens.unwrap()));
        assert_eq!(usage, tokens, "{file}");
        assert_eq!(whole.1.conversation.is_some(), format != OutputFormat::Text, "{file}");
        for size in [1, 7, 13, 5000] {
            assert_eq!(decoded(format, &stream, size), whole, "{file} in pieces of {size}");
        }
    }
}

/// Each program's first turn and the one after it, and one in which it knew of no such conversation.
#[test]
fn a_further_turn_is_of_the_conversation_that_it_names_and_counts_for_itself() {
    use OutputFormat::{ClaudeStreamJson, CodexJson, GeminiJson, OpencodeJson};
    for (format, file) in [
        (ClaudeStreamJson, "claude/resumed.stream-json.stdout"),
        (CodexJson, "codex/resumed.json.stdout"),
        (GeminiJson, "gemini/resumed.stream-json.stdout"),
        (OpencodeJson, "opencode/resumed.json.stdout"),
    ] {
        let before = Usage { input_tokens: Some(12), output_tokens: Some(9), ..Usage::default() };
        let before = Spent { usage: Some(before), cost: Some("0.000228".parse().unwrap()) };
        let mut decoder = Decoder::new(format).after(before);
        let mut out = Collected::default();
        decoder.push(&recorded(file), &mut out).unwrap();
        let end = decoder.finish(&mut out).unwrap();
        let usage = end.usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens), (Some(12), Some(9)), "{file}");
        assert!(end.taken_up && end.conversation.is_some(), "{file}");
        if format == ClaudeStreamJson {
            assert_eq!((end.cost, end.reported.cost), (before.cost, Some("0.000456".parse().unwrap())));
        }
    }
    let unknown = decoded(ClaudeStreamJson, &recorded("claude/unknown.stream-json.stdout"), usize::MAX).1;
    assert!(unknown.conversation.is_some() && !unknown.taken_up, "it names what it was asked for and did not find");
}

#[test]
fn every_fixture_of_standard_output_is_in_the_table() {
    let named: Vec<_> = recordings().iter().map(|row| row.1).collect();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/streams");
    for program in ["claude", "codex", "gemini", "opencode"] {
        for entry in fs_err::read_dir(root.join(program)).unwrap() {
            let file = format!("{program}/{}", entry.unwrap().file_name().into_string().unwrap());
            if file.ends_with(".stderr") {
                continue;
            }
            // Text modes print error sentences as if they were the answer; only the exit code tells.
            let error_text = file.contains("01.text") || file.contains("500.text");
            let other =
                matches!(&*file, "claude/tool.text.stdout" | "claude/truncated.text.stdout" | "gemini/401.json.stdout");
            assert!(named.contains(&&*file) || error_text || other, "{file}");
        }
    }
}

#[test]
fn an_error_sentence_is_kept_once_and_never_in_the_answer() {
    let (text, end, activities) =
        decoded(OutputFormat::ClaudeStreamJson, &recorded("claude/401.stream-json.stdout"), usize::MAX);
    assert_eq!(text, "");
    assert_eq!(end.error.unwrap().detail, "status 401: Invalid API key · Fix external API key");
    assert_eq!((end.usage, end.cost), (None, None), "zeros of a failed call are unknown");
    let retry = Activity::Retry { attempt: 1, of: 1, in_seconds: 1, why: "HTTP 401".to_owned() };
    assert!(activities.contains(&retry), "{activities:?}");
    let (_, end, activities) = decoded(OutputFormat::CodexJson, &recorded("codex/401.json.stdout"), usize::MAX);
    assert!(end.error.unwrap().detail.starts_with("unexpected status 401 Unauthorized: invalid x-api-key"));
    assert_eq!(
        activities.iter().filter(|a| matches!(a, Activity::Retry { of: 5, why, .. } if why == "HTTP 401")).count(),
        5
    );
    let (_, end, _) = decoded(OutputFormat::GeminiJson, &recorded("gemini/401.stream-json.stdout"), usize::MAX);
    assert_eq!(end.error.unwrap().detail, "status 401: invalid x-api-key");
}

#[test]
fn a_later_turn_does_not_replace_the_answer() {
    let stream = [said("long answer"), RESULT.into(), said("hook says hi"), RESULT.into()].join("\n");
    let (text, end) = claude(&stream);
    assert_eq!(text, "long answer\n\nhook says hi\n");
    assert_eq!(end.stop, Some(StopReason::Done));
}

#[test]
fn a_terminal_event_is_not_latched_into_the_next_turn() {
    let mut out = Collected::default();
    let mut decoder = Decoder::new(OutputFormat::ClaudeStreamJson);
    let mut complete_after = |line: &str| {
        decoder.push(format!("{line}\n").as_bytes(), &mut out).unwrap();
        decoder.answer_complete()
    };
    assert!(!complete_after(&said("one")));
    assert!(complete_after(RESULT));
    assert!(complete_after(r#"{"type":"system","subtype":"hook_response"}"#));
    assert!(!complete_after(&said("two")));
    assert!(complete_after(RESULT));
    let queued = RESULT.replace("\"result\":\"x\"", "\"queued_turn_count\":1,\"result\":\"x\"");
    assert!(!complete_after(&queued), "it says itself that another turn follows");
    assert!(!complete_after(&said("three")));
    let end = decoder.finish(&mut out).unwrap();
    assert_eq!(end.stop, None, "the last turn did not end");
}

#[test]
fn thinking_tools_sub_agents_deltas_and_heartbeats_are_no_text() {
    let stream = [
        r#"{"type":"system","subtype":"init","session_id":"s1"}"#.to_owned(),
        r#"{"type":"rate_limit_event","rate_limit_info":{"text":"LEAK"}}"#.to_owned(),
        r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"LEAK"}}}"#
            .to_owned(),
        r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"LEAK"},{"type":"text","text":"A"},{"type":"tool_use","name":"Bash","input":{"text":"LEAK"}}]}}"#.to_owned(),
        said("LEAK").replace("\"parent_tool_use_id\":null", "\"parent_tool_use_id\":\"toolu_1\""),
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"LEAK"},{"type":"text","text":"LEAK"}]}}"#
            .to_owned(),
        r#"{"type":"user","message":{"role":"user","content":"LEAK \ud800"}}"#.to_owned(),
        r#"{"type":"not_known_yet","text":"LEAK","message":7}"#.to_owned(),
        r#"{"type":"keep_alive"}"#.to_owned(),
        said("B"),
        RESULT.to_owned(),
    ]
    .join("\n");
    let (text, end, activities) = decoded(OutputFormat::ClaudeStreamJson, stream.as_bytes(), 13);
    assert_eq!(text, "A\n\nB\n");
    assert_eq!(end.error, None);
    assert_eq!(end.conversation.as_deref(), Some("s1"));
    let shown = [
        Activity::Waiting,
        Activity::Thinking,
        Activity::Answering,
        Activity::Tool("Bash".into()),
        Activity::Answering,
    ];
    assert_eq!(activities, shown);
}

#[test]
fn one_bad_line_never_changes_how_later_lines_are_read() {
    let stream = ["npm warn: é", "  {not json}", "", "{\"a\":1}", &said("answer"), "", "[1]", &said("more"), RESULT];
    for newline in ["\n", "\r\n"] {
        let (text, end) = claude(&stream.join(newline));
        let expected = "npm warn: é\n  {not json}\n\n{\"a\":1}\n\nanswer\n\n[1]\n\nmore\n";
        assert_eq!(text.replace('\r', ""), expected);
        assert_eq!(end.error, None);
    }
}

#[test]
fn bytes_that_are_no_utf8_in_a_plain_line_are_kept_and_in_a_frame_are_marked() {
    let mut stream = b"raw \xff\xe2\x82\n".to_vec();
    stream.extend_from_slice(
        b"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a\xffb\"}]}}\n",
    );
    let mut out = Collected::default();
    let mut decoder = Decoder::new(OutputFormat::ClaudeStreamJson);
    decoder.push(&stream, &mut out).unwrap();
    decoder.finish(&mut out).unwrap();
    assert_eq!(out.text, b"raw \xff\xe2\x82\n\na\xef\xbf\xbdb\n");
}

#[test]
fn the_last_frame_needs_no_newline_and_a_torn_one_is_no_text() {
    let stream = [said("whole"), RESULT.into()].join("\n");
    assert_eq!(claude(&stream).1.stop, Some(StopReason::Done));
    let torn = format!("{stream}\n{{\"type\":\"system\",\"sub");
    let (text, end) = claude(&torn);
    assert_eq!((text.as_str(), end.stop), ("whole\n", Some(StopReason::Done)));
    let (text, end) = claude(&format!("{}\n{}", said("whole"), &RESULT[..RESULT.len() - 1]));
    assert_eq!((text.as_str(), end.stop), ("whole\n", None), "a torn terminal event is none");
}

#[test]
fn passthrough_is_byte_exact() {
    for stream in [&b"no newline"[..], b"", b"\n\n", b"{\"type\":\"result\"}\n", &[0xff, 0, b'\r'], &[b'x'; 65536]] {
        let mut out = Collected::default();
        let mut decoder = Decoder::new(OutputFormat::Text);
        for chunk in stream.chunks(7) {
            decoder.push(chunk, &mut out).unwrap();
        }
        assert_eq!(decoder.finish(&mut out).unwrap().stop, Some(StopReason::Done));
        assert_eq!(out.text, stream);
    }
}

#[test]
fn the_result_text_counts_only_when_no_other_came() {
    assert_eq!(claude(RESULT).0, "x\n");
    assert_eq!(claude(&format!("{}\n{RESULT}", said("real"))).0, "real\n");
}

#[test]
fn success_with_is_error_is_an_api_error() {
    let result = RESULT.replace("\"is_error\":false", "\"is_error\":true");
    let (text, end) = claude(&format!("{}\n{result}", said("half")));
    assert_eq!((text.as_str(), reason(&end)), ("half\n", Some(Reason::ApiError)));
    let turns = r#"{"type":"result","subtype":"error_max_turns","is_error":true}"#;
    assert_eq!(reason(&claude(turns).1), Some(Reason::Truncated));
    let errors = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["boom"]}"#;
    assert_eq!(claude(errors).1.error.unwrap().detail, "boom");
}

#[test]
fn an_error_that_a_later_success_follows_is_cleared() {
    let failed = r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error: 500"}]},"error":"server_error","is_api_error_message":true}"#;
    let (text, end) = claude(&[failed, &said("fine"), RESULT].join("\n"));
    assert_eq!((text.as_str(), end.error), ("fine\n", None));
    assert_eq!(reason(&claude(failed).1), Some(Reason::ApiError), "no result came after it");

    let codex = r#"{"type":"turn.started"}
{"type":"error","message":"Reconnecting... 1/5 (stream disconnected)"}
{"type":"error","message":"unexpected status 500"}
{"type":"item.completed","item":{"type":"agent_message","text":"fine"}}
{"type":"turn.completed","usage":{"input_tokens":1}}"#;
    let (text, end, activities) = decoded(OutputFormat::CodexJson, codex.as_bytes(), 7);
    assert_eq!((text.as_str(), end.error), ("fine\n", None));
    assert!(activities.iter().any(|a| matches!(a, Activity::Retry { why, .. } if why == "network")));
    assert_eq!(end.usage, Some(Usage { input_tokens: Some(1), ..Usage::default() }), "what is not said is unknown");

    let opencode = r#"{"type":"error","sessionID":"s","error":{"name":"APIError","data":{"message":"busy","statusCode":529}}}
{"type":"step_start","sessionID":"s","part":{"messageID":"m"}}
{"type":"text","sessionID":"s","part":{"id":"p","messageID":"m","text":"fine","time":{}}}
{"type":"step_finish","sessionID":"s","part":{"reason":"stop"}}"#;
    let (text, end, _) = decoded(OutputFormat::OpencodeJson, opencode.as_bytes(), 7);
    assert_eq!((text.as_str(), end.error, end.stop), ("fine\n", None, Some(StopReason::Done)));
}

#[test]
fn a_length_stop_and_a_refusal_are_told_apart_from_an_end() {
    for (word, stop) in
        [("max_tokens", StopReason::Length), ("refusal", StopReason::Refused), ("end_turn", StopReason::Done)]
    {
        let (text, end) = claude(&format!("{}\n{}", said("cut"), RESULT.replace("end_turn", word)));
        assert_eq!((text.as_str(), end.stop), ("cut\n", Some(stop)));
    }
    let finish = |reason: &str| format!(r#"{{"type":"step_finish","part":{{"reason":"{reason}"}}}}"#);
    for (word, stop) in [
        ("length", Some(StopReason::Length)),
        ("content-filter", Some(StopReason::Refused)),
        ("tool-calls", None),
        ("unknown", None),
    ] {
        assert_eq!(decoded(OutputFormat::OpencodeJson, finish(word).as_bytes(), 7).1.stop, stop, "{word}");
    }
}

#[test]
fn a_stream_without_its_terminal_event_has_no_stop() {
    for (format, file) in [
        (OutputFormat::ClaudeStreamJson, "claude/plain.stream-json.stdout"),
        (OutputFormat::CodexJson, "codex/plain.json.stdout"),
        (OutputFormat::GeminiJson, "gemini/plain.stream-json.stdout"),
        (OutputFormat::OpencodeJson, "opencode/plain.json.stdout"),
    ] {
        let stream = recorded(file);
        let lines: Vec<_> = stream.split_inclusive(|b| *b == b'\n').collect();
        let (text, end, _) = decoded(format, &lines[..lines.len() - 1].concat(), usize::MAX);
        assert_eq!((text.as_str(), end.stop), (HELLO, None), "{file}");
    }
}

#[test]
fn a_question_that_nobody_can_answer_is_blocked_with_the_question() {
    let ask = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"AskUserQuestion","input":{"questions":[{"question":"Which one?","options":[]}]}}]}}"#;
    let (_, end) = claude(&[ask, RESULT.replace("\"x\"", "\"\"").as_str()].join("\n"));
    assert_eq!(end.error, Some(TypedError::new(Reason::Blocked, "Which one?")));
    let (_, end) = claude(&[ask, &said("I chose the first."), RESULT].join("\n"));
    assert_eq!(end.error, None, "it went on without an answer");
}

#[test]
fn a_denied_permission_blocks_only_when_no_text_came_after_it() {
    let tool = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Write","input":{}}]}}"#;
    let result =
        RESULT.replace("\"result\":\"x\"", "\"result\":\"\",\"permission_denials\":[{\"tool_name\":\"Write\"}]");
    let (_, end) = claude(&[&said("I will write."), tool, &result].join("\n"));
    assert_eq!(reason(&end), Some(Reason::Blocked));
    let (_, end) = claude(&[tool, &said("I could not write, so here it is."), &result].join("\n"));
    assert_eq!(end.error, None);
    let mut out = Collected::default();
    let mut decoder = Decoder::new(OutputFormat::ClaudeStreamJson);
    let request = br#"{"type":"control_request","request":{"subtype":"can_use_tool","tool_name":"Write"}}
"#;
    decoder.push(request, &mut out).unwrap();
    assert_eq!(decoder.waiting_for(), Some("waits for the permission to use `Write`"));
    assert_eq!(reason(&decoder.finish(&mut out).unwrap()), Some(Reason::Blocked));
}

#[test]
fn killed_background_tasks_are_their_own_reason() {
    let result = RESULT.replace("\"result\":\"x\"", "\"result\":\"x\",\"subagent_stats\":{\"killed\":{\"system\":2}}");
    assert_eq!(reason(&claude(&format!("{}\n{result}", said("part"))).1), Some(Reason::BackgroundTaskCeiling));
}

#[test]
fn a_prompt_that_was_taken_as_a_command_of_the_agent_was_not_read() {
    let own = r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"/help is not here"}]}}"#;
    let result = |turns: u32| {
        format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"num_turns":{turns},"result":"/help is not here"}}"#
        )
    };
    for stream in [format!("{own}\n{}\n", result(0)), result(0)] {
        let (text, end) = claude(&stream);
        assert_eq!((text.as_str(), reason(&end)), ("", Some(Reason::PromptNotRead)));
        assert!(end.error.unwrap().detail.ends_with("the program said: /help is not here"));
    }
    // A model was asked and said nothing: what the agent says of it is no answer either.
    let (text, end) = claude(&format!("{own}\n{}\n", result(1)));
    assert_eq!((text.as_str(), reason(&end)), ("", None));
    // The next turn is read as ever.
    let (text, _) = claude(&format!("{own}\n{}\n{}\n", result(1), result(1)));
    assert_eq!(text, "/help is not here\n");
}

#[test]
fn the_users_own_message_is_not_the_models() {
    let opencode = r#"{"type":"text","sessionID":"s","part":{"id":"u","messageID":"user","text":"LEAK"}}
{"type":"step_start","sessionID":"s","part":{"messageID":"m"}}
{"type":"text","sessionID":"s","part":{"id":"c","sessionID":"child","messageID":"x","text":"LEAK","time":{}}}
{"type":"text","sessionID":"s","part":{"id":"p","messageID":"m","text":"own","time":{}}}"#;
    assert_eq!(decoded(OutputFormat::OpencodeJson, opencode.as_bytes(), 5).0, "own\n");
    let gemini = r#"{"type":"message","role":"user","content":"LEAK"}
{"type":"message","role":"assistant","content":"own","delta":true}"#;
    assert_eq!(decoded(OutputFormat::GeminiJson, gemini.as_bytes(), 5).0, "own\n");
}

#[test]
fn a_snapshot_after_its_deltas_adds_only_what_is_new() {
    let gemini = r#"{"type":"message","role":"assistant","content":"one ","delta":true}
{"type":"message","role":"assistant","content":"two","delta":true}
{"type":"message","role":"assistant","content":"one two three"}
{"type":"message","role":"assistant","content":"another"}"#;
    assert_eq!(decoded(OutputFormat::GeminiJson, gemini.as_bytes(), 5).0, "one two three\n\nanother\n");
    let opencode = r#"{"type":"text","part":{"id":"p","text":"one","time":{}}}
{"type":"text","part":{"id":"p","text":"one two","time":{}}}
{"type":"text","part":{"id":"q","text":"one two","time":{}}}"#;
    assert_eq!(decoded(OutputFormat::OpencodeJson, opencode.as_bytes(), 5).0, "one two\n\none two\n");
}

#[test]
fn a_frame_with_text_that_cannot_be_read_is_bad_output() {
    let odd = r#"{"type":"assistant","message":{"content":{"new":"form"}}}"#;
    let (text, end) = claude(&[&said("seen"), odd, RESULT].join("\n"));
    assert_eq!((text.as_str(), reason(&end)), ("seen\n", Some(Reason::BadOutput)));
}

#[test]
fn a_large_frame_is_read_and_one_over_the_limit_is_an_error_of_its_slot() {
    let large = "é\n".repeat(700_000);
    let (text, end, _) =
        decoded(OutputFormat::ClaudeStreamJson, [said(&large), RESULT.into()].join("\n").as_bytes(), 65536);
    assert_eq!((text, end.error), (large, None));

    let over = said(&"x".repeat(5000));
    let plain = "y".repeat(5000);
    let stream = [said("a").as_str(), &over, &plain, &said("b"), RESULT].join("\n");
    for size in [1, 13, 4096, 100_000] {
        let mut out = Collected::default();
        let mut decoder = Decoder::with_limit(OutputFormat::ClaudeStreamJson, 4096);
        for chunk in stream.as_bytes().chunks(size) {
            decoder.push(chunk, &mut out).unwrap();
        }
        let end = decoder.finish(&mut out).unwrap();
        assert_eq!(String::from_utf8(out.text).unwrap(), format!("a\n\n{plain}\n\nb\n"));
        assert_eq!(reason(&end), Some(Reason::BadOutput));
    }
}

#[test]
fn an_error_of_the_output_is_passed_on() {
    struct Full;
    impl Output for Full {
        fn text(&mut self, _: &[u8]) -> io::Result<()> {
            Err(io::Error::from(io::ErrorKind::StorageFull))
        }
        fn activity(&mut self, _: Activity) {}
        fn received(&mut self, _: usize) {}
    }
    let mut decoder = Decoder::new(OutputFormat::ClaudeStreamJson);
    let error = decoder.push(format!("{}\n", said("a")).as_bytes(), &mut Full).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

/// Lines of a stream: frames that are known, frames that are not, and anything else.
fn line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        any::<String>().prop_map(|text| said(&text).into_bytes()),
        Just(RESULT.as_bytes().to_vec()),
        Just(br#"{"type":"x","y":[{}]}"#.to_vec()),
        prop::collection::vec(any::<u8>(), 0..40),
        "\\PC{0,30}".prop_map(String::into_bytes),
        Just(br#"{"type":"text","part":{"id":"p","text":"t","time":{}}}"#.to_vec()),
        Just(br#"{"type":"message","role":"assistant","content":"d","delta":true}"#.to_vec()),
        Just(br#"{"type":"item.completed","item":{"type":"agent_message","text":"i"}}"#.to_vec()),
    ]
}

fn collect(format: OutputFormat, limit: usize, chunks: &[&[u8]]) -> (Vec<u8>, StreamEnd) {
    let mut out = Collected::default();
    let mut decoder = Decoder::with_limit(format, limit);
    for chunk in chunks {
        decoder.push(chunk, &mut out).unwrap();
    }
    let end = decoder.finish(&mut out).unwrap();
    (out.text, end)
}

proptest! {
    #[test]
    fn any_slicing_of_any_stream_gives_the_same_answer(
        lines in prop::collection::vec(line(), 0..12),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        limit in prop_oneof![Just(FRAME_LIMIT), 8_usize..200],
    ) {
        let stream = lines.join(&b'\n');
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        at.push(stream.len());
        at.sort_unstable();
        let mut chunks = Vec::new();
        let mut from = 0;
        for to in at {
            chunks.push(&stream[from..to]);
            from = to;
        }
        for format in OutputFormat::ALL {
            prop_assert_eq!(collect(format, limit, &chunks), collect(format, limit, &[&stream]));
        }
    }

    #[test]
    fn texts_come_out_whole_and_in_order(texts in prop::collection::vec("[a-zé\\\\\"\\t]{1,12}", 1..8)) {
        let mut lines: Vec<String> = texts.iter().map(|text| said(text)).collect();
        lines.push(RESULT.to_owned());
        let visible: Vec<_> = texts.iter().filter(|text| !text.trim().is_empty()).map(String::as_str).collect();
        let expected = if visible.is_empty() { "x\n".to_owned() } else { visible.join("\n\n") + "\n" };
        prop_assert_eq!(claude(&lines.join("\n")).0, expected);
    }
}
