//! `team status --watch`: a run in another terminal, in a pipe and on a screen.

use nix::sys::signal::Signal;

use super::support::{Background, Session, TeamToml, TestEnv, finish, wait_until};

/// A panel of two that answer and vote; both wait for `go`, before a vote also for `vote`.
fn gated() -> TestEnv {
    let env = TestEnv::new();
    let gate = |name: &str| format!("wait-for {}", env.path(name).display());
    let steps = |answer: &str| vec![gate("go"), format!("answer {answer}"), "vote approve".to_owned()];
    let config =
        [("zebra", steps("black")), ("yak", steps("brown"))].iter().fold(TeamToml::new(), |config, (name, steps)| {
            config.agent(name, &steps.iter().map(String::as_str).collect::<Vec<_>>())
        });
    env.write("team.toml", config.panel(&["zebra", "yak"]).text());
    env
}

/// A run whose slots are at work.
fn started(env: &TestEnv, arguments: &[&str]) -> (Background, Session) {
    let run = env.start(arguments);
    let session = env.session_with("status.json");
    wait_until("the slots", || (session.slot("02")["state"] == "RUNNING").then_some(()));
    (run, session)
}

#[test]
fn a_watch_in_a_pipe_tells_each_change_follows_the_votes_and_ends_with_the_table() {
    let env = gated();
    let (mut run, session) = started(&env, &["run-and-judge", "--self-vote", "slot", "which?"]);
    let mut watch = env.start(&["status", "--watch"]);
    wait_until("the first lines", || watch.stdout().contains("02 started").then_some(()));
    env.write("go", "");
    assert_eq!(watch.wait().code(), Some(0));
    assert_eq!(run.wait().code(), Some(0));
    let told = watch.stdout();
    assert!(!told.contains('\u{1b}'), "{told:?}");
    assert_eq!(watch.stderr(), format!("watching `{}`; Ctrl-C ends the watch only\n", session.id()));
    let (table, _) = finish(&env, &["status"], 0);
    let lines = told.strip_suffix(&table).unwrap_or_else(|| panic!("{told}\nends with\n{table}"));
    let of = |words: &str| lines.lines().filter(|line| line.contains(words)).count();
    assert_eq!((of("started"), of("COMPLETED")), (4, 4), "{lines}");
    assert_eq!((of("judge 01"), of("judge 02")), (2, 2), "{lines}");
    // The process that ran says the same.
    let own: Vec<String> =
        run.stderr().lines().filter(|line| line.contains(" COMPLETED ")).map(str::to_owned).collect();
    let seen: Vec<&str> = lines.lines().filter(|line| line.contains(" COMPLETED ")).collect();
    assert_eq!(seen, own);
}

#[test]
fn a_watch_for_programs_streams_the_events_as_the_run_itself_does() {
    let env = gated();
    let (mut run, session) = started(&env, &["run-and-judge", "--self-vote", "slot", "--json", "which?"]);
    let mut watch = env.start(&["status", "--watch", "--json"]);
    env.write("go", "");
    assert_eq!(run.wait().code(), Some(0));
    assert_eq!(watch.wait().code(), Some(0));
    assert_eq!(watch.stdout(), run.stdout());
    assert_eq!(watch.stdout().lines().count(), session.events().len() + session.round("judging").events().len());
    // One that comes late sees the same.
    let (late, _) = finish(&env, &["status", "--watch", "--json", &session.id()], 0);
    assert_eq!(late, run.stdout());
}

#[test]
fn a_watch_of_a_finished_session_is_its_table_and_changes_nothing() {
    let env = gated();
    env.write("go", "");
    finish(&env, &["run", "which?"], 0);
    let session = env.session();
    let files = || {
        let changed = |file: &String| session.path(file).metadata().unwrap().modified().unwrap();
        session.files().iter().map(|file| (file.clone(), changed(file))).collect::<Vec<_>>()
    };
    let before = files();
    assert_eq!(finish(&env, &["status", "-w"], 0), finish(&env, &["status"], 0));
    finish(&env, &["status", "-w", "--json"], 0);
    assert_eq!(files(), before);
}

#[test]
fn a_watch_ends_when_the_owner_dies_and_shows_what_is_lost() {
    let env = gated();
    let (mut run, _) = started(&env, &["run", "which?"]);
    let mut watch = env.start(&["status", "--watch"]);
    wait_until("the first lines", || watch.stdout().contains("02 started").then_some(()));
    run.signal(Signal::SIGKILL);
    run.wait();
    assert_eq!(watch.wait().code(), Some(0));
    let told = watch.stdout();
    assert!(told.contains("interrupted") && told.matches("LOST").count() == 2, "{told}");
    env.wait_for_no_processes();
}

#[test]
fn a_watch_ends_when_its_reader_leaves() {
    let env = gated();
    let (mut run, _) = started(&env, &["run", "which?"]);
    let mut terminal = env.terminal(100, 30);
    terminal.press("team status --watch | head -1\n");
    // The shell waits for both.
    terminal.wait_for("01 started");
    let (code, lines) = terminal.leave();
    assert_eq!(code, 0, "{lines:#?}");
    env.write("go", "");
    assert_eq!(run.wait().code(), Some(0));
}

#[test]
fn a_watch_on_a_terminal_shows_live_lines_and_leaves_only_what_stays() {
    let env = gated();
    let mut terminal = env.terminal(60, 20);
    let (mut run, session) = started(&env, &["run-and-judge", "--self-vote", "slot", "which?"]);
    terminal.press("clear; team status --watch\n");
    terminal.wait_for("0 of 2 slots done, 2 running");
    terminal.press("\x1a");
    terminal.wait_for("Stopped");
    assert!(!terminal.lines().iter().any(|line| line.contains("running")), "{:#?}", terminal.lines());
    terminal.press("fg\n");
    terminal.wait_for("0 of 2 slots done, 2 running");
    env.write("go", "");
    let (code, lines) = terminal.leave();
    assert_eq!(code, 0, "{lines:#?}");
    assert_eq!(run.wait().code(), Some(0));
    assert!(!lines.iter().any(|line| line.contains("running") || line.contains("no output")), "{lines:#?}");
    // In the lines that stay, in the table, and both once more for the votes.
    for words in ["COMPLETED", "judge 01 COMPLETED", "judge 02 COMPLETED"] {
        let expected = if words == "COMPLETED" { 8 } else { 1 };
        assert_eq!(lines.iter().filter(|line| line.contains(words)).count(), expected, "{words}: {lines:#?}");
    }
    assert!(lines.iter().any(|line| line.starts_with(&session.id()) && line.contains("completed")), "{lines:#?}");
}

#[test]
fn ctrl_c_ends_the_watch_and_leaves_the_run_alone() {
    let env = gated();
    let mut terminal = env.terminal(100, 20);
    let (mut run, session) = started(&env, &["run", "which?"]);
    terminal.press("clear; team status --watch\n");
    terminal.wait_for("2 running");
    terminal.press("\x03");
    let (code, lines) = terminal.leave();
    assert_eq!(code, 130, "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("running")), "{lines:#?}");
    assert!(!run.has_ended());
    env.write("go", "");
    assert_eq!(run.wait().code(), Some(0));
    assert_eq!(session.slot("01")["state"], "COMPLETED");
}

#[test]
fn a_retry_counts_down_on_the_screen_in_the_file_and_in_another_terminal() {
    let env = TestEnv::new();
    let retry = r#"print {"type":"system","subtype":"api_retry","attempt":1,"max_retries":2,"retry_delay_ms":3000000,"error_status":429,"error":"rate_limit"}"#;
    let go = format!("wait-for {}", env.path("go").display());
    let output = [("output", "claude-stream-json".into())];
    env.write(
        "team.toml",
        TeamToml::new().agent_with("zebra", &[retry, &go, "claude done"], &output).panel(&["zebra"]).text(),
    );
    let mut terminal = env.terminal(80, 20);
    terminal.press("clear; team run 'which?'\n");
    let mut other = env.terminal(80, 20);
    terminal.wait_for("1 running");
    other.press("clear; team status --watch\n");
    let session = env.session();
    let shown = |lines: Vec<String>| {
        let line =
            lines.into_iter().find(|line| line.starts_with("01 ") && line.contains(" in ") && line.contains("0 B"))?;
        seconds_left(&line)
    };
    let in_file = || seconds_left(session.slot("01")["activity"].as_str()?);
    let looks: [&dyn Fn() -> Option<u32>; 3] = [&|| shown(terminal.lines()), &|| shown(other.lines()), &in_file];
    for look in looks {
        let first = wait_until("a countdown", look);
        assert!(first <= 3000, "{first}");
        wait_until("a lower number", || look().filter(|left| *left < first));
    }
    env.write("go", "");
    let (code, lines) = terminal.leave();
    assert_eq!(code, 0, "{lines:#?}");
    assert_eq!(other.leave().0, 0);
    assert!(lines.iter().any(|line| line == "01 retry 1/2 in 3000s (HTTP 429)"), "the news stays: {lines:#?}");
}

/// The number in `retry 1/2 in 2997s (..)`.
fn seconds_left(text: &str) -> Option<u32> {
    text.split_once("retry 1/2 in ")?.1.split_once('s')?.0.parse().ok()
}

#[test]
fn a_watch_names_nobody() {
    let env = gated();
    let (mut run, _) = started(&env, &["run", "which?"]);
    let mut watch = env.start(&["status", "--watch", "-v"]);
    env.write("go", "");
    watch.wait();
    run.wait();
    let told = watch.stdout() + &watch.stderr();
    assert!(told.contains("01 started"), "{told}");
    assert!(!told.contains("zebra") && !told.contains("yak"), "{told}");
}
