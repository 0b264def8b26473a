//! A vote on a task: every reply is read again, the votes are counted again, and whatever was changed is named.

use super::changes::{Change, assert_changes_are_found};
use super::forged::{TextEdit, forge};
use super::{copy, first, look};
use crate::support::{Session, TeamToml, TestEnv, finish};

/// A vote with a member that failed, and one that was asked once more.
fn voted() -> (TestEnv, Session) {
    let says = |verdict: &str| {
        format!(
            "print Well.\\n```vote\\nVERDICT: {verdict}\\nCONFIDENCE: 7\\nSUMMARY: It is so.\\nKEY_ISSUES:\\n- Slow\\n```"
        )
    };
    let config = TeamToml::new()
        .agent("kiwi", &["swallow", &says("APPROVE")])
        .agent("plum", &["swallow", &says("REJECT")])
        .agent("pear", &["swallow", &says("APPROVE")])
        .agent("prose", &["swallow", "print I would approve."])
        .agent("dead", &["swallow", "stderr no ink", "write half", "exit 3"])
        .panel(&["kiwi", "plum", "pear", "prose", "dead"]);
    let env = TestEnv::with(&config);
    finish(&env, &["vote", "Should it be merged?", "--threshold", "60%"], 0);
    let session = env.session();
    (env, session)
}

#[test]
fn a_change_to_any_file_of_a_vote_is_found_and_that_file_is_named_first() {
    let (env, session) = voted();
    let copied = copy(&session, &env.path("copied"));
    for part in ["task.md", "repair/response-"] {
        assert!(copied.files().iter().any(|file| file.contains(part)), "{part}");
    }
    assert_changes_are_found(&copied, &[Change::OneByte, Change::Half, Change::Removed], &env.path("outside"));
}

#[test]
fn a_verdict_without_an_event_a_planted_turn_and_a_round_are_strangers() {
    let (env, session) = voted();
    for planted in ["response-06.md", "votes.json", "pass-2/events.jsonl", "judging/verdict.md"] {
        let copied = copy(&session, &env.path(&format!("copied-{}", planted.replace('/', "-"))));
        let path = copied.path(planted);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "{}").unwrap();
        let (named, _, what) = first(&look(copied.dir()));
        assert!(planted.starts_with(&named) && what.contains("no event knows it"), "{named}: {what}");
    }
}

#[test]
fn a_forged_vote_bar_quorum_count_or_document_does_not_follow_from_the_replies() {
    let (env, session) = voted();
    let once = |from: &'static str, to: &'static str| {
        move |text: String| {
            assert!(text.contains(from), "{from} is not in {text}");
            text.replacen(from, to, 1)
        }
    };
    let plum = session.id_of("plum");
    let reply = format!("response-{plum}.md");
    let reply = [reply.as_str()];
    // What is edited, in which files; which file is named; what it is said to be.
    let cases: Vec<(&[&str], TextEdit, &str, &str)> = vec![
        (&["verdict.json"], Box::new(once("\"REJECT\"", "\"APPROVE\"")), "verdict.json", ".vote.verdict`"),
        (&["verdict.json"], Box::new(once("\"APPROVED\"", "\"REJECTED\"")), "verdict.json", "at `decision`"),
        (
            &["verdict.json"],
            Box::new(once("\"summary\": \"It", "\"summary\": \"Maybe it")),
            "verdict.json",
            ".summary`",
        ),
        (&["verdict.json"], Box::new(once("\"count\": 3", "\"count\": 2")), "verdict.json", "at `keyIssues[0].count`"),
        (&["events.jsonl"], Box::new(once("\"threshold\":\"60%\"", "\"threshold\":\"90%\"")), "verdict.json", "follow"),
        (&["events.jsonl"], Box::new(once("\"quorum\":3", "\"quorum\":2")), "verdict.json", "at `quorum`"),
        (&["verdict.md"], Box::new(once("**APPROVED**", "**REJECTED**")), "verdict.md", "does not say what the votes"),
        (&["verdict.md"], Box::new(once("| plum |", "| kiwi |")), "verdict.md", "does not say what the votes"),
        (
            &["events.jsonl"],
            Box::new(once("\"votes\":1,\"missing\":0", "\"votes\":0,\"missing\":1")),
            "events.jsonl",
            "ballot",
        ),
        (&reply, Box::new(once("REJECT", "APPROVE")), "verdict.json", "does not follow from the replies"),
    ];
    for (number, (files, edit, named, what)) in cases.into_iter().enumerate() {
        let copied = copy(&session, &env.path(&format!("forged-{number}")));
        forge(&copied, &|file, text| if files.contains(&file) { edit(text) } else { text });
        let found = look(copied.dir());
        let (file, _, said) = first(&found);
        assert_eq!(file, named, "{number}: {found:#}");
        assert!(said.contains(what), "{number}: {said}");
    }
}

#[test]
fn what_was_checked_is_counted() {
    let (env, _) = voted();
    let (out, _) = finish(&env, &["verify"], 0);
    assert!(out.contains("4 answers, 0 rounds; 5 replies read again for 3 votes, 1 verdict counted again"), "{out}");
    assert!(out.contains("record   repair/events.jsonl: "), "{out}");
}

#[test]
fn forged_tokens_are_not_those_that_the_record_held_sealed() {
    let frame = r#"print {"type":"result","subtype":"success","is_error":false,"result":"```vote\\nVERDICT: APPROVE\\nCONFIDENCE: 7\\nSUMMARY: s\\nKEY_ISSUES: None\\n```","usage":{"input_tokens":12,"output_tokens":9}}"#;
    let steps = ["swallow", frame];
    let format = [("output", toml::Value::from("claude-stream-json"))];
    let config = ["kiwi", "plum"].iter().fold(TeamToml::new(), |config, name| config.agent_with(name, &steps, &format));
    let env = TestEnv::with(&config.panel(&["kiwi", "plum"]));
    finish(&env, &["vote", "Should it be merged?"], 0);
    let session = env.session();
    assert_eq!(session.slot("01")["usage"]["outputTokens"], 9);
    let copied = copy(&session, &env.path("copied"));
    forge(&copied, &|file, text| match file {
        "events.jsonl" | "status.json" => text.replacen("\"outputTokens\":9", "\"outputTokens\":8", 1),
        _ => text,
    });
    let (file, line, what) = first(&look(copied.dir()));
    let told = copied.text("events.jsonl").lines().position(|line| line.contains("\"event\":\"verdict\"")).unwrap() + 1;
    assert_eq!((file.as_str(), line), ("events.jsonl", u64::try_from(told).ok()), "{what}");
    assert!(what.contains("tokens that were reported"), "{what}");
}
