//! The managed local model for real: installed into an empty cache, started, asked, stopped; and as many seats.
#![allow(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::io;
use std::sync::Arc;

use serde_json::{Value, json};
use team::config::LOCAL_MODEL as MODEL_ID;
use team::config::ModelSettings;
use team::session::slot::{Activity, Output, Reason, StopReason, StreamEnd};
use team::slots::http::{Client, JsonSchema, Request};
use team::slots::local::{LocalModel, LocalServer, PARALLEL, Progress, provision};
use tokio_util::sync::CancellationToken;

use crate::demo::check;
use crate::support::TeamToml;
use crate::tools::env_with_local_model;

#[derive(Default)]
struct Answer {
    text: Vec<u8>,
    pieces: usize,
}

impl Output for Answer {
    fn text(&mut self, piece: &[u8]) -> io::Result<()> {
        self.text.extend_from_slice(piece);
        self.pieces += 1;
        Ok(())
    }
    fn activity(&mut self, _: Activity) {}
    fn received(&mut self, _: usize) {}
}

async fn ask(
    server: &LocalServer,
    key: &str,
    prompt: &str,
    schema: Option<&JsonSchema>,
    max_tokens: u64,
) -> (Answer, StreamEnd) {
    let settings =
        ModelSettings { seed: Some(7), temperature: Some(0.0), max_tokens: Some(max_tokens), ..Default::default() };
    let request = Request {
        provider: server.provider(),
        key: Some(key),
        model: MODEL_ID,
        settings: &settings,
        prompt,
        schema,
        history: &[],
        retries: 0,
    };
    let mut answer = Answer::default();
    let end = Client::new().ask(&request, &mut answer, &CancellationToken::new()).await.unwrap();
    (answer, end)
}

async fn install(cache: &std::path::Path) -> (LocalModel, Vec<Progress>) {
    let mut seen = Vec::new();
    let model = provision(cache, &mut |progress| seen.push(progress), &CancellationToken::new()).await;
    (model.unwrap(), seen)
}

#[tokio::test]
async fn the_local_model_installs_once_answers_in_a_stream_and_keeps_to_a_schema() {
    let cache = tempfile::tempdir().unwrap();
    let (model, seen) = install(cache.path()).await;
    assert_eq!(seen.last(), Some(&Progress::Ready));
    let (again, seen) = install(cache.path()).await;
    assert_eq!((&again, seen), (&model, Vec::new()), "the second time there is nothing to do");

    let server = Arc::new(LocalServer::start(&model, PARALLEL, &CancellationToken::new()).await.unwrap());
    let key = server.key().to_owned();

    let (answer, end) = ask(&server, &key, "What is the capital of France?", None, 60).await;
    assert_eq!(end.error, None);
    assert!(end.stop.is_some() && answer.pieces > 3, "a stream has pieces: {} {end:?}", answer.pieces);
    assert!(end.usage.is_some_and(|usage| usage.input_tokens > Some(5) && usage.output_tokens > Some(3)));

    let schema = JsonSchema {
        name: "ballot".to_owned(),
        value: json!({
            "type": "object",
            "properties": {
                "verdict": {"type": "string", "enum": ["APPROVE", "REJECT", "ABSTAIN"]},
                "confidence": {"type": "integer", "minimum": 1, "maximum": 10},
            },
            "required": ["verdict", "confidence"],
            "additionalProperties": false,
        }),
    };
    let (answer, end) = ask(&server, &key, "Vote on: 2 + 2 = 4.", Some(&schema), 200).await;
    assert_eq!((end.error, end.stop), (None, Some(StopReason::Done)));
    assert_eq!(end.dropped_settings, Vec::<String>::new());
    let vote: Value = serde_json::from_slice(&answer.text).unwrap();
    assert!(["APPROVE", "REJECT", "ABSTAIN"].contains(&vote["verdict"].as_str().unwrap()), "{vote}");

    let (_, end) = ask(&server, &key, "What is the capital of France?", None, 3).await;
    assert_eq!(end.stop, Some(StopReason::Length));

    let (_, end) = ask(&server, &key, &"word ".repeat(20_000), None, 60).await;
    assert_eq!(end.error.map(|error| error.reason), Some(Reason::ContextTooLong));

    let (_, end) = ask(&server, "wrong", "Hello", None, 60).await;
    assert_eq!(end.error.map(|error| error.reason), Some(Reason::Auth));

    let both =
        tokio::join!(ask(&server, &key, "Name a colour.", None, 40), ask(&server, &key, "Name an animal.", None, 40),);
    assert_eq!((both.0.1.error, both.1.1.error), (None, None));

    server.stop().await;
    let (_, end) = ask(&server, &key, "Hello", None, 60).await;
    assert_eq!(end.error.map(|error| error.reason), Some(Reason::Network), "a stopped server is gone");
}

/// What the seats of a panel read and write.
#[derive(Debug, Clone, Copy)]
enum Words {
    /// The built-in prompts, and room to answer.
    Usual,
    /// Short prompts and answers: reading and writing is all that a seat costs, and many seats do it one after the other.
    Few,
}

const SHORT_JUDGE: &str =
    "Judge {{ count }} answers to a task.\n\n{{ task }}\n\n{{ answers }}\n\n{{ ballot_format }}\n";

const SHORT_REPAIR: &str = "Judge {{ count }} answers to a task.\n\n{{ task }}\n\n{{ answers }}\n\nYour reply:\n\n{{ reply }}\n\n\
     {{ ballot_format }}\n";

/// Without an example so small a model never ends a list of faults.
const SHORT_BALLOT: &str = "Reply like this, with one vote for each of {{ aliases | join(\", \") }}:\n\
     {\"votes\": {\"EXAMP1\": {\"verdict\": \"APPROVE\", \"confidence\": 8, \"summary\": \"Good.\", \"key_issues\": []}}}\n";

/// A panel of seats that judge each other, whatever so small a model makes of it.
#[track_caller]
fn every_slot_is_accounted_for(seats: usize, words: Words) {
    let env = env_with_local_model();
    // Less context than it has: so many answers do not fit, and each judge gets some of them.
    let (max_tokens, context, options): (i64, i64, &[&str]) = match words {
        Words::Usual => (120, 1280, &[]),
        Words::Few => (110, 440, &["--prompts", "short"]),
    };
    if !options.is_empty() {
        env.write("short/judge.md", SHORT_JUDGE);
        env.write("short/repair.md", SHORT_REPAIR);
        env.write("short/ballot-json.md", SHORT_BALLOT);
    }
    let settings = [
        ("use", "local@smollm2".into()),
        ("max_tokens", max_tokens.into()),
        ("temperature", 0.2.into()),
        ("accept_truncated", true.into()),
        ("context", context.into()),
    ];
    env.write("team.toml", TeamToml::new().model("small", &settings).text());
    let panel = vec!["small"; seats].join(",");
    let arguments = ["run-and-judge", "-m", &panel, "--self-vote", "slot", "Name one colour. One word."];
    let output =
        env.team(&[&arguments[..], options].concat()).timeout(std::time::Duration::from_secs(1800)).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    env.wait_for_no_processes();
    let session = env.session();
    let verdict = session.json("verdict.json");
    let expected = if verdict["decision"] == "ranking" { 0 } else { 3 };
    assert_eq!(output.status.code(), Some(expected), "{stderr}");
    check(&session, seats);

    let of = |value: &serde_json::Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let panel = &verdict["panel"];
    for key in ["slots", "completedSlots", "judges", "completedJudges"] {
        assert_eq!(of(&panel[key]), seats, "{key}");
    }
    // Every ballot that was asked for is a vote, or noted as missing.
    let ballots = &verdict["ballots"];
    let [possible, cast, abstentions, missing] =
        ["possible", "cast", "abstentions", "missing"].map(|key| of(&ballots[key]));
    assert_eq!(possible, cast + abstentions + missing, "{ballots}");
    // Those that did not fit into a prompt were shown to nobody; all others that are missing are listed.
    let votes = session.round("judging").json("votes.json");
    let shown: Vec<&str> = votes["judges"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|judge| judge["order"].as_array().unwrap())
        .map(|answer| answer.as_str().unwrap())
        .collect();
    let listed = verdict["missingVotes"].as_array().unwrap().len();
    assert_eq!(cast + abstentions + listed, shown.len(), "{ballots}");
    assert_eq!(missing - listed, possible - shown.len(), "{ballots}");
    let answers = verdict["answers"].as_array().unwrap();
    assert_eq!(answers.len(), seats);
    let sum = |key: &str| answers.iter().map(|answer| of(&answer[key])).sum::<usize>();
    assert_eq!((sum("possible"), sum("missing"), sum("abstentions")), (possible, missing, abstentions));
    assert_eq!(sum("approvals") + sum("rejections"), cast);
    for answer in answers {
        assert_ne!(answer["possible"], 0, "an answer that nobody was to judge: {answer}");
        let votes = answer["votes"].as_array().unwrap().len();
        assert_eq!(votes + of(&answer["missing"]), of(&answer["possible"]), "{answer}");
    }
    // As evenly as it goes: nobody is judged much more often than anybody else.
    let ids = answers.iter().map(|answer| answer["id"].as_str().unwrap());
    let judged: Vec<usize> = ids.map(|id| shown.iter().filter(|shown| **shown == id).count()).collect();
    let (least, most) = (judged.iter().min().unwrap(), judged.iter().max().unwrap());
    assert!(*least > 0 && most - least <= 2, "{judged:?}");
}

#[test]
fn two_seats_are_accounted_for() {
    every_slot_is_accounted_for(2, Words::Usual);
}

#[test]
fn eight_seats_are_accounted_for() {
    every_slot_is_accounted_for(8, Words::Usual);
}

#[test]
fn thirty_two_seats_are_accounted_for() {
    every_slot_is_accounted_for(32, Words::Few);
}
