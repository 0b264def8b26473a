//! Role conversations are checked with the session that they belong to.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use team::ids::SlotId;
use team::model::{ModelIdentity, ModelSettings, OutputFormat, ResolvedModel, Target};
use team::session::{
    Event, NewSession, Participant, Question, Role, Session as Owned, SessionKind, SessionState, Speaker,
};

use super::{copy, first, look};
use crate::support::{Session, TestEnv, finish};

const FIXER: &str = "roles/fixer-01.jsonl";
const REVIEWER: &str = "roles/reviewer-02.jsonl";

fn model(name: &str) -> ResolvedModel {
    ResolvedModel {
        name: name.to_owned(),
        identity: ModelIdentity(name.to_owned()),
        target: Target::Replay { file: "none".into(), output: OutputFormat::Text, pace: None },
        settings: ModelSettings::default(),
    }
}

/// A session that goes on, in which a fixer and a reviewer were spoken to.
fn talked(env: &TestEnv, title: &str) -> Owned {
    let base = env.path("ai-docs/sessions");
    let new = NewSession {
        base: &base,
        kind: SessionKind::Team,
        title,
        input: b"the task",
        task: None,
        models: vec![model("kiwi"), model("plum")],
        isolation: "none".to_owned(),
        prompts: BTreeMap::new(),
        plan: None,
        judges: None,
        pipeline: None,
    };
    let now = Timestamp::now();
    let mut session = Owned::create(new, now, &mut rand::rng()).unwrap();
    let seats: Vec<SlotId> = session.panel().status().models.keys().copied().collect();
    let fixer = Participant { role: Role::Fixer, seat: seats[0] };
    session.say(fixer, Speaker::Team, "mend it", now).unwrap();
    session.say(fixer, Speaker::Participant, "mended", now).unwrap();
    session.say(Participant { role: Role::Reviewer, seat: seats[1] }, Speaker::Team, "look at it", now).unwrap();
    session
}

fn append(path: &Path, text: &str) {
    let before = std::fs::read_to_string(path).unwrap();
    std::fs::write(path, before + text).unwrap();
}

#[test]
fn a_session_that_waits_for_a_decision_verifies_with_its_open_conversations_and_again_when_it_is_closed() {
    let env = TestEnv::new();
    let mut session = talked(&env, "x");
    let folder = session.layout().root().to_owned();
    let (out, _) = finish(&env, &["verify", "latest"], 0);
    assert!(out.contains(&format!("`{FIXER}` is not sealed yet")), "{out}");
    let question = Question { text: "ship it?".to_owned(), choices: vec!["yes".to_owned()], checkpoint: None };
    session.await_decision(question, Timestamp::now()).unwrap();
    session.close(SessionState::Completed, Timestamp::now()).unwrap();
    drop(session);
    let (out, _) = finish(&env, &["verify", "latest"], 0);
    assert!(out.contains("awaiting_decision"), "{out}");
    let listed = finish(&env, &["list", "--json"], 0).0;
    assert!(listed.contains("awaiting_decision"), "{listed}");
    let (_, err) = finish(&env, &["judge", "latest"], 2);
    assert!(err.contains("waits for a decision: ship it?"), "{err}");
    finish(&env, &["verify", "latest"], 0);

    let mut session = Owned::open(team::session::Layout::new(&folder)).unwrap();
    session.decide("yes", None, Timestamp::now()).unwrap();
    finish(&env, &["verify", "latest"], 0);
    session.close(SessionState::Completed, Timestamp::now()).unwrap();
    drop(session);
    let (out, _) = finish(&env, &["verify", "latest"], 0);
    assert!(!out.contains("sealed"), "{out}");
}

#[test]
fn a_change_of_any_conversation_is_found_once_it_is_sealed() {
    let env = TestEnv::new();
    let mut session = talked(&env, "x");
    session.close(SessionState::Failed, Timestamp::now()).unwrap();
    let session = Session::at(session.layout().root());
    let mut other = talked(&env, "other");
    other.close(SessionState::Failed, Timestamp::now()).unwrap();
    let foreign = std::fs::read_to_string(other.layout().root().join(FIXER)).unwrap();
    let own = session.text(FIXER);
    let lines: Vec<&str> = own.lines().collect();
    let cases: [(&str, &str, String, &str); 8] = [
        ("a word", FIXER, own.replacen("mend it", "break it", 1), "`prev` is not the hash"),
        ("the last word", FIXER, own.replacen("mended", "broken", 1), "does not end as it was sealed"),
        ("a line less", FIXER, format!("{}\n{}\n", lines[0], lines[1]), "does not end as it was sealed"),
        ("a line missing inside", FIXER, format!("{}\n{}\n", lines[0], lines[2]), "`prev` is not the hash"),
        ("half a line more", FIXER, format!("{own}{{\"prev\""), "does not end as it was sealed"),
        ("another session's", FIXER, foreign, "is not the conversation that the record opened"),
        ("another role's", REVIEWER, own.clone(), "is not the conversation that the record opened"),
        ("nothing", FIXER, String::new(), "the conversation is empty"),
    ];
    for (number, (what, file, text, said)) in cases.into_iter().enumerate() {
        let copied = copy(&session, &env.path(&format!("copied-{number}")));
        assert_eq!(look(copied.dir())["verified"], true, "{what}");
        std::fs::write(copied.path(file), text).unwrap();
        let found = look(copied.dir());
        let (named, _, told) = first(&found);
        assert!(named == file && told.contains(said), "{what}: {found:#}");
    }
    for (what, file) in [("planted", "roles/judge-01.jsonl"), ("no conversation", "roles/notes.txt")] {
        let copied = copy(&session, &env.path(what));
        std::fs::write(copied.path(file), format!("{own}x")).unwrap();
        assert_eq!(first(&look(copied.dir())).0, file, "{what}");
    }
    let copied = copy(&session, &env.path("gone"));
    std::fs::remove_file(copied.path(FIXER)).unwrap();
    assert_eq!(first(&look(copied.dir())), (FIXER.to_owned(), None, "is missing".to_owned()));
    let newer = copy(&session, &env.path("newer"));
    std::fs::write(newer.path(FIXER), own.replacen("\"version\":1", "\"version\":9", 1)).unwrap();
    let (_, err) = finish(&env, &["verify", newer.dir().to_str().unwrap()], 2);
    assert!(err.contains("has format version 9"), "{err}");
}

#[test]
fn a_conversation_whose_writer_was_killed_goes_on_without_the_torn_line_and_is_no_mismatch() {
    let env = TestEnv::new();
    let session = talked(&env, "x");
    let layout = session.layout().clone();
    let [fixer, judge] = [Role::Fixer, Role::Judge].map(|role| Participant { role, seat: "01".parse().unwrap() });
    drop(session);
    append(&layout.root().join(FIXER), "{\"prev\":\"");
    // The file of one that nobody recorded: its writer was stopped right after it was made.
    let header = std::fs::read_to_string(layout.root().join(FIXER)).unwrap().lines().next().unwrap().to_owned();
    std::fs::write(layout.root().join("roles/judge-01.jsonl"), header.replacen("fixer", "judge", 1) + "\n").unwrap();
    let (out, _) = finish(&env, &["verify", "latest"], 0);
    assert!(out.contains(&format!("the last line of `{FIXER}` is not whole")), "{out}");
    assert!(out.contains("`roles/judge-01.jsonl` is not recorded yet"), "{out}");

    let mut session = Owned::open(layout.clone()).unwrap();
    session.panel_mut().record(Event::Interrupted, Timestamp::now()).unwrap();
    drop(session);
    finish(&env, &["verify", "latest"], 0);
    let mut session = Owned::open(layout.clone()).unwrap();
    team::session::store::LifeCycle::resume(&mut session, Timestamp::now()).unwrap();
    session.say(fixer, Speaker::Team, "again", Timestamp::now()).unwrap();
    session.say(judge, Speaker::Team, "judge", Timestamp::now()).unwrap();
    let texts: Vec<String> = session.messages(fixer).unwrap().into_iter().map(|message| message.text).collect();
    assert_eq!(texts, ["mend it", "mended", "again"]);
    assert_eq!(session.messages(judge).unwrap().len(), 1);
    append(&layout.root().join(REVIEWER), "{");
    session.close(SessionState::Completed, Timestamp::now()).unwrap();
    drop(session);
    finish(&env, &["verify", "latest"], 0);
}

#[test]
fn a_damaged_conversation_is_not_gone_on_with_and_does_not_keep_the_session_from_its_close() {
    let env = TestEnv::new();
    let session = talked(&env, "x");
    let layout = session.layout().clone();
    drop(session);
    std::fs::write(layout.root().join(FIXER), "{}\n").unwrap();
    let mut session = Owned::open(layout.clone()).unwrap();
    team::session::store::LifeCycle::resume(&mut session, Timestamp::now()).unwrap();
    let fixer = Participant { role: Role::Fixer, seat: "01".parse().unwrap() };
    let error = session.say(fixer, Speaker::Team, "again", Timestamp::now()).unwrap_err();
    assert!(error.to_string().contains("version"), "{error}");
    assert!(session.messages(fixer).is_err(), "what was forgotten is not nothing");
    let error = session.close(SessionState::Completed, Timestamp::now()).unwrap_err();
    assert!(error.to_string().contains(FIXER), "{error}");
    let folder = Session::at(layout.root());
    assert_eq!(folder.json("session-meta.json")["status"], "completed");
    let sealed = folder.events().into_iter().filter(|event| event["event"] == "conversation_sealed");
    assert_eq!(sealed.map(|event| event["file"].clone()).collect::<Vec<_>>(), [REVIEWER]);
}
