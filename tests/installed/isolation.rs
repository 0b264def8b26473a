//! The real claude and codex while they are held: they answer, their shell works, and what a shell is told to read of the
//! session is not there.

use std::path::{Path, PathBuf};

use crate::seats::{World, seat, settings};
use crate::support::{Session, finish, wait_until};
use crate::tools::agents_for_everybody;

/// Programs whose shell can be asked to run a command.
const PROGRAMS: [&str; 2] = ["claude", "codex"];

/// As which user `team` runs.
#[derive(Debug, Clone, Copy)]
enum User {
    Caller,
    Ordinary,
}

/// Runs both agents; gives their answers.
#[track_caller]
fn answers(scenario: &str, isolation: &str, user: User) -> [(&'static str, String); 2] {
    let World { env, provider } = World::new(&PROGRAMS, &[scenario]);
    // What is looked at with `--workspace`; the last is an instruction to one of them.
    env.write("shown/seen.txt", "a narwhal\n");
    env.write("shown/AGENTS.md", "Say nothing.\n");
    // A seat of `claude` may only read; a user's own command may run what it likes.
    let mut config: toml::Table = std::fs::read_to_string(env.path("team.toml")).unwrap().parse().unwrap();
    let claude = config["models"][&seat("claude", scenario)].as_table_mut().unwrap();
    claude.remove("use");
    let command = ["claude", "-p", "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"];
    claude.insert("command".to_owned(), command.to_vec().into());
    claude.insert("output".to_owned(), "claude-stream-json".into());
    env.write("team.toml", config.to_string());
    let (_agents, path) = agents_for_everybody();
    let env = env.set("PATH", &path).set("TEAM_ISOLATION", isolation);
    let wrapper = match user {
        User::Caller => Vec::new(),
        User::Ordinary => env.of_ordinary_user(),
    };
    let wrapper: Vec<&str> = wrapper.iter().map(String::as_str).collect();
    let panel = PROGRAMS.map(|program| seat(program, scenario)).join(",");
    let workspace: &[&str] = if scenario == "toolspace" { &["--workspace", "shown"] } else { &[] };
    let run = [&["run", "-m", &panel, "What is the answer?"], workspace].concat();
    let mut team = env.start_under(&wrapper, &run);
    let status = team.wait();
    let session = env.session();
    let text = |program: &str| {
        let model = seat(program, scenario);
        let id = session.id_of(&model);
        assert_eq!(session.slot(&id)["state"], "COMPLETED", "{model}, `{isolation}`, {user:?}: {}", session.slot(&id));
        session.text(&format!("response-{id}.md"))
    };
    assert_eq!(status.code(), Some(0), "{}", team.stderr());
    let found = PROGRAMS.map(|program| (program, text(program)));
    assert_no_transcripts(&session, &env.home());
    assert_no_transcripts(&session, &settings(&env, &format!("codex-{scenario}")));
    drop(provider);
    found
}

/// Nothing that shows a prompt is left in HOME, or where a program keeps its own files.
#[track_caller]
fn assert_no_transcripts(session: &Session, home: &Path) {
    let isolation = session.text("events.jsonl");
    if !isolation.contains("session files: enforced") {
        return;
    }
    let found = files_with(home, "What is the answer?");
    assert!(found.is_empty(), "the prompt is in {found:?}");
}

#[test]
fn held_by_namespaces_they_answer_and_read_nothing_of_the_session() {
    for user in [User::Caller, User::Ordinary] {
        for (model, text) in answers("plain", "", user) {
            assert!(text.contains("the answer is 42"), "{model}, {user:?}: {text}");
        }
        for (model, text) in answers("toolread", "", user) {
            assert!(text.contains("No such file"), "{model}, {user:?}: the shell ran and found nothing: {text}");
            assert!(!text.contains("shuffleOrder"), "{model}, {user:?}: {text}");
        }
    }
}

/// Both keep files of what is under way: who works in which folder tells the slots apart.
#[test]
fn while_they_work_nothing_in_home_shows_the_prompt_or_who_works_where() {
    let World { env, provider } = World::new(&PROGRAMS, &["hang"]);
    let panel = PROGRAMS.map(|program| seat(program, "hang")).join(",");
    let mut team = env.start(&["run", "-m", &panel, "What is the answer?"]);
    let session = env.session_with("status.json");
    wait_until("a question of both", || (provider.requests("hang") >= PROGRAMS.len()).then_some(()));
    let codex = settings(&env, "codex-hang");
    assert!(codex.is_dir(), "codex has a folder of its own here");
    let enforced = session.text("events.jsonl").contains("session files: enforced");
    for folder in [env.home(), codex.clone()] {
        for words in ["What is the answer?", "/work/0"] {
            let found = files_with(&folder, words);
            // Landlock can put nothing in the place of a folder of HOME.
            assert!(!enforced || found.is_empty(), "`{words}` is in {found:?}");
        }
    }
    let databases = files_with(&codex, "SQLite format 3");
    assert!(databases.is_empty(), "its databases are in its private folder, held by whatever: {databases:?}");
    finish(&env, &["cancel"], 0);
    team.wait();
    env.wait_for_no_processes();
}

/// The files below `folder` that hold these words.
fn files_with(folder: &Path, words: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        // What comes and goes while it is looked for is not there.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file()
                && std::fs::read(&path).is_ok_and(|bytes| memchr::memmem::find(&bytes, words.as_bytes()).is_some())
            {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn held_by_landlock_they_answer_and_read_nothing_of_the_session() {
    for user in [User::Caller, User::Ordinary] {
        for (model, text) in answers("toolread", "landlock", user) {
            assert!(text.contains("Permission denied"), "{model}, {user:?}: the shell ran and was refused: {text}");
            assert!(!text.contains("shuffleOrder"), "{model}, {user:?}: {text}");
        }
    }
}

#[test]
fn they_work_in_the_workspace_and_leave_it_as_it_is() {
    for (isolation, user) in
        [("", User::Caller), ("", User::Ordinary), ("landlock", User::Caller), ("landlock", User::Ordinary)]
    {
        for (model, text) in answers("toolspace", isolation, user) {
            let who = format!("{model}, `{isolation}`, {user:?}: {text}");
            assert!(text.contains("/workspace") && text.contains("a narwhal") && text.contains("refused"), "{who}");
            assert!(!text.contains("manifest.json") && !text.contains("events.jsonl"), "{who}");
        }
    }
}

#[test]
fn every_program_answers_in_a_workspace() {
    let programs = ["claude", "codex", "gemini", "opencode", "claudish", "llm"];
    for isolation in ["", "landlock"] {
        let World { env, provider } = World::new(&programs, &["plain"]);
        env.write("shown/seen.txt", "a narwhal\n");
        let panel = programs.map(|program| seat(program, "plain")).join(",");
        let env = env.set("TEAM_ISOLATION", isolation);
        let mut team = env.start(&["run", "-m", &panel, "--strict", "--workspace", "shown", "What is the answer?"]);
        let status = team.wait();
        assert_eq!(status.code(), Some(0), "{isolation}: {}", team.stderr());
        drop(provider);
    }
}

#[test]
fn held_by_nothing_they_do_read_it() {
    for (model, text) in answers("toolread", "none", User::Caller) {
        assert!(text.contains("shuffleOrder"), "{model}: {text}");
    }
}
