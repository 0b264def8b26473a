//! `team report`: one file that needs nothing else, whatever models wrote, and the same as text.

pub(crate) mod document;
mod hostile;
mod opening;
mod places;
mod states;
mod text;
mod votes_on_tasks;

use std::path::Path;

use crate::support::{Session, TeamToml, TestEnv, finish, run_and_judge};
use document::Document;

/// Four answers of which one is about right, a slot that fails, and two passes.
fn panel() -> TeamToml {
    TeamToml::new()
        .agent("kiwi", &["answer # Plan\\n\\nDo it RIGHT.\\n\\nThen look.\\n", "vote approve-word RIGHT"])
        .agent("plum", &["answer # Plan\\n\\nDo it at night.\\n\\nThen look.\\n", "vote approve-word RIGHT"])
        .agent("sloe", &["answer Do it.", "vote approve-first"])
        .agent("dead", &["stderr no route to the model", "write half an answer", "exit 3"])
        .panel(&["kiwi", "plum", "sloe", "dead"])
}

/// That panel, judged in two passes.
fn judged() -> (TestEnv, Session) {
    let env = TestEnv::with(&panel());
    run_and_judge(&env, &["--passes", "2"], 0);
    let session = env.session();
    (env, session)
}

/// The report of the newest session, as `team report` leaves it.
#[track_caller]
fn report_of(env: &TestEnv, code: i32) -> Document {
    let (out, _) = finish(env, &["report"], code);
    Document::read(Path::new(out.trim_end()))
}

#[test]
fn a_report_tells_what_the_session_holds() {
    let (env, session) = judged();
    let before = session.files();
    let (out, err) = finish(&env, &["report"], 0);
    assert_eq!((out.trim_end(), err.as_str()), (session.path("report.html").to_str().unwrap(), ""));
    // Nothing but its own file is written.
    let mut after = session.files();
    after.retain(|file| file != "report.html");
    assert_eq!(after, before);

    let report = Document::read(&session.path("report.html"));
    let verdict = session.json("verdict.json");
    let text = report.text();
    for part in ["kiwi", "plum", "sloe", "dead", "no route to the model", "half an answer", "nonzero_exit", "Verified"]
    {
        assert!(text.contains(part), "{part}");
    }
    assert!(text.contains(&session.id()));
    assert!(text.contains("Krippendorff"));
    // Who voted how: a row for each judge of the panel, a cell for each answer.
    let answers = verdict["answers"].as_array().unwrap();
    for answer in answers {
        let id = answer["id"].as_str().unwrap();
        let cells =
            report.elements("td").filter(|cell| cell.class("vote") && cell.attribute("data-answer") == Some(id));
        let kinds: Vec<String> = cells.map(|cell| cell.attribute("class").unwrap().replace("vote ", "")).collect();
        assert_eq!(kinds.len(), 4, "{id}: {kinds:?}");
        let count = |kind: &str| kinds.iter().filter(|found| *found == kind).count() as u64;
        let expected = |field: &str| answer[field].as_u64().unwrap();
        assert_eq!(count("approve"), expected("approvals"), "{id}");
        assert_eq!(count("reject"), expected("rejections"), "{id}");
        assert_eq!(count("flipped"), expected("inconsistent"), "{id}");
        assert_eq!(count("unseen"), 1, "{id}: nobody sees an answer of its own");
    }
    // Every slot and judge has a bar for each of its attempts, in each pass.
    let bars = report.elements("rect").filter(|bar| bar.class("span")).count();
    assert_eq!(bars, 4 + 4 + 3);
    // The check before this report and after it find the same.
    finish(&env, &["verify"], 0);
    let (head, _) = finish(&env, &["verify", "--json"], 0);
    let head: serde_json::Value = serde_json::from_str(&head).unwrap();
    assert!(text.contains(head["records"][0]["head"].as_str().unwrap()));
}

#[test]
fn two_answers_are_compared_line_by_line() {
    let (env, session) = judged();
    let report = report_of(&env, 0);
    let pairs: serde_json::Value = serde_json::from_str(&report.script("application/json")).unwrap();
    let (kiwi, plum) = (session.id_of("kiwi"), session.id_of("plum"));
    let pair = [&pairs[format!("{kiwi} {plum}")], &pairs[format!("{plum} {kiwi}")]];
    let runs = pair.into_iter().find(|pair| pair.is_array()).unwrap();
    // Heading and blank line, and what follows the line that differs.
    assert_eq!(*runs, serde_json::json!([[0, 0, 2], [3, 3, 3]]));
    assert_eq!(pairs.as_object().unwrap().len(), 3);
}

#[test]
fn a_report_made_again_takes_the_place_of_the_older_one_and_is_not_trusted() {
    let (env, session) = judged();
    std::fs::write(session.path("report.html"), "<h1>Approved by all</h1>").unwrap();
    let (checked, _) = finish(&env, &["verify"], 0);
    assert!(checked.contains("`report.html` is made from the record on request; it is not checked"), "{checked}");
    let report = report_of(&env, 0);
    assert!(!report.text().contains("Approved by all"));
    // What is no plain file is no report.
    std::fs::remove_file(session.path("report.html")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", session.path("report.html")).unwrap();
    finish(&env, &["verify"], 6);
}

#[test]
fn the_file_goes_where_it_is_wanted() {
    let (env, session) = judged();
    let (out, _) = finish(&env, &["report", "-o", "elsewhere.html"], 0);
    assert_eq!(out.trim_end(), env.path("elsewhere.html").to_str().unwrap());
    let (html, _) = finish(&env, &["report", "--output", "-"], 0);
    assert!(html.starts_with("<!doctype html>"), "{html:.80}");
    assert!(!session.has("report.html"));
    let (_, err) = finish(&env, &["report", "-o", "."], 2);
    assert!(err.contains("is a folder"), "{err}");
    // Missing folders are made, as for the outputs of a gate.
    let (out, _) = finish(&env, &["report", "--text", "-o", "a/new/place.txt"], 0);
    assert_eq!(out.trim_end(), env.path("a/new/place.txt").to_str().unwrap());
    env.write("in-the-way", "");
    let (_, err) = finish(&env, &["report", "-o", "in-the-way/place.html"], 2);
    assert!(err.contains("cannot write the output") && err.contains("in-the-way/place.html"), "{err}");
    assert!(!env.path("-").exists());
    let (_, err) = finish(&env, &["report", "nobody"], 2);
    assert!(err.contains("`nobody`"), "{err}");
    let (_, err) = finish(&env, &["report", "--json"], 2);
    assert!(err.contains("team show --json"), "{err}");
}

#[test]
fn what_was_changed_is_told_and_not_shown() {
    let (env, session) = judged();
    let id = session.id_of("kiwi");
    std::fs::write(session.path(&format!("response-{id}.md")), "I am planted").unwrap();
    let report = report_of(&env, 6);
    let text = report.text();
    assert!(!text.contains("I am planted"));
    assert!(text.contains("Not verified"));
    assert!(text.contains(&format!("`response-{id}.md` is not as it was recorded, so it is not shown")), "{text}");
    // Another verdict is not shown as if the panel had come to it, and without one nobody is named.
    let verdict = session.text("verdict.json").replace("\"round\": 1", "\"round\": 9");
    std::fs::write(session.path("verdict.json"), verdict).unwrap();
    let report = report_of(&env, 6);
    let text = report.text();
    assert!(text.contains("The verdict is not as it was recorded"), "{text}");
    for name in ["kiwi", "plum", "sloe", "dead"] {
        assert!(!text.contains(name), "{name}");
    }
}
