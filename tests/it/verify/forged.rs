//! Forgeries: a file is changed, and every hash that follows from it is written anew. The record then agrees with its
//! files; what gives the forger away is that votes, verdict and text follow from the replies.

use std::collections::BTreeMap;

use regex::{Captures, Regex};

use super::{copy, first, judged_twice, look, recorded_files};
use crate::support::{Session, finish, sha256};

/// Changes the text of a file.
pub(super) type Edit<'a> = &'a dyn Fn(&str, String) -> String;

/// What a forger does to one text.
pub(super) type TextEdit = Box<dyn Fn(String) -> String>;

/// Applies `edit` to every file (it is told the name), and writes all hashes that depend on it anew, in whatever order
/// they depend on each other.
pub(super) fn forge(session: &Session, edit: Edit<'_>) {
    let hash = Regex::new("[0-9a-f]{64}").unwrap();
    let originals: Vec<(String, String)> =
        recorded_files(session).into_iter().map(|file| (file.clone(), session.text(&file))).collect();
    let mut anew: BTreeMap<String, String> = BTreeMap::new();
    loop {
        let before = anew.clone();
        let mut texts = Vec::new();
        for (file, original) in &originals {
            let renewed = hash.replace_all(original, |found: &Captures<'_>| {
                anew.get(&found[0]).cloned().unwrap_or_else(|| found[0].to_owned())
            });
            let text = edit(file, renewed.into_owned());
            if file.ends_with("events.jsonl") {
                for (old, new) in original.lines().zip(text.lines()) {
                    anew.insert(sha256(old.as_bytes()), sha256(new.as_bytes()));
                }
            } else {
                anew.insert(sha256(original.as_bytes()), sha256(text.as_bytes()));
            }
            texts.push((file, text));
        }
        if anew == before {
            texts.iter().for_each(|(file, text)| std::fs::write(session.path(file), text).unwrap());
            return;
        }
    }
}

#[test]
fn a_forged_ballot_count_document_name_or_rule_does_not_follow_from_the_replies() {
    let (env, session) = judged_twice();
    let kiwi = session.id_of("kiwi");
    let once = |from: &'static str, to: &'static str| {
        move |text: String| {
            assert!(text.contains(from), "{from} is not in {text}");
            text.replacen(from, to, 1)
        }
    };
    // What is edited, in which files; which file is named; what it is said to be.
    let cases: Vec<(&str, &[&str], TextEdit, &str, &str)> = vec![
        (
            "a vote",
            &["judging/votes.json"],
            Box::new(once("\"REJECT\"", "\"APPROVE\"")),
            "judging/votes.json",
            "at `judges[",
        ),
        (
            "a judge's words",
            &["judging/votes.json"],
            Box::new(once("\"summary\": \"", "\"summary\": \"Really. ")),
            "judging/votes.json",
            ".summary`",
        ),
        (
            "who may vote",
            &["judging/votes.json"],
            Box::new(once("\"eligibleJudges\": 3", "\"eligibleJudges\": 1")),
            "judging/votes.json",
            "at `candidates[",
        ),
        (
            "the rule",
            &["judging/votes.json"],
            Box::new(once("\"selfVote\": \"model\"", "\"selfVote\": \"include\"")),
            "judging/votes.json",
            "at `selfVote`",
        ),
        (
            "the count",
            &["judging-2/verdict.json", "verdict.json"],
            Box::new(once("\"approvals\": 2", "\"approvals\": 1")),
            "judging-2/verdict.json",
            "does not follow from `judging-2/votes.json`",
        ),
        (
            "the document",
            &["judging-2/verdict.md", "verdict.md"],
            Box::new(once(" wins** ", " loses** ")),
            "judging-2/verdict.md",
            "does not say what the votes and the record come to",
        ),
        (
            "the head in the document",
            &["judging/verdict.md"],
            Box::new(|text| Regex::new("hash `[0-9a-f]{4}").unwrap().replace(&text, "hash `0000").into_owned()),
            "judging/verdict.md",
            "does not print the head before it",
        ),
        (
            "the size of a ballot",
            &["judging/events.jsonl"],
            Box::new(once("\"votes\":2", "\"votes\":1")),
            "judging/events.jsonl",
            "is not the ballot of judge",
        ),
        (
            "the kind",
            &["events.jsonl"],
            Box::new(once("\"kind\":\"team\"", "\"kind\":\"gate\"")),
            "session-meta.json",
            "`type`",
        ),
        (
            "the round's length",
            &["events.jsonl"],
            Box::new(|text| Regex::new("\"events\":(\\d+)").unwrap().replace(&text, "\"events\":5").into_owned()),
            "judging/events.jsonl",
            "does not end as `events.jsonl` recorded it",
        ),
        (
            "the panel",
            &["events.jsonl"],
            Box::new(once("\"slots\":[\"01\",\"02\",\"03\"]", "\"slots\":[\"01\",\"02\",\"03\",\"04\"]")),
            "manifest.json",
            "does not hold the slots",
        ),
        (
            "an end",
            &["events.jsonl"],
            // Of a slot that completed: one that fails may do so before it began.
            Box::new(move |text| {
                let from = format!("\"event\":\"slot_started\",\"slot\":\"{kiwi}\"");
                assert!(text.contains(&from), "{from} is not in {text}");
                text.replacen(&from, &from.replacen("slot_started", "revealed", 1), 1)
            }),
            "events.jsonl",
            "cannot have happened",
        ),
    ];
    for (number, (what, files, edit, named, said)) in cases.into_iter().enumerate() {
        let copied = copy(&session, &env.path(&format!("copied-{number}")));
        forge(&copied, &|file, text| if files.contains(&file) { edit(text) } else { text });
        let found = look(copied.dir());
        let (file, _, told) = first(&found);
        assert_eq!(file, named, "{what}: {found:#}");
        assert!(told.contains(said), "{what}: {found:#}");
    }
}

#[test]
fn names_that_were_exchanged_are_not_those_of_the_prompt() {
    let (env, session) = judged_twice();
    let copied = copy(&session, &env.path("copied"));
    let votes = session.json("judging/votes.json");
    let judge = votes["judges"].as_array().unwrap().iter().find(|judge| judge["state"] == "COMPLETED").unwrap();
    let names: Vec<String> =
        judge["aliases"].as_object().unwrap().values().map(|name| name.as_str().unwrap().to_owned()).collect();
    let [one, two] = &names[..] else { panic!("{names:?}") };
    forge(&copied, &|file, text| match file {
        "judging/votes.json" => text.replace(one, "??????").replace(two, one).replace("??????", two),
        _ => text,
    });
    let (file, _, what) = first(&look(copied.dir()));
    assert_eq!(file, "judging/votes.json");
    assert!(what.ends_with("the answers as its prompt does"), "{what}");
}

#[test]
fn an_event_after_the_closing_one_is_found_though_the_seal_was_written_anew() {
    let (env, session) = judged_twice();
    let copied = copy(&session, &env.path("copied"));
    let text = copied.text("events.jsonl");
    let (count, last) = (text.lines().count(), text.lines().last().unwrap());
    let line = serde_json::json!({
        "seq": count + 1, "prev": sha256(last.as_bytes()), "at": "2090-01-01T00:00:00Z", "event": "phase_started", "phase": "run",
    });
    let mut meta = copied.json("session-meta.json");
    meta["events"] = serde_json::json!({"count": count + 1, "head": sha256(line.to_string().as_bytes())});
    std::fs::write(copied.path("events.jsonl"), format!("{text}{line}\n")).unwrap();
    assert!(
        look(copied.dir())["mismatches"].to_string().contains("has not the length that `session-meta.json` sealed")
    );
    std::fs::write(copied.path("session-meta.json"), meta.to_string()).unwrap();
    let (file, at, what) = first(&look(copied.dir()));
    assert_eq!((file.as_str(), at), ("events.jsonl", Some(count as u64 + 1)));
    assert!(what.starts_with("follows the closing event"), "{what}");
}

#[test]
fn a_record_written_wholly_anew_agrees_with_itself_and_not_with_a_head_noted_elsewhere() {
    let (env, session) = judged_twice();
    let noted = session.json("session-meta.json")["events"]["head"].as_str().unwrap().to_owned();
    let copied = copy(&session, &env.path("copied"));
    forge(&copied, &|_, text| text);
    assert_eq!(copied.text("events.jsonl"), session.text("events.jsonl"), "the forger changes nothing by itself");
    forge(&copied, &|file, text| if file == "input.md" { "Another question?\n".to_owned() } else { text });
    let folder = copied.dir().to_str().unwrap();
    let (out, _) = finish(&env, &["verify", folder], 0);
    assert!(out.contains("not      who wrote it"), "{out}");
    let (out, _) = finish(&env, &["verify", folder, "--head", &noted], 6);
    assert!(out.lines().last().unwrap().contains("no line with the hash given with `--head`"), "{out}");
    assert!(out.contains(&format!("expected  {noted}")), "{out}");
    finish(&env, &["verify", session.dir().to_str().unwrap(), "--head", &noted], 0);
}
