//! In a real terminal: Ctrl-Z and `fg`, Ctrl-C, live lines that come and go.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use rstest::rstest;

use super::support::{TeamToml, Terminal, TestEnv, process_state, wait_until};

/// A panel of one, at work until `go` exists; a tool of it has left its process group.
fn gated() -> TestEnv {
    let env = TestEnv::new();
    let go = format!("wait-for {}", env.path("go").display());
    let steps =
        [&format!("spawn setsid ;; {go}"), &format!("touch {}", env.path("begun").display()), &go, "print done"];
    env.write("team.toml", TeamToml::new().agent("zebra", &steps).panel(&["zebra"]).text());
    env
}

/// The program and its agents: the letters of their states. The supervisors go on, to hear of an end.
fn states(env: &TestEnv) -> Vec<(String, char)> {
    let processes =
        env.processes().into_iter().filter(|(_, line)| !line.starts_with("bash") && !line.starts_with("team __"));
    processes.filter_map(|(pid, line)| Some((line, process_state(pid)?))).collect()
}

fn start(env: &TestEnv, terminal: &mut Terminal, command: &str) {
    terminal.press(&format!("{command}\n"));
    wait_until("the slot", || env.path("begun").exists().then_some(()));
}

#[test]
fn ctrl_z_stops_the_program_and_its_slots_and_every_limit_until_fg() {
    let limit = Duration::from_secs(5);
    let env = gated();
    let mut terminal = env.terminal(100, 30);
    start(&env, &mut terminal, "team run --timeout 5s --idle-timeout 5s --deadline 5s 'which?'");
    terminal.press("\x1a");
    terminal.wait_for("Stopped");
    let stopped = Instant::now();
    wait_until("everything to stand still", || {
        let states = states(&env);
        (states.len() >= 3 && states.iter().all(|(_, state)| *state == 'T')).then_some(())
    });
    assert!(!terminal.lines().iter().any(|line| line.contains("running")), "{:#?}", terminal.lines());
    // Time itself is what is tested here.
    wait_until("more than every limit", || (stopped.elapsed() > limit).then_some(()));
    terminal.press("fg\n");
    wait_until("everything to go on", || states(&env).iter().all(|(_, state)| *state != 'T').then_some(()));
    terminal.wait_for("1 running");
    env.write("go", "");
    let (code, lines) = terminal.leave();
    assert_eq!(code, 0, "{lines:#?}");
    let session = env.session();
    assert_eq!(session.slot("01")["state"], "COMPLETED");
    assert_eq!(session.text("response-01.md").lines().last(), Some("done"));
}

#[test]
fn a_run_in_the_background_leaves_the_screen_to_the_shell() {
    let env = TestEnv::new();
    let gate = |name: &str| format!("wait-for {}", env.path(name).display());
    let config =
        TeamToml::new().agent("zebra", &[&gate("first"), "print a"]).agent("yak", &[&gate("second"), "print b"]);
    env.write("team.toml", config.panel(&["zebra", "yak"]).text());
    let mut terminal = env.terminal(100, 30);
    terminal.press("clear; team run 'which?'\n");
    terminal.wait_for("0 of 2 slots done, 2 running");
    terminal.press("\x1a");
    terminal.wait_for("Stopped");
    terminal.press("bg\n");
    env.write("first", "");
    terminal.wait_for(" COMPLETED 2 B");
    assert!(!terminal.lines().iter().any(|line| line.contains("running")), "{:#?}", terminal.lines());
    terminal.press("fg\n");
    terminal.wait_for("1 of 2 slots done, 1 running");
    env.write("second", "");
    let (code, lines) = terminal.leave();
    assert_eq!(code, 0, "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("running") || line.contains("no output")), "{lines:#?}");
}

#[test]
fn a_limit_still_ends_a_slot_after_fg() {
    let env = gated();
    let mut terminal = env.terminal(100, 30);
    start(&env, &mut terminal, "team run --timeout 2s 'which?'");
    terminal.press("\x1a");
    terminal.wait_for("Stopped");
    terminal.press("fg\n");
    let (code, lines) = terminal.leave();
    assert_eq!(code, 4, "{lines:#?}");
    assert_eq!(env.session().slot("01")["state"], "TIMEOUT");
}

#[test]
fn ctrl_c_reaches_the_program_alone_which_stops_its_slots_in_order() {
    let env = TestEnv::new();
    let begun = format!("touch {}", env.path("begun").display());
    // Only TERM is answered: an interrupt from the terminal would end the agent without a word.
    let steps = ["on-term print told ;; exit 0", &begun, "hang"];
    env.write("team.toml", TeamToml::new().agent("zebra", &steps).panel(&["zebra"]).text());
    let mut terminal = env.terminal(100, 30);
    start(&env, &mut terminal, "team run 'which?'");
    terminal.press("\x03");
    let (code, lines) = terminal.leave();
    assert_eq!(code, 130, "{lines:#?}");
    assert!(lines.iter().any(|line| line == "stopping (interrupt)"), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("running")), "{lines:#?}");
    let session = env.session();
    assert_eq!(session.slot("01")["state"], "CANCELLED");
    assert_eq!(session.text("errors/01.partial.md"), "told\n");
}

#[rstest]
#[case(200, 50)]
#[case(80, 24)]
#[case(40, 12)]
fn live_lines_fit_the_terminal_follow_its_size_and_leave_only_what_stays(#[case] columns: u16, #[case] rows: u16) {
    let env = TestEnv::new();
    let go = format!("wait-for {}", env.path("go").display());
    let steps = ["print a line that is there", &go, "print more"];
    env.write("team.toml", TeamToml::new().agent("zebra", &steps).panel(&["zebra"; 5]).text());
    let mut terminal = env.terminal(columns, rows);
    terminal.press("clear; team run 'which?' > path\n");
    let all_answer = |lines: &[String]| lines.iter().filter(|line| line.contains("answering")).count() == 5;
    let summaries = |lines: &[String]| lines.iter().filter(|line| line.contains(" done, 5 running")).count();
    let drawn = || wait_until("five live lines", || Some(terminal.lines()).filter(|lines| all_answer(lines)));
    let lines = drawn();
    assert_eq!(summaries(&lines), 1, "{lines:#?}");
    assert!(lines.last().unwrap().starts_with("0 of 5 slots done, 5 running, "), "{lines:#?}");
    for size in [(36, 12), (200, 20), (columns, rows)] {
        terminal.resize(size.0, size.1);
        // Two seconds on, every line has been drawn many times in the new size.
        let seconds = |lines: &[String]| {
            let last = lines.last()?.rsplit(' ').next()?;
            last.strip_suffix('s')?.parse::<u32>().ok()
        };
        let before = seconds(&terminal.lines()).unwrap_or(0);
        let lines = wait_until("newer lines", || {
            let lines = terminal.lines();
            (all_answer(&lines) && seconds(&lines) > Some(before + 1)).then_some(lines)
        });
        assert_eq!(summaries(&lines), 1, "{size:?}: {lines:#?}");
        assert_eq!(lines.iter().filter(|line| line.contains("answering")).count(), 5, "{size:?}: {lines:#?}");
    }
    env.write("go", "");
    let (code, lines) = terminal.leave();
    let live = ["answering", "running", "starting", "no output"];
    assert!(!lines.iter().any(|line| live.iter().any(|word| line.contains(word))), "{lines:#?}");
    assert_eq!(lines.iter().filter(|line| line.contains("COMPLETED")).count(), 5, "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("zebra")), "nobody is named: {lines:#?}");
    assert_eq!(code, 0, "{lines:#?}");
}

#[test]
fn more_slots_than_rows_show_those_at_work_and_count_the_others() {
    let env = TestEnv::new();
    let go = format!("wait-for {}", env.path("go").display());
    env.write("team.toml", TeamToml::new().agent("zebra", &[&go, "print done"]).panel(&["zebra"; 30]).text());
    let mut terminal = env.terminal(40, 9);
    terminal.press("clear; team run --jobs 3 'which?' > path\n");
    terminal.wait_for("0/30 done, 3 running, 27 waiting");
    let lines = terminal.lines();
    let numbers =
        |words: &str| lines.iter().filter(|line| line.contains(words)).map(|line| &line[..2]).collect::<Vec<_>>();
    assert_eq!(numbers("no output yet"), ["01", "02", "03"], "{lines:#?}");
    assert_eq!(numbers("-  waiting, "), ["04", "05", "06"], "{lines:#?}");
    assert!(lines.iter().any(|line| line.ends_with("waiting, 3 of 27")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.trim() == ".. and 24 more"), "{lines:#?}");
    assert!(lines.len() < 9 && lines.iter().all(|line| line.chars().count() < 40), "{lines:#?}");
    env.write("go", "");
    let (code, lines) = terminal.leave();
    assert_eq!(code, 0, "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("waiting") || line.contains("more")), "{lines:#?}");
}

/// A panel of two seats at a provider that takes one request at a time and answers each with `reply`, then keeps the
/// connection; with nothing where that is empty.
fn at_a_provider(reply: &'static str) -> TestEnv {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut held = Vec::new();
        while let Ok((mut stream, _)) = listener.accept() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(reply.as_bytes());
            held.push(stream);
        }
    });
    let provider = [("wire", "openai-chat".into()), ("base_url", url.into()), ("max_concurrent", 1.into())];
    TestEnv::with(&TeamToml::new().provider("office", &provider).panel(&["office@zebra"; 2]))
}

#[test]
fn a_slot_that_waits_for_its_provider_is_shown_as_waiting() {
    let env = at_a_provider("");
    let mut terminal = env.terminal(60, 12);
    terminal.press("clear; team run 'which?'\n");
    terminal.wait_for("waiting for a turn");
    terminal.wait_for("0 of 2 slots done, 1 running, 1 waiting");
    let lines = terminal.lines();
    assert_eq!(lines.iter().filter(|line| line.ends_with("no output yet")).count(), 1, "{lines:#?}");
    terminal.press("\x03");
    assert_eq!(terminal.leave().0, 130);
}

#[test]
fn the_wait_that_a_provider_asks_for_counts_down() {
    let env = at_a_provider("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 90\r\nContent-Length: 0\r\n\r\n");
    let mut terminal = env.terminal(60, 12);
    terminal.press("clear; team run 'which?'\n");
    // The line that stays has no numbers before it.
    terminal.wait_for("retry 1/2 in 90s (HTTP 429)");
    let left = || {
        let lines = terminal.lines();
        let live = lines.iter().find(|line| line.contains(" 0 B ") && line.contains("retry 1/2 in "))?;
        live.split_once(" in ")?.1.strip_suffix("s (HTTP 429)")?.parse::<u32>().ok()
    };
    let first = wait_until("a countdown", left);
    wait_until("a lower number", || left().filter(|left| *left < first));
    terminal.press("\x03");
    assert_eq!(terminal.leave().0, 130);
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    for (variable, expected) in [("A=1", true), ("NO_COLOR=1", false)] {
        let env = TestEnv::with(&TeamToml::new().agent("zebra", &["exit 3"]).panel(&["zebra"]));
        let mut terminal = env.terminal(100, 20);
        terminal.press(&format!("clear; {variable} team run 'which?'\n"));
        terminal.wait_for("FAILED");
        assert_eq!(terminal.has_colours(), expected, "{variable}: {:#?}", terminal.lines());
        assert_eq!(terminal.leave().0, 4);
    }
}

#[test]
fn where_nothing_can_be_drawn_over_there_are_plain_lines() {
    let env = TestEnv::with(&TeamToml::new().agent("zebra", &["print done"]).panel(&["zebra"]));
    let mut terminal = env.terminal(100, 20);
    terminal.press("clear; TERM=dumb team run 'which?'\n");
    let (code, lines) = terminal.leave();
    assert_eq!(code, 0, "{lines:#?}");
    assert!(lines.iter().any(|line| line == "01 started"), "{lines:#?}");
    let piped = env.team(&["run", "which?"]).output().unwrap();
    let told = String::from_utf8(piped.stderr).unwrap();
    assert!(told.contains("01 started\n01 COMPLETED") && !told.contains('\u{1b}'), "{told:?}");
}
