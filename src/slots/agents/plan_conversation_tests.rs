//! How each program is told to begin a conversation and to go on with it, and where it keeps it.

use std::path::{Path, PathBuf};

use super::plan_tests::{call, model};
use super::*;
use crate::config::{AgentKind, Environment, ModelSettings};

const UUID: &str = "87bdf956-63e8-44f2-ba94-461fb59b8df1";
const SESSION: &str = "ses_dd2928fb5ffeKYlnBkmpCSnd42";

fn environment() -> Environment {
    [("HOME", "/home/u"), ("PATH", "/usr/bin")].into_iter().collect()
}

fn planned(agent: AgentKind, program: &str, talk: Talk<'_>) -> ProcessPlan {
    let environment = environment();
    let work_dir = Path::new("/s/it's/01");
    plan(&model(agent, &[program], ModelSettings::default()), &Call { talk, work_dir, ..call(&environment) }).unwrap()
}

fn argv(plan: &ProcessPlan) -> Vec<String> {
    plan.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Whether these arguments follow each other.
fn has(plan: &ProcessPlan, words: &[&str]) -> bool {
    argv(plan).windows(words.len()).any(|window| window == words)
}

#[test]
fn claude_keeps_a_transcript_only_where_it_is_to_go_on() {
    let alone = planned(AgentKind::Claude, "claude", Talk::Alone);
    assert!(has(&alone, &["--no-session-persistence"]) && alone.transcript.is_none());
    let begins = planned(AgentKind::Claude, "claude", Talk::Begins);
    assert!(!has(&begins, &["--no-session-persistence"]) && !has(&begins, &["--resume"]));
    let expected = Transcript {
        folder: "/home/u/.claude/projects".into(),
        in_home: Some(".claude/projects".into()),
        files: TranscriptFiles::ById,
    };
    assert_eq!(begins.transcript, Some(expected));
    let id = ConversationId::parse(AgentKind::Claude, UUID).unwrap();
    let on = planned(AgentKind::Claude, "claude", Talk::GoesOn(&id));
    assert!(has(&on, &["--resume", UUID]) && has(&on, &["--tools", "Read,Grep,Glob"]));
    assert_eq!((on.transcript, on.first), (begins.transcript, None));
}

#[test]
fn codex_goes_on_under_the_same_sandbox_without_the_options_that_it_then_refuses() {
    let alone = planned(AgentKind::Codex, "codex", Talk::Alone);
    assert!(has(&alone, &["--ephemeral"]) && alone.transcript.is_none());
    let begins = planned(AgentKind::Codex, "codex", Talk::Begins);
    assert!(!has(&begins, &["--ephemeral"]) && has(&begins, &["--sandbox", "read-only", "--color", "never"]));
    let id = ConversationId::parse(AgentKind::Codex, UUID).unwrap();
    let on = planned(AgentKind::Codex, "codex", Talk::GoesOn(&id));
    assert!(has(&on, &["exec", "resume", "--json"]) && has(&on, &["-c", "sandbox_mode=\"read-only\""]));
    assert!(!has(&on, &["--sandbox"]) && !has(&on, &["--color"]) && !has(&on, &["--ephemeral"]));
    assert_eq!(argv(&on)[argv(&on).len() - 2..], [UUID, "-"]);
    assert_eq!(on.transcript.unwrap().folder, PathBuf::from("/home/u/.codex/sessions"));
}

#[test]
fn gemini_finds_its_conversation_under_a_name_that_stays() {
    let id = ConversationId::parse(AgentKind::Gemini, UUID).unwrap();
    for talk in [Talk::Begins, Talk::GoesOn(&id)] {
        let plan = planned(AgentKind::Gemini, "gemini", talk);
        assert_eq!(has(&plan, &["--resume", UUID]), talk != Talk::Begins);
        let text = |name: &str| {
            plan.private.iter().find_map(|file| match file {
                PrivateFile::Text(path, text) if path == Path::new(name) => Some(text.as_str()),
                _ => None,
            })
        };
        assert_eq!(text("home/.gemini/projects.json"), Some(r#"{"projects":{"/s/it's/01":"team"}}"#));
        assert_eq!(text("home/.gemini/tmp/team/.project_root"), Some("/s/it's/01"));
        let folder = PathBuf::from("/tmp/team-x/home/.gemini/tmp/team/chats");
        assert_eq!(plan.transcript, Some(Transcript { folder, in_home: None, files: TranscriptFiles::All }));
    }
    let alone = planned(AgentKind::Gemini, "gemini", Talk::Alone);
    assert!(alone.transcript.is_none() && !format!("{:?}", alone.private).contains("projects.json"));
}

#[test]
fn opencode_is_told_first_where_its_conversation_goes_on() {
    let begins = planned(AgentKind::Opencode, "opencode", Talk::Begins);
    assert!(has(&begins, &["--title", "team"]) && begins.first.is_none());
    let transcript = begins.transcript.unwrap();
    assert_eq!(transcript.folder, PathBuf::from("/tmp/team-x"));
    assert_eq!(transcript.files, TranscriptFiles::Named(&["opencode.db", "opencode.db-wal"]));
    let id = ConversationId::parse(AgentKind::Opencode, SESSION).unwrap();
    let on = planned(AgentKind::Opencode, "opencode", Talk::GoesOn(&id));
    assert!(has(&on, &["--session", SESSION]) && !has(&on, &["--title"]));
    let first: Vec<_> = on.first.unwrap().iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let update = format!("update session set directory = '/s/it''s/01' where id = '{SESSION}'");
    assert_eq!(first, ["opencode", "db", &update]);
}

#[test]
fn a_database_of_the_users_own_is_not_taken_along() {
    let environment: Environment = [("HOME", "/home/u"), ("OPENCODE_DB", "/home/u/mine.db")].into_iter().collect();
    let model = model(AgentKind::Opencode, &["opencode"], ModelSettings::default());
    let plan = plan(&model, &Call { talk: Talk::Begins, ..call(&environment) }).unwrap();
    assert_eq!(plan.transcript, None);
}

#[test]
fn programs_that_go_on_with_nothing_are_asked_as_ever() {
    for (agent, program) in [(AgentKind::Claudish, "claudish"), (AgentKind::Llm, "llm"), (AgentKind::Custom, "mine")] {
        let alone = planned(agent, program, Talk::Alone);
        assert_eq!(planned(agent, program, Talk::Begins), alone, "{program}");
        assert!(alone.transcript.is_none());
    }
}
