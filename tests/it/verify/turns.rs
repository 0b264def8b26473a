//! Second passes, repair turns, names that authors give themselves, imported ballots: recomputed like all else.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::changes::{Change, assert_changes_are_found};
use super::forged::{TextEdit, forge};
use super::{copy, first, look, verified};
use crate::support::{Session, TestEnv, finish, judges, run_and_judge, voters, wait_until};

/// Two answers, of which one names its author. The first round has two passes, each with a repair turn, and a vote that
/// flips; the second one the ballots of the first, imported; the third one those of a text, read by a pattern.
fn every_kind() -> (TestEnv, Session) {
    let config = voters(&[("kiwi", "I am kiwi, the RIGHT one", "approve"), ("plum", "the other one", "approve")])
        .agent("lazy", &["vote first missing", "vote again approve"])
        .agent("biased", &["vote approve-first"])
        .agent("fair", &["vote approve-word RIGHT"])
        .agent("dead", &["exit 3"]);
    let env = TestEnv::with(&config);
    run_and_judge(&env, &["--judges", "lazy,biased,fair,dead", "--passes", "2"], 0);
    let session = env.session();
    // Not the same bytes: a forger would have to tell the two apart.
    env.write("theirs.json", format!("{}\n", session.text("judging/votes.json")));
    finish(&env, &["judge", "--import", "theirs.json"], 0);
    let (kiwi, plum) = (session.id_of("kiwi"), session.id_of("plum"));
    env.write("mild.txt", format!("{kiwi}: APPROVE\n{plum}: APPROVE\n"));
    env.write("strict.txt", format!("{kiwi}: APPROVE\n{plum}: REJECT\n"));
    let pattern = r"^(?<answer>\d\d): (?<verdict>\w+)$";
    finish(&env, &["judge", "--import", "mild.txt", "--import", "strict.txt", "--import-pattern", pattern], 0);
    (env, session)
}

const FOLDERS: [&str; 6] =
    ["judging", "judging/repair", "judging/pass-2", "judging/pass-2/repair", "judging-2", "judging-3"];

#[test]
fn all_of_it_is_read_again_and_a_change_of_any_file_is_found_and_that_file_is_named_first() {
    let (env, session) = every_kind();
    let found = verified(&env, session.dir(), 0);
    assert_eq!(found["notes"], json!([]), "every text is checked: {found:#}");
    let records: Vec<&str> =
        found["records"].as_array().unwrap().iter().map(|record| record["file"].as_str().unwrap()).collect();
    let expected: Vec<String> = FOLDERS.iter().map(|folder| format!("{folder}/events.jsonl")).collect();
    assert_eq!(records[0], "events.jsonl");
    for file in &expected {
        assert!(records.contains(&file.as_str()), "{file} is not in {records:?}");
    }
    // Three judges twice, two repair turns; three completed ones of the first round and two texts.
    assert_eq!(found["checked"]["ballots"], 3 * 2 + 2 + 3 + 2);
    assert_eq!((&found["checked"]["rounds"], &found["checked"]["verdicts"]), (&json!(3), &json!(3)));
    let copied = copy(&session, &env.path("copied"));
    let files = copied.files();
    for part in ["judging/repair/prompt-", "judging/pass-2/repair/response-", "judging-3/import-02.txt"] {
        assert!(files.iter().any(|file| file.starts_with(part)), "{part} is not in {files:?}");
    }
    assert_changes_are_found(&copied, &[Change::OneByte, Change::Removed, Change::Linked], &env.path("outside"));
}

#[test]
fn a_file_that_no_event_knows_is_found_in_the_folder_of_every_turn() {
    let (env, session) = every_kind();
    let copied = copy(&session, &env.path("copied"));
    for folder in FOLDERS {
        for name in ["response-09.md", "prompt-09.md", "import-09.txt", "errors/09.log", "pass-3/votes.json"] {
            let file = format!("{folder}/{name}");
            let parent = copied.path(&file).parent().unwrap().to_owned();
            let made = !parent.exists();
            std::fs::create_dir_all(&parent).unwrap();
            std::fs::write(copied.path(&file), "planted").unwrap();
            let (named, _, what) = first(&look(copied.dir()));
            assert!(file.starts_with(&named) && named.len() > folder.len(), "{file}: {named}");
            assert_eq!(what, "is no part of the session: no event knows it");
            std::fs::remove_file(copied.path(&file)).unwrap();
            if made {
                std::fs::remove_dir(parent).unwrap();
            }
        }
    }
    for folder in ["judging/pass-2/repair", "judging/pass-2"] {
        std::fs::remove_dir_all(copied.path(folder)).unwrap();
        let (named, _, what) = first(&look(copied.dir()));
        assert_eq!(named, folder);
        assert!(what.starts_with("is missing; line ") && what.ends_with(" opened this turn"), "{what}");
    }
}

/// Changes `votes.json` as JSON.
fn votes(edit: impl Fn(&mut Value) + 'static) -> TextEdit {
    Box::new(move |text| {
        let mut votes: Value = serde_json::from_str(&text).unwrap();
        let before = votes.clone();
        edit(&mut votes);
        assert_ne!(votes, before, "the forger changes something");
        format!("{votes:#}\n")
    })
}

/// The judge that was asked in both repair turns.
fn lazy(votes: &mut Value) -> &mut Value {
    let judges = votes["judges"].as_array_mut().unwrap();
    judges.iter_mut().find(|judge| judge["repair"].is_object()).unwrap()
}

fn once(from: &'static str, to: &'static str) -> TextEdit {
    Box::new(move |text| {
        assert!(text.contains(from), "{from} is not in {text}");
        text.replacen(from, to, 1)
    })
}

#[test]
fn a_forged_pass_turn_count_rule_or_import_does_not_follow_from_the_replies_and_files() {
    let (env, session) = every_kind();
    let imported = judges(&session.round("judging-3"))["strict (imported)"]["id"].as_str().unwrap().to_owned();
    let reply = format!("judging-3/response-{imported}.md");
    let asked = "judging/votes.json";
    // What is edited, in which file; which file is named; what it is said to be.
    let cases: Vec<(&str, &str, TextEdit, &str, &str)> = vec![
        (
            "a vote of the second pass",
            asked,
            votes(|votes| lazy(votes)["secondPass"]["votes"][0]["verdict"] = json!("ABSTAIN")),
            asked,
            ".secondPass.votes[0].verdict`",
        ),
        (
            "a vote of a repair turn",
            asked,
            votes(|votes| lazy(votes)["repair"]["votes"][0]["confidence"] = json!(1)),
            asked,
            ".repair.votes[0].confidence`",
        ),
        (
            "no second pass",
            asked,
            votes(|votes| drop(lazy(votes).as_object_mut().unwrap().remove("secondPass"))),
            asked,
            ".secondPass`",
        ),
        (
            "no repair turn",
            asked,
            votes(|votes| drop(lazy(votes)["secondPass"].as_object_mut().unwrap().remove("repair"))),
            asked,
            ".secondPass.repair`",
        ),
        (
            "a repair turn for another answer",
            asked,
            votes(|votes| {
                let other = lazy(votes)["votes"][0]["answer"].clone();
                lazy(votes)["repair"]["asked"][0] = other;
            }),
            asked,
            ".repair.asked[0]`",
        ),
        (
            "an author that did not name itself",
            asked,
            votes(|votes| {
                let candidates = votes["candidates"].as_array_mut().unwrap();
                candidates.iter_mut().for_each(|candidate| drop(candidate.as_object_mut().unwrap().remove("leaks")));
            }),
            asked,
            ".leaks`",
        ),
        ("one pass", asked, votes(|votes| votes["passes"] = json!(1)), asked, "at `passes`"),
        ("another rule", asked, votes(|votes| votes["leaks"] = json!("flag")), asked, "at `leaks`"),
        (
            "the rule on record",
            "judging/events.jsonl",
            once("\"passes\":\"2\"", "\"passes\":\"1\""),
            asked,
            "at `passes`",
        ),
        (
            "names that are those of the first pass",
            asked,
            votes(|votes| {
                let order = lazy(votes)["order"].clone();
                lazy(votes)["secondPass"]["order"] = order;
            }),
            asked,
            "in reverse order the second time",
        ),
        (
            "the size of a ballot of a turn",
            "judging/pass-2/repair/events.jsonl",
            once("\"votes\":1", "\"votes\":2"),
            "judging/pass-2/repair/events.jsonl",
            "is not the ballot of judge",
        ),
        (
            "which turn it is",
            "judging/pass-2/repair/events.jsonl",
            once("\"turn\":\"repair\"", "\"turn\":\"second_pass\""),
            "judging/pass-2/repair/events.jsonl",
            "is not tied to the opening of this turn",
        ),
        (
            "who is asked in a turn",
            "judging/events.jsonl",
            Box::new(|text| {
                let ids = regex::Regex::new(r#"("event":"turn_opened","turn":"repair","judges":\[)[^\]]*"#).unwrap();
                assert!(ids.is_match(&text));
                ids.replace(&text, "$1").into_owned()
            }),
            "judging/repair/events.jsonl",
            "does not ask the judges of line",
        ),
        (
            "a file of ballots",
            "judging-3/import-02.txt",
            once("REJECT", "APPROVE"),
            reply.as_str(),
            "is not what the imported file says of this judge",
        ),
        (
            "what was kept of a judge",
            reply.as_str(),
            once("REJECT", "APPROVE"),
            reply.as_str(),
            "is not what the imported file says of this judge",
        ),
        (
            "the name of a judge from elsewhere",
            "judging-3/manifest.json",
            once("strict (imported)", "fair (imported)"),
            "judging-3/manifest.json",
            "another name than the imported file does",
        ),
        (
            "where ballots come from",
            "judging-2/votes.json",
            votes(|votes| drop(votes.as_object_mut().unwrap().remove("imported"))),
            "judging-2/votes.json",
            "does not say that its ballots were imported",
        ),
        (
            "an imported vote",
            "judging-3/votes.json",
            once("\"REJECT\"", "\"APPROVE\""),
            "judging-3/votes.json",
            ".verdict`",
        ),
        (
            "a pattern",
            "judging-3/events.jsonl",
            once("(?<verdict>", "(?<summary>"),
            "judging-3/import-01.txt",
            "cannot be what the ballots were read from",
        ),
        (
            "what a file was called",
            "judging-3/votes.json",
            once("strict.txt", "kinder.txt"),
            "judging-3/votes.json",
            "imported.files[1].name`",
        ),
        (
            "a file from anywhere",
            "judging-3/events.jsonl",
            once("\"file\":\"import-01.txt\"", "\"file\":\"../input.md\""),
            "judging-3/events.jsonl",
            "names a file that no program keeps ballots in",
        ),
    ];
    for (number, (what, file, edit, named, said)) in cases.into_iter().enumerate() {
        let copied = copy(&session, &env.path(&format!("copied-{number}")));
        forge(&copied, &|name, text| if name == file { edit(text) } else { text });
        let found = look(copied.dir());
        assert_eq!(found["verified"], false, "{what}");
        let (first, _, told) = first(&found);
        assert_eq!(first, named, "{what}: {found:#}");
        assert!(told.contains(said), "{what}: {found:#}");
    }
}

#[test]
fn a_judge_that_was_shown_what_the_rules_keep_from_it_is_told() {
    let panel = [("claude-a", "a1", "approve"), ("opus-b", "a2", "approve"), ("gpt-c", "a3", "approve")];
    let env = TestEnv::with(&voters(&panel).agent("grok-d", &["vote approve"]));
    run_and_judge(&env, &["--judges", "claude-a,grok-d,grok-d"], 0);
    let session = env.session();
    let copied = copy(&session, &env.path("copied"));
    forge(&copied, &|file, text| match file {
        "judging/events.jsonl" => text.replacen("\"recuse\":\"none\"", "\"recuse\":\"vendor\"", 1),
        _ => text,
    });
    let found = look(copied.dir());
    let (file, _, what) = first(&found);
    assert_eq!(file, "judging/votes.json");
    let opus = session.id_of("opus-b");
    assert!(what.ends_with(&format!("was shown answer {opus}, of its own maker, against `--recuse vendor`")), "{what}");
}

#[test]
fn a_second_pass_whose_owner_was_killed_verifies_as_far_as_it_came() {
    let env = TestEnv::new();
    let seen = env.path("seen").display().to_string();
    let script = "if [ -e \"$1\" ]; then exec \"$0\" hang; fi; touch \"$1\"; exec \"$0\" 'vote approve'";
    let command = ["sh", "-c", script, env!("CARGO_BIN_EXE_fake-agent"), &seen];
    let config = voters(&[("kiwi", "one answer", "approve"), ("plum", "another", "approve")])
        .agent("fair", &["vote approve"])
        .model("slow", &[("command", toml::Value::Array(command.map(toml::Value::from).to_vec()))]);
    env.write("team.toml", config.text());
    let mut team = env.start(&["run-and-judge", "Which one is it?", "--judges", "fair,slow", "--passes", "2"]);
    let session = env.session_with("judging/pass-2/status.json");
    let second = session.round("judging/pass-2");
    let (fair, slow) = (session.round("judging").id_of("fair"), session.round("judging").id_of("slow"));
    let state = |judge: &str| second.slot(judge)["state"].clone();
    wait_until("the second pass", || (state(&fair) == "COMPLETED" && state(&slow) == "RUNNING").then_some(()));
    verified(&env, session.dir(), 0);
    team.signal(Signal::SIGKILL);
    team.wait();
    env.wait_for_no_processes();
    let found = verified(&env, session.dir(), 0);
    let notes = found["notes"].to_string();
    for said in ["the round in `judging` was never closed", "the turn in `judging/pass-2` was never closed"] {
        assert!(notes.contains(said), "{found:#}");
    }
    std::fs::write(session.path(&format!("judging/pass-2/response-{fair}.md")), "better").unwrap();
    assert_eq!(first(&look(session.dir())).0, format!("judging/pass-2/response-{fair}.md"));
}
