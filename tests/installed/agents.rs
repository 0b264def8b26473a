//! Panels of the real programs: judged, told much, stopped.

use nix::sys::signal::Signal;

use crate::seats::{World, seat};
use crate::support::outcomes::{End, PLAIN, check_end};
use crate::support::wait_until;

/// Every program that `.ci/run` installs.
const PROGRAMS: [&str; 6] = ["claude", "codex", "gemini", "opencode", "claudish", "llm"];

fn seats(scenario: &str) -> String {
    PROGRAMS.map(|program| seat(program, scenario)).join(",")
}

#[test]
fn a_plain_answer_of_each_is_judged_by_each_and_approved() {
    let world = World::new(&PROGRAMS, &["plain", "vote"]);
    let (panel, judges) = (seats("plain"), seats("vote"));
    let options = ["-m", &panel, "--judges", &judges, "--self-vote", "include", "--jobs", "3"];
    let (code, said, session) = world.run(&[&["run-and-judge"], &options[..], &["What is the answer?"]].concat());
    assert_eq!(code, Some(0), "{said}");
    let verdict = session.json("verdict.json");
    for program in PROGRAMS {
        check_end(&session, &seat(program, "plain"), End::Answer(&[PLAIN]));
        check_end(&session.round("judging"), &seat(program, "vote"), End::Answer(&["APPROVE"]));
        let id = session.id_of(&seat(program, "plain"));
        let row = verdict["answers"].as_array().unwrap().iter().find(|row| row["id"] == id.as_str()).unwrap();
        let counts = [&row["approvals"], &row["rejections"], &row["abstentions"], &row["missing"]];
        assert_eq!(counts, [PROGRAMS.len(), 0, 0, 0], "{row}");
    }
    assert!(session.round("judging").has("votes.json"));
}

#[test]
fn a_long_prompt_is_read_whole_or_refused_as_too_long() {
    for (bytes, too_long) in [(300_000, &[][..]), (5_000_000, &["claude", "claudish", "codex"])] {
        // gemini repeats the prompt on standard output, and does not wait until all of it is written when it ends.
        let world = World::new(&PROGRAMS, &["slow"]);
        world.env.write("long.md", "x y z ".repeat(bytes / 6));
        let (_, _, session) = world.run(&["run", "--jobs", "3", "-m", &seats("slow"), "long.md"]);
        for program in PROGRAMS {
            if program == "gemini" && bytes > 4_000_000 {
                // More than the model takes, by its own count: it sends nothing and ends well.
                let id = session.id_of(&seat(program, "slow"));
                assert!(!session.has(&format!("response-{id}.md")), "{}", session.slot(&id));
                continue;
            }
            let refused = too_long.contains(&program);
            let end = if refused { End::Reason("FAILED", "context_too_long", &[]) } else { End::Answer(&[PLAIN]) };
            check_end(&session, &seat(program, "slow"), end);
        }
    }
}

/// How a run is ended from outside.
#[derive(Debug, Clone, Copy)]
enum Stop {
    Signal(Signal, i32),
    Cancel,
    Kill,
}

/// Each agent runs a command that sleeps for minutes; then the run is stopped, and nothing of it may be left.
#[track_caller]
fn stopped_in_a_tool(stop: Stop) {
    // One at a time: codex stops waiting for a command after ten seconds.
    for program in ["claude", "codex"] {
        let world = World::new(&[program], &["toolsleep"]);
        let agent = seat(program, "toolsleep");
        if program == "claude" {
            // A seat of `claude` may only read; a user's own command may run what it likes.
            let mut config: toml::Table =
                std::fs::read_to_string(world.env.path("team.toml")).unwrap().parse().unwrap();
            let claude = config["models"][&agent].as_table_mut().unwrap();
            claude.remove("use");
            let command = ["claude", "-p", "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"];
            claude.insert("command".to_owned(), command.to_vec().into());
            claude.insert("output".to_owned(), "claude-stream-json".into());
            world.env.write("team.toml", config.to_string());
        }
        let mut team = world.env.start(&["run", "-m", &agent, "What is the answer?"]);
        wait_until("the agent's command", || {
            world.env.processes().iter().any(|(_, line)| line.starts_with("perl -e sleep")).then_some(())
        });
        let expected = match stop {
            Stop::Signal(signal, code) => {
                team.signal(signal);
                Some(code)
            }
            Stop::Kill => {
                team.signal(Signal::SIGKILL);
                None
            }
            Stop::Cancel => {
                assert!(world.env.team(&["cancel", "latest"]).output().unwrap().status.success());
                Some(130)
            }
        };
        let status = team.wait();
        world.env.wait_for_no_processes();
        assert_eq!(status.code(), expected, "{agent}: {}", team.stderr());
        if !matches!(stop, Stop::Kill) {
            check_end(&world.env.session(), &agent, End::Reason("CANCELLED", "cancelled", &[]));
        }
    }
}

#[test]
fn ctrl_c_during_a_tool_call_leaves_no_process() {
    stopped_in_a_tool(Stop::Signal(Signal::SIGINT, 130));
}

#[test]
fn a_cancel_during_a_tool_call_leaves_no_process() {
    stopped_in_a_tool(Stop::Cancel);
}

#[test]
fn kill_9_during_a_tool_call_leaves_no_process() {
    stopped_in_a_tool(Stop::Kill);
}

/// Some of them end with 0 when they are stopped, which makes no answer of nothing.
#[test]
fn a_stop_while_the_provider_is_silent_is_cancelled_for_each_and_leaves_no_process() {
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let world = World::new(&PROGRAMS, &["hang"]);
        let mut team = world.env.start(&["run", "-m", &seats("hang"), "What is the answer?"]);
        wait_until("all of them to ask", || (world.provider.requests("hang") >= PROGRAMS.len()).then_some(()));
        team.signal(signal);
        assert_eq!(team.wait().code(), Some(code), "{}", team.stderr());
        world.env.wait_for_no_processes();
        for program in PROGRAMS {
            let cancelled = End::Reason("CANCELLED", "cancelled", &["no text until then"]);
            check_end(&world.env.session(), &seat(program, "hang"), cancelled);
        }
    }
}

#[test]
fn no_retries_are_none_for_each() {
    let world = World::new(&PROGRAMS, &["500"]);
    let panel = seats("500");
    let (code, said, session) = world.run(&["run", "--retries", "0", "--jobs", "3", "-m", &panel, "What is it?"]);
    assert_eq!(code, Some(4), "{said}");
    for program in PROGRAMS {
        check_end(&session, &seat(program, "500"), End::Reason("FAILED", "api_error", &[]));
    }
    // `llm` has no setting for the two that it makes.
    assert!(world.provider.requests("500") <= 5 + 3, "{} requests", world.provider.requests("500"));
}
